"""A contest by month in a real browser: files are checked before they are sent, and every page holds."""

import pytest
from playwright.sync_api import Browser, expect

from anoncup.tracks.monthly.files import QUESTIONS
from tests.support.browser_files import csv
from tests.support.contest import Contest, judge_everything
from tests.support.monthly_contest import METHODS, contest, guess_with, guessed, released, scored
from tests.web.browser.looking import DESK, PHONE, Looker, looking

pytestmark = pytest.mark.full

__all__ = ["contest"]

RELEASE, SECRET = released("red")


def test_a_release_and_its_secret_are_checked_and_sent(contest: Contest, browser: Browser, site: str) -> None:
    session = contest.arena.session(contest.arena.team("red"))
    with looking(browser, site, session=session) as looker:
        looker.go(f"{contest.path}/submissions")
        page = looker.page
        page.set_input_files("#transactions", csv(RELEASE.replace(b"\n", b"\n ", 1)))
        page.set_input_files("#secret", csv(SECRET))
        expect(page.locator("#transactions-problems li")).not_to_have_count(0)
        page.set_input_files("#transactions", csv(RELEASE))
        page.set_input_files("#secret", csv(SECRET.replace(b"customer", b"client", 1)))
        expect(page.locator("#secret-problems")).to_contain_text(
            "The columns in the first line are not the required ones"
        )
        page.set_input_files("#secret", csv(SECRET))
        expect(page.locator("#checked")).to_contain_text("No fault was found")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#taken-receipt")).to_be_visible()


@pytest.mark.full
@pytest.mark.parametrize(("language", "size"), [("en", DESK), ("ja", PHONE)])
def test_every_page_holds(
    contest: Contest, browser: Browser, site: str, language: str, size: dict[str, int]
) -> None:
    arena, path = contest.arena, contest.path
    sent = {team: scored(contest, team) for team in METHODS}

    def faults(who: str, *pages: str) -> dict[str, list[str]]:
        session = arena.session(arena.organizer if who == "organizer" else arena.team(who))
        with looking(browser, site, session=session, language=language, size=size) as looker:
            found = {page: seen(looker, page) for page in pages}
        return {page: wrong for page, wrong in found.items() if wrong}

    own = [path, f"{path}/rules", f"{path}/submissions", f"/submissions/{sent['red']}"]
    assert faults("red", *own, f"{path}/boards/anonymization") == {}
    desk = [f"{path}/organize{page}" for page in ("", "/measures", "/data", "/baselines", "/publication")]
    assert faults("organizer", *desk) == {}
    contest.attack()
    target = contest.target_of(sent["red"])["id"]
    for count, question in enumerate(QUESTIONS):
        guessed(contest, "blue", target, question, guess_with(SECRET, count))
    judge_everything()
    boards = [f"{path}/boards/{name}" for name in ("anonymization", "reidentification", "matrix")]
    assert faults("blue", f"{path}/targets", f"/targets/{target}", *boards) == {}


def seen(looker: Looker, page: str) -> list[str]:
    status = looker.go(page)
    return ([f"status {status}"] if status != 200 else []) + looker.faults()
