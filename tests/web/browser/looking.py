"""A page as a browser shows it: what it complains about, what assistive technology would, what sticks out."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page

from app.http.authentication import COOKIE
from tests.support.wait import PATIENCE_S

AXE = (Path(__file__).parent / "vendor" / "axe-4.14.1.min.js").read_text()
WITHIN_MS = 1000 * PATIENCE_S
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
BAD = {"serious", "critical"}
HEAD_AT = {PHONE["width"]: 16, DESK["width"]: 24}
"""Where the head of every page begins: it does not jump from one to the next."""
LEFT = "(e => e ? e.getBoundingClientRect().left : null)(document.querySelector('.brand'))"
HERO_PX = 640
"""The least width of the picture that a page is about, at a desk."""
HERO = "(e => e ? e.getBoundingClientRect().width : null)(document.querySelector('figure.hero'))"
STICKS_OUT = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
REFUSED = """
window.refused = [];
addEventListener("securitypolicyviolation",
  (e) => refused.push(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
"""


@dataclass
class Looker:
    """Somebody at a browser; ``complaints`` are what it printed or refused."""

    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> int:
        answer = self.page.goto(self.url + path)
        assert answer is not None
        return answer.status

    def faults(self) -> list[str]:
        """All that is wrong with the page as it stands."""
        refused = [f"refused: {one}" for one in self.page.evaluate("window.refused || []")]
        sticking = self.page.evaluate(STICKS_OUT)
        out = [f"sticks out by {sticking}px"] if sticking > 0 else []
        found = [*self.complaints, *refused, *out, *self.jumps(), *self.shrinks(), *accessibility(self.page)]
        self.complaints.clear()
        return found

    def jumps(self) -> list[str]:
        """Where the head stands elsewhere than on the other pages."""
        size, at = self.page.viewport_size, self.page.evaluate(LEFT)
        wanted = HEAD_AT.get(size["width"]) if size else None
        return [] if at is None or wanted is None or at == wanted else [f"the head begins at {at}px"]

    def shrinks(self) -> list[str]:
        """How wide the picture is where it should be the first thing to be seen."""
        wide = self.page.evaluate(HERO) if self.page.viewport_size == DESK else None
        return [] if wide is None or wide >= HERO_PX else [f"the picture is {wide}px wide"]


def accessibility(page: Page) -> list[str]:
    """What axe finds serious or critical."""
    # Sheets are not fetched a second time: only a rule that is not run would read them.
    found: dict[str, Any] = page.evaluate("axe.run({resultTypes: ['violations'], preload: false})")
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in BAD
        for node in one["nodes"]
    ]


@contextmanager
def looking(
    browser: Browser,
    url: str,
    *,
    session: str | None = None,
    language: str = "en",
    size: dict[str, int] = DESK,
    dark: bool = False,
    touch: bool = False,
) -> Iterator[Looker]:
    """A fresh browser profile, signed in by ``session``; ``touch``: that of a phone."""
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    context = browser.new_context(
        viewport={"width": size["width"], "height": size["height"]},
        locale=language,
        color_scheme=scheme,
        timezone_id="Europe/Berlin",
        has_touch=touch,
        is_mobile=touch,
    )
    try:
        if session:
            context.add_cookies([{"name": COOKIE, "value": session, "url": url}])
        context.add_init_script(REFUSED)
        context.add_init_script(AXE)
        page = context.new_page()
        page.set_default_timeout(WITHIN_MS)
        looker = Looker(page, url)
        page.on("pageerror", lambda error: looker.complaints.append(f"script: {error}"))
        page.on("console", lambda said: note(looker, said.type, said.text))
        page.on("request", lambda request: elsewhere(looker, request.url))
        yield looker
    finally:
        context.close()


def note(looker: Looker, kind: str, text: str) -> None:
    if kind in {"error", "warning"} and "status of 4" not in text:
        looker.complaints.append(f"{kind}: {text}")


def elsewhere(looker: Looker, url: str) -> None:
    """Nothing is loaded from another site."""
    if urlsplit(url).scheme in {"http", "https"} and not url.startswith(looker.url):
        looker.complaints.append(f"asks {url}")
