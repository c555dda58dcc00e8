"""The clock is killed before and after every step of a transition; the next tick finishes it once."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

import workers.lifecycle
from app.lifecycle import contest_lifecycle
from tests.support.contest import Contest, load_round, run_clock
from tests.support.phase_changes import (
    SimulatedKill,
    kill_at_call,
    list_audit_actions,
    list_targets,
    submit_with_verdict,
)

pytestmark = pytest.mark.full


KILL_POINTS = [
    (module, name, is_before, call_number)
    for module, name, call_numbers in (
        (contest_lifecycle, "freeze", (1,)),
        (workers.lifecycle, "write_target_files", (1, 2)),
        (contest_lifecycle, "record_files", (1, 3)),
        (contest_lifecycle, "publish", (1,)),
        (contest_lifecycle, "close", (1,)),
        (workers.lifecycle, "reveal_secret", (1, 2)),
        (contest_lifecycle, "record_opening", (1, 3)),
        (contest_lifecycle, "reveal", (1,)),
    )
    for is_before in (True, False)
    for call_number in call_numbers
]


@pytest.mark.parametrize(
    "kill_point",
    [
        # A kill before a step mostly equals one after the previous step, so only the full run tests it.
        pytest.param(
            kill,
            id=f"{'before' if kill[2] else 'after'} {kill[1]} {kill[3]}",
            marks=pytest.mark.full if kill[2] else (),
        )
        for kill in KILL_POINTS
    ],
)
def test_transitions_complete_once_after_the_clock_is_killed(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, kill_point: tuple[Any, str, bool, int]
) -> None:
    """All transitions are due in one round, which is killed at one of its steps. The functions of
    ``contest_lifecycle`` run inside a transaction, so a kill after them still precedes the commit."""
    module, name, is_before, call_number = kill_point
    contest = Contest.create(client)
    submission_ids = [submit_with_verdict(contest, team) for team in ("red", "blue", "red", "blue")]
    contest.move_phases(anonymization=(-3, -2), reidentification=(-1, -0.5))
    monkeypatch.setattr(
        module, name, kill_at_call(getattr(module, name), kills_before=is_before, call_number=call_number)
    )
    with pytest.raises(SimulatedKill):
        run_clock()
    monkeypatch.undo()
    assert load_round().revealed_at is None
    run_clock()
    assert contest.get_state() == "closed"
    assert sorted(str(target.submission_id) for target in list_targets()) == sorted(submission_ids)
    for action in ("finals.freeze", "targets.publish", "competition.close", "secrets.reveal"):
        assert list_audit_actions().count(action) == 1
    (revealed_target, *_) = client.get(f"/api/v1{contest.path}/reveal").json()
    assert len(revealed_target["salt"]) == 64
