"""Charts in a real browser: nothing refused, letters large enough, names apart, every mark within reach."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Route, expect

from app.http.middleware import HEADERS
from app.locale.language import Words
from app.web.site.pages import static_files
from tests.support.chart_pages import KINDS, SHEETS, SITE
from tests.web.browser.looking import DESK, PHONE, Looker, looking
from tests.web.figures import CHARTS, DATA, EN, JA, rendered

pytestmark = pytest.mark.full

LETTERS = """[...document.querySelectorAll('.picture text')].map(each =>
  parseFloat(getComputedStyle(each).fontSize)
    * each.ownerSVGElement.clientWidth / each.ownerSVGElement.viewBox.baseVal.width)"""
OUTSIDE = """[...document.querySelectorAll('.picture text')].filter(each => {
  const own = each.getBoundingClientRect(), all = each.ownerSVGElement.getBoundingClientRect();
  const across = own.left >= all.left - 2 && own.right <= all.right + 2;
  return !across || own.top < all.top - 2 || own.bottom > all.bottom + 2;
}).map(each => each.textContent)"""
MEETING = """[...document.querySelectorAll('.picture')].flatMap(picture => {
  const texts = [...picture.querySelectorAll('text')];
  const boxes = texts.map(each => [each.textContent, each.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 3 && b.top < a.bottom - 3;
  return boxes.flatMap(([said, box], at) => boxes.slice(at + 1)
    .filter(([, other]) => meet(box, other)).map(([other]) => [picture.parentNode.id, said, other]));
})"""
LOOKS = [(DESK, False, "en"), (PHONE, True, "ja"), (DESK, True, "ja"), (PHONE, False, "en")]
SHORT = {
    "a few": LOOKS[:2],
    "five hundred": LOOKS[1:2],
    "nothing": LOOKS[:1],
    "one": LOOKS[1:2],
    "tiny": LOOKS[:1],
}
"""Every amount of data, and the two looks that differ most."""


def document(data: list[float], t: Words, language: str) -> str:
    figures = "".join(rendered(chart(data, t), t) for chart in CHARTS.values())
    view = '<meta name="viewport" content="width=device-width">'
    script = '<script type="module" src="/static/charts.js"></script>'
    head = f'<head><meta charset="utf-8"><title>Charts</title>{view}{SHEETS}{script}</head>'
    body = f"<body><main><h1>Charts</h1>{figures}</main></body>"
    return f'<!doctype html><html lang="{language}">{head}{body}</html>'


@contextmanager
def shown(
    browser: Browser,
    data: list[float],
    *,
    size: dict[str, int] = DESK,
    dark: bool = False,
    language: str = "en",
) -> Iterator[Looker]:
    """All charts of the data on one page, under the site's own headers and sheets."""
    page = document(data, JA if language == "ja" else EN, language)

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(SITE)
        if path == "/":
            route.fulfill(body=page, content_type="text/html; charset=utf-8", headers=HEADERS)
        else:
            kind = KINDS[path.rpartition(".")[2]]
            found, _ = static_files.lookup_path(path.removeprefix("/static/"))
            route.fulfill(path=found, content_type=kind)

    with looking(browser, SITE, size=size, dark=dark, language=language) as looker:
        looker.page.route("**/*", answer)
        looker.go("/")
        yield looker


@pytest.mark.parametrize(
    ("data", "size", "dark", "language"),
    [
        pytest.param(data, *look, marks=() if look in seen else pytest.mark.full)
        for data, seen in SHORT.items()
        for look in LOOKS
    ],
)
def test_charts_are_accessible_legible_and_keep_their_words_apart(
    browser: Browser, data: str, size: dict[str, int], dark: bool, language: str
) -> None:
    shown_data = DATA[data][:60]
    with shown(browser, shown_data, size=size, dark=dark, language=language) as looker:
        assert looker.faults() == []
        assert min(looker.page.evaluate(LETTERS)) >= 10
        assert looker.page.evaluate(OUTSIDE) == []
        assert looker.page.evaluate(MEETING) == []


def test_arrow_keys_go_from_point_to_point_and_what_they_stand_for_is_shown(browser: Browser) -> None:
    with shown(browser, DATA["a few"]) as looker:
        page = looker.page
        tip, focused = page.locator(".tip"), "document.activeElement.getAttribute('aria-label')"
        page.locator("#scatter .true [tabindex]").focus()
        seen = [page.evaluate(focused)]
        assert tip.inner_text().split() == seen[0].split()
        for key in ("Home", *["ArrowRight"] * 5):
            page.keyboard.press(key)
            seen.append(page.evaluate(focused))
            assert tip.inner_text().split() == seen[-1].split()
        losses = [float(each.split("utility loss ")[1].split(",")[0]) for each in seen[1:]]
        assert losses == sorted(DATA["a few"])
        assert page.locator("#scatter .picture [tabindex]").count() == 1
        page.keyboard.press("Escape")
        assert tip.is_hidden()


SEEN = """[...document.querySelectorAll('#scatter .true [role=img]:not(.out)')].length"""
NAMED = "[...document.querySelectorAll('#scatter .true .names text')].map(each => each.textContent)"
APART = """(([one, other]) => other.getCTM().e - one.getCTM().e)(
  [...document.querySelectorAll('#scatter .true .others [role=img]')])"""


def test_the_crowd_is_looked_at_closer_by_keys_buttons_and_a_wheel_that_is_meant(browser: Browser) -> None:
    with shown(browser, DATA["five hundred"]) as looker:
        page = looker.page
        page.emulate_media(reduced_motion="reduce")
        picture = page.locator("#scatter .true")
        picture.hover()
        all_of_them, far, apart = page.evaluate(SEEN), page.evaluate(NAMED), page.evaluate(APART)
        page.mouse.wheel(0, -400)  # for the page
        picture.locator("[tabindex]").focus()
        page.keyboard.press("+")
        assert page.evaluate(APART) == pytest.approx(1.7 * apart)
        page.locator("#scatter [data-lens=closer]").click()
        assert page.evaluate(APART) == pytest.approx(1.7**2 * apart)
        assert page.evaluate(SEEN) < all_of_them
        assert len(page.evaluate(NAMED)) > len(far)
        picture.locator("[tabindex]").focus()
        for key in ("Home", "End"):  # the keyboard brings into view what it reaches
            page.keyboard.press(key)
            assert page.evaluate("document.activeElement.matches('.true [role=img]:not(.out)')")
        page.keyboard.press("0")
        assert page.evaluate(SEEN) == all_of_them
        assert page.evaluate(APART) == pytest.approx(apart)


def test_what_is_searched_for_is_named_and_lit_up(browser: Browser) -> None:
    say = "text => document.dispatchEvent(new CustomEvent('anoncup:find', {detail: {text}}))"
    with shown(browser, DATA["five hundred"]) as looker:
        page = looker.page
        page.locator("#scatter .true").wait_for()
        page.evaluate(say, "ＴＥＡＭ 123")
        assert "team 123" in page.evaluate(NAMED)
        assert page.locator("#scatter .true [role=img].found").count() == 1
        page.evaluate(say, "")
        assert page.locator("#scatter .true :is(.found, .faint)").count() == 0


def test_the_pointer_finds_the_nearest_point(browser: Browser) -> None:
    with shown(browser, DATA["a few"]) as looker:
        mark = looker.page.locator("#course [role=img]").first
        mark.scroll_into_view_if_needed()
        box = mark.bounding_box()
        assert box is not None
        looker.page.mouse.move(box["x"] + box["width"] + 5, box["y"] + 4)
        assert looker.page.locator(".tip").inner_text() == mark.get_attribute("aria-label")
        looker.page.mouse.move(2, 2)
        assert looker.page.locator(".tip").is_hidden()


def test_an_entry_of_the_legend_brings_out_its_series_and_can_be_pressed(browser: Browser) -> None:
    dimmed = "[...document.querySelectorAll('#scatter .dim')].every(each => !each.classList.contains('own'))"
    with shown(browser, DATA["a few"]) as looker:
        page = looker.page
        expect(page.locator("#scatter .picture.true")).to_be_visible()  # what takes over is not dimmed
        entry = page.locator("#scatter .key[data-series=own]")
        entry.hover()
        assert page.locator("#scatter .dim").count() > 0
        assert page.evaluate(dimmed)
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


def test_a_cell_of_the_matrix_says_who_found_what(browser: Browser) -> None:
    with shown(browser, DATA["a few"]) as looker:
        cell = looker.page.locator("#heatmap tbody tr").nth(1).locator("td").nth(2)
        cell.hover()
        column = looker.page.locator("#heatmap thead th").nth(3).inner_text().strip()
        said = looker.page.locator(".tip").inner_text()
        assert said.endswith(f"{cell.inner_text()}")
        assert column[:10] in said
