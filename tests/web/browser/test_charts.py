"""Charts in a real browser: policy, accessibility, size of texts, and no overlapping labels."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, expect

from anoncup.rules.settings import Excessive
from anoncup.schemas.advice import EXAMPLE, parse_advice
from anoncup.schemas.verdicts import Excess, Histogram
from app.locale.language import Translator, load_translator
from app.web.organizer.threshold_chart import draw_threshold_errors
from app.web.site.notation import localize_number
from app.web.site.pages import templates
from app.web.site.score_chart import draw_scores
from app.web.site.vega import Chart
from app.web.team.distances_chart import draw_distances
from app.web.team.verdicts import ThresholdComparison
from app.web.visitor.distribution_chart import DistributionChoice, draw_distribution
from app.web.visitor.history_chart import Series, draw_history
from app.web.visitor.scatter_chart import draw_scatter
from tests.support.browser import SITE, STYLESHEET_LINKS, serve_page
from tests.support.visitor_pages import build_board_from_rows, build_row
from tests.web.browser.page_inspector import DESKTOP, PHONE, inspect_pages

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
    all_series = [
        Series(
            name, own=index == 0, steps=[(at, y + x) for at, x in zip(moments, (0.3, 0.1, 0), strict=True)]
        )
        for index, (name, (_, y)) in enumerate(zip(names, values, strict=True))
    ]
    comparison = ThresholdComparison(
        Excessive(), compared_distance="largest", value=0.4, percent=None, is_over=True
    )
    titles = t("Each team’s best score over time"), t("Overall score (lower is better)")
    return [
        draw_scatter(board, t, with_levels=True),
        draw_distribution(board, DistributionChoice("overall", t("Overall")), t),
        draw_history("history", titles, all_series, t, zone="Asia/Tokyo"),
        draw_scores(all_series[0].steps, [1.0] * 3, titles, t, zone="Asia/Tokyo"),  # type: ignore[arg-type]
        draw_distances(EXCESS, comparison, t),
        draw_threshold_errors(parse_advice(EXAMPLE), t),
    ]


def build_document(team_count: int, language: str) -> str:
    t = load_translator(language)
    body = templates.env.from_string(
        "{% from 'site/chart.html' import chart with context %}{% for item in charts %}{{ chart(item) }}{% endfor %}"
    ).render(_=t, numeral=lambda value: localize_number(value, t), charts=draw_charts(team_count, t))
    view = '<meta name="viewport" content="width=device-width">'
    script = '<script type="module" src="/static/vega_charts.js"></script>'
    head = f'<head><meta charset="utf-8"><title>Charts</title>{view}{STYLESHEET_LINKS}{script}</head>'
    return (
        f'<!doctype html><html lang="{language}">{head}<body><main><h1>Charts</h1>{body}</main></body></html>'
    )


@pytest.mark.parametrize("team_count", [1, 4, 60])
@pytest.mark.parametrize(("size", "is_dark", "language"), DISPLAYS)
def test_charts_are_accessible_legible_and_labels_do_not_overlap(
    browser: Browser, team_count: int, size: dict[str, int], is_dark: bool, language: str
) -> None:
    with inspect_pages(browser, SITE, size=size, is_dark=is_dark, language=language) as inspector:
        page = inspector.page
        serve_page(page, lambda: build_document(team_count, language))
        inspector.go("/")
        for drawing in page.locator(".drawing").all():
            drawing.scroll_into_view_if_needed()
            expect(drawing.locator("svg")).to_be_visible()
        assert inspector.collect_faults() == []
        assert page.evaluate(TEXTS_SCRIPT) == []
        assert page.evaluate(OVERLAPS_SCRIPT) == []


def test_point_under_the_pointer_is_described(browser: Browser) -> None:
    with inspect_pages(browser, SITE) as inspector:
        page = inspector.page
        serve_page(page, lambda: build_document(4, "en"))
        inspector.go("/")
        point = page.locator("#distribution .mark-symbol.role-mark path").first
        page.locator("#distribution").scroll_into_view_if_needed()
        point.hover()
        assert page.locator(".tip").inner_text() == point.get_attribute("aria-label")
        page.keyboard.press("Escape")
        assert page.locator(".tip").is_hidden()


def test_numbers_are_open_without_scripts(browser: Browser) -> None:
    page = browser.new_page(java_script_enabled=False)
    serve_page(page, lambda: build_document(4, "en"))
    page.goto(SITE)
    assert page.locator(".chart table").count() == len(draw_charts(4, load_translator("en")))
    assert page.evaluate(
        "[...document.querySelectorAll('.numbers td')].every(cell => cell.checkVisibility())"
    )
    page.close()
