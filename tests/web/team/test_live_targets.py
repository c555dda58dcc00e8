"""Pages of a round with live targets, in which a team is attacked while it still submits."""

import pytest
from fastapi.testclient import TestClient

from tests.support.contest import Contest, run_clock
from tests.support.page_requests import extract_text, get_page, post_form
from tests.support.two_rounds import build_round, create_two_rounds

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient) -> Contest:
    return create_two_rounds(client, preliminary=build_round("live", begins=-0.5, live=True))["live"]


def submit(contest: Contest, team: str) -> str:
    submission = contest.submit(team)
    run_clock()
    return submission


def test_pages_tell_what_is_live(contest: Contest) -> None:
    first = submit(contest, "red")
    submit(contest, "red")
    submit(contest, "blue")
    replaced = contest.find_target(first)["id"]
    expected_texts = {
        "/rules": "A team’s score is the mean over the time for which its targets stand",
        "": "Each accepted release becomes a target at once. All other teams attack it while it stands.",
        "/boards/anonymization": "A team’s score is the mean over the time for which its targets stand; its row",
        "/targets": "Replaced",
    }
    replaced_text = (
        "A newer release of its team has replaced it. Guesses on it still count, but no more are accepted."
    )
    pages = {f"{contest.path}{path}": text for path, text in expected_texts.items()}
    for path, text in (pages | {f"/targets/{replaced}": replaced_text}).items():
        assert text in extract_text(get_page(contest.arena, path, team="blue")), path


def test_team_sends_releases_and_guesses_at_the_same_time(contest: Contest) -> None:
    red, _ = submit(contest, "red"), submit(contest, "blue")
    page = get_page(contest.arena, f"{contest.path}/submissions", team="blue")
    assert "There is no final to choose" in extract_text(page)
    assert 'name="anonymized"' in page.text
    target = contest.find_target(red)["id"]
    page = get_page(contest.arena, f"/targets/{target}", team="blue")
    assert "Anonymization phase + Re-identification phase" in extract_text(page)
    files = {"guess": ("guess.csv", contest.build_guess(red, 3))}
    response = post_form(contest.arena, f"/targets/{target}/guesses", files=files, team="blue")
    assert response.status_code == 303, response.text


def test_organizers_pause_both_phases_on_the_page_of_phases(contest: Contest) -> None:
    page = get_page(contest.arena, f"{contest.path}/organize/phases", organizer=True)
    for phase in ("anonymization", "reidentification"):
        assert f"{contest.path}/organize/phases/{phase}/pause" in page.text
    assert "The last accepted releases become targets." in extract_text(page)
