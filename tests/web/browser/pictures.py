"""Pictures of the main pages for docs/, taken from a running demo:
``python -m tests.web.browser.pictures http://127.0.0.1:8000 .anoncup docs/pictures``"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.web.browser.conftest import CHROMIUM, QUIET
from tests.web.browser.looking import DESK, PHONE

TEAM, RIVAL, ORGANIZER = "member of ノイズ工房", "member of Mean machine", "demo organizer"


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as one person sees it; ``first``: the link that leads on from there."""

    name: str
    path: str
    who: str | None = None
    language: str = "en"
    size: str = "desk"
    dark: bool = False
    first: str = ""


PICTURES = (
    Picture("overview", "/competitions/demo-duel", who=RIVAL),
    Picture("overview-ja-phone", "/competitions/demo", language="ja", size="phone"),
    Picture("board", "/competitions/demo/boards/anonymization", who=TEAM),
    Picture("board-dark", "/competitions/demo-duel/boards/anonymization", dark=True),
    Picture("matrix-ja", "/competitions/demo-duel/boards/matrix", who=ORGANIZER, language="ja"),
    Picture("rules", "/competitions/demo/rules"),
    Picture("upload-ja", "/competitions/demo/submissions", who=TEAM, language="ja"),
    Picture("submission", "/competitions/demo/submissions", who=TEAM, first="a[href^='/submissions/']"),
    Picture("targets-ja-phone", "/competitions/demo-duel/targets", who=RIVAL, language="ja", size="phone"),
    Picture("data", "/competitions/demo/organize/data", who=ORGANIZER),
)


def main(url: str, data: str, folder: str) -> None:
    passwords = json.loads((Path(data) / "demo.json").read_text())["passwords"]
    Path(folder).mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        for picture in PICTURES:
            take(browser, url, picture, passwords.get(picture.who), Path(folder))
        browser.close()


def take(browser: Browser, url: str, picture: Picture, password: str | None, folder: Path) -> None:
    size = PHONE if picture.size == "phone" else DESK
    context = browser.new_context(
        viewport={"width": size["width"], "height": size["height"]},
        locale=picture.language,
        color_scheme="dark" if picture.dark else "light",
        timezone_id="Asia/Tokyo",
    )
    page = context.new_page()
    if picture.who and password:
        sign_in(page, url, picture.who, password)
    page.goto(url + picture.path)
    if picture.first:
        page.locator(picture.first).first.click()
        page.wait_for_load_state()
    page.wait_for_timeout(500)
    page.screenshot(path=folder / f"{picture.name}.png")
    context.close()


def sign_in(page: Page, url: str, name: str, password: str) -> None:
    page.goto(f"{url}/sign-in")
    page.fill("#name", name)
    page.fill("#password", password)
    page.press("#password", "Enter")
    page.wait_for_url(lambda address: "sign-in" not in address)


if __name__ == "__main__":
    main(*sys.argv[1:])
