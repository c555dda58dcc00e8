"""An upload that starts in time counts if it ends within the grace period. The freeze waits for it."""

from datetime import datetime, timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from app.submissions import attempts
from app.submissions.models import Attempt
from tests.support.contest import Contest, load_round, run_clock
from tests.support.database_rows import execute, load_all
from tests.support.phase_changes import (
    accept_upload,
    list_audit_actions,
    list_targets,
    receive_upload,
    score_submission,
)
from tests.support.uploads_in_flight import (
    end_first_phase,
    list_open_attempts,
    list_received_submissions,
    start_upload,
)

pytestmark = pytest.mark.full


def test_upload_started_in_time_may_finish_after_the_deadline(contest: Contest) -> None:
    with start_upload(contest, "red") as upload:
        end_first_phase(contest)
        (attempt,) = list_open_attempts()
        run_clock()
        assert (contest.get_state(), load_round().frozen_at) == ("settling", None)
        assert contest.arena.submit("blue").json()["code"] == "phase_closed"
        receipt = upload.finish().json()
    assert upload.status == 202
    assert datetime.fromisoformat(receipt["received_at"]) == attempt.started_at
    run_clock()
    assert load_round().frozen_at is None
    score_submission(receipt["id"])
    run_clock()
    assert [str(target.submission_id) for target in list_targets()] == [receipt["id"]]
    assert list_audit_actions().count("finals.freeze") == 1


def test_freeze_does_not_wait_beyond_the_grace_period(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_upload(contest, "red") as upload:
        end_first_phase(contest)
        run_clock()
        assert load_round().frozen_at is None
        monkeypatch.setattr(attempts, "get_grace_period", lambda: timedelta(0))
        run_clock()
        assert load_round().frozen_at is not None
        monkeypatch.undo()
        assert upload.finish().status_and_code == (409, "too_late")
    assert (list_received_submissions(), list_targets(), list_open_attempts()) == ([], [], [])


def test_grace_period_does_not_limit_uploads_during_a_phase(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "get_grace_period", lambda: timedelta(0))
    with start_upload(contest, "red") as upload:
        assert upload.finish().status == 202


def test_pause_accepts_only_uploads_that_had_started(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    pause = f"{contest.path}/phases/anonymization/pause"
    with start_upload(contest, "red") as upload, start_upload(contest, "blue") as slow_upload:
        assert contest.post_as_organizer(pause).status_code == 200
        assert contest.arena.submit("green").json()["code"] == "phase_paused"
        assert upload.finish().status == 202
        monkeypatch.setattr(attempts, "get_grace_period", lambda: timedelta(0))
        assert slow_upload.finish().status_and_code == (409, "too_late")


@pytest.mark.parametrize("ending", ["malformed", "broken off", "too large"])
def test_freeze_does_not_wait_for_a_failed_upload(client: TestClient, ending: str) -> None:
    contest = Contest.create(client, extra_toml="[limits]\nfile_mb = 1")
    with start_upload(contest, "red") as upload:
        end_first_phase(contest)
        if ending == "broken off":
            upload.disconnect()
        else:
            size = 100 if ending == "malformed" else 2**20 + 1
            head, tail = upload.body.split(b"\r\n--", maxsplit=1)
            upload.body = head + b"?" * size + b"\r\n--" + tail
            assert upload.finish().status == (422 if ending == "malformed" else 413)
        assert list_open_attempts() == []
        run_clock()
        assert load_round().frozen_at is not None
    (attempt,) = load_all(select(Attempt))
    assert attempt.ended_at is not None


@pytest.mark.contest(extra_toml="[limits]\nvalid_per_day = 1")
def test_upload_counts_for_the_day_it_started(contest: Contest) -> None:
    """Two uploads start on either side of midnight and are accepted in reverse order."""
    principal, yesterdays_upload = receive_upload(contest.arena, "red", seed=1)
    _, todays_upload = receive_upload(contest.arena, "red", seed=2)
    attempt = yesterdays_upload.attempt
    assert attempt is not None
    started_at = attempt.started_at - timedelta(days=1)
    attempt.started_at = yesterdays_upload.started_at = started_at
    execute(update(Attempt).where(Attempt.id == attempt.id).values(started_at=started_at))
    for upload in (todays_upload, yesterdays_upload):
        accept_upload(principal, upload)
    assert list_received_submissions()[0][0] == started_at
    caps = contest.arena.get(f"{contest.path}/quota", team="red").json()["caps"]
    used_counts = {cap["name"]: cap["used"] for cap in caps}
    assert (used_counts["valid_per_day"], used_counts["valid_total"]) == (1, 2)
    assert (used_counts["attempts_per_day"], used_counts["attempts_total"]) == (1, 2)
