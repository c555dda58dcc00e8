"""Pages of a contest of membership in a real browser, at a desk and on a phone."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from tests.contest import judge_everything
from tests.e2e.stack import web
from tests.membership_contest import HIDDEN, PATH, ROWS, Played, opened
from tests.web.browser.looking import DESK, PHONE, looking

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
