"""The matrix drawn by its script agrees with the table, with keyboard, zoom and replay."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from app.charts.heatmap import HeatmapHeader, HeatmapRow, HeatmapWords, build_heatmap
from app.charts.text import translate_words
from app.web.visitor.board_matrix import translate_script_texts
from tests.support.browser import SITE, STYLESHEET_LINKS, serve_page
from tests.support.chart_samples import EN, HOSTILE_NAMES, render_figure
from tests.web.browser.page_inspector import PageInspector, inspect_pages

pytestmark = pytest.mark.full

TARGETS, ATTACKERS = 60, 40
START = datetime(2027, 1, 1, tzinfo=UTC)
RATES = [
    [None if (row + column) % 7 == 0 else row * column % 41 / 40 for column in range(TARGETS)]
    for row in range(ATTACKERS)
]


def build_name(index: int) -> str:
    return f"{HOSTILE_NAMES[index % len(HOSTILE_NAMES)]} {index}"


def build_document() -> str:
    targets = [
        HeatmapHeader(f"T{place:02}", own=place == 5, note=build_name(place)) for place in range(TARGETS)
    ]
    rows = [
        HeatmapRow(HeatmapHeader(build_name(place), own=place == 7), RATES[place])
        for place in range(ATTACKERS)
    ]
    figure = render_figure(build_heatmap(targets, rows, translate_words(HeatmapWords, EN)), EN)
    words = json.dumps(translate_script_texts(EN)).replace("'", "&#39;")
    scripts = '<script src="/static/vendor/d3-7.9.2.min.js" defer></script>'
    scripts += '<script type="module" src="/static/matrix.js"></script>'
    head = f'<head><meta charset="utf-8"><title>Matrix</title>{STYLESHEET_LINKS}{scripts}</head>'
    attributes = f"data-words='{words}' data-attacks='/attacks' data-question='' data-zone='Asia/Tokyo'"
    place = f'<div id="standings" {attributes}>{figure}</div>'
    return f'<!doctype html><html lang="en">{head}<body><main><h1>Matrix</h1>{place}</main></body></html>'


def compute_improved_at(row: int, column: int) -> datetime:
    """Return the time of a cell's second, better guess; all are sent within the first minute."""
    return START + timedelta(seconds=(7 * row + column) % 60, milliseconds=row)


def build_history() -> dict[str, Any]:
    """Build a timeline with two guesses per cell; the second one has the final rate."""

    def build_steps(row: int, column: int, rate: float | None) -> list[dict[str, Any]]:
        if rate is None:
            return []
        first = {"at": START.isoformat(), "rate": rate / 2}
        return [first, {"at": compute_improved_at(row, column).isoformat(), "rate": rate}]

    return {
        "targets": [{"target": f"T{index:02}"} for index in range(TARGETS)],
        "rows": [
            {
                "attacker": build_name(row),
                "cells": [build_steps(row, column, rate) for column, rate in enumerate(rates)],
            }
            for row, rates in enumerate(RATES)
        ],
    }


def read_table_cell(inspector: PageInspector, row: int, column: int) -> str:
    cell = inspector.page.locator("#heatmap tbody tr").nth(row).locator("td").nth(column + 1)
    return str(cell.text_content())


def read_tip(inspector: PageInspector) -> str:
    """Return the tooltip's text without the marks that isolate right-to-left names."""
    return inspector.page.locator(".matrix_tip").inner_text().replace("\u2068", "").replace("\u2069", "")


def read_drawn_tenths(inspector: PageInspector, row: int) -> list[int]:
    """Return the rates of a matrix row in tenths, read from the colours of its cells from left to right."""
    paths = inspector.page.locator(".matrix_view > svg > svg").last.locator("path.cells")
    path_attributes = paths.evaluate_all(
        "all => all.map(one => [one.getAttribute('class'), one.getAttribute('d')])"
    )
    cells = [
        (float(y), float(x), int(css_class.split()[0].removeprefix("heat-")))
        for css_class, squares in path_attributes
        if css_class.startswith("heat-")
        for x, y in re.findall(r"M([\d.]+),([\d.]+)", squares)
    ]
    tops = sorted({y for y, _, _ in cells})
    return [tenth for y, _, tenth in sorted(cells) if y == tops[row]]


def test_matrix_of_60_targets_fits_and_agrees_with_the_table(browser: Browser) -> None:
    with inspect_pages(browser, SITE) as inspector:
        page = inspector.page
        serve_page(page, build_document)
        page.route("**/attacks", lambda route: route.fulfill(json=build_history()))
        inspector.go("/")
        view, table = page.locator(".matrix_view"), page.locator("#heatmap table")
        expect(view).to_be_visible()
        expect(table).to_be_hidden()
        assert inspector.collect_faults() == []
        assert page.locator(".matrix_names.across > div").count() == TARGETS
        view.focus()
        page.keyboard.press("Tab")  # only a focus reached by the keyboard is shown
        page.keyboard.press("Shift+Tab")
        for key in ["ArrowDown"] * 3 + ["ArrowRight"] * 2:
            page.keyboard.press(key)
        assert read_tip(inspector).endswith(read_table_cell(inspector, 3, 2))
        assert read_tip(inspector).startswith(f"{build_name(3)} → T02 {build_name(2)}")
        assert page.locator(".matrix_names .at").count() == 2
        page.keyboard.press("End")
        assert read_tip(inspector).endswith(f"→ T59 {build_name(59)}: {read_table_cell(inspector, 3, 59)}")
        for _ in range(5):
            page.keyboard.press("+")
        assert page.locator(".matrix_names.across > div").count() < TARGETS / 2
        numbers = page.locator(".matrix_view > svg > svg").last.locator("text").all_text_contents()
        last = [read_table_cell(inspector, 0, column) for column in range(TARGETS)]
        assert numbers[0] in last
        assert read_tip(inspector).endswith(read_table_cell(inspector, 3, 59))
        page.keyboard.press("0")
        assert page.locator(".matrix_names.across > div").count() == TARGETS
        page.keyboard.press("Home")
        page.get_by_role("button", name="Replay the attacks").click()
        page.get_by_role("button", name="Pause").click()
        slider = page.get_by_role("slider")
        last_improvement = max(
            compute_improved_at(row, column)
            for row in range(ATTACKERS)
            for column in range(TARGETS)
            if RATES[row][column] is not None
        )
        for share in (0.25, 0.75, 0.5, 1):
            slider.fill(str(int(1000 * share)))
            moment = START + share * (last_improvement - START)
            expected_rates = [
                rate if compute_improved_at(3, column) <= moment else rate / 2
                for column, rate in enumerate(RATES[3])
                if rate is not None
            ]
            assert read_drawn_tenths(inspector, 3) == [int(rate * 10 + 0.5) for rate in expected_rates]
        page.evaluate(
            "document.querySelector('.drawn').classList.remove('drawn')"
        )  # like an htmx swap of the board
        page.evaluate("document.dispatchEvent(new Event('htmx:after:swap'))")
        page.set_viewport_size({"width": 1000, "height": 900})
        expect(page.locator(".matrix_names.across > div")).to_have_count(TARGETS)
        assert [page.locator(selector).count() for selector in (".matrix_view", ".matrix_bar")] == [1, 1]
        page.get_by_role("button", name="The numbers as a table").click()
        expect(table).to_be_visible()
        page.emulate_media(media="print")
        expect(view).to_be_hidden()
        assert page.evaluate("document.querySelector('#heatmap table').offsetWidth <= innerWidth")
