"""A worker that lacks the store, a file of it or a key: it takes no work, and costs the work nothing."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from app.config import Settings, get_settings
from app.crypto import sealing
from app.db.models import Evaluation, State, Submission, ThresholdReport
from app.db.transaction import transaction
from app.services.jobs import queue
from app.services.jobs.store_check import known_files
from app.storage import store
from tests.support import queue_model
from tests.support.arena import Arena
from tests.support.evaluation_rows import claim, row, submitted
from tests.support.queue import empty_queue, rested
from tests.support.queue_model import Piece
from tests.support.stored_files import file_of
from workers import advise, clock, readiness
from workers import score as scoring

pytestmark = pytest.mark.full


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "WAITING_S", 0.0)
    monkeypatch.setattr(readiness, "ASKED_EVERY_S", 0.0)


@pytest.fixture
def elsewhere(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A worker on another host is this process with another environment; ``undo`` brings it home."""
    yield monkeypatch
    monkeypatch.undo()
    get_settings.cache_clear()


def moved(elsewhere: pytest.MonkeyPatch, **environment: object) -> None:
    for name, value in environment.items():
        elsewhere.setenv(name, str(value))
    get_settings.cache_clear()


def at_home(elsewhere: pytest.MonkeyPatch) -> None:
    elsewhere.undo()
    get_settings.cache_clear()


def score(identifier: UUID) -> Evaluation:
    scoring.score(str(identifier))
    return row(identifier)


def test_a_worker_with_another_store_takes_no_work_says_so_once_and_comes_back(
    arena: Arena, elsewhere: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    identifier = submitted(arena)
    with capture_logs() as said:
        moved(elsewhere, ANONCUP_STORE=tmp_path)
        for _ in range(5):
            assert (score(identifier).state, row(identifier).attempt) == (State.QUEUED, 0)
        at_home(elsewhere)
        assert (score(identifier).state, row(identifier).attempt) == (State.SCORED, 1)
    events = [entry["event"] for entry in said]
    assert (events.count("takes_no_work"), events.count("takes_work_again")) == (1, 1)
    assert "is it the right store" in next(
        entry["reason"] for entry in said if entry["event"] == "takes_no_work"
    )


def test_a_worker_without_keys_takes_no_submission_but_a_report(
    arena: Arena, elsewhere: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    identifier = submitted(arena)
    report = arena.post("/competitions/small/threshold-reports", json={}).json()["id"]
    moved(elsewhere, ANONCUP_OPENING_KEYS_DIR=tmp_path)
    assert (score(identifier).state, row(identifier).attempt) == (State.QUEUED, 0)
    advise.advise(report)
    with transaction() as session:
        assert session.get_one(ThresholdReport, UUID(report)).state == State.SCORED


def test_a_worker_that_lacks_one_key_gives_the_claim_back_uncounted(
    arena: Arena, elsewhere: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    identifier = submitted(arena)
    sealing.create_keys(tmp_path / "other.pub", tmp_path / "private")
    moved(elsewhere, ANONCUP_OPENING_KEYS_DIR=tmp_path / "private")
    for tried in range(1, 6):
        found = score(identifier)
        assert (found.state, found.attempt, found.excused) == (State.QUEUED, tried, tried)
        rested()
    at_home(elsewhere)
    assert (score(identifier).state, row(identifier).failure) == (State.SCORED, None)


@pytest.mark.parametrize(
    ("harm", "times"),
    [pytest.param(Path.unlink, 4, marks=pytest.mark.full), (lambda path: path.write_bytes(b"harmed"), 1)],
)
def test_a_file_that_is_not_whole_costs_no_attempt_and_is_scored_once_it_is_back(
    arena: Arena, settings: Settings, harm: object, times: int
) -> None:
    identifier = submitted(arena)
    blob = file_of(settings.data, digest_of_release(identifier))
    kept = blob.read_bytes()
    assert callable(harm)
    harm(blob)
    for tried in range(1, times + 1):  # one more than a submission has attempts
        assert (score(identifier).state, row(identifier).excused) == (State.QUEUED, tried)
        rested()
    store().put(kept)
    assert score(identifier).state == State.SCORED


def test_a_file_that_nobody_has_ends_the_submission_in_error_after_a_while_and_no_other(
    arena: Arena, settings: Settings
) -> None:
    identifier, other = submitted(arena), submitted(arena, seed=2)
    file_of(settings.data, digest_of_release(identifier)).unlink()
    assert score(identifier).state == State.QUEUED
    readiness.FOR_SECRETS.resting_until = 0.0
    assert score(other).state == State.SCORED
    rested()
    with transaction() as session:
        longer = settings.lost_after_s + 1
        session.execute(
            text(f"UPDATE evaluations SET missing_since = missing_since - interval '{longer} seconds'")
        )
    assert score(identifier).state == State.ERROR
    failure = row(identifier).failure
    assert failure
    assert (failure.code, str(failure.message)) == ("file_lost", "the file is not in the store")


def digest_of_release(identifier: UUID) -> str:
    with transaction() as session:
        return str(session.get_one(Submission, row(identifier).submission_id).files["anonymized"])


def test_what_was_given_back_rests_before_anybody_takes_it_or_is_asked(
    arena: Arena, elsewhere: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    identifier = submitted(arena)
    sealing.create_keys(tmp_path / "other.pub", tmp_path / "private")
    moved(elsewhere, ANONCUP_OPENING_KEYS_DIR=tmp_path / "private")
    score(identifier)
    with transaction() as session:
        session.execute(text("UPDATE evaluations SET created_at = created_at - interval '1 hour'"))
    empty_queue()
    assert claim(identifier) is None
    clock.sweep()
    assert queue.depth() == 0
    rested()
    clock.sweep()
    assert queue.depth() == 1
    assert claim(identifier) is not None


def test_a_service_without_any_file_is_fit_if_its_store_can_be_written(
    settings: Settings, elsewhere: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert readiness.FOR_SECRETS.wanting() is None
    (tmp_path / "file").write_bytes(b"")
    moved(elsewhere, ANONCUP_STORE=tmp_path / "file")
    assert readiness.FOR_SECRETS.wanting() is not None


def test_the_newest_files_are_found_without_reading_all_submissions(settings: Settings) -> None:
    """Asked before every upload, and of 3,000 rows only the newest matter, whichever competition has them."""
    cups = queue_model.contests(3, teams=2)
    sent = [(at, number) for at in range(1000) for number in range(3)]
    queue_model.evaluations(Piece(cups[n], cups[n].teams[at % 2], 3 * at + n) for at, n in sent)
    with transaction() as session:
        session.execute(text("UPDATE submissions SET files = json_build_object('anonymized', received_at)"))
        files = "SELECT files ->> 'anonymized' FROM submissions ORDER BY received_at DESC LIMIT 3"
        newest = session.scalars(text(files)).all()
        session.execute(text("ANALYZE submissions"))
    read = text("SELECT seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'submissions'")
    with transaction() as session:
        before = session.scalars(read).one()
        assert known_files(session) == newest
        assert session.scalars(read).one() == before
