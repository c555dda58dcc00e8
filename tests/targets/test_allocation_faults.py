"""Faults during allocation: the next round completes it and keeps the allocations already recorded."""

from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update
from structlog.testing import capture_logs

import workers.jobs
import workers.lifecycle
from anoncup.errors import Unavailable
from anoncup.plugins import TRACKS
from app.core.db.models import Round
from app.core.storage.store import Store
from app.originals.models import SeedOpening
from app.targets import allocation
from tests.support.allocated_contest import (
    COMPETITION_PATH,
    load_allocations,
    load_audit_entries,
    upload_organizer_file,
)
from tests.support.allocation_track import (
    TEAM_ALLOCATION,
    evaluate_in_process,
    install_allocation,
)
from tests.support.contest import Contest, load_round, run_clock
from tests.support.database_rows import execute, load_all
from tests.support.phase_changes import SimulatedKill, kill_at_call
from workers import jobs

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Contest:
    install_allocation(monkeypatch, TEAM_ALLOCATION)
    opened_contest = Contest.create(client)
    assert upload_organizer_file(opened_contest.arena).status_code == 200
    opened_contest.arena.get_team_token("red")
    opened_contest.arena.get_team_token("blue")
    return opened_contest


@pytest.mark.parametrize("is_before", [True, False])
@pytest.mark.parametrize(
    ("module", "function_name", "call_number"),
    [
        (allocation, "commit_seed", 1),
        (workers.jobs, "run", 1),
        (workers.jobs, "run", 3),
        (allocation, "record_allocation", 1),
        (allocation, "record_allocation", 2),
    ],
)
def test_allocation_completes_once_after_the_clock_is_killed(
    contest: Contest,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    function_name: str,
    call_number: int,
    *,
    is_before: bool,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(
            module,
            function_name,
            kill_at_call(getattr(module, function_name), kills_before=is_before, call_number=call_number),
        )
        with pytest.raises(SimulatedKill):
            run_clock()
    files_before = {team: row.files for team, row in load_allocations().items()}
    run_clock()
    allocations = load_allocations()
    assert list(allocations) == ["", "red", "blue"]
    assert all(allocations[team].files == files for team, files in files_before.items())
    assert len(load_audit_entries("seed.commit")) == 1
    assert [entry.after["team"] for entry in load_audit_entries("own.draw")] == ["", "red", "blue"]  # type: ignore[index]


@pytest.mark.parametrize("is_before", [True, False])
@pytest.mark.parametrize(
    ("module", "function_name"), [(workers.lifecycle, "reveal_seed"), (allocation, "record_seed_opening")]
)
def test_seed_is_revealed_after_the_clock_is_killed(
    contest: Contest, monkeypatch: pytest.MonkeyPatch, module: Any, function_name: str, *, is_before: bool
) -> None:
    run_clock()
    contest.open_attacks()
    contest.move_phases(reidentification=(-1, -0.5))
    with monkeypatch.context() as patch:
        patch.setattr(
            module, function_name, kill_at_call(getattr(module, function_name), kills_before=is_before)
        )
        with pytest.raises(SimulatedKill):
            run_clock()
    assert load_round().revealed_at is None
    run_clock()
    allocations = contest.arena.client.get(f"/api/v1{COMPETITION_PATH}/allocations").json()
    assert allocations["commitment"] == contest.arena.get(COMPETITION_PATH).json()["seed_commitment"]


@pytest.mark.parametrize("fault", ["store", "child", "track"])
def test_failed_allocation_is_logged_and_retried(
    contest: Contest, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    def raise_fault(*_: Any, **__: Any) -> Any:
        raise Unavailable("it is away")

    with monkeypatch.context() as patch, capture_logs() as logs:
        if fault == "store":
            patch.setattr(Store, "save", raise_fault)
        elif fault == "child":
            patch.setattr(jobs, "run", raise_fault)
        else:
            crash = jobs.ScoringError(jobs.CRASH_MESSAGE)
            patch.setattr(jobs, "run", lambda *_, **__: (_ for _ in ()).throw(crash))
        run_clock()
    assert load_allocations() == {}
    assert any(entry["event"] == "turning_failed" for entry in logs)
    assert "label 3" not in str(logs)
    run_clock()
    assert list(load_allocations()) == ["", "red", "blue"]
    assert jobs.run is evaluate_in_process
    assert TRACKS["microdata"].allocation is TEAM_ALLOCATION


def test_replaced_seed_is_neither_used_nor_revealed(contest: Contest) -> None:
    """The owner of the database may copy a sealed box from another row."""
    contest.arena.get_team_token("red")
    run_clock()
    execute(update(Round).values(seed_commitment="0" * 64))
    contest.arena.get_team_token("green")
    with capture_logs() as logs:
        run_clock()
    assert "green" not in load_allocations()
    assert any("does not match its commitment" in str(entry.get("reason")) for entry in logs)
    contest.open_attacks()
    contest.move_phases(reidentification=(-1, -0.5))
    run_clock()
    assert load_round().revealed_at is None
    assert load_all(select(SeedOpening)) == []
