"""Charts in a real browser: policy, accessibility, labels, pointer, zoom, search and paper."""

import random
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from anoncup.rules.settings import Excessive
from anoncup.schemas import History, HistoryStep, HistoryTeam
from anoncup.schemas.advice import parse_advice
from anoncup.schemas.verdicts import Excess, Histogram
from app.boards.distribution_chart import draw_distribution
from app.boards.history_chart import draw_history
from app.boards.scatter_chart import draw_scatter
from app.boards.standing_pages import SCORE_COLUMNS
from app.core.locale.language import Translator, load_translator
from app.core.pages.notation import localize_number
from app.core.pages.pages import templates
from app.core.pages.vega import Chart
from app.setup.threshold_chart import draw_threshold_errors
from app.submissions.charts import draw_distances
from app.submissions.verdict_parts import ThresholdComparison
from tests.browser.page_inspector import DESKTOP, PHONE, inspect_pages
from tests.recorded import REPORT
from tests.support.browser import SITE, STYLESHEET_LINKS, serve_page
from tests.support.visitor_pages import build_board_from_rows, build_row

pytestmark = pytest.mark.full

HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    "いろはにほへとちりぬるをわかよたれそつねならむうゐのおくやまけふこえてあさきゆめみしゑひもせすん",
    "פרטיות \u202eשמורה",
    "{braces} {0} %s",
    "W" * 80,
)
START = datetime(2026, 7, 1, tzinfo=UTC)
EXCESS = Excess(
    distance="gower", mean=0.12, max=0.4, threshold=0.25, histogram=Histogram(counts=[9, 4, 0, 2], end=0.4)
)
TEXTS_SCRIPT = """[...document.querySelectorAll('.drawing svg')].flatMap(svg => {
  const outer = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')]
    .filter(text => text.textContent && +getComputedStyle(text).opacity && !text.closest('[clip-path]'))
    .map(text => [text, text.getBoundingClientRect()])
    .filter(([text, box]) => box.left < outer.left - 2 || box.right > outer.right + 2
      || parseFloat(getComputedStyle(text).fontSize) < 10)
    .map(([text]) => text.textContent);
})"""
OVERLAPS_SCRIPT = """[...document.querySelectorAll('.drawing svg')].flatMap(svg => {
  const labels = [...svg.querySelectorAll(':is(.podium_marks, .labels_marks) text')]
    .filter(text => text.textContent && +getComputedStyle(text).opacity);
  const boxes = labels.map(text => [text.textContent, text.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 5 && b.top < a.bottom - 5;
  return boxes.flatMap(([text, box], index) => boxes.slice(index + 1)
    .filter(([, other]) => meet(box, other)).map(([other]) => [text, other]));
})"""
# A browser stops painting at dashed lines far longer than the screen.
LONG_LINES_SCRIPT = (
    "[...document.querySelectorAll('svg line')].filter(line => line.getTotalLength() > 3000).length"
)
DISPLAYS = [(DESKTOP, False, "en"), (PHONE, True, "ja"), (DESKTOP, True, "ja"), (PHONE, False, "en")]


def draw_charts(team_count: int, t: Translator) -> list[Chart | None]:
    generator = random.Random(team_count)
    values = [(generator.betavariate(2, 6), generator.betavariate(2, 4)) for _ in range(team_count)]
    names = [f"{HOSTILE_NAMES[index % len(HOSTILE_NAMES)]} {index}" for index in range(team_count)]
    board = build_board_from_rows(
        *(
            build_row(
                rank, team=name, own=rank == 1, utility=x, security=y, overall=(x + y) / 2, on_front=rank < 4
            )
            for rank, (name, (x, y)) in enumerate(zip(names, values, strict=True), start=1)
        )
    )
    moments = [START + timedelta(hours=7 * index) for index in range(3)]
    steps = [
        [
            HistoryStep(at=at, rank=None, overall=y + x, utility=None, security=None, score=None)
            for at, x in zip(moments, (0.3, 0.1, 0), strict=True)
        ]
        for _, y in values
    ]
    teams = [
        HistoryTeam(team_id=uuid4(), team=name, own=index == 0, baseline=False, steps=tuple(steps[index]))
        for index, name in enumerate(names)
    ]
    history = History(
        competition="small", title={"en": "Small"}, frozen_from=None, digits=None, teams=tuple(teams)
    )
    comparison = ThresholdComparison(
        Excessive(), compared_distance="largest", value=0.4, percent=None, is_over=True
    )
    return [
        draw_scatter(board, t, with_levels=True),
        draw_distribution(board, SCORE_COLUMNS[0], t),
        draw_history(history, t, zone="Asia/Tokyo"),
        draw_distances(EXCESS, comparison, t),
        draw_threshold_errors(parse_advice(REPORT), t),
    ]


def build_document(team_count: int, language: str) -> str:
    t = load_translator(language)
    body = templates.env.from_string(
        "{% from 'core/chart.html' import chart with context %}{% for item in charts %}{{ chart(item) }}{% endfor %}"
    ).render(_=t, numeral=lambda value: localize_number(value, t), charts=draw_charts(team_count, t))
    view = '<meta name="viewport" content="width=device-width">'
    script = '<script type="module" src="/static/vega_charts.js"></script>'
    head = f'<head><meta charset="utf-8"><title>Charts</title>{view}{STYLESHEET_LINKS}{script}</head>'
    return (
        f'<!doctype html><html lang="{language}">{head}<body><main><h1>Charts</h1>{body}</main></body></html>'
    )


def show_charts(page: Page, team_count: int, language: str = "en") -> None:
    """Show the charts with the site's own headers and style sheets."""
    serve_page(page, lambda: build_document(team_count, language))
    page.goto(SITE)
    expect(page.locator("#scatter svg")).to_be_visible()


@pytest.mark.parametrize("team_count", [1, 4, 60])
@pytest.mark.parametrize(("size", "is_dark", "language"), DISPLAYS)
def test_charts_are_accessible_legible_and_labels_do_not_overlap(
    browser: Browser, team_count: int, size: dict[str, int], is_dark: bool, language: str
) -> None:
    with inspect_pages(browser, SITE, size=size, is_dark=is_dark, language=language) as inspector:
        show_charts(inspector.page, team_count, language)
        for drawing in inspector.page.locator(".drawing").all():
            drawing.scroll_into_view_if_needed()
            expect(drawing.locator("svg")).to_be_visible()
        assert inspector.collect_faults() == []
        assert inspector.page.evaluate(TEXTS_SCRIPT) == []
        assert inspector.page.evaluate(OVERLAPS_SCRIPT) == []
        assert inspector.page.evaluate(LONG_LINES_SCRIPT) == 0


def test_point_under_the_pointer_is_described(browser: Browser) -> None:
    with inspect_pages(browser, SITE) as inspector:
        page = inspector.page
        show_charts(page, 4)
        point = page.locator("#distribution .mark-symbol.role-mark path").first
        page.locator("#distribution").scroll_into_view_if_needed()
        point.hover()
        assert page.locator(".tip").inner_text() == point.get_attribute("aria-label")
        page.keyboard.press("Escape")
        assert page.locator(".tip").is_hidden()


def find_point(page: Page, index: int) -> Locator:
    return page.locator(f'#scatter .mark-symbol path[aria-label*=" {index}\u2069"]')


def test_wheel_zooms_only_with_control_and_a_button_resets_the_view(browser: Browser) -> None:
    with inspect_pages(browser, SITE) as inspector:
        page = inspector.page
        show_charts(page, 60)
        point, drawing = find_point(page, 0), page.locator("#scatter .drawing")
        home = point.get_attribute("transform") or ""
        drawing.hover()
        page.mouse.wheel(0, 50)  # scrolls the page
        expect(point).to_have_attribute("transform", home)
        drawing.hover()
        page.keyboard.down("Control")
        page.mouse.wheel(0, -300)
        page.keyboard.up("Control")
        expect(point).not_to_have_attribute("transform", home)
        page.locator("#scatter").get_by_role("button", name="Reset the view").click()
        expect(point).to_have_attribute("transform", home)
        assert page.evaluate(OVERLAPS_SCRIPT) == []
        assert inspector.collect_faults() == []


def test_drawings_fit_the_paper_and_the_screen_again(browser: Browser) -> None:
    with inspect_pages(browser, SITE) as inspector:
        page = inspector.page
        show_charts(page, 4)
        drawing = page.locator("#scatter svg")
        screen_width = drawing.get_attribute("width") or ""
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(drawing).to_have_attribute("width", "680")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        expect(drawing).to_have_attribute("width", screen_width)


def test_numbers_are_open_without_scripts(browser: Browser) -> None:
    page = browser.new_page(java_script_enabled=False)
    serve_page(page, lambda: build_document(4, "en"))
    page.goto(SITE)
    assert page.locator(".chart table").count() == len(draw_charts(4, load_translator("en")))
    assert page.evaluate(
        "[...document.querySelectorAll('.numbers td')].every(cell => cell.checkVisibility())"
    )
    assert page.get_by_role("button").count() == 0
    page.close()
