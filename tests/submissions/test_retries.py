"""An upload retried under its idempotency key counts once, whatever happened to the first web process."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select, update

from app.core.db.transaction import transaction
from app.core.http.admission import Admission
from app.submissions import attempts
from app.submissions.models import Attempt
from app.targets.guesses import GuessUpload
from tests.support.arena import build_noisy_release
from tests.support.contest import Contest, judge_everything, load_round, run_clock
from tests.support.database_rows import execute, load_all
from tests.support.phase_changes import begin_upload, get_principal
from tests.support.uploads_in_flight import (
    end_first_phase,
    list_open_attempts,
    list_received_submissions,
    open_upload,
    start_upload,
)
from tests.support.wait import poll_until

pytestmark = pytest.mark.full

IDEMPOTENCY_KEY = "first-try"


def record_interrupted_attempt(contest: Contest, key: str = IDEMPOTENCY_KEY) -> Attempt:
    """Record the attempt of an upload whose web process dies right afterwards."""
    _, upload = begin_upload(contest.arena, "red", key=key)
    assert upload.attempt is not None
    return upload.attempt


def submit(contest: Contest, *, seed: int = 1, secret: bytes | None = None) -> Response:
    table, own_secret = build_noisy_release(seed, contest.arena.table)
    files = {"anonymized": table, "secret": own_secret if secret is None else secret}
    return post(contest, f"{contest.path}/submissions", contest.arena.get_team_token("red"), files)


def post(contest: Contest, path: str, token: str, files: dict[str, bytes]) -> Response:
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": IDEMPOTENCY_KEY}
    response: Response = contest.arena.client.post(f"/api/v1{path}", headers=headers, files=files)
    return response


def list_attempts() -> list[Attempt]:
    return load_all(select(Attempt).order_by(Attempt.started_at))


def backdate_attempts(age: timedelta) -> None:
    execute(update(Attempt).values(started_at=Attempt.started_at - age))


def test_retry_continues_the_attempt_of_a_killed_process(contest: Contest) -> None:
    first_attempt = record_interrupted_attempt(contest)
    receipt = submit(contest).json()
    assert [(attempt.id, attempt.senders) for attempt in list_attempts()] == [(first_attempt.id, 2)]
    assert list_received_submissions() == [(first_attempt.started_at, receipt["id"])]
    assert list_open_attempts() == []


def test_retry_after_the_grace_period_starts_anew_and_counts_once(contest: Contest) -> None:
    record_interrupted_attempt(contest)
    backdate_attempts(attempts.get_grace_period() + timedelta(seconds=1))
    first_started_at = list_attempts()[0].started_at
    assert submit(contest).status_code == 202
    (attempt,) = list_attempts()
    assert attempt.started_at > first_started_at


@pytest.mark.parametrize("age", [timedelta(0), timedelta(hours=1)])
def test_last_allowed_attempt_may_be_retried(client: TestClient, age: timedelta) -> None:
    contest = Contest.create(client, extra_toml="[limits]\nattempts_total = 1")
    record_interrupted_attempt(contest)
    backdate_attempts(age)
    assert submit(contest).status_code == 202
    assert contest.arena.submit("red").status_code == 429


def test_upload_after_a_refused_one_with_the_same_key_counts_again(contest: Contest) -> None:
    record_interrupted_attempt(contest)
    assert submit(contest, secret=b"original_row\n").status_code == 422
    assert submit(contest).status_code == 202
    assert [attempt.senders for attempt in list_attempts()] == [2, 1]


def test_retries_of_an_interrupted_upload_count_once(contest: Contest) -> None:
    start_times = []
    for _ in range(3):
        with start_upload(contest, "red", key=IDEMPOTENCY_KEY) as interrupted_upload:
            start_times += [attempt.started_at for attempt in list_attempts()]
            interrupted_upload.disconnect()
    assert len(set(start_times)) == 1
    end_first_phase(contest)
    run_clock()
    assert load_round().frozen_at is None
    receipt = submit(contest).json()
    assert list_received_submissions() == [(start_times[0], receipt["id"])]
    assert len(list_attempts()) == 1


def test_upload_refused_as_busy_may_be_retried_after_the_deadline(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(get_admission(contest), "max_wait_s", 0)
        with start_upload(contest, "red"):
            assert (submit(contest).status_code, count_spent_attempts(contest)) == (503, 1)
            end_first_phase(contest)
            run_clock()
            assert load_round().frozen_at is None
    assert submit(contest).status_code == 202
    assert count_spent_attempts(contest) == 2  # the interrupted upload and this one


def get_admission(contest: Contest) -> Admission:
    app: Any = contest.arena.client.app
    admission: Admission = app.state.admission
    return admission


def count_spent_attempts(contest: Contest) -> int:
    caps = contest.arena.get(f"{contest.path}/quota", team="red").json()["caps"]
    return int(next(cap["used"] for cap in caps if cap["name"] == "attempts_total"))


def test_busy_refusal_does_not_cancel_a_running_attempt(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_upload(contest, "red", key=IDEMPOTENCY_KEY) as slow_upload:
        monkeypatch.setattr(get_admission(contest), "max_wait_s", 0)
        assert (submit(contest).status_code, count_spent_attempts(contest)) == (503, 1)
        assert slow_upload.finish().status == 202
    assert [(attempt.senders, attempt.counts) for attempt in list_attempts()] == [(1, True)]


def test_busy_refusal_does_not_count_as_an_attempt(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = Contest.create(client, extra_toml="[limits]\nattempts_total = 1")
    with monkeypatch.context() as patch:
        patch.setattr(get_admission(contest), "max_wait_s", 0)
        assert (submit(contest).status_code, count_spent_attempts(contest)) == (503, 0)
    assert contest.arena.submit("red").status_code == 202
    assert (submit(contest).status_code, count_spent_attempts(contest)) == (429, 1)


def test_concurrent_uploads_with_one_key_count_if_read(contest: Contest) -> None:
    """After the first response to a key, each further upload read under it counts as a new attempt."""
    with ExitStack() as stack:
        uploads = [stack.enter_context(open_upload(contest, "red", key=IDEMPOTENCY_KEY)) for _ in range(4)]
        assert poll_until(lambda: [item.senders for item in list_attempts()] == [4])
        for item in uploads[:3]:
            item.body = item.body.replace(b"original_row", b"original_cow")
        for item in uploads:
            item.send_rest()
        assert sorted(item.wait_for_response().status for item in uploads) == [202, 422, 422, 422]
    reused_key_count = sum(item.status_and_code[1] == "idempotency_key_reused" for item in uploads)
    assert count_spent_attempts(contest) == 4 - reused_key_count
    assert list_open_attempts() == []


def test_concurrent_guesses_beyond_the_limit_are_all_refused(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml="[limits]\nguesses_per_target = 1")
    red_submission = contest.submit("red")
    contest.open_attacks()
    token, target = contest.arena.get_team_token("blue"), contest.find_target(red_submission)["id"]
    assert contest.submit_guess("blue", target, contest.build_guess(red_submission, 1)).status_code == 202
    guess = {"guess": contest.build_guess(red_submission, 2)}
    with ThreadPoolExecutor(6) as pool:
        responses = pool.map(lambda _: post(contest, f"/targets/{target}/guesses", token, guess), range(12))
        assert {response.status_code for response in responses} == {429}
    assert list_open_attempts() == []
    assert not any(attempt.counts for attempt in list_attempts() if attempt.key == IDEMPOTENCY_KEY)


def test_guesses_can_be_retried_like_uploads(contest: Contest) -> None:
    red_submission = contest.submit("red")
    token = contest.arena.get_team_token("blue")
    contest.open_attacks()
    target = contest.find_target(red_submission)["id"]
    interrupted_guess = GuessUpload(UUID(target), key=IDEMPOTENCY_KEY)
    with transaction() as session:
        interrupted_guess.begin(session, get_principal(contest.arena, "blue"))
    first_attempt = interrupted_guess.attempt
    contest.move_phases(reidentification=(-1, 0))
    run_clock()
    response = post(
        contest, f"/targets/{target}/guesses", token, {"guess": contest.build_guess(red_submission, 3)}
    )
    assert (response.status_code, first_attempt is None) == (202, False)
    assert [attempt.id for attempt in list_attempts() if attempt.phase == "reidentification"] == [
        first_attempt and first_attempt.id
    ]
    run_clock()
    assert contest.get_state() == "settling"
    judge_everything()
    run_clock()
    assert contest.get_state() == "closed"
