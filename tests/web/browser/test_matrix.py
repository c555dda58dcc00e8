"""The matrix drawn by its script agrees with the table, with keyboard and zoom."""

import json

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
    place = f"<div id='standings' data-words='{words}'>{figure}</div>"
    return f'<!doctype html><html lang="en">{head}<body><main><h1>Matrix</h1>{place}</main></body></html>'


def read_table_cell(inspector: PageInspector, row: int, column: int) -> str:
    cell = inspector.page.locator("#heatmap tbody tr").nth(row).locator("td").nth(column + 1)
    return str(cell.text_content())


def read_tip(inspector: PageInspector) -> str:
    """Return the tooltip's text without the marks that isolate right-to-left names."""
    return inspector.page.locator(".matrix_tip").inner_text().replace("\u2068", "").replace("\u2069", "")


def test_matrix_of_60_targets_fits_and_agrees_with_the_table(browser: Browser) -> None:
    with inspect_pages(browser, SITE) as inspector:
        page = inspector.page
        serve_page(page, build_document)
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
