"""Script that takes the pictures for docs/ of the contests of ``anoncup demo``; it runs for several minutes.

Usage: ``python -m tests.browser.documentation_pictures docs/pictures``
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.support.browser import CHROMIUM, CHROMIUM_OPTIONS
from tests.support.service_processes import build_own_environment, find_free_port

OPEN, CLOSED = "/competitions/demo", "/competitions/demo-duel"
WIDTH = 1280
EXACT_TEXT = "--font-render-hinting=none"
"""Without it letters stand at whole pixels, some too close and some too far apart."""
MAX_COLOURS = 256
"""Number of colours in a picture; with more it would be twice as large and look the same."""


@dataclass(frozen=True, slots=True)
class DocumentationPicture:
    """A page as the account named ``viewer`` sees it.

    ``link`` is a link to follow from ``path``. The picture ends below ``last_element`` and is taken after
    a second, when nothing moves any more.
    """

    name: str
    path: str
    last_element: str
    viewer: str = "member of 平均の会"
    language: str = "en"
    is_dark: bool = False
    link: str = ""


BOARD = DocumentationPicture("board", f"{OPEN}/boards/anonymization", "#scatter")
REPORT = DocumentationPicture(
    "report", f"{OPEN}/organize/threshold", ".cheats", "demo organizer", link="#reports th a"
)
BILINGUAL_PICTURES = (
    DocumentationPicture("overview", OPEN, "#scatter"),
    DocumentationPicture(
        "submission",
        f"{OPEN}/submissions",
        "section:has(#attackers)",
        link="a[href^='/submissions/']",
    ),
    REPORT,
)
PICTURES = (
    *BILINGUAL_PICTURES,
    *(replace(picture, name=f"{picture.name}-ja", language="ja") for picture in BILINGUAL_PICTURES),
    BOARD,
    replace(BOARD, name="board-ja-dark", language="ja", is_dark=True),
    DocumentationPicture("matrix-ja", f"{CLOSED}/boards/matrix", "#matrix", "member of 雑音団", "ja"),
    DocumentationPicture(
        "team-ja",
        f"{CLOSED}/boards/anonymization",
        ".columns",
        "member of 雑音団",
        "ja",
        link="tr.own a.called",
    ),
)


@contextmanager
def run_demo(data: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Run the demo until it is played; yield its address and the passwords by account."""
    program = str(Path(sys.executable).parent / "anoncup")
    command = [program, "demo", "--port", str(find_free_port()), "--data", str(data)]
    with subprocess.Popen(command, env=build_own_environment(), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            url = next(line.split()[1] for line in process.stdout if line.startswith("ready: "))
            accounts = json.loads((data / "demo.json").read_text())["accounts"]
            yield url, {account["name"]: account["password"] for account in accounts}
        finally:
            process.terminate()


def main(folder: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory() as data,
        run_demo(Path(data)) as (url, passwords),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*CHROMIUM_OPTIONS, EXACT_TEXT])
        ask_for_report(browser, url, passwords)
        for picture in PICTURES:
            take_picture(browser, url, picture, passwords, Path(folder))
        browser.close()


def ask_for_report(browser: Browser, url: str, passwords: dict[str, str]) -> None:
    with browser.new_context(locale="en") as context:
        sign_in(context, url, REPORT.viewer, passwords)
        page = context.new_page()
        page.goto(url + REPORT.path)
        page.get_by_role("button", name="Ask for a report").click()
        page.locator(REPORT.last_element).first.wait_for(timeout=300_000)


def sign_in(context: BrowserContext, url: str, name: str, passwords: dict[str, str]) -> None:
    headers = {"Sec-Fetch-Site": "same-origin"}
    fields: dict[str, str | float | bool] = {"name": name, "password": passwords[name]}
    assert context.request.post(f"{url}/sign-in", form=fields, headers=headers).ok


def take_picture(
    browser: Browser, url: str, picture: DocumentationPicture, passwords: dict[str, str], folder: Path
) -> None:
    context = browser.new_context(
        viewport={"width": WIDTH, "height": 900},
        device_scale_factor=2,
        locale=picture.language,
        color_scheme="dark" if picture.is_dark else "light",
        timezone_id="Asia/Tokyo",
    )
    sign_in(context, url, picture.viewer, passwords)
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
