"""Charts in a real browser: policy, font sizes, overlapping labels, keyboard and pointer."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser

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
