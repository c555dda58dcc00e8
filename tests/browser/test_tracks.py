"""Contests of other tracks in a real browser: every page is sound, and each form checks its own file."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from anoncup.tracks.model import AnyTrack
from anoncup.tracks.monthly.files import QUESTIONS
from tests.browser.page_inspector import DESKTOP, PHONE, inspect_pages
from tests.support import membership_contest, monthly_contest, several_questions_contest, small_track
from tests.support.arena import ROWS, Arena
from tests.support.browser import build_csv_payload
from tests.support.contest import Contest, judge_everything
from tests.support.service_processes import run_web_server
from tests.support.several_questions_track import SEVERAL_QUESTIONS_TRACK
from tests.support.small_track_pages import submit_and_score
from tests.support.track_package import install_track
from tests.support.translations import LABEL_KEYS, translate

pytestmark = pytest.mark.full

DISPLAYS = {"a desk in English": ("en", DESKTOP), "a phone in Japanese": ("ja", PHONE)}
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


def create_several_questions_contest(client: TestClient) -> TrackContest:
    contest, red = several_questions_contest.create_contest(client)
    claims = several_questions_contest.build_claims(contest, red, 30)
    link = GuessFiles(
        contest.build_guess(red, 7),
        wrong=b"original_row\n1\n",
        problem=f"1 line after original_row; {ROWS} are needed",
        note="7 rows are answered.",
    )
    blue = next(submission for submission in contest.secrets if submission != red)
    return TrackContest(contest, {"red": red, "blue": blue}, {"value": GuessFiles(claims), "link": link})


def create_small_contest(client: TestClient) -> TrackContest:
    original = {"numbers": small_track.build_original_file()}
    arena = Arena.create(client, file=small_track.build_competition_toml(), original=original)
    return TrackContest(Contest(arena), {"red": submit_and_score(arena, "red")})


PACKAGES: dict[str, tuple[AnyTrack, str]] = {
    "several questions": (SEVERAL_QUESTIONS_TRACK, "tests.support.several_questions_track"),
    "small": (small_track.SMALL_TRACK, "tests.support.small_track"),
}
"""Tracks that must be installed, with the module of their plug-in."""
TRACK_CONTESTS: dict[str, Callable[[TestClient], TrackContest]] = {
    "membership": create_membership_contest,
    "monthly": create_monthly_contest,
    "several questions": create_several_questions_contest,
    "small": create_small_contest,
}


@contextmanager
def serve_contest(client: TestClient, name: str, folder: Path) -> Iterator[tuple[TrackContest, str]]:
    """Create the contest and serve its pages; yield it with the address of the server."""
    with ExitStack() as stack:
        if name in PACKAGES:
            (packages := folder / "packages").mkdir()
            stack.enter_context(install_track(*PACKAGES[name], packages))
        url = stack.enter_context(run_web_server(folder / "web"))
        yield TRACK_CONTESTS[name](client), url


@pytest.mark.parametrize(
    ("name", "display"),
    [
        ("membership", "a phone in Japanese"),
        ("monthly", "a desk in English"),
        ("several questions", "a phone in Japanese"),
        ("small", "a desk in English"),
    ],
)
def test_pages_of_every_track_are_accessible_and_fit_the_screen(
    client: TestClient, browser: Browser, tmp_path: Path, name: str, display: str
) -> None:
    language, size = DISPLAYS[display]
    with serve_contest(client, name, tmp_path) as (played, url):
        contest, path = played.contest, played.contest.path

        def check_pages(reader: str, *pages: str) -> None:
            session = played.get_session(reader)
            with inspect_pages(browser, url, session=session, language=language, size=size) as inspector:
                for page in pages:
                    assert inspector.go(page) == 200, page
                    assert inspector.collect_faults() == [], page

        own_page = f"/submissions/{played.submissions['red']}"
        check_pages("red", own_page, *(f"{path}{page}" for page in TEAM_PAGES))
        check_pages("organizer", *(f"{path}/organize{page}" for page in ORGANIZER_PAGES))
        if not played.guesses:
            return
        target = played.open_attacks()
        for question, files in played.guesses.items():
            target_id = target.removeprefix("/targets/")
            response = contest.submit_guess("blue", target_id, files.valid, question=question)
            assert response.status_code == 202, response.text
        judge_everything()
        check_pages("blue", target, *(f"{path}{page}" for page in SECOND_PHASE_PAGES))


@pytest.mark.parametrize("name", ["membership", "several questions"])
def test_each_form_checks_and_sends_guesses_of_its_question(
    client: TestClient, browser: Browser, tmp_path: Path, name: str
) -> None:
    with (
        serve_contest(client, name, tmp_path) as (played, url),
        inspect_pages(browser, url, session=played.get_session("blue")) as inspector,
    ):
        inspector.go(played.open_attacks())
        page = inspector.page
        wrong_questions = [question for question, files in played.guesses.items() if files.wrong]
        for question in wrong_questions:
            page.set_input_files(f"#guess-{question}", build_csv_payload(played.guesses[question].wrong))
            refusal = page.locator(f"#guess-{question}-refused")
            expect(refusal).to_contain_text(played.guesses[question].problem)
        for question in played.guesses.keys() - wrong_questions:
            expect(page.locator(f"#guess-{question}-refused")).to_be_empty()
        for question, files in played.guesses.items():
            page.set_input_files(f"#guess-{question}", build_csv_payload(files.valid))
            expect(page.locator(f"#guess-{question}-checked")).to_contain_text(files.note)
            page.locator(f"#guessing-{question} button").first.click()
            label = f"question_{question}"
            title = translate(label) if label in LABEL_KEYS else question
            expect(page.locator("#last-guess")).to_contain_text(title)
        judge_everything()
        expect(page.locator("#guesses tbody tr")).to_have_count(len(played.guesses))
        guesses = played.contest.arena.get(f"{played.contest.path}/guesses", team="blue").json()
        assert {guess["status"] for guess in guesses} == {"SCORED"}
        if name == "several questions":
            expect(page.locator("#last-guess")).to_contain_text(f"7 of {ROWS} rows are right")


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
