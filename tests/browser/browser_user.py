"""A user of the pages, who finds controls by their labels in the user's language."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from playwright.sync_api import Browser, FilePayload, Locator, Page, Response, expect

from tests.browser.page_inspector import DESKTOP, PHONE, PageInspector, inspect_pages
from tests.support.translations import translate
from tests.support.wait import poll_until

Control = Literal["button", "link", "radio", "checkbox", "combobox"]


@dataclass(frozen=True, slots=True)
class BrowserProfile:
    """Language and screen of a user; ``has_touch`` means that the device is a phone."""

    language: str
    size: dict[str, int]
    has_touch: bool


ENGLISH_DESKTOP = BrowserProfile("en", DESKTOP, has_touch=False)
JAPANESE_PHONE = BrowserProfile("ja", PHONE, has_touch=True)


@dataclass
class BrowserUser:
    """A user at a browser; ``visited_pages`` has the HTML of every page that was checked."""

    inspector: PageInspector
    profile: BrowserProfile
    visited_pages: list[str] = field(default_factory=list)

    @property
    def page(self) -> Page:
        return self.inspector.page

    def translate(self, key: str, **values: object) -> str:
        return translate(key, self.profile.language, **values)

    def find_control(self, role: Control, key: str, *, within: Locator | None = None) -> Locator:
        return (within or self.page.locator("body")).get_by_role(role, name=self.translate(key), exact=True)

    def press(self, role: Control, key: str, *, within: Locator | None = None) -> None:
        self.follow(self.find_control(role, key, within=within))

    def follow(self, control: Locator) -> None:
        """Activate a control that loads a page, and check that page."""
        self.navigate_by(control)
        self.check_page()

    def navigate_by(self, control: Locator) -> None:
        """Activate a control that loads a page without checking it, for pages that update themselves."""
        with self.page.expect_navigation():
            self.activate(control)

    def open_tab(self, name: str) -> None:
        """Open another page of the competition."""
        tabs = self.page.get_by_role("navigation", name=self.translate("Competition"), exact=True)
        self.press("link", name.capitalize(), within=tabs)

    def activate(self, control: Locator) -> None:
        control.tap() if self.profile.has_touch else control.click()

    def find_field(self, key: str, *, within: Locator | None = None) -> Locator:
        """Find an input by its label, which may say in brackets that the input is optional."""
        suffixes = [
            self.translate(" ({text})", text=self.translate(suffix))
            for suffix in ("optional", "one of the two")
        ]
        label = re.compile(rf"^{re.escape(self.translate(key))}({'|'.join(map(re.escape, suffixes))})?$")
        labelled = (within or self.page.locator("body")).get_by_label(label)
        return labelled.and_(self.page.locator("input, select, textarea"))

    def fill_in(self, texts: Mapping[str, str]) -> None:
        """Fill in fields by their labels."""
        for key, text in texts.items():
            self.find_field(key).fill(text)

    def choose_file(self, key: str, content: bytes, *, name: str = "file.csv") -> None:
        payload: FilePayload = {"name": name, "mimeType": "text/csv", "buffer": content}
        self.find_field(key).set_input_files(payload)

    def visit(self, address: str) -> None:
        """Open an address or a path of the site."""
        self.page.goto(address if "://" in address else self.inspector.url + address)
        self.check_page()

    def expect_text(self, key: str, *, within: Locator | None = None, **values: object) -> None:
        text = self.translate(key, **values)
        matches = (within or self.page.locator("main")).get_by_text(text)
        expect(matches.filter(visible=True).first).to_be_visible()

    def check_page(self) -> None:
        """Check that the page has no faults, and keep its HTML for a later search for secrets."""
        self.visited_pages.append(self.page.content())
        faults = self.inspector.collect_faults()
        assert faults == [], (self.page.url, faults)

    def wait_for(self, locator: Locator) -> None:
        """Reload the page until ``locator`` is visible."""

        def reload_until_visible() -> bool:
            self.page.wait_for_timeout(250)
            self.page.reload()
            return locator.first.is_visible()

        assert locator.first.is_visible() or poll_until(reload_until_visible), (
            f"{self.page.url} does not show {locator}"
        )
        self.check_page()


@contextmanager
def open_browser_user(browser: Browser, url: str, profile: BrowserProfile) -> Iterator[BrowserUser]:
    """Open a separate browser profile that is not signed in."""
    pages = inspect_pages(
        browser, url, language=profile.language, size=profile.size, has_touch=profile.has_touch
    )
    with pages as inspector:
        user = BrowserUser(inspector, profile)
        user.page.on("response", lambda response: record_error_status(user, response))
        user.page.on(
            "requestfailed", lambda request: record_failed_request(user, request.url, request.failure)
        )
        yield user


def record_error_status(user: BrowserUser, response: Response) -> None:
    if response.status >= 400:
        user.inspector.reported_faults.append(f"status {response.status}: {response.url}")


def record_failed_request(user: BrowserUser, url: str, failure: str | None) -> None:
    """Record a failed request, unless the page aborted it because of navigation or a download."""
    if failure != "net::ERR_ABORTED":
        user.inspector.reported_faults.append(f"{failure}: {url}")
