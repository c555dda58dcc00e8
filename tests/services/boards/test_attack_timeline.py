"""The attack timeline against an independent computation of the best guesses received up to each moment."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, update

from app.db.models import Guess, Round, Target, Team
from app.services.boards.attack_timeline import EffectiveGuess, find_count_steps
from tests.support.arena import ROWS
from tests.support.contest import Contest
from tests.support.database_rows import execute, load_all, load_one
from tests.support.judged_contest import JudgedContest, combine_risks, find_best_risks, judged_contest

pytestmark = pytest.mark.full

__all__ = ["judged_contest"]
START = datetime(2026, 7, 1, tzinfo=UTC)


def read_timeline(contest: Contest, **viewer: Any) -> dict[str, Any]:
    timeline: dict[str, Any] = contest.get_board("attacks", **viewer)
    return timeline


def reveal() -> None:
    now = datetime.now(UTC)
    execute(update(Round).values(closed_at=now, revealed_at=now))


def find_step(steps: list[dict[str, Any]], moment: datetime) -> dict[str, Any] | None:
    """Return the last step up to the moment, or None."""
    past_steps = [step for step in steps if datetime.fromisoformat(step["at"]) <= moment]
    return past_steps[-1] if past_steps else None


def index_cells(timeline: dict[str, Any]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    return {
        (row["attacker"], target["target"]): steps
        for row in timeline["rows"]
        for target, steps in zip(timeline["targets"], row["cells"], strict=True)
    }


def test_each_cell_shows_the_best_guesses_received_so_far(judged_contest: JudgedContest) -> None:
    reveal()
    guesses, names = judged_contest.list_visible_guesses(organizer=True), judged_contest.map_target_names()
    timeline = read_timeline(judged_contest.contest)
    assert [entry["target"] for entry in timeline["targets"]] == list(names)
    assert {row["attacker"] for row in timeline["rows"]} == {entry.team for entry in guesses}
    for (team, target), steps in index_cells(timeline).items():
        for moment in {entry.received_at for entry in judged_contest.guesses}:
            risks = find_best_risks(
                [entry for entry in guesses if entry.received_at <= moment], team, names[target]
            )
            step = find_step(steps, moment)
            assert (step["by_question"] if step else {}) == risks
            assert step is None or step["rate"] == pytest.approx(float(combine_risks([risks])), abs=1e-12)
        assert all(entry["correct"] is None for entry in steps)
        states = [{}, *(entry["by_question"] for entry in steps)]
        assert all(earlier != later for earlier, later in pairwise(states))


def test_timeline_is_hidden_until_the_reveal_and_omits_disqualified_teams(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml='[publication]\nfeedback = "immediate"')
    red_submission, blue_submission, green_submission = (
        contest.submit(team) for team in ("red", "blue", "green")
    )
    contest.open_attacks()
    for team, submission, right_rows in (
        ("red", blue_submission, 3),
        ("red", green_submission, 9),
        ("blue", red_submission, 4),
        ("red", blue_submission, 8),
    ):
        contest.submit_correct_guess(team, submission, right_rows)
    path, arena = f"{contest.path}/boards/attacks", contest.arena
    for token in (arena.organizer_token, arena.get_team_token("red")):
        response = arena.get(path, token=token)
        assert (response.status_code, response.json()["code"]) == (404, "not_revealed_yet")
    reveal()
    names = {
        entry: contest.find_target(entry)["name"]
        for entry in (red_submission, blue_submission, green_submission)
    }
    timeline = read_timeline(contest, team="red")
    steps = index_cells(timeline)["red", names[blue_submission]]
    assert [(entry["correct"], entry["rate"]) for entry in steps] == [(3, 3 / ROWS), (8, 8 / ROWS)]
    assert [row["own"] for row in timeline["rows"]] == [False, True]
    received_times = load_all(
        select(Guess.received_at)
        .join(Target, Target.id == Guess.target_id)
        .join(Team, Team.id == Guess.team_id)
        .where(Target.name == names[blue_submission], Team.name == "red")
        .order_by(Guess.received_at)
    )
    assert [datetime.fromisoformat(entry["at"]) for entry in steps] == list(received_times)
    assert contest.post_as_organizer(f"/submissions/{green_submission}/disqualify").status_code == 200
    team_id = load_one(select(Team.id).where(Team.name == "blue"))
    assert contest.post_as_organizer(f"{contest.path}/teams/{team_id}/disqualify").status_code == 200
    for viewer in ({}, {"team": "blue"}, {"organizer": True}):
        timeline = read_timeline(contest, **viewer)
        assert [row["attacker"] for row in timeline["rows"]] == []
        assert [entry["target"] for entry in timeline["targets"]] == [names[red_submission]]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10)), max_size=8))
def test_cell_shows_the_largest_count_of_one_guess(pairs: list[tuple[int, int]]) -> None:
    guesses = sorted(
        (
            EffectiveGuess(START + timedelta(hours=hour), "link", correct / 10, correct)
            for hour, correct in pairs
        ),
        key=lambda entry: entry.received_at,
    )
    steps = list(find_count_steps(guesses, 10))
    for hour in range(4):
        moment = START + timedelta(hours=hour)
        expected = max((entry.correct for entry in guesses if entry.received_at <= moment), default=None)
        past_steps = [entry for entry in steps if entry.at <= moment]
        assert (past_steps[-1].correct if past_steps else None) == expected
        assert expected is None or Fraction(past_steps[-1].rate).limit_denominator(10) == Fraction(
            expected, 10
        )
    correct = [entry.correct for entry in steps]
    assert correct == sorted(set(correct), key=lambda entry: entry or 0)
