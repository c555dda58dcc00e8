"""Contests of other tracks and of several rounds in a real browser: pages are sound, forms check their own file."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from anoncup.tracks.monthly.files import QUESTIONS
from tests.browser.page_inspector import DESKTOP, PHONE, inspect_pages
from tests.support import membership_contest, monthly_contest
from tests.support.browser import build_csv_payload
from tests.support.contest import Contest, judge_everything
from tests.support.translations import translate
from tests.support.two_rounds import build_round, create_two_rounds

pytestmark = pytest.mark.full

TEAM_PAGES = ("", "/rules", "/submissions")
ORGANIZER_PAGES = ("", "/data", "/file", "/rescores")
SECOND_PHASE_PAGES = ("/targets", "/boards/anonymization", "/boards/reidentification", "/boards/matrix")
ROUND_PAGES = (
    "/",
    "/competitions/small.try",
    "/competitions/small.final/rules",
    "/competitions/small.try/boards/anonymization",
    "/competitions/small.try/organize/phases",
    "/competitions/small.final/organize/data",
    "/competitions/small.final/organize/threshold",
    "/competitions/small.try/organize/rescores",
    "/competitions/small.final/organize/file",
)


class TrackContest(NamedTuple):
    """A contest in its first phase, the scored release of red, and a guess about it for each question."""

    contest: Contest
    submission: str
    guesses: dict[str, bytes]

    def open_attacks(self) -> str:
        """Open the second phase and return the path of red's target."""
        self.contest.open_attacks()
        return f"/targets/{self.contest.find_target(self.submission)['id']}"


def create_membership_contest(client: TestClient) -> TrackContest:
    created, rows = membership_contest.create_contest(client), membership_contest.ROWS
    guesses = {"membership": b"score\n" + b"1e-3\n" * rows, "attribute": b"disease\n" + b"none\n" * rows}
    return TrackContest(created.contest, created.submissions["red"], guesses)


def create_monthly_contest(client: TestClient) -> TrackContest:
    contest = monthly_contest.create_contest(client)
    submissions = {team: monthly_contest.submit_and_score(contest, team) for team in monthly_contest.METHODS}
    _, secret = monthly_contest.build_release("red")
    guesses = {
        question: monthly_contest.build_guess(secret, count) for count, question in enumerate(QUESTIONS)
    }
    return TrackContest(contest, submissions["red"], guesses)


@pytest.mark.parametrize(
    ("create", "display"),
    [
        (create_membership_contest, {"language": "ja", "size": PHONE}),
        (create_monthly_contest, {"language": "en", "size": DESKTOP}),
    ],
)
def test_pages_of_other_tracks_have_no_faults(
    client: TestClient,
    browser: Browser,
    site: str,
    create: Callable[[TestClient], TrackContest],
    display: dict[str, Any],
) -> None:
    created = create(client)
    contest, path = created.contest, created.contest.path
    arena = contest.arena

    def check_pages(token: str, *pages: str) -> None:
        session = arena.get_session(token)
        with inspect_pages(browser, site, session=session, **display) as inspector:
            for page in pages:
                inspector.check_page(page)

    team_pages = [path + page for page in TEAM_PAGES]
    check_pages(arena.get_team_token("red"), f"/submissions/{created.submission}", *team_pages)
    check_pages(arena.organizer_token, *(f"{path}/organize{page}" for page in ORGANIZER_PAGES))
    target = created.open_attacks()
    for question, content in created.guesses.items():
        contest.submit_guess("blue", target.removeprefix("/targets/"), content, question=question)
    judge_everything()
    check_pages(arena.get_team_token("blue"), target, *(path + page for page in SECOND_PHASE_PAGES))


def test_each_form_checks_and_sends_guesses_of_its_question(
    client: TestClient, browser: Browser, site: str
) -> None:
    created = create_membership_contest(client)
    arena = created.contest.arena
    session = arena.get_session(arena.get_team_token("blue"))
    with inspect_pages(browser, site, session=session) as inspector:
        inspector.go(created.open_attacks())
        page = inspector.page
        for question, content in created.guesses.items():
            header = content.partition(b"\n")[0]
            page.set_input_files(f"#guess-{question}", build_csv_payload(header + b"\n1\n"))
            expect(page.locator(f"#guess-{question}-refused")).not_to_be_empty()
            page.set_input_files(f"#guess-{question}", build_csv_payload(content))
            expect(page.locator(f"#guess-{question}-checked")).to_contain_text("60 rows")
            page.locator(f"#guessing-{question} button").first.click()
            expect(page.locator("#last-guess")).to_contain_text(translate(f"question_{question}"))
    guesses = arena.get(f"{created.contest.path}/guesses", team="blue").json()
    assert {guess["question"] for guess in guesses} == created.guesses.keys()


@pytest.mark.parametrize(("language", "size"), [("en", DESKTOP), ("ja", PHONE)])
def test_pages_of_rounds_have_no_faults(
    client: TestClient, browser: Browser, site: str, language: str, size: dict[str, int]
) -> None:
    rounds = build_round("try", begins=-0.5, practice=True) + build_round("preliminary", begins=7, weight=0.3)
    final = build_round("final", begins=14, weight=0.7, data="previous")
    final += "[rounds.excessive]\nthreshold = 0.3\n"
    contest = create_two_rounds(client, preliminary=rounds, final=final)["try"]
    contest.submit("red")
    session = contest.arena.get_session(contest.arena.organizer_token)
    with inspect_pages(browser, site, session=session, language=language, size=size) as inspector:
        for path in ROUND_PAGES:
            inspector.check_page(path)
