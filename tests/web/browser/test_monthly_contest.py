"""A monthly contest in a real browser: files are checked before sending, and every page is sound."""

import pytest
from playwright.sync_api import Browser, expect

from anoncup.tracks.monthly.files import QUESTIONS
from tests.support.browser import build_csv_payload
from tests.support.contest import Contest, judge_everything
from tests.support.monthly_contest import (
    METHODS,
    build_guess,
    build_release,
    contest,
    submit_and_score,
    submit_guess,
)
from tests.web.browser.page_inspector import DESKTOP, PHONE, PageInspector, inspect_pages

pytestmark = pytest.mark.full

__all__ = ["contest"]

RELEASE, SECRET = build_release("red")


def test_release_and_its_secret_are_checked_and_sent(contest: Contest, browser: Browser, site: str) -> None:
    session = contest.arena.get_session(contest.arena.get_team_token("red"))
    with inspect_pages(browser, site, session=session) as inspector:
        inspector.go(f"{contest.path}/submissions")
        page = inspector.page
        page.set_input_files("#transactions", build_csv_payload(RELEASE.replace(b"\n", b"\n ", 1)))
        page.set_input_files("#secret", build_csv_payload(SECRET))
        expect(page.locator("#transactions-problems li")).not_to_have_count(0)
        page.set_input_files("#transactions", build_csv_payload(RELEASE))
        page.set_input_files("#secret", build_csv_payload(SECRET.replace(b"customer", b"client", 1)))
        expect(page.locator("#secret-problems")).to_contain_text(
            "The columns in the first line are not the required ones"
        )
        page.set_input_files("#secret", build_csv_payload(SECRET))
        expect(page.locator("#checked")).to_contain_text("No fault was found")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#taken-receipt")).to_be_visible()


@pytest.mark.full
@pytest.mark.parametrize(("language", "size"), [("en", DESKTOP), ("ja", PHONE)])
def test_pages_are_accessible_and_fit_the_screen(
    contest: Contest, browser: Browser, site: str, language: str, size: dict[str, int]
) -> None:
    arena, path = contest.arena, contest.path
    submission_ids = {team: submit_and_score(contest, team) for team in METHODS}

    def find_faults(viewer: str, *pages: str) -> dict[str, list[str]]:
        session = arena.get_session(
            arena.organizer_token if viewer == "organizer" else arena.get_team_token(viewer)
        )
        with inspect_pages(browser, site, session=session, language=language, size=size) as inspector:
            page_faults = {page: collect_faults(inspector, page) for page in pages}
        return {page: problems for page, problems in page_faults.items() if problems}

    own = [path, f"{path}/rules", f"{path}/submissions", f"/submissions/{submission_ids['red']}"]
    assert find_faults("red", *own, f"{path}/boards/anonymization") == {}
    organizer_pages = [
        f"{path}/organize{page}" for page in ("", "/measures", "/data", "/baselines", "/publication")
    ]
    assert find_faults("organizer", *organizer_pages) == {}
    contest.open_attacks()
    target = contest.find_target(submission_ids["red"])["id"]
    for count, question in enumerate(QUESTIONS):
        submit_guess(contest, "blue", target, question, build_guess(SECRET, count))
    judge_everything()
    boards = [f"{path}/boards/{name}" for name in ("anonymization", "reidentification", "matrix")]
    assert find_faults("blue", f"{path}/targets", f"/targets/{target}", *boards) == {}


def collect_faults(inspector: PageInspector, page: str) -> list[str]:
    status = inspector.go(page)
    return ([f"status {status}"] if status != 200 else []) + inspector.collect_faults()
