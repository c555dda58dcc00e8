"""What may fail while the service draws: the next turn finishes it, once, and what was drawn stays."""

from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update
from structlog.testing import capture_logs

import workers.allocate
import workers.lifecycle
from anoncup.errors import Unavailable
from anoncup.plugins import TRACKS
from app.db.models import Seed, SeedOpening
from app.db.transaction import transaction
from app.services.attacks import allocation
from app.storage.store import Store
from tests.support.allocated_contest import PATH, acts, given, own, rows
from tests.support.allocation_track import OWN, draws, evaluated_here, labels
from tests.support.arena import ROWS
from tests.support.contest import Contest, competition_row, turn
from tests.support.killed_transitions import Killed, dying
from workers import child_manager

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Contest:
    draws(monkeypatch, OWN)
    made = Contest.opened(client)
    assert given(made.arena).status_code == 200
    made.arena.team("red")
    made.arena.team("blue")
    return made


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize(
    ("place", "name", "on"),
    [
        (allocation, "commit", 1),
        (workers.allocate, "drawn", 1),
        (workers.allocate, "drawn", 3),
        (allocation, "record_allocation", 1),
        (allocation, "record_allocation", 2),
    ],
)
def test_a_clock_killed_anywhere_while_it_draws_is_finished_by_the_next(
    contest: Contest, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, on: int, *, before: bool
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(place, name, dying(getattr(place, name), before=before, on=on))
        with pytest.raises(Killed):
            turn()
    kept = {team: one.files for team, one in rows().items()}
    turn()
    found = rows()
    assert list(found) == ["", "red", "blue"]
    assert all(found[team].files == files for team, files in kept.items())
    assert len(acts("seed.commit")) == 1
    assert [entry.after["team"] for entry in acts("own.draw")] == ["", "red", "blue"]  # type: ignore[index]


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize(("place", "name"), [(workers.lifecycle, "open_seed"), (allocation, "opened")])
def test_a_clock_killed_while_it_opens_the_seed_reveals_it_at_the_next_turn(
    contest: Contest, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, *, before: bool
) -> None:
    turn()
    contest.attack()
    contest.move(reidentification=(-1, -0.5))
    with monkeypatch.context() as patch:
        patch.setattr(place, name, dying(getattr(place, name), before=before))
        with pytest.raises(Killed):
            turn()
    assert competition_row().revealed_at is None
    turn()
    told = contest.arena.client.get(f"/api/v1{PATH}/draws").json()
    assert told["commitment"] == contest.arena.get(PATH).json()["seed_commitment"]


@pytest.mark.parametrize("fault", ["store", "child", "track"])
def test_what_cannot_be_drawn_now_is_said_and_drawn_later(
    contest: Contest, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise Unavailable("it is away") if fault == "store" else child_manager.ChildDied(child_manager.DIED)

    with monkeypatch.context() as patch, capture_logs() as said:
        if fault == "store":
            patch.setattr(Store, "put", refuse)
        elif fault == "child":
            patch.setattr(child_manager, "evaluate", refuse)
        else:
            crash = child_manager.ScoringFailed(child_manager.CRASHED)
            patch.setattr(child_manager, "evaluate", lambda *_, **__: (_ for _ in ()).throw(crash))
        turn()
    assert rows() == {}
    assert any(entry["event"] == "turning_failed" for entry in said)
    assert "label 3" not in str(said)
    turn()
    assert list(rows()) == ["", "red", "blue"]
    assert child_manager.evaluate is evaluated_here
    assert TRACKS["microdata"].draw is OWN


def test_a_seed_that_was_exchanged_is_used_for_nothing_and_revealed_to_nobody(contest: Contest) -> None:
    """Whoever owns the database and moves a box from elsewhere."""
    contest.arena.team("red")
    turn()
    with transaction() as session:
        session.execute(update(Seed).values(commitment="0" * 64))
    contest.arena.team("green")
    with capture_logs() as said:
        turn()
    assert "green" not in rows()
    assert any("does not match its commitment" in str(entry.get("reason")) for entry in said)
    contest.attack()
    contest.move(reidentification=(-1, -0.5))
    turn()
    assert competition_row().revealed_at is None
    with transaction() as session:
        assert session.scalars(select(SeedOpening)).all() == []


def test_what_organizers_hold_opens_in_its_own_place_only(contest: Contest) -> None:
    from app.config import get_settings
    from app.crypto import sealing
    from app.services.contests import sealed_inputs
    from tests.support.contest import competition_id

    with transaction() as session:
        (box,) = sealed_inputs.truth_of(session, competition_id()).values()
    keys = get_settings().opening_keys_dir
    opened = sealing.open_with_salt(keys, key_id=box.key_id, box=box.sealed, submission_id=box.bound_to)
    assert opened.secret == labels(ROWS)
    assert sealing.commitment_of(opened.salt, opened.secret) == box.commitment
    assert b"label 3" not in box.sealed
    elsewhere = sealed_inputs.bound_to(competition_id(), "controls")
    with pytest.raises(Unavailable):
        sealing.open_sealed(keys, key_id=box.key_id, box=box.sealed, submission_id=elsewhere)
    assert own(contest.arena, "red").status_code == 409
