"""The board with its search and the replay in a real browser."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support import large_contest
from tests.support.contest import Contest
from tests.support.large_contest import ContestSize
from tests.web.browser.page_inspector import PHONE, inspect_pages

pytestmark = pytest.mark.full

# Spellings of one name; the case folding in Python and in the browser must unify them.
EQUIVALENT_NAMES = {
    "Straße": "STRASSE",
    "ﾀﾞｯｼｭ": "ダッシュ",
    "ΟΔΟΣ": "οδος",
    "Ａｂ\u200bｃ": "abC",
    "Ⅷ ²": "viii 2",
}


def find_covered_teams(page: Page) -> list[str]:
    """Return the teams whose rows are hidden behind the user's own row, which sticks to the screen's end."""
    positions_script = "cells => cells.map((one) => [one.textContent, one.getBoundingClientRect().top])"
    own_row, other_rows = (page.locator(f"table.ranks tbody tr{kind} th") for kind in (".own", ":not(.own)"))
    page.set_viewport_size({"width": 1280, "height": 3000})
    ((_, unpinned_top),) = own_row.evaluate_all(positions_script)
    assert any(top < unpinned_top for _, top in other_rows.evaluate_all(positions_script)), (
        "there is no row above it"
    )
    page.set_viewport_size({"width": 1280, "height": round(unpinned_top) - 5})
    ((_, pinned_top),) = own_row.evaluate_all(positions_script)
    return [
        team for team, top in other_rows.evaluate_all(positions_script) if pinned_top < top < unpinned_top
    ]


def count_max_ticks(page: Page) -> int:
    """Return the maximum number of ticks on an axis that requests four, for spans from minutes to years."""
    count = """async () => {
        const { chooseTicks } = await import('/static/time_axis.js');
        const spans = d3.range(10, 40, 0.25).map((power) => 2 ** power * 1000);
        return d3.max(spans, (span) => chooseTicks(d3.scaleUtc([0, span], [0, 1]), 4).length);
    }"""
    return int(page.evaluate(count))


def test_board_search_and_replay_work(contest: Contest, browser: Browser, site: str) -> None:
    large_contest.fill(contest, ContestSize(teams=12, submissions_per_team=3, targets=0))
    session = contest.arena.get_session(contest.arena.get_team_token("the first"))
    boards = f"{contest.path}/boards"
    with inspect_pages(browser, site, session=session) as inspector:
        inspector.go(f"{boards}/anonymization")
        page = inspector.page
        page.evaluate("addEventListener('anoncup:find', (e) => { window.found = e.detail.text; }, true)")
        page.fill("#find", "ＴＥＡＭ ")
        expect(page.locator("table.ranks tbody tr:visible")).to_have_count(3)
        expect(page.locator(".find output")).to_have_text("Found: 3 of 12")
        assert page.evaluate("window.found") == "ＴＥＡＭ "
        page.reload()
        expect(page.locator("table.ranks tbody tr:visible")).to_have_count(3)
        for name, variant in EQUIVALENT_NAMES.items():
            fold = "async ([a, b]) => { const f = (await import('/static/text.js')).foldText; return [f(a), f(b)]; }"
            assert len(set(page.evaluate(fold, [name, variant]))) == 1, name
        page.fill("#find", "")
        expect(page.locator("table.ranks tr.own")).to_be_visible()
        assert find_covered_teams(page) == []
        assert inspector.collect_faults() == []
    history = contest.arena.get(f"{boards}/history").json()
    with inspect_pages(browser, site, session=session, size=PHONE) as inspector:
        inspector.page.emulate_media(reduced_motion="reduce")
        inspector.go(f"{boards}/replay")
        page = inspector.page
        expect(page.locator(".race path.timeline")).to_have_count(len(history["teams"]))
        places = page.locator(".places li")
        for key, leaders in (("End", history["leaders"][-1]), ("Home", {"first": []})):
            page.locator("#moment").press(key)
            names = [history["teams"][leader["team"]]["team"] for leader in leaders["first"]]
            texts = places.locator(":nth-child(2)").all_inner_texts()
            assert texts[: len(names)] == names
            assert len(texts) <= len(names) + 1
            bottom = float(page.locator(".race line.now").get_attribute("y2") or 0)
            label_bottoms = page.locator(".race text.called").evaluate_all(
                "all => all.map((one) => +one.getAttribute('y'))"
            )
            assert max(label_bottoms, default=0.0) <= bottom - 21  # above the label of the second phase
        page.locator(".play").click()
        expect(page.locator(".play")).to_have_text("Pause")
        page.locator(".play").click()
        assert count_max_ticks(page) == 4
        assert inspector.collect_faults() == []


def test_browser_formats_local_times_like_the_server(contest: Contest, browser: Browser, site: str) -> None:
    session = contest.arena.get_session(contest.arena.get_team_token("the first"))
    with inspect_pages(browser, site, session=session) as inspector:
        inspector.go("/account")
        times = inspector.page.locator("time[data-own]")
        expect(times.first).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$"))
        assert inspector.collect_faults() == []
