"""Somebody who uses the pages: finds a control by what it says, in their language, and presses it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from playwright.sync_api import Browser, FilePayload, Locator, Page, Response, expect

from tests.support.wait import eventually
from tests.web.browser.looking import DESK, PHONE, Looker, looking
from tests.web.spoken import said

Control = Literal["button", "link", "radio", "checkbox", "combobox"]


@dataclass(frozen=True, slots=True)
class Look:
    """The language and the screen on which somebody reads; ``touch``: with a finger."""

    language: str
    size: dict[str, int]
    touch: bool


ENGLISH_DESK = Look("en", DESK, touch=False)
JAPANESE_PHONE = Look("ja", PHONE, touch=True)


@dataclass
class Person:
    """``read`` holds every page that was looked at."""

    looker: Looker
    look: Look
    read: list[str] = field(default_factory=list)

    @property
    def page(self) -> Page:
        return self.looker.page

    def word(self, key: str, **parts: object) -> str:
        return said(key, self.look.language, **parts)

    def control(self, role: Control, key: str, *, within: Locator | None = None) -> Locator:
        return (within or self.page.locator("body")).get_by_role(role, name=self.word(key), exact=True)

    def press(self, role: Control, key: str, *, within: Locator | None = None) -> None:
        self.follow(self.control(role, key, within=within))

    def follow(self, control: Locator) -> None:
        """Press what leads to another page, or to this one anew, and look at that."""
        self.leave_by(control)
        self.finds_no_fault()

    def leave_by(self, control: Locator) -> None:
        """To a page that changes by itself: it is looked at when it has done so."""
        with self.page.expect_navigation():
            self.touch(control)

    def tab(self, name: str) -> None:
        """To another page of the competition."""
        tabs = self.page.get_by_role("navigation", name=self.word("Competition"), exact=True)
        self.press("link", name.capitalize(), within=tabs)

    def touch(self, control: Locator) -> None:
        control.tap() if self.look.touch else control.click()

    def field(self, key: str, *, within: Locator | None = None) -> Locator:
        """An input by its label, which may say in brackets that it need not be filled in."""
        marks = [self.word(" ({text})", text=self.word(mark)) for mark in ("optional", "one of the two")]
        label = re.compile(rf"^{re.escape(self.word(key))}({'|'.join(map(re.escape, marks))})?$")
        found = (within or self.page.locator("body")).get_by_label(label)
        return found.and_(self.page.locator("input, select, textarea"))

    def types(self, typed: Mapping[str, str]) -> None:
        """Fill in the fields of these labels."""
        for key, text in typed.items():
            self.field(key).fill(text)

    def chooses_file(self, key: str, content: bytes, *, name: str = "file.csv") -> None:
        payload: FilePayload = {"name": name, "mimeType": "text/csv", "buffer": content}
        self.field(key).set_input_files(payload)

    def opens(self, address: str) -> None:
        """By typing or pasting an address."""
        self.page.goto(address if "://" in address else self.looker.url + address)
        self.finds_no_fault()

    def sees(self, key: str, *, within: Locator | None = None, **parts: object) -> None:
        text = self.word(key, **parts)
        found = (within or self.page.locator("main")).get_by_text(text)
        expect(found.filter(visible=True).first).to_be_visible()

    def finds_no_fault(self) -> None:
        """The page as it stands is sound; what it holds is kept, to be searched for secrets."""
        self.read.append(self.page.content())
        faults = self.looker.faults()
        assert faults == [], (self.page.url, faults)

    def waits_for(self, wanted: Locator) -> None:
        """Load the page again until it shows what is awaited, as people do."""

        def shows() -> bool:
            self.page.wait_for_timeout(250)
            self.page.reload()
            return wanted.first.is_visible()

        assert wanted.first.is_visible() or eventually(shows), f"{self.page.url} does not show {wanted}"
        self.finds_no_fault()

    def told(self, path: str) -> Any:
        """What the interface answers to whoever is signed in in this browser."""
        return self.page.context.request.get(f"{self.looker.url}/api/v1{path}").json()


@contextmanager
def somebody(browser: Browser, url: str, look: Look) -> Iterator[Person]:
    """A browser of one's own, not signed in."""
    seen = looking(browser, url, language=look.language, size=look.size, touch=look.touch)
    with seen as looker:
        person = Person(looker, look)
        person.page.on("response", lambda answer: note(person, answer))
        person.page.on("requestfailed", lambda asked: broken(person, asked.url, asked.failure))
        yield person


def note(person: Person, answer: Response) -> None:
    if answer.status >= 400:
        person.looker.complaints.append(f"status {answer.status}: {answer.url}")


def broken(person: Person, url: str, failure: str | None) -> None:
    """What a page gives up itself, because somebody leaves it or downloads, is no failure."""
    if failure != "net::ERR_ABORTED":
        person.looker.complaints.append(f"{failure}: {url}")
