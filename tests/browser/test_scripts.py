"""Scripts of boards and other pages in a real browser: local times, reloading."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.page_inspector import inspect_pages
from tests.support.contest import Contest
from tests.support.rescores import begin_rescore, build_strict_file
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


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


def test_own_row_sticks_to_the_screen_and_covers_no_other(
    contest: Contest, browser: Browser, site: str
) -> None:
    for team in (*(f"Team {number}" for number in range(11)), "the first"):
        contest.submit(team)
    session = contest.arena.get_session(contest.arena.get_team_token("the first"))
    boards = f"{contest.path}/boards"
    with inspect_pages(browser, site, session=session) as inspector:
        inspector.go(f"{boards}/anonymization")
        page = inspector.page
        expect(page.locator("table.ranks tr.own")).to_be_visible()
        assert find_covered_teams(page) == []
        assert inspector.collect_faults() == []


def test_browser_formats_local_times_like_the_server(contest: Contest, browser: Browser, site: str) -> None:
    session = contest.arena.get_session(contest.arena.get_team_token("the first"))
    with inspect_pages(browser, site, session=session) as inspector:
        inspector.go("/account")
        times = inspector.page.locator("time[data-own]")
        expect(times.first).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$"))
        assert inspector.collect_faults() == []


def test_page_of_a_rescore_reloads_until_all_is_scored(contest: Contest, browser: Browser, site: str) -> None:
    contest.submit("red")
    rescore = begin_rescore(contest, build_strict_file(contest))
    session = contest.arena.get_session(contest.arena.organizer_token)
    with inspect_pages(browser, site, session=session) as inspector:
        inspector.check_page(f"{contest.path}/organize/rescores/{rescore}")
        expect(inspector.page.locator("[data-refresh]")).to_have_count(1)
        score_everything()
        expect(inspector.page.locator("[data-refresh]")).to_have_count(0)
        assert inspector.collect_faults() == []
