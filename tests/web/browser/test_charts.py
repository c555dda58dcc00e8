"""Charts in a real browser: policy, font sizes, overlapping labels, keyboard and pointer."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect

from app.locale.language import Translator
from tests.support.browser import SITE, STYLESHEET_LINKS, serve_page
from tests.support.chart_samples import CHARTS, EN, JA, SAMPLE_VALUES, render_figure
from tests.web.browser.page_inspector import DESKTOP, PHONE, PageInspector, inspect_pages

pytestmark = pytest.mark.full

FONT_SIZES_SCRIPT = """[...document.querySelectorAll('.picture text')].map(each =>
  parseFloat(getComputedStyle(each).fontSize)
    * each.ownerSVGElement.clientWidth / each.ownerSVGElement.viewBox.baseVal.width)"""
OUTSIDE_TEXTS_SCRIPT = """[...document.querySelectorAll('.picture text')].filter(each => {
  const own = each.getBoundingClientRect(), all = each.ownerSVGElement.getBoundingClientRect();
  const across = own.left >= all.left - 2 && own.right <= all.right + 2;
  return !across || own.top < all.top - 2 || own.bottom > all.bottom + 2;
}).map(each => each.textContent)"""
OVERLAPPING_TEXTS_SCRIPT = """[...document.querySelectorAll('.picture')].flatMap(picture => {
  const texts = [...picture.querySelectorAll('text')];
  const boxes = texts.map(each => [each.textContent, each.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 3 && b.top < a.bottom - 3;
  return boxes.flatMap(([said, box], at) => boxes.slice(at + 1)
    .filter(([, other]) => meet(box, other)).map(([other]) => [picture.parentNode.id, said, other]));
})"""
DISPLAYS = [(DESKTOP, False, "en"), (PHONE, True, "ja"), (DESKTOP, True, "ja"), (PHONE, False, "en")]


def build_document(data: list[float], words: Translator, language: str) -> str:
    figures = "".join(render_figure(chart(data, words), words) for chart in CHARTS.values())
    view = '<meta name="viewport" content="width=device-width">'
    script = '<script type="module" src="/static/charts.js"></script>'
    head = f'<head><meta charset="utf-8"><title>Charts</title>{view}{STYLESHEET_LINKS}{script}</head>'
    body = f"<body><main><h1>Charts</h1>{figures}</main></body>"
    return f'<!doctype html><html lang="{language}">{head}{body}</html>'


@contextmanager
def show_charts(
    browser: Browser,
    data: list[float],
    *,
    size: dict[str, int] = DESKTOP,
    is_dark: bool = False,
    language: str = "en",
) -> Iterator[PageInspector]:
    """Show all charts of the data on one page with the site's own headers and style sheets."""
    page = build_document(data, JA if language == "ja" else EN, language)
    with inspect_pages(browser, SITE, size=size, is_dark=is_dark, language=language) as inspector:
        serve_page(inspector.page, lambda: page)
        inspector.go("/")
        yield inspector


@pytest.mark.parametrize("data", ["a few", "five hundred", "nothing", "one", "tiny"])
@pytest.mark.parametrize(("size", "is_dark", "language"), DISPLAYS)
def test_charts_are_accessible_legible_and_labels_do_not_overlap(
    browser: Browser, data: str, size: dict[str, int], is_dark: bool, language: str
) -> None:
    shown_data = SAMPLE_VALUES[data][:60]
    with show_charts(browser, shown_data, size=size, is_dark=is_dark, language=language) as inspector:
        assert inspector.collect_faults() == []
        assert min(inspector.page.evaluate(FONT_SIZES_SCRIPT)) >= 10
        assert inspector.page.evaluate(OUTSIDE_TEXTS_SCRIPT) == []
        assert inspector.page.evaluate(OVERLAPPING_TEXTS_SCRIPT) == []


def test_arrow_keys_move_between_points_and_show_labels(browser: Browser) -> None:
    with show_charts(browser, SAMPLE_VALUES["a few"]) as inspector:
        page = inspector.page
        tip, focused = page.locator(".tip"), "document.activeElement.getAttribute('aria-label')"
        page.locator("#scatter .true [tabindex]").focus()
        labels = [page.evaluate(focused)]
        assert tip.inner_text().split() == labels[0].split()
        for key in ("Home", *["ArrowRight"] * 5):
            page.keyboard.press(key)
            labels.append(page.evaluate(focused))
            assert tip.inner_text().split() == labels[-1].split()
        losses = [float(label.split("utility loss ")[1].split(",")[0]) for label in labels[1:]]
        assert losses == sorted(SAMPLE_VALUES["a few"])
        assert page.locator("#scatter .picture [tabindex]").count() == 1
        page.keyboard.press("Escape")
        assert tip.is_hidden()


VISIBLE_COUNT_SCRIPT = """[...document.querySelectorAll('#scatter .true [role=img]:not(.out)')].length"""
NAMES_SCRIPT = "[...document.querySelectorAll('#scatter .true .names text')].map(each => each.textContent)"
DISTANCE_SCRIPT = """(([one, other]) => other.getCTM().e - one.getCTM().e)(
  [...document.querySelectorAll('#scatter .true .others [role=img]')])"""


def test_scatter_zooms_by_keys_and_buttons_but_not_by_the_wheel(browser: Browser) -> None:
    with show_charts(browser, SAMPLE_VALUES["five hundred"]) as inspector:
        page = inspector.page
        page.emulate_media(reduced_motion="reduce")
        picture = page.locator("#scatter .true")
        picture.hover()
        total = page.evaluate(VISIBLE_COUNT_SCRIPT)
        names = page.evaluate(NAMES_SCRIPT)
        distance = page.evaluate(DISTANCE_SCRIPT)
        page.mouse.wheel(0, -400)  # scrolls the page and does not zoom
        picture.locator("[tabindex]").focus()
        page.keyboard.press("+")
        assert page.evaluate(DISTANCE_SCRIPT) == pytest.approx(1.7 * distance)
        page.get_by_role("button", name="Zoom in").click()
        assert page.evaluate(DISTANCE_SCRIPT) == pytest.approx(1.7**2 * distance)
        assert page.evaluate(VISIBLE_COUNT_SCRIPT) < total
        assert len(page.evaluate(NAMES_SCRIPT)) > len(names)
        picture.locator("[tabindex]").focus()
        for key in ("Home", "End"):  # the point reached by the keyboard is scrolled into view
            page.keyboard.press(key)
            assert page.evaluate("document.activeElement.matches('.true [role=img]:not(.out)')")
        page.keyboard.press("0")
        assert page.evaluate(VISIBLE_COUNT_SCRIPT) == total
        assert page.evaluate(DISTANCE_SCRIPT) == pytest.approx(distance)


def test_search_results_are_named_and_highlighted(browser: Browser) -> None:
    find_script = "text => document.dispatchEvent(new CustomEvent('anoncup:find', {detail: {text}}))"
    with show_charts(browser, SAMPLE_VALUES["five hundred"]) as inspector:
        page = inspector.page
        page.locator("#scatter .true").wait_for()
        page.evaluate(find_script, "ＴＥＡＭ 123")
        assert "team 123" in page.evaluate(NAMES_SCRIPT)
        assert page.locator("#scatter .true [role=img].found").count() == 1
        page.evaluate(find_script, "")
        assert page.locator("#scatter .true :is(.found, .faint)").count() == 0


def test_pointer_selects_the_nearest_point(browser: Browser) -> None:
    with show_charts(browser, SAMPLE_VALUES["a few"]) as inspector:
        mark = inspector.page.locator("#timeline [role=img]").first
        mark.scroll_into_view_if_needed()
        box = mark.bounding_box()
        assert box is not None
        inspector.page.mouse.move(box["x"] + box["width"] + 5, box["y"] + 4)
        assert inspector.page.locator(".tip").inner_text() == mark.get_attribute("aria-label")
        inspector.page.mouse.move(2, 2)
        assert inspector.page.locator(".tip").is_hidden()


def test_legend_entry_highlights_its_series_and_can_be_pressed(browser: Browser) -> None:
    own_series_is_bright_script = (
        "[...document.querySelectorAll('#scatter .dim')].every(each => !each.classList.contains('own'))"
    )
    with show_charts(browser, SAMPLE_VALUES["a few"]) as inspector:
        page = inspector.page
        expect(
            page.locator("#scatter .picture.true")
        ).to_be_visible()  # the interactive picture that replaces the static one is not dimmed
        entry = page.locator("#scatter .key[data-series=own]")
        entry.hover()
        assert page.locator("#scatter .dim").count() > 0
        assert page.evaluate(own_series_is_bright_script)
        page.mouse.move(2, 2)
        assert page.locator("#scatter .dim").count() == 0
        entry.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        assert entry.get_attribute("aria-pressed") == "true"
        page.evaluate("document.activeElement.blur()")
        assert page.locator("#scatter .dim").count() > 0
        entry.click()
        page.mouse.move(2, 2)
        page.evaluate("document.activeElement.blur()")
        assert page.locator("#scatter .dim").count() == 0
