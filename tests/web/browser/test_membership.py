"""Pages of a contest of membership in a real browser, at a desk and on a phone."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from tests.e2e.stack import web
from tests.support.browser_files import csv
from tests.support.contest import judge_everything
from tests.support.membership_contest import HIDDEN, PATH, ROWS, Played, opened
from tests.web.browser.looking import DESK, PHONE, looking
from tests.web.spoken import said

pytestmark = pytest.mark.full

TEAM = ("", "/rules", "/submissions")
LATER = ("/targets", "/boards/anonymization", "/boards/reidentification", "/boards/matrix")
ORGANIZERS = ("", "/data", "/measures", "/publication", "/rescores")


def guessed(played: Played) -> str:
    """The target at which both questions are answered."""
    played.contest.attack()
    for question, line in (
        ("membership", "score\n" + "0.5\n" * ROWS),
        ("attribute", f"{HIDDEN}\n" + "none\n" * ROWS),
    ):
        assert played.guess("blue", "red", question, line.encode()).status_code == 202
    judge_everything()
    return str(played.contest.target_of(played.submissions["red"])["id"])


@pytest.mark.full
@pytest.mark.parametrize(("language", "size"), [("en", DESK), ("ja", PHONE)])
def test_nothing_sticks_out_or_is_refused(
    client: TestClient, browser: Browser, tmp_path: Path, language: str, size: dict[str, int]
) -> None:
    played = opened(client)
    team, organizer = (
        played.arena.session(who) for who in (played.arena.team("blue"), played.arena.organizer)
    )
    places = [
        *((team, f"{PATH}{place}") for place in TEAM),
        *((organizer, f"{PATH}/organize{place}") for place in ORGANIZERS),
    ]
    with web(tmp_path / "web") as url:

        def look(session: str, place: str) -> None:
            with looking(browser, url, session=session, language=language, size=size) as person:
                assert person.go(place) == 200, place
                assert person.faults() == [], place

        for session, place in places:
            look(session, place)
        target = guessed(played)
        for place in (
            *(f"{PATH}{one}" for one in LATER),
            f"/targets/{target}",
            f"/submissions/{played.submissions['blue']}",
        ):
            look(team, place)


def test_guesses_are_checked_before_they_are_sent(
    client: TestClient, browser: Browser, tmp_path: Path
) -> None:
    played = opened(client)
    played.contest.attack()
    target = played.contest.target_of(played.submissions["red"])["id"]
    wrong = {
        "membership": (b"score\n" + b"1\n" * (ROWS - 1) + b"1.01\n", f"score, row {ROWS}: "),
        "attribute": (b"disease\nnone\n", "60"),
    }
    session = played.arena.session(played.arena.team("blue"))
    with web(tmp_path / "web") as url, looking(browser, url, session=session) as person:
        person.go(f"/targets/{target}")
        page = person.page
        for question, (content, told) in wrong.items():
            page.set_input_files(f"#guess-{question}", csv(content))
            expect(page.locator(f"#guess-{question}-refused")).to_contain_text(told)
        page.set_input_files("#guess-membership", csv(b"score\n" + b'.5\n"1e-3"\n' * (ROWS // 2)))
        expect(page.locator("#guess-membership-checked")).to_contain_text("60 rows")
        page.locator("#guessing-membership button").first.click()
        expect(page.locator("#last-guess")).to_contain_text(said("question_membership"))
        page.set_input_files("#guess-attribute", csv(b"disease\n" + b"none\n" * ROWS))
        expect(page.locator("#guess-attribute-checked")).to_contain_text("60 rows")
        page.locator("#guessing-attribute button").first.click()
        expect(page.locator("#last-guess")).to_contain_text(said("question_attribute"))
    judge_everything()
    found = played.arena.get(f"{PATH}/guesses", token=played.arena.team("blue")).json()
    assert {one["status"] for one in found} == {"SCORED"}
