"""Pages of a membership contest in a real browser, on a desktop and a phone."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from tests.support.browser import build_csv_payload
from tests.support.contest import judge_everything
from tests.support.membership_contest import (
    COMPETITION_PATH,
    HIDDEN_COLUMN,
    ROWS,
    MembershipContest,
    create_contest,
)
from tests.support.service_processes import run_web_server
from tests.support.translations import translate
from tests.web.browser.page_inspector import DESKTOP, PHONE, inspect_pages

pytestmark = pytest.mark.full

TEAM_PAGES = ("", "/rules", "/submissions")
SECOND_PHASE_PAGES = ("/targets", "/boards/anonymization", "/boards/reidentification", "/boards/matrix")
ORGANIZER_PAGES = ("", "/data", "/measures", "/publication", "/rescores")


def send_guesses(membership_contest: MembershipContest) -> str:
    """Send guesses at both questions and return the id of their target."""
    membership_contest.contest.open_attacks()
    for question, line in (
        ("membership", "score\n" + "0.5\n" * ROWS),
        ("attribute", f"{HIDDEN_COLUMN}\n" + "none\n" * ROWS),
    ):
        assert membership_contest.submit_guess("blue", "red", question, line.encode()).status_code == 202
    judge_everything()
    return str(membership_contest.contest.find_target(membership_contest.submissions["red"])["id"])


@pytest.mark.full
@pytest.mark.parametrize(("language", "size"), [("en", DESKTOP), ("ja", PHONE)])
def test_pages_fit_the_screen_and_keep_the_policy(
    client: TestClient, browser: Browser, tmp_path: Path, language: str, size: dict[str, int]
) -> None:
    membership_contest = create_contest(client)
    team, organizer = (
        membership_contest.arena.get_session(token)
        for token in (
            membership_contest.arena.get_team_token("blue"),
            membership_contest.arena.organizer_token,
        )
    )
    pages = [
        *((team, f"{COMPETITION_PATH}{path}") for path in TEAM_PAGES),
        *((organizer, f"{COMPETITION_PATH}/organize{path}") for path in ORGANIZER_PAGES),
    ]
    with run_web_server(tmp_path / "web") as url:

        def check_page(session: str, path: str) -> None:
            with inspect_pages(browser, url, session=session, language=language, size=size) as inspector:
                assert inspector.go(path) == 200, path
                assert inspector.collect_faults() == [], path

        for session, path in pages:
            check_page(session, path)
        target = send_guesses(membership_contest)
        for path in (
            *(f"{COMPETITION_PATH}{suffix}" for suffix in SECOND_PHASE_PAGES),
            f"/targets/{target}",
            f"/submissions/{membership_contest.submissions['blue']}",
        ):
            check_page(team, path)


def test_guesses_are_checked_before_they_are_sent(
    client: TestClient, browser: Browser, tmp_path: Path
) -> None:
    membership_contest = create_contest(client)
    membership_contest.contest.open_attacks()
    target = membership_contest.contest.find_target(membership_contest.submissions["red"])["id"]
    wrong_files = {
        "membership": (b"score\n" + b"1\n" * (ROWS - 1) + b"1.01\n", f"score, row {ROWS}: "),
        "attribute": (b"disease\nnone\n", "60"),
    }
    session = membership_contest.arena.get_session(membership_contest.arena.get_team_token("blue"))
    with run_web_server(tmp_path / "web") as url, inspect_pages(browser, url, session=session) as inspector:
        inspector.go(f"/targets/{target}")
        page = inspector.page
        for question, (content, message) in wrong_files.items():
            page.set_input_files(f"#guess-{question}", build_csv_payload(content))
            expect(page.locator(f"#guess-{question}-refused")).to_contain_text(message)
        page.set_input_files(
            "#guess-membership", build_csv_payload(b"score\n" + b'.5\n"1e-3"\n' * (ROWS // 2))
        )
        expect(page.locator("#guess-membership-checked")).to_contain_text("60 rows")
        page.locator("#guessing-membership button").first.click()
        expect(page.locator("#last-guess")).to_contain_text(translate("question_membership"))
        page.set_input_files("#guess-attribute", build_csv_payload(b"disease\n" + b"none\n" * ROWS))
        expect(page.locator("#guess-attribute-checked")).to_contain_text("60 rows")
        page.locator("#guessing-attribute button").first.click()
        expect(page.locator("#last-guess")).to_contain_text(translate("question_attribute"))
    judge_everything()
    guesses = membership_contest.arena.get(
        f"{COMPETITION_PATH}/guesses", token=membership_contest.arena.get_team_token("blue")
    ).json()
    assert {guess["status"] for guess in guesses} == {"SCORED"}
