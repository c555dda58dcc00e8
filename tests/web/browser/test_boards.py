"""The board and the replay in a real browser: a team is found at once, and the contest goes by."""

import re

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, Page, expect

from tests.support import large_contest
from tests.support.contest import Contest
from tests.support.large_contest import Size
from tests.web.browser.looking import PHONE, looking

pytestmark = pytest.mark.full

# What Python's folding and the browser's make of each: written in several ways, one name.
ALIKE = {"Straße": "STRASSE", "ﾀﾞｯｼｭ": "ダッシュ", "ΟΔΟΣ": "οδος", "Ａｂ\u200bｃ": "abC", "Ⅷ ²": "viii 2"}


def covered_rows(page: Page) -> list[str]:
    """The teams whose rows the reader's own row covers on a screen that ends just above it."""
    places = "cells => cells.map((one) => [one.textContent, one.getBoundingClientRect().top])"
    own, others = (page.locator(f"table.ranks tbody tr{kind} th") for kind in (".own", ":not(.own)"))
    page.set_viewport_size({"width": 1280, "height": 3000})
    ((_, end),) = own.evaluate_all(places)
    assert any(top < end for _, top in others.evaluate_all(places)), "there is no row above it"
    page.set_viewport_size({"width": 1280, "height": round(end) - 5})
    ((_, stands),) = own.evaluate_all(places)
    return [team for team, top in others.evaluate_all(places) if stands < top < end]


def most_ticks(page: Page) -> int:
    """The most moments on an axis that asks for four, over spans from minutes to years."""
    count = """async () => {
        const { ticks } = await import('/static/moments.js');
        const spans = d3.range(10, 40, 0.25).map((power) => 2 ** power * 1000);
        return d3.max(spans, (span) => ticks(d3.scaleUtc([0, span], [0, 1]), 4).length);
    }"""
    return int(page.evaluate(count))


def test_a_team_is_found_at_once_and_the_contest_goes_by(
    client: TestClient, browser: Browser, site: str
) -> None:
    contest = Contest.opened(client)
    large_contest.fill(contest, Size(teams=12, each=3, targets=0))
    session = contest.arena.session(contest.arena.team("the first"))
    boards = f"{contest.path}/boards"
    with looking(browser, site, session=session) as person:
        person.go(f"{boards}/anonymization")
        page = person.page
        page.evaluate("addEventListener('anoncup:find', (e) => { window.found = e.detail.text; }, true)")
        page.fill("#find", "ＴＥＡＭ ")
        expect(page.locator("table.ranks tbody tr:visible")).to_have_count(3)
        expect(page.locator(".find output")).to_have_text("Found: 3 of 12")
        assert page.evaluate("window.found") == "ＴＥＡＭ "
        page.reload()
        expect(page.locator("table.ranks tbody tr:visible")).to_have_count(3)
        for name, written in ALIKE.items():
            fold = "async ([a, b]) => { const f = (await import('/static/fold.js')).folded; return [f(a), f(b)]; }"
            assert len(set(page.evaluate(fold, [name, written]))) == 1, name
        page.fill("#find", "")
        expect(page.locator("table.ranks tr.own")).to_be_visible()
        assert covered_rows(page) == []
        assert person.faults() == []
    told = contest.arena.get(f"{boards}/history").json()
    with looking(browser, site, session=session, size=PHONE) as person:
        person.page.emulate_media(reduced_motion="reduce")
        person.go(f"{boards}/replay")
        page = person.page
        expect(page.locator(".race path.course")).to_have_count(len(told["teams"]))
        listed = page.locator(".places li")
        for move, leaders in (("End", told["leaders"][-1]), ("Home", {"first": []})):
            page.locator("#moment").press(move)
            names = [told["teams"][one["team"]]["team"] for one in leaders["first"]]
            texts = listed.locator(":nth-child(2)").all_inner_texts()
            assert texts[: len(names)] == names
            assert len(texts) <= len(names) + 1
            bottom = float(page.locator(".race line.now").get_attribute("y2") or 0)
            called = page.locator(".race text.called").evaluate_all(
                "all => all.map((one) => +one.getAttribute('y'))"
            )
            assert max(called, default=0.0) <= bottom - 21  # above the name of the second phase
        page.locator(".play").click()
        expect(page.locator(".play")).to_have_text("Pause")
        page.locator(".play").click()
        assert most_ticks(page) == 4
        assert person.faults() == []


def test_times_on_the_readers_clock_are_written_as_all_others(
    client: TestClient, browser: Browser, site: str
) -> None:
    contest = Contest.opened(client)
    session = contest.arena.session(contest.arena.team("the first"))
    with looking(browser, site, session=session) as person:
        person.go("/account")
        times = person.page.locator("time[data-own]")
        expect(times.first).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$"))
        assert person.faults() == []
