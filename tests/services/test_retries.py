"""What is sent again under its key counts once, whatever became of the web process that had it before."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select, update

from app.db.models import Attempt
from app.db.transaction import transaction
from app.http import redis_lock
from app.http.admission import Admission
from app.services.attacks import guesses
from app.services.submissions import attempts, uploads
from tests.support.arena import noisy_release
from tests.support.contest import Contest, competition_row, judge_everything, turn
from tests.support.phase_changes import member, score
from tests.support.uploads_in_flight import end_the_first_phase, entering, received, under_way, uploading
from tests.support.wait import eventually

pytestmark = pytest.mark.full

KEY = "first-try"


@pytest.fixture
def contest(client: TestClient) -> Contest:
    return Contest.opened(client)


def killed(contest: Contest, key: str = KEY) -> Attempt:
    """An upload whose web process ended after its entrance, without another word."""
    person = member(contest.arena, "red")
    with transaction() as session:
        attempt = uploads.entrance(session, person, contest.arena.slug, key=key).attempt
    assert attempt is not None
    return attempt


def sent(contest: Contest, *, seed: int = 1, secret: bytes | None = None) -> Response:
    table, right = noisy_release(seed, contest.arena.table)
    files = {"anonymized": table, "secret": right if secret is None else secret}
    return post(contest, f"{contest.path}/submissions", contest.arena.team("red"), files)


def post(contest: Contest, path: str, token: str, files: dict[str, bytes]) -> Response:
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": KEY}
    answer: Response = contest.arena.client.post(f"/api/v1{path}", headers=headers, files=files)
    return answer


def counted() -> list[Attempt]:
    with transaction() as session:
        return list(session.scalars(select(Attempt).order_by(Attempt.at)))


def aged(by: timedelta) -> None:
    with transaction() as session:
        session.execute(update(Attempt).values(at=Attempt.at - by))


def test_a_retry_goes_on_with_the_attempt_of_a_process_that_was_killed(contest: Contest) -> None:
    first = killed(contest)
    receipt = sent(contest).json()
    assert [(one.id, one.senders) for one in counted()] == [(first.id, 2)]
    assert received() == [(first.at, receipt["id"])]
    assert under_way() == []


def test_a_retry_after_the_deadline_is_in_time_if_the_first_try_was(contest: Contest) -> None:
    killed(contest)
    end_the_first_phase(contest)
    turn()
    assert competition_row().frozen_at is None
    answer = sent(contest)
    assert answer.status_code == 202
    score(answer.json()["id"])
    turn()
    assert competition_row().frozen_at is not None


def test_a_retry_beyond_the_grace_enters_anew_and_counts_once(contest: Contest) -> None:
    killed(contest)
    aged(attempts.grace() + timedelta(seconds=1))
    old = counted()[0].at
    assert sent(contest).status_code == 202
    (attempt,) = counted()
    assert attempt.at > old


def test_a_retry_beyond_the_grace_and_the_deadline_is_too_late(contest: Contest) -> None:
    killed(contest)
    aged(attempts.grace() + timedelta(seconds=1))
    end_the_first_phase(contest)
    assert (sent(contest).status_code, len(counted())) == (409, 1)


@pytest.mark.parametrize("age", [timedelta(0), timedelta(hours=1)])
def test_the_last_attempt_of_a_cap_may_be_retried(client: TestClient, age: timedelta) -> None:
    contest = Contest.opened(client, more="[limits]\nattempts_total = 1")
    killed(contest)
    aged(age)
    assert sent(contest).status_code == 202
    assert contest.arena.submit("red").status_code == 429


def test_another_key_is_another_upload(contest: Contest) -> None:
    killed(contest, "another")
    assert sent(contest).status_code == 202
    assert len(counted()) == 2


def test_what_was_refused_under_a_key_has_ended_and_the_next_one_counts(contest: Contest) -> None:
    killed(contest)
    assert sent(contest, secret=b"original_row\n").status_code == 422
    assert sent(contest).status_code == 202
    assert [one.senders for one in counted()] == [2, 1]


def test_another_upload_under_a_key_in_use_is_refused_and_counts_once(contest: Contest) -> None:
    with (
        uploading(contest, "red", key=KEY) as first,
        entering(contest, "red", seed=2, key=KEY) as second,
    ):
        assert eventually(lambda: [one.senders for one in counted()] == [2])
        assert first.finish().status == 202
        assert second.finish().told == (422, "idempotency_key_reused")
    (attempt,) = counted()
    assert attempt.ended_at is not None


def test_what_breaks_off_may_be_retried_and_counts_once(contest: Contest) -> None:
    entered = []
    for _ in range(3):
        with uploading(contest, "red", key=KEY) as slow:
            entered += [one.at for one in counted()]
            slow.break_off()
    assert len(set(entered)) == 1
    end_the_first_phase(contest)
    turn()
    assert competition_row().frozen_at is None
    receipt = sent(contest).json()
    assert received() == [(entered[0], receipt["id"])]
    assert len(counted()) == 1


def test_what_found_no_room_before_the_deadline_is_in_time_after_it(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.MonkeyPatch.context() as full:
        full.setattr(doors(contest), "patience_s", 0)
        with uploading(contest, "red"):
            assert (sent(contest).status_code, spent(contest)) == (503, 1)
            end_the_first_phase(contest)
            turn()
            assert competition_row().frozen_at is None
    assert sent(contest).status_code == 202
    assert spent(contest) == 2  # the one that broke off, and this one


def doors(contest: Contest) -> Admission:
    app: Any = contest.arena.client.app
    found: Admission = app.state.admission
    return found


def spent(contest: Contest) -> int:
    caps = contest.arena.get(f"{contest.path}/quota", token=contest.arena.team("red")).json()["caps"]
    return int(next(cap["used"] for cap in caps if cap["name"] == "attempts_total"))


def test_what_found_no_room_counts_as_long_as_another_try_is_under_way(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with uploading(contest, "red", key=KEY) as slow:
        monkeypatch.setattr(doors(contest), "patience_s", 0)
        assert (sent(contest).status_code, spent(contest)) == (503, 1)
        assert slow.finish().status == 202
    assert [(one.senders, one.counts) for one in counted()] == [(1, True)]


def test_what_found_no_room_takes_no_place_under_a_cap_and_needs_one_again(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = Contest.opened(client, more="[limits]\nattempts_total = 1")
    with monkeypatch.context() as full:
        full.setattr(redis_lock, "take", lambda *_: False)
        full.setattr(doors(contest), "patience_s", 0)
        assert (sent(contest).status_code, spent(contest)) == (503, 0)
    assert contest.arena.submit("red").status_code == 202
    assert (sent(contest).status_code, spent(contest)) == (429, 1)


def test_of_many_at_once_under_one_key_each_that_is_read_counts(contest: Contest) -> None:
    """None is read for nothing: what was answered under the key makes the next one an attempt of its own."""
    with ExitStack() as open_ones:
        each = [open_ones.enter_context(entering(contest, "red", key=KEY)) for _ in range(4)]
        assert eventually(lambda: [one.senders for one in counted()] == [4])
        for one in each[:3]:
            one.body = one.body.replace(b"original_row", b"original_cow")
        for one in each:
            one.rest()
        assert sorted(one.answered().status for one in each) == [202, 422, 422, 422]
    repeated = sum(one.told[1] == "idempotency_key_reused" for one in each)
    assert spent(contest) == 4 - repeated
    assert under_way() == []


def test_of_many_guesses_at_once_that_find_a_cap_used_up_none_fails_otherwise(client: TestClient) -> None:
    contest = Contest.opened(client, more="[limits]\nguesses_per_target = 1")
    red = contest.submit("red")
    contest.attack()
    token, target = contest.arena.team("blue"), contest.target_of(red)["id"]
    assert contest.guess("blue", target, contest.right_on(red, 1)).status_code == 202
    guess = {"guess": contest.right_on(red, 2)}
    with ThreadPoolExecutor(6) as pool:
        told = pool.map(lambda _: post(contest, f"/targets/{target}/guesses", token, guess), range(12))
        assert {answer.status_code for answer in told} == {429}
    assert under_way() == []
    assert not any(one.counts for one in counted() if one.key == KEY)


def test_a_slow_one_and_its_retry_beyond_the_grace_count_once(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with uploading(contest, "red", key=KEY) as slow:
        aged(attempts.grace() + timedelta(seconds=1))
        with entering(contest, "red", key=KEY) as retry:
            assert eventually(lambda: [one.senders for one in counted()] == [2])
            assert slow.finish().status == 202
            assert retry.finish().json()["id"] == slow.json()["id"]
    assert spent(contest) == 1


def test_a_guess_is_retried_alike(contest: Contest) -> None:
    red = contest.submit("red")
    token = contest.arena.team("blue")
    contest.attack()
    target = contest.target_of(red)["id"]
    with transaction() as session:
        person = member(contest.arena, "blue")
        first = guesses.entrance(session, person, UUID(target), key=KEY).attempt
    contest.move(reidentification=(-1, 0))
    turn()
    answer = post(contest, f"/targets/{target}/guesses", token, {"guess": contest.right_on(red, 3)})
    assert (answer.status_code, first is None) == (202, False)
    assert [one.id for one in counted() if one.phase == "reidentification"] == [first and first.id]
    judge_everything()
    turn()
    assert contest.state() == "closed"
