"""The pictures of docs/, taken while a contest of 60 teams is played, which takes minutes:
``python -m tests.web.browser.pictures docs/pictures``"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from app.http.authentication import COOKIE
from app.main import served_app
from benchmarks.pages import serving
from tests.support.chromium import CHROMIUM, QUIET
from tests.support.cup_2015 import OURS, SLUG, Cup
from tests.support.wait import eventually

HERE = f"/competitions/{SLUG}"
PHONE = 390
COLOURS = 256
"""Of a picture: of more it would be twice as large, and look the same."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as one person sees it: a visitor, the ``team``, the ``organizer``. ``link``: what leads on from
    there; ``until``: the element that it ends below; ``after``: seconds until what moves is where it is wanted.
    """

    name: str
    path: str
    until: str
    who: str = ""
    language: str = "en"
    wide: int = 1280
    dark: bool = False
    link: str = ""
    after: float = 1.0


BOARD, ROW = f"{HERE}/boards/anonymization", "#standings tbody tr:nth-child({})"
OPEN = (
    Picture("overview", HERE, ".words"),
    Picture("board-ja-dark", BOARD, ROW.format(12), "team", "ja", dark=True),
    Picture(
        "submission",
        f"{HERE}/submissions",
        "section:has(#attackers)",
        "team",
        link="a[href^='/submissions/']",
    ),
    Picture("report", f"{HERE}/organize/threshold", "#errors", "organizer", link="#reports th a"),
)
ATTACKED = (
    Picture("overview-ja-phone", HERE, ".leads", "team", "ja", PHONE),
    Picture("board-ja-phone", BOARD, ROW.format(9), "team", "ja", PHONE, dark=True),
)
CLOSED = (
    Picture("board", BOARD, ROW.format(12), "team"),
    Picture("replay", f"{HERE}/boards/replay", ".scrub", "team", dark=True, after=13.0),
    Picture("matrix-ja", f"{HERE}/boards/matrix", ".matrix_view", "team", "ja"),
    Picture("team-ja", BOARD, ".course_steps", "team", "ja", link="tr.own a.called"),
)


@contextmanager
def served() -> Iterator[str]:
    """The address of the application, which answers as long as this lasts."""
    server = uvicorn.Server(uvicorn.Config(served_app(), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert eventually(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def main(folder: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    with serving() as client, sync_playwright() as playwright, served() as url:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        cup = Cup.opened(client)
        arena = cup.contest.arena
        sessions = {"team": arena.session(arena.team(OURS)), "organizer": arena.session(arena.organizer)}
        for pictures, move_on in ((OPEN, cup.attack), (ATTACKED, cup.close), (CLOSED, browser.close)):
            for picture in pictures:
                take(browser, url, picture, sessions.get(picture.who), Path(folder))
            move_on()


def take(browser: Browser, url: str, picture: Picture, session: str | None, folder: Path) -> None:
    context = browser.new_context(
        viewport={"width": picture.wide, "height": 900},
        device_scale_factor=2,
        locale=picture.language,
        color_scheme="dark" if picture.dark else "light",
        timezone_id="Asia/Tokyo",
    )
    if session:
        context.add_cookies([{"name": COOKIE, "value": session, "url": url}])
    page = context.new_page()
    page.goto(url + picture.path)
    if picture.link:
        page.locator(picture.link).first.click()
        page.wait_for_load_state()
    last = page.locator(picture.until).first
    last.wait_for()
    tall = page.evaluate("one => one.getBoundingClientRect().bottom + scrollY", last.element_handle())
    page.set_viewport_size({"width": picture.wide, "height": round(tall)})
    page.wait_for_timeout(1000 * picture.after)
    taken = Image.open(BytesIO(page.screenshot()))
    taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
        folder / f"{picture.name}.png", optimize=True
    )
    context.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
