"""Inspection of pages in a browser: errors, accessibility, overflow and layout."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page

from app.core.identity.session_cookie import COOKIE
from tests.support.wait import TIMEOUT_S

AXE_SCRIPT = (Path(__file__).parent / "vendor" / "axe-4.14.1.min.js").read_text()
TIMEOUT_MS = 1000 * TIMEOUT_S
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
REPORTED_IMPACTS = {"serious", "critical"}
HEADER_LEFT_PX = {PHONE["width"]: 16, DESKTOP["width"]: 24}
"""Left edge of the header by screen width; it is the same on every page."""
HEADER_LEFT_SCRIPT = "(e => e ? e.getBoundingClientRect().left : null)(document.querySelector('.brand'))"
MIN_HERO_WIDTH_PX = 640
"""Minimum width of a page's main figure on a desktop screen."""
HERO_WIDTH_SCRIPT = "(e => e ? e.getBoundingClientRect().width : null)(document.querySelector('figure.hero'))"
OVERFLOW_SCRIPT = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
POLICY_VIOLATION_SCRIPT = """
window.refused = [];
addEventListener("securitypolicyviolation",
  (e) => refused.push(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
"""


@dataclass
class PageInspector:
    """A browser page and the faults that the browser has reported."""

    page: Page
    url: str
    reported_faults: list[str] = field(default_factory=list)

    def go(self, path: str) -> int:
        response = self.page.goto(self.url + path)
        assert response is not None
        return response.status

    def check_page(self, path: str) -> None:
        """Open a page, and require that it has no faults."""
        assert self.go(path) == 200, path
        assert self.collect_faults() == [], path

    def collect_faults(self) -> list[str]:
        """Return all faults of the page in its present state."""
        violations = [f"refused: {entry}" for entry in self.page.evaluate("window.refused || []")]
        overflow = self.page.evaluate(OVERFLOW_SCRIPT)
        overflow_faults = [f"sticks out by {overflow}px"] if overflow > 0 else []
        faults = [
            *self.reported_faults,
            *violations,
            *overflow_faults,
            *self.check_header_position(),
            *self.check_hero_width(),
            *find_accessibility_faults(self.page),
        ]
        self.reported_faults.clear()
        return faults

    def check_header_position(self) -> list[str]:
        """Return a fault if the header is not at its usual position."""
        size, left_px = self.page.viewport_size, self.page.evaluate(HEADER_LEFT_SCRIPT)
        expected = HEADER_LEFT_PX.get(size["width"]) if size else None
        return (
            []
            if left_px is None or expected is None or left_px == expected
            else [f"the head begins at {left_px}px"]
        )

    def check_hero_width(self) -> list[str]:
        """Return a fault if the main figure is too narrow on a desktop screen."""
        width = self.page.evaluate(HERO_WIDTH_SCRIPT) if self.page.viewport_size == DESKTOP else None
        return [] if width is None or width >= MIN_HERO_WIDTH_PX else [f"the picture is {width}px wide"]


def find_accessibility_faults(page: Page) -> list[str]:
    """Return the violations that axe rates as serious or critical."""
    # Style sheets are not fetched again, because no active rule reads them.
    report: dict[str, Any] = page.evaluate("axe.run({resultTypes: ['violations'], preload: false})")
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in report["violations"]
        if violation["impact"] in REPORTED_IMPACTS
        for node in violation["nodes"]
    ]


@contextmanager
def inspect_pages(
    browser: Browser,
    url: str,
    *,
    session: str | None = None,
    language: str = "en",
    size: dict[str, int] = DESKTOP,
    is_dark: bool = False,
) -> Iterator[PageInspector]:
    """Open a page in a fresh browser profile, signed in with ``session``."""
    scheme: Literal["dark", "light"] = "dark" if is_dark else "light"
    context = browser.new_context(
        viewport={"width": size["width"], "height": size["height"]},
        locale=language,
        color_scheme=scheme,
        timezone_id="Europe/Berlin",
        permissions=["clipboard-write"],  # which a browser with a window gives to the page in front
    )
    try:
        if session:
            context.add_cookies([{"name": COOKIE, "value": session, "url": url}])
        context.add_init_script(POLICY_VIOLATION_SCRIPT)
        context.add_init_script(AXE_SCRIPT)
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        inspector = PageInspector(page, url)
        page.on("pageerror", lambda error: inspector.reported_faults.append(f"script: {error}"))
        page.on("console", lambda message: record_console_message(inspector, message.type, message.text))
        page.on("request", lambda request: record_foreign_request(inspector, request.url))
        yield inspector
    finally:
        context.close()


def record_console_message(inspector: PageInspector, kind: str, text: str) -> None:
    if kind in {"error", "warning"} and "status of 4" not in text:
        inspector.reported_faults.append(f"{kind}: {text}")


def record_foreign_request(inspector: PageInspector, url: str) -> None:
    """Record a fault if something is loaded from another site."""
    if urlsplit(url).scheme in {"http", "https"} and not url.startswith(inspector.url):
        inspector.reported_faults.append(f"asks {url}")
