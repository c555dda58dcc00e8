"""Script that takes the pictures for docs/ in a contest of 60 teams; it runs for several minutes.

Usage: ``python -m tests.browser.documentation_pictures docs/pictures``
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from app.core.identity.session_cookie import COOKIE
from app.main import create_served_app
from benchmarks.pages import run_application
from tests.support.browser import CHROMIUM, CHROMIUM_OPTIONS
from tests.support.cup_2015 import OUR_TEAM, SLUG, PlayedCup
from tests.support.wait import poll_until

COMPETITION_PATH = f"/competitions/{SLUG}"
WIDTH = 1280
EXACT_TEXT = "--font-render-hinting=none"
"""Without it letters stand at whole pixels, some too close and some too far apart."""
MAX_COLOURS = 256
"""Number of colours in a picture; with more it would be twice as large and look the same."""


@dataclass(frozen=True, slots=True)
class DocumentationPicture:
    """A page as seen by a visitor (empty ``viewer``), the ``team`` or the ``organizer``.

    ``link`` is a link to follow from ``path``. The picture ends below ``last_element`` and is taken after
    a second, when nothing moves any more.
    """

    name: str
    path: str
    last_element: str
    viewer: str = ""
    language: str = "en"
    is_dark: bool = False
    link: str = ""


BOARD, ROW = f"{COMPETITION_PATH}/boards/anonymization", "#standings tbody tr:nth-child({})"
OVERVIEW = DocumentationPicture("overview", COMPETITION_PATH, ".words")
SUBMISSION = DocumentationPicture(
    "submission",
    f"{COMPETITION_PATH}/submissions",
    "section:has(#attackers)",
    "team",
    link="a[href^='/submissions/']",
)
REPORT = DocumentationPicture(
    "report", f"{COMPETITION_PATH}/organize/threshold", ".cheats", "organizer", link="#reports th a"
)
FIRST_PHASE_PICTURES = (
    DocumentationPicture("board-ja-dark", BOARD, ROW.format(12), "team", "ja", is_dark=True),
    *(
        replace(picture, name=f"{picture.name}{suffix}", language=language)
        for picture in (OVERVIEW, SUBMISSION, REPORT)
        for suffix, language in (("", "en"), ("-ja", "ja"))
    ),
)
FINAL_PICTURES = (
    DocumentationPicture("board", BOARD, ROW.format(12), "team"),
    DocumentationPicture("matrix-ja", f"{COMPETITION_PATH}/boards/matrix", "#matrix", "team", "ja"),
    DocumentationPicture("team-ja", BOARD, ".columns", "team", "ja", link="tr.own a.called"),
)


@contextmanager
def serve_application() -> Iterator[str]:
    """Serve the application and yield its address."""
    server = uvicorn.Server(uvicorn.Config(create_served_app(), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert poll_until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def main(folder: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    with run_application() as client, sync_playwright() as playwright, serve_application() as url:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*CHROMIUM_OPTIONS, EXACT_TEXT])
        cup = PlayedCup.create(client)
        arena = cup.contest.arena
        sessions = {
            "team": arena.get_session(arena.get_team_token(OUR_TEAM)),
            "organizer": arena.get_session(arena.organizer_token),
        }
        for picture in FIRST_PHASE_PICTURES:
            take_picture(browser, url, picture, sessions.get(picture.viewer), Path(folder))
        cup.play_attacks()
        cup.close_cup()
        for picture in FINAL_PICTURES:
            take_picture(browser, url, picture, sessions.get(picture.viewer), Path(folder))
        browser.close()


def take_picture(
    browser: Browser, url: str, picture: DocumentationPicture, session: str | None, folder: Path
) -> None:
    context = browser.new_context(
        viewport={"width": WIDTH, "height": 900},
        device_scale_factor=2,
        locale=picture.language,
        color_scheme="dark" if picture.is_dark else "light",
        timezone_id="Asia/Tokyo",
    )
    if session:
        context.add_cookies([{"name": COOKIE, "value": session, "url": url}])
    page = context.new_page()
    page.goto(url + picture.path)
    if picture.link:
        page.locator(picture.link).first.click()
        page.wait_for_load_state()
    last_element = page.locator(picture.last_element).first
    last_element.wait_for()
    height = page.evaluate(
        "one => one.getBoundingClientRect().bottom + scrollY", last_element.element_handle()
    )
    page.set_viewport_size({"width": WIDTH, "height": round(height)})
    page.wait_for_timeout(1000)
    image = Image.open(BytesIO(page.screenshot()))
    image.convert("RGB").quantize(MAX_COLOURS, dither=Image.Dither.NONE).save(
        folder / f"{picture.name}.png", optimize=True
    )
    context.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
