"""Contests of other tracks in a real browser: every page is sound, and each form checks its own file."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from anoncup.tracks.monthly.files import QUESTIONS
from tests.browser.page_inspector import DESKTOP, PHONE, inspect_pages
from tests.support import membership_contest, monthly_contest
from tests.support.arena import Arena
from tests.support.browser import build_csv_payload
from tests.support.contest import Contest, judge_everything
from tests.support.translations import translate

pytestmark = pytest.mark.full

TEAM_PAGES = ("", "/rules", "/submissions")
ORGANIZER_PAGES = ("", "/data", "/file", "/rescores")
SECOND_PHASE_PAGES = ("/targets", "/boards/anonymization", "/boards/reidentification", "/boards/matrix")


@dataclass(frozen=True)
class GuessFiles:
    """A wrong file with the problem that the form shows, and a valid file with the note about it."""

    valid: bytes
    wrong: bytes = b""
    problem: str = ""
    note: str = ""


@dataclass(frozen=True)
class TrackContest:
    """A contest with scored releases by team, and the files that blue guesses with by question."""

    contest: Contest
    submissions: dict[str, str]
    guesses: dict[str, GuessFiles] = field(default_factory=dict)

    def open_attacks(self) -> str:
        """Open the second phase and return the path of red's target."""
        self.contest.open_attacks()
        return f"/targets/{self.contest.find_target(self.submissions['red'])['id']}"

    def get_session(self, reader: str) -> str:
        arena = self.contest.arena
        is_organizer = reader == "organizer"
        return arena.get_session(arena.organizer_token if is_organizer else arena.get_team_token(reader))


def create_membership_contest(client: TestClient) -> TrackContest:
    created = membership_contest.create_contest(client)
    rows = membership_contest.ROWS
    scores = GuessFiles(
        b"score\n" + b'.5\n"1e-3"\n' * (rows // 2),
        wrong=b"score\n" + b"1\n" * (rows - 1) + b"1.01\n",
        problem=f"score, row {rows}: ",
        note=f"{rows} rows",
    )
    diseases = GuessFiles(
        b"disease\n" + b"none\n" * rows, wrong=b"disease\nnone\n", problem=f"{rows}", note=f"{rows} rows"
    )
    return TrackContest(created.contest, created.submissions, {"membership": scores, "attribute": diseases})


def create_monthly_contest(client: TestClient) -> TrackContest:
    contest = monthly_contest.create_contest(client, Arena.create(client), *monthly_contest.ORIGINAL)
    submissions = {team: monthly_contest.submit_and_score(contest, team) for team in monthly_contest.METHODS}
    _, secret = monthly_contest.build_release("red")
    guesses = {
        question: GuessFiles(monthly_contest.build_guess(secret, count))
        for count, question in enumerate(QUESTIONS)
    }
    return TrackContest(contest, submissions, guesses)


@pytest.mark.parametrize(
    ("create", "display"),
    [
        (create_membership_contest, {"language": "ja", "size": PHONE}),
        (create_monthly_contest, {"language": "en", "size": DESKTOP}),
    ],
)
def test_pages_of_other_tracks_are_accessible_and_fit_the_screen(
    client: TestClient,
    browser: Browser,
    site: str,
    create: Callable[[TestClient], TrackContest],
    display: dict[str, Any],
) -> None:
    played = create(client)
    contest, path = played.contest, played.contest.path

    def check_pages(reader: str, *pages: str) -> None:
        session = played.get_session(reader)
        with inspect_pages(browser, site, session=session, **display) as inspector:
            for page in pages:
                assert inspector.go(page) == 200, page
                assert inspector.collect_faults() == [], page

    check_pages("red", f"/submissions/{played.submissions['red']}", *(path + page for page in TEAM_PAGES))
    check_pages("organizer", *(f"{path}/organize{page}" for page in ORGANIZER_PAGES))
    target = played.open_attacks()
    for question, files in played.guesses.items():
        target_id = target.removeprefix("/targets/")
        response = contest.submit_guess("blue", target_id, files.valid, question=question)
        assert response.status_code == 202, response.text
    judge_everything()
    check_pages("blue", target, *(path + page for page in SECOND_PHASE_PAGES))


def test_each_form_checks_and_sends_guesses_of_its_question(
    client: TestClient, browser: Browser, site: str
) -> None:
    played = create_membership_contest(client)
    with inspect_pages(browser, site, session=played.get_session("blue")) as inspector:
        inspector.go(played.open_attacks())
        page = inspector.page
        for question, files in played.guesses.items():
            page.set_input_files(f"#guess-{question}", build_csv_payload(files.wrong))
            expect(page.locator(f"#guess-{question}-refused")).to_contain_text(files.problem)
        for question, files in played.guesses.items():
            page.set_input_files(f"#guess-{question}", build_csv_payload(files.valid))
            expect(page.locator(f"#guess-{question}-checked")).to_contain_text(files.note)
            page.locator(f"#guessing-{question} button").first.click()
            expect(page.locator("#last-guess")).to_contain_text(translate(f"question_{question}"))
        judge_everything()
        expect(page.locator("#guesses tbody tr")).to_have_count(len(played.guesses))
        guesses = played.contest.arena.get(f"{played.contest.path}/guesses", team="blue").json()
        assert {guess["status"] for guess in guesses} == {"SCORED"}


def test_monthly_release_and_its_secret_are_checked_and_sent(
    client: TestClient, browser: Browser, site: str
) -> None:
    contest = monthly_contest.create_contest(client, Arena.create(client), *monthly_contest.ORIGINAL)
    release, secret = monthly_contest.build_release("red")
    session = contest.arena.get_session(contest.arena.get_team_token("red"))
    with inspect_pages(browser, site, session=session) as inspector:
        inspector.go(f"{contest.path}/submissions")
        page = inspector.page
        page.set_input_files("#transactions", build_csv_payload(release.replace(b"\n", b"\n ", 1)))
        page.set_input_files("#secret", build_csv_payload(secret))
        expect(page.locator("#transactions-problems li")).not_to_have_count(0)
        page.set_input_files("#transactions", build_csv_payload(release))
        page.set_input_files("#secret", build_csv_payload(secret.replace(b"customer", b"client", 1)))
        expect(page.locator("#secret-problems")).to_contain_text(
            "The columns in the first line are not the required ones"
        )
        page.set_input_files("#secret", build_csv_payload(secret))
        expect(page.locator("#checked")).to_contain_text("No fault was found")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#taken-receipt")).to_be_visible()
