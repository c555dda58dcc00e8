"""The board and the replay in a real browser: a team is found at once, and the contest goes by."""

from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from tests import crowd
from tests.contest import Contest
from tests.crowd import Size
from tests.web.browser.looking import PHONE, looking

# What Python's folding and the browser's make of each: written in several ways, one name.
ALIKE = {"Straße": "STRASSE", "ﾀﾞｯｼｭ": "ダッシュ", "ΟΔΟΣ": "οδος", "Ａｂ\u200bｃ": "abC", "Ⅷ ²": "viii 2"}


def test_a_team_is_found_at_once_and_the_contest_goes_by(
    client: TestClient, browser: Browser, site: str
) -> None:
    contest = Contest.opened(client)
    crowd.fill(contest, Size(teams=12, each=3, targets=0))
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
        page.locator(".play").click()
        expect(page.locator(".play")).to_have_text("Pause")
        page.locator(".play").click()
        assert person.faults() == []
