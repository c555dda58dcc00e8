"""The clock killed before and after every step of a turn: the next one finishes it, once."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

import workers.lifecycle
from app.services.attacks import contest_lifecycle
from tests.support.contest import Contest, competition_row, turn
from tests.support.killed_transitions import Killed, dying
from tests.support.phase_changes import acts, quick, targets

pytestmark = pytest.mark.full


KILLS = [
    (place, name, before, on)
    for place, name, times in (
        (contest_lifecycle, "freeze", (1,)),
        (workers.lifecycle, "write", (1, 2)),
        (contest_lifecycle, "written", (1, 3)),
        (contest_lifecycle, "publish", (1,)),
        (contest_lifecycle, "close", (1,)),
        (workers.lifecycle, "open_secret", (1, 2)),
        (contest_lifecycle, "opened", (1, 3)),
        (contest_lifecycle, "reveal", (1,)),
    )
    for before in (True, False)
    for on in times
]


@pytest.mark.parametrize(
    "kill",
    [
        # Most of what is found before a step was left after the one before it.
        pytest.param(
            kill,
            id=f"{'before' if kill[2] else 'after'} {kill[1]} {kill[3]}",
            marks=pytest.mark.full if kill[2] else (),
        )
        for kill in KILLS
    ],
)
def test_a_clock_killed_anywhere_is_finished_by_the_next(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, kill: tuple[Any, str, bool, int]
) -> None:
    """The whole second phase in one turn, killed in every step; killed after its work but before COMMIT too,
    for ``step`` calls within the transaction."""
    place, name, before, on = kill
    contest = Contest.opened(client)
    sent = [quick(contest, team) for team in ("red", "blue", "red", "blue")]
    contest.move(anonymization=(-3, -2), reidentification=(-1, -0.5))
    monkeypatch.setattr(place, name, dying(getattr(place, name), before=before, on=on))
    with pytest.raises(Killed):
        turn()
    monkeypatch.undo()
    assert competition_row().revealed_at is None
    turn()
    assert contest.state() == "closed"
    assert sorted(str(target.submission_id) for target in targets()) == sorted(sent)
    for action in ("finals.freeze", "targets.publish", "competition.close", "secrets.reveal"):
        assert acts().count(action) == 1
    (first, *_) = client.get(f"/api/v1{contest.path}/reveal").json()
    assert len(first["salt"]) == 64
