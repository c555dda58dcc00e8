"""The matrix as its script draws it: the same numbers as the table's, by keyboard, pointer and enlarged."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from app.charts.heatmap import Heading, HeatRow, HeatWords, heatmap
from app.charts.text import worded
from app.http.middleware import HEADERS
from app.web.site.pages import static_files
from app.web.visitor.board_matrix import script_words
from tests.support.chart_pages import KINDS, SHEETS, SITE
from tests.web.browser.looking import Looker, looking
from tests.web.figures import EN, HOSTILE, rendered

pytestmark = pytest.mark.full

TARGETS, ATTACKERS = 60, 40
START = datetime(2027, 1, 1, tzinfo=UTC)
RATES = [
    [None if (row + column) % 7 == 0 else row * column % 41 / 40 for column in range(TARGETS)]
    for row in range(ATTACKERS)
]


def named(place: int) -> str:
    return f"{HOSTILE[place % len(HOSTILE)]} {place}"


def document() -> str:
    targets = [Heading(f"T{place:02}", own=place == 5, note=named(place)) for place in range(TARGETS)]
    rows = [HeatRow(Heading(named(place), own=place == 7), RATES[place]) for place in range(ATTACKERS)]
    figure = rendered(heatmap(targets, rows, worded(HeatWords, EN)), EN)
    words = json.dumps(script_words(EN)).replace("'", "&#39;")
    scripts = '<script src="/static/vendor/d3-7.9.2.min.js" defer></script>'
    scripts += '<script type="module" src="/static/matrix.js"></script>'
    head = f'<head><meta charset="utf-8"><title>Matrix</title>{SHEETS}{scripts}</head>'
    more = f"data-words='{words}' data-attacks='/attacks' data-question='' data-zone='Asia/Tokyo'"
    place = f'<div id="standings" {more}>{figure}</div>'
    return f'<!doctype html><html lang="en">{head}<body><main><h1>Matrix</h1>{place}</main></body></html>'


def received(row: int, column: int) -> datetime:
    """When a better guess than the first was: all are sent within a minute, the first guesses before it."""
    return START + timedelta(seconds=(7 * row + column) % 60, milliseconds=row)


def history() -> dict[str, Any]:
    """Of each cell two guesses: what it holds at the end was found by the second."""

    def steps(row: int, column: int, rate: float | None) -> list[dict[str, Any]]:
        if rate is None:
            return []
        first = {"at": START.isoformat(), "rate": rate / 2}
        return [first, {"at": received(row, column).isoformat(), "rate": rate}]

    return {
        "targets": [{"target": f"T{place:02}"} for place in range(TARGETS)],
        "rows": [
            {"attacker": named(row), "cells": [steps(row, column, rate) for column, rate in enumerate(rates)]}
            for row, rates in enumerate(RATES)
        ],
    }


def answer(route: Route) -> None:
    path = route.request.url.removeprefix(SITE)
    if path == "/attacks":
        route.fulfill(json=history())
    elif path == "/":
        route.fulfill(body=document(), content_type="text/html; charset=utf-8", headers=HEADERS)
    else:
        found, _ = static_files.lookup_path(path.removeprefix("/static/"))
        route.fulfill(path=found, content_type=KINDS[path.rpartition(".")[2]])


def in_table(looker: Looker, row: int, column: int) -> str:
    cell = looker.page.locator("#heatmap tbody tr").nth(row).locator("td").nth(column + 1)
    return str(cell.text_content())


def said(looker: Looker) -> str:
    """Without the marks that keep names apart which are read from right to left."""
    return looker.page.locator(".matrix_tip").inner_text().replace("\u2068", "").replace("\u2069", "")


def drawn(looker: Looker, row: int) -> list[int]:
    """The tenths that a row of the whole matrix has by its colours, from left to right."""
    paths = looker.page.locator(".matrix_view > svg > svg").last.locator("path.cells")
    shown = paths.evaluate_all("all => all.map(one => [one.getAttribute('class'), one.getAttribute('d')])")
    cells = [
        (float(y), float(x), int(kind.split()[0].removeprefix("heat-")))
        for kind, squares in shown
        if kind.startswith("heat-")
        for x, y in re.findall(r"M([\d.]+),([\d.]+)", squares)
    ]
    tops = sorted({y for y, _, _ in cells})
    return [tenth for y, _, tenth in sorted(cells) if y == tops[row]]


def test_sixty_targets_fit_and_every_cell_says_what_the_table_does(browser: Browser) -> None:
    with looking(browser, SITE) as looker:
        page = looker.page
        page.route("**/*", answer)
        looker.go("/")
        view, table = page.locator(".matrix_view"), page.locator("#heatmap table")
        expect(view).to_be_visible()
        expect(table).to_be_hidden()
        assert looker.faults() == []
        assert page.locator(".matrix_names.across > div").count() == TARGETS
        view.focus()
        page.keyboard.press("Tab")  # a press of a key shows the focus of what it leads to
        page.keyboard.press("Shift+Tab")
        for key in ["ArrowDown"] * 3 + ["ArrowRight"] * 2:
            page.keyboard.press(key)
        assert said(looker).endswith(in_table(looker, 3, 2))
        assert said(looker).startswith(f"{named(3)} → T02 {named(2)}")
        assert page.locator(".matrix_names .at").count() == 2
        page.keyboard.press("End")
        assert said(looker).endswith(f"→ T59 {named(59)}: {in_table(looker, 3, 59)}")
        for _ in range(5):
            page.keyboard.press("+")
        assert page.locator(".matrix_names.across > div").count() < TARGETS / 2
        numbers = page.locator(".matrix_view > svg > svg").last.locator("text").all_text_contents()
        last = [in_table(looker, 0, column) for column in range(TARGETS)]
        assert numbers[0] in last
        assert said(looker).endswith(in_table(looker, 3, 59))
        page.keyboard.press("0")
        assert page.locator(".matrix_names.across > div").count() == TARGETS
        page.keyboard.press("Home")
        page.get_by_role("button", name="Replay the attacks").click()
        page.get_by_role("button", name="Pause").click()
        slider = page.get_by_role("slider")
        ended = max(
            received(row, column)
            for row in range(ATTACKERS)
            for column in range(TARGETS)
            if RATES[row][column] is not None
        )
        for share in (0.25, 0.75, 0.5, 1):
            slider.fill(str(int(1000 * share)))
            reached = START + share * (ended - START)
            arrived = [
                rate if received(3, column) <= reached else rate / 2
                for column, rate in enumerate(RATES[3])
                if rate is not None
            ]
            assert drawn(looker, 3) == [int(rate * 10 + 0.5) for rate in arrived]
        page.evaluate("document.querySelector('.drawn').classList.remove('drawn')")  # as an exchange does
        page.evaluate("document.dispatchEvent(new Event('htmx:after:swap'))")
        page.set_viewport_size({"width": 1000, "height": 900})
        expect(page.locator(".matrix_names.across > div")).to_have_count(TARGETS)
        assert [page.locator(one).count() for one in (".matrix_view", ".matrix_bar")] == [1, 1]
        page.get_by_role("button", name="The numbers as a table").click()
        expect(table).to_be_visible()
        page.emulate_media(media="print")
        expect(view).to_be_hidden()
        assert page.evaluate("document.querySelector('#heatmap table').offsetWidth <= innerWidth")
