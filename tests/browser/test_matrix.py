"""A matrix of 60 targets fits the page and paper; without scripts its cells have numbers."""

from typing import get_args

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from anoncup.schemas import Cell, Matrix, MatrixRow, MatrixTarget
from app.boards.pages import OpenMatrix
from tests.browser.page_inspector import PHONE, inspect_pages
from tests.support.browser import SITE, serve_page
from tests.support.contest import Contest
from tests.support.visitor_pages import get_board_page

pytestmark = pytest.mark.full

COUNT = 60
HOSTILE_NAMES = ("<script>alert(1)</script>", "いろはにほへとちりぬるをわかよたれそ", "פרטיות", "W" * 80)
COLOUR_SCRIPT = "getComputedStyle(document.querySelector('#matrix tbody td:nth-child(4)')).color"
WIDTH_SCRIPT = "document.querySelector('#matrix').offsetWidth"


def build_name(index: int) -> str:
    return f"{HOSTILE_NAMES[index % len(HOSTILE_NAMES)]} {index}"


def build_cell(row: int, column: int) -> Cell | None:
    return None if row == column else Cell(correct=None, rate=row * column % 41 / 40, trials=1)


def build_matrix() -> Matrix:
    return Matrix(
        competition="small",
        title={},
        hidden=False,
        counted=True,
        questions=("link",),
        targets=tuple(
            MatrixTarget(target=f"T{index:02}", rows=9, own=index == 5, team=build_name(index))
            for index in range(COUNT)
        ),
        rows=tuple(
            MatrixRow(
                attacker=build_name(row),
                built_in=False,
                own=row == 7,
                cells=tuple(build_cell(row, column) for column in range(COUNT)),
            )
            for row in range(COUNT)
        ),
    )


@pytest.fixture
def document(client: TestClient) -> str:
    contest = Contest.create(client)
    assert isinstance(client.app, FastAPI)
    client.app.dependency_overrides[get_args(OpenMatrix)[1].dependency] = build_matrix
    return get_board_page(contest.arena, "matrix").replace("data-live", "data-still")  # no API


def test_matrix_fits_and_shows_the_rate_at_the_pointer(browser: Browser, document: str) -> None:
    with inspect_pages(browser, SITE) as inspector:
        page = inspector.page
        serve_page(page, lambda: document)
        inspector.check_page("/")
        assert page.evaluate(WIDTH_SCRIPT) < 1280
        assert page.evaluate(COLOUR_SCRIPT) == "rgba(0, 0, 0, 0)"
        page.locator("#matrix tbody tr").nth(3).locator("td").nth(2).hover()
        assert page.locator(".tip").inner_text() == f"{build_name(3)} → T02 {build_name(2)}: 0.15"
        page.set_viewport_size({"width": 718, "height": 1000})  # A4
        page.emulate_media(media="print")
        assert page.evaluate(WIDTH_SCRIPT) < 718


def test_matrix_fits_a_phone_in_the_dark(browser: Browser, document: str) -> None:
    with inspect_pages(browser, SITE, size=PHONE, is_dark=True) as inspector:
        serve_page(inspector.page, lambda: document)
        inspector.check_page("/")


def test_cells_have_numbers_without_scripts(browser: Browser, document: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    serve_page(page, lambda: document)
    page.goto(SITE)
    cell = page.locator("#matrix tbody td").nth(2)
    assert (cell.inner_text(), page.evaluate(COLOUR_SCRIPT)) == ("0", "rgb(22, 36, 43)")
    page.close()
