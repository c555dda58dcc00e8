"""The matrix as it came to be, a second time: at each moment the best of all guesses received till then."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, update

from app.db.models import Competition, Guess, Target, Team
from app.db.transaction import transaction
from app.services.boards.attack_timeline import Sent, counted
from tests.support.arena import ROWS
from tests.support.contest import Contest
from tests.support.outcomes import Played, best, played, together

pytestmark = pytest.mark.full

__all__ = ["played"]
START = datetime(2026, 7, 1, tzinfo=UTC)


def told(contest: Contest, **reader: Any) -> dict[str, Any]:
    found: dict[str, Any] = contest.board("attacks", **reader)
    return found


def reveal() -> None:
    with transaction() as session:
        now = datetime.now(UTC)
        session.execute(update(Competition).values(closed_at=now, revealed_at=now))


def at(steps: list[dict[str, Any]], moment: datetime) -> dict[str, Any] | None:
    """What holds at a moment: the last step that was made by then."""
    made = [one for one in steps if datetime.fromisoformat(one["at"]) <= moment]
    return made[-1] if made else None


def cells_of(history: dict[str, Any]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    return {
        (row["attacker"], target["target"]): steps
        for row in history["rows"]
        for target, steps in zip(history["targets"], row["cells"], strict=True)
    }


def test_at_each_moment_a_cell_is_the_best_of_what_was_received(played: Played) -> None:
    reveal()
    seen, names = played.seen(organizer=True), played.names()
    history = told(played.contest)
    assert [one["target"] for one in history["targets"]] == list(names)
    assert {row["attacker"] for row in history["rows"]} == {one.team for one in seen}
    for (team, target), steps in cells_of(history).items():
        for moment in {one.at for one in played.made}:
            risks = best([one for one in seen if one.at <= moment], team, names[target])
            found = at(steps, moment)
            assert (found["by_question"] if found else {}) == risks
            assert found is None or found["rate"] == pytest.approx(float(together([risks])), abs=1e-12)
        assert all(one["correct"] is None for one in steps)
        states = [{}, *(one["by_question"] for one in steps)]
        assert all(before != after for before, after in pairwise(states))


def test_the_last_steps_are_the_matrix(played: Played) -> None:
    reveal()
    matrix, steps = played.contest.board("matrix"), cells_of(told(played.contest))
    for row in matrix["rows"]:
        for target, cell in zip(matrix["targets"], row["cells"], strict=True):
            if not row["built_in"]:
                last = steps[row["attacker"], target["target"]][-1:]
                assert [one["rate"] for one in last] == ([cell["rate"]] if cell else [])


def test_nobody_gets_it_before_the_reveal_and_nobody_what_is_disqualified_after(client: TestClient) -> None:
    contest = Contest.opened(client, more='[publication]\nfeedback = "immediate"')
    red, blue, green = (contest.submit(team) for team in ("red", "blue", "green"))
    contest.attack()
    for team, submission, found in (("red", blue, 3), ("red", green, 9), ("blue", red, 4), ("red", blue, 8)):
        contest.guessed(team, submission, found)
    path, arena = f"{contest.path}/boards/attacks", contest.arena
    for token in (arena.organizer, arena.team("red")):
        answer = arena.get(path, token=token)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_revealed_yet")
    reveal()
    names = {one: contest.target_of(one)["name"] for one in (red, blue, green)}
    history = told(contest, team="red")
    steps = cells_of(history)["red", names[blue]]
    assert [(one["correct"], one["rate"]) for one in steps] == [(3, 3 / ROWS), (8, 8 / ROWS)]
    assert [row["own"] for row in history["rows"]] == [False, True]
    with transaction() as session:
        received = session.scalars(
            select(Guess.received_at)
            .join(Target, Target.id == Guess.target_id)
            .join(Team, Team.id == Guess.team_id)
            .where(Target.name == names[blue], Team.name == "red")
            .order_by(Guess.received_at)
        ).all()
    assert [datetime.fromisoformat(one["at"]) for one in steps] == list(received)
    assert contest.organize(f"/submissions/{green}/disqualify").status_code == 200
    with transaction() as session:
        blues = session.scalars(select(Team.id).where(Team.name == "blue")).one()
    assert contest.organize(f"{contest.path}/teams/{blues}/disqualify").status_code == 200
    for reader in ({}, {"team": "blue"}, {"organizer": True}):
        history = told(contest, **reader)
        assert [row["attacker"] for row in history["rows"]] == []
        assert [one["target"] for one in history["targets"]] == [names[red]]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10)), max_size=8))
def test_individuals_are_the_most_that_one_guess_found_so_far(made: list[tuple[int, int]]) -> None:
    guesses = sorted(
        (Sent(START + timedelta(hours=hour), "link", found / 10, found) for hour, found in made),
        key=lambda one: one.at,
    )
    steps = list(counted(10)(guesses))
    for hour in range(4):
        moment = START + timedelta(hours=hour)
        expected = max((one.correct for one in guesses if one.at <= moment), default=None)
        reached = [one for one in steps if one.at <= moment]
        assert (reached[-1].correct if reached else None) == expected
        assert expected is None or Fraction(reached[-1].rate).limit_denominator(10) == Fraction(expected, 10)
    found = [one.correct for one in steps]
    assert found == sorted(set(found), key=lambda one: one or 0)
