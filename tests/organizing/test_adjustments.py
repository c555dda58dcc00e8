"""Penalties and bonuses of teams, which formulas add up."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.support.arena import Arena
from tests.support.contest import Contest, set_submission_times
from tests.support.database_rows import load_team_id
from tests.support.organizer_pages import get_page_text
from tests.support.page_requests import get_page
from tests.support.translations import translate

FORMULA_TOML = '[ranking]\norder = "descending"\ndefence = "1 - utility - penalty"\n'

pytestmark = [pytest.mark.full, pytest.mark.contest(extra_toml=FORMULA_TOML, teams=("red", "blue"))]


def read_rows(contest: Contest, **reader: Any) -> dict[str, dict[str, Any]]:
    return {row["team"]: row for row in contest.get_board("anonymization", **reader)["rows"]}


def adjust(contest: Contest, team: str, points: object, reason: str = "late", **access: Any) -> Any:
    body = {"team_id": read_rows(contest)[team]["team_id"], "points": points, "reason": reason}
    return contest.arena.post(f"{contest.path}/adjustments", json=body, **access)


def withdraw(contest: Contest, adjustment: dict[str, Any], **access: Any) -> Any:
    return contest.arena.post(f"/adjustments/{adjustment['id']}/withdraw", **access)


def list_adjustments(contest: Contest, **reader: Any) -> list[tuple[float, str, bool]]:
    rows = contest.arena.get(f"{contest.path}/adjustments", **reader).json()
    return [(row["points"], row["reason"], row["withdrawn_at"] is not None) for row in rows]


def test_adjustments_change_scores_and_ranks_until_they_are_withdrawn(contest: Contest) -> None:
    before = read_rows(contest, organizer=True)
    first, second = sorted(before, key=lambda team: before[team]["rank"])
    penalty = adjust(contest, first, -0.75).json()
    assert adjust(contest, first, 0.25, "a good report").status_code == 201
    adjusted = read_rows(contest, organizer=True)
    assert adjusted[first]["score"] == 1 - before[first]["utility"] + (-0.75 + 0.25)
    assert adjusted[second]["score"] == before[second]["score"]
    assert (adjusted[first]["rank"], adjusted[second]["rank"]) == (2, 1)
    assert withdraw(contest, penalty).status_code == 200
    assert read_rows(contest, organizer=True)[first]["score"] == 1 - before[first]["utility"] + 0.25
    assert read_rows(contest, organizer=True)[first]["rank"] == 1


def read_last_scores(contest: Contest, **reader: Any) -> dict[str, float | None]:
    """Return the scores at the end of the history."""
    history = contest.get_board("history", **reader)
    return {team["team"]: team["steps"][-1]["score"] for team in history["teams"]}


@pytest.mark.parametrize("defence", ["1 - utility - penalty", "rank('utility') + 1 / 3 - penalty"])
def test_history_has_the_scores_of_the_board(client: TestClient, defence: str) -> None:
    contest = Contest.create(client, extra_toml=f'[ranking]\norder = "descending"\ndefence = "{defence}"\n')
    submissions = [contest.submit(team) for team in ("red", "blue")]
    for submission in submissions:
        set_submission_times(submission, datetime.now(UTC) - timedelta(hours=1))
    before = read_rows(contest, organizer=True)["red"]["score"]
    assert read_last_scores(contest, organizer=True)["red"] == before
    adjust(contest, "red", -0.75)
    readers: list[dict[str, Any]] = [{}, {"team": "red"}, {"team": "blue"}, {"organizer": True}]
    for reader in readers:
        scores = {team: row["score"] for team, row in read_rows(contest, **reader).items()}
        assert read_last_scores(contest, **reader) == scores
    (red,) = (team for team in contest.get_board("history", team="red")["teams"] if team["own"])
    assert [step["score"] for step in red["steps"][-2:]] == [before, before - 0.75]
    assert [step["overall"] for step in red["steps"][-2:]] == [red["steps"][-1]["overall"]] * 2


def test_a_team_sees_its_own_adjustments_only(contest: Contest) -> None:
    withdraw(contest, adjust(contest, "red", -1, "twice  in a day").json())
    adjust(contest, "blue", 2, "a good report")
    red = (-1.0, "twice in a day", True)
    assert list_adjustments(contest, team="red") == [red]
    assert list_adjustments(contest) == [(2.0, "a good report", False), red]
    for language in ("en", "ja"):
        page = get_page(contest.arena, f"{contest.path}/team", team="red", language=language).text
        assert translate("Penalties and bonuses", language) in page
        assert "twice in a day" in page
        assert "a good report" not in page


@pytest.mark.parametrize(
    ("points", "reason", "code"),
    [
        (0, "late", "invalid_points"),
        (1, " \n", "reason_missing"),
        (1, "a\x00b", "invalid_reason"),
        (2_000_000, "late", "invalid_request"),
        ("nan", "late", "invalid_request"),
    ],
)
def test_invalid_adjustments_are_refused(contest: Contest, points: object, reason: str, code: str) -> None:
    response = adjust(contest, "red", points, reason)
    assert (response.status_code, response.json()["code"]) == (422, code)
    assert list_adjustments(contest) == []


def test_an_adjustment_is_withdrawn_once_and_audited(contest: Contest) -> None:
    penalty = adjust(contest, "red", -1.5).json()
    assert withdraw(contest, penalty).status_code == 200
    again = withdraw(contest, penalty)
    assert (again.status_code, again.json()["code"]) == (409, "already_withdrawn")
    entries = contest.arena.get(f"{contest.path}/audit").json()
    changes = {entry["action"]: (entry["subject"], entry["before"], entry["after"]) for entry in entries}
    details = {"points": -1.5, "reason": "late"}
    assert changes["team.adjust"] == ("red", None, details)
    assert changes["team.withdraw_adjustment"] == ("red", details, None)


@pytest.mark.parametrize(("ranking", "is_named"), [(FORMULA_TOML, True), ("", False)])
def test_page_says_if_points_change_nothing(client: TestClient, ranking: str, is_named: bool) -> None:
    arena = Arena.create(client, extra_toml=ranking)
    arena.get_team_token("red")
    assert ("points change nothing" not in get_page_text(arena, f"/teams/{load_team_id('red')}")) is is_named
