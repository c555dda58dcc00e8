"""Quotas of uploads: caps, days, grants, retries and parallel uploads."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.competitions.phases import find_midnights
from app.core.db.models import Evaluation, Guess, State, Submission
from app.core.db.transaction import transaction
from app.jobs import leases
from app.submissions import evaluations
from app.submissions.evaluations import EvaluationClaim
from app.submissions.models import Attempt, Grant
from app.submissions.quota import MAX_RETRY_AFTER_S
from app.submissions.uploads import ReleaseUpload
from tests.support.accounts import count_rows
from tests.support.arena import API, Arena, build_noisy_release
from tests.support.contest import Contest, judge_everything
from tests.support.database_rows import execute, load_team_id
from tests.support.job_claims import FAILURE, claim_evaluation
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

PARALLEL_CALLS = 20
MALFORMED_FILE = b"wrong\n"


def open_limited_arena(client: TestClient, **limits: int) -> Arena:
    more = "[limits]\n" + "".join(f"{name} = {limit}\n" for name, limit in limits.items())
    return Arena.create(client, extra_toml=more)


def call_in_parallel(call: Callable[[int], Response], number: int = PARALLEL_CALLS) -> list[Response]:
    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(call, range(number)))


def count_statuses(responses: list[Response]) -> Counter[int]:
    return Counter(response.status_code for response in responses)


def get_caps(arena: Arena, team: str = "red") -> dict[str, dict[str, Any]]:
    quota = arena.get(f"/competitions/{arena.slug}/quota", team=team).json()
    return {cap["name"]: cap for cap in quota["caps"]}


def get_used(arena: Arena, team: str = "red") -> dict[str, int]:
    return {name: cap["used"] for name, cap in get_caps(arena, team).items()}


def count_uses(*, valid: int, attempts: int) -> dict[str, int]:
    """Return what ``get_used`` returns if as many uploads count today as in total."""
    counts = {"valid": valid, "attempts": attempts}
    return {f"{name}_{period}": count for name, count in counts.items() for period in ("per_day", "total")}


def submit_with_key(
    arena: Arena, key: str, *, team: str = "red", seed: int = 1, **overrides: Any
) -> Response:
    table, secret = build_noisy_release(seed, arena.table)
    response: Response = arena.client.post(
        f"{API}/competitions/{arena.slug}/submissions",
        headers={"Authorization": f"Bearer {arena.get_team_token(team)}", "Idempotency-Key": key},
        files={"anonymized": ("a.csv", table), "secret": ("s.csv", secret)},
        **overrides,
    )
    return response


def seconds_to_midnight(zone: str = "Asia/Tokyo") -> float:
    now = datetime.now(ZoneInfo(zone))
    midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), ZoneInfo(zone))
    return (midnight - now).total_seconds()


@pytest.mark.parametrize(
    ("now", "zone", "starts_at", "resets_at"),
    [
        ("2027-01-10T14:59:59.999999Z", "Asia/Tokyo", "2027-01-09T15:00:00Z", "2027-01-10T15:00:00Z"),
        ("2027-01-10T15:00:00Z", "Asia/Tokyo", "2027-01-10T15:00:00Z", "2027-01-11T15:00:00Z"),
        ("2027-01-10T00:00:00Z", "UTC", "2027-01-10T00:00:00Z", "2027-01-11T00:00:00Z"),
        # a day of 23 hours
        ("2027-03-28T12:00:00Z", "Europe/Berlin", "2027-03-27T23:00:00Z", "2027-03-28T22:00:00Z"),
        # a day of 25 hours, in its first and in its second two o'clock
        ("2027-10-31T00:30:00Z", "Europe/Berlin", "2027-10-30T22:00:00Z", "2027-10-31T23:00:00Z"),
        ("2027-10-31T01:30:00Z", "Europe/Berlin", "2027-10-30T22:00:00Z", "2027-10-31T23:00:00Z"),
        ("2027-06-01T18:29:59Z", "Asia/Kolkata", "2027-05-31T18:30:00Z", "2027-06-01T18:30:00Z"),
        ("2028-02-29T20:00:00Z", "Pacific/Kiritimati", "2028-02-29T10:00:00Z", "2028-03-01T10:00:00Z"),
    ],
)
def test_day_ends_at_midnight_in_the_competition_time_zone(
    now: str, zone: str, starts_at: str, resets_at: str
) -> None:
    day = (datetime.fromisoformat(starts_at), datetime.fromisoformat(resets_at))
    assert find_midnights(datetime.fromisoformat(now), zone) == day


@pytest.mark.parametrize("cap", ["valid_per_day", "valid_total", "attempts_per_day", "attempts_total"])
def test_cap_of_three_accepts_three_of_twenty_parallel_uploads(client: TestClient, cap: str) -> None:
    arena = open_limited_arena(client, **{cap: 3})
    arena.get_team_token("red")
    responses = call_in_parallel(lambda number: arena.submit("red", seed=number))
    assert count_statuses(responses) == {202: 3, 429: 17}
    accepted, refused = (
        [response for response in responses if response.status_code == status] for status in (202, 429)
    )
    expected_s = seconds_to_midnight() if cap.endswith("_per_day") else MAX_RETRY_AFTER_S
    assert all(0 <= int(response.headers["retry-after"]) - expected_s <= 30 for response in refused)
    counted = {"valid": "valid submissions", "attempts": "attempts"}[cap.partition("_")[0]]
    counted += " a day" if cap.endswith("_per_day") else " in all"
    for refusal in map(Response.json, refused):
        assert (refusal["code"], refusal["values"]["cap"]) == ("quota_used_up", cap)
        assert refusal["detail"].startswith(f"your team has reached its limit of 3 ({counted})")
    assert count_rows(Submission) == 3
    remainders = sorted(response.json()["quota_left"][cap] for response in accepted)
    # Attempts are counted when an upload begins, so that parallel uploads may report the same remainder.
    assert remainders == [0, 1, 2] if cap.startswith("valid") else set(remainders) <= {0, 1, 2}
    assert arena.submit("blue").status_code == 202


def test_errors_and_cancellations_restore_valid_quota_but_not_attempts(client: TestClient) -> None:
    arena = open_limited_arena(client, valid_total=2, attempts_total=5)
    first, second = (arena.submit("red", seed=seed).json()["id"] for seed in (1, 2))
    assert arena.submit("red", seed=3).status_code == 429
    fail_evaluation(first)
    assert get_used(arena) == count_uses(valid=1, attempts=2)
    assert arena.post(f"/submissions/{second}/cancel", team="red").json()["status"] == "CANCELLED"
    assert get_used(arena) == count_uses(valid=0, attempts=2)
    assert [arena.submit("red", seed=seed).status_code for seed in (3, 4, 5)] == [202, 202, 429]
    assert arena.post(f"/submissions/{first}/rescore").status_code == 202
    assert get_used(arena)["valid_total"] == 3
    assert get_caps(arena)["valid_total"]["left"] == 0


def claim_submission(session: Session, submission: str) -> EvaluationClaim:
    query = select(Evaluation.id).where(Evaluation.submission_id == UUID(submission))
    return claim_evaluation(session, session.scalars(query).one())


def fail_evaluation(submission: str) -> None:
    with transaction() as session:
        leases.fail(session, claim_submission(session, submission).lease, FAILURE)


def test_rejected_submission_still_counts(client: TestClient) -> None:
    arena = open_limited_arena(client, valid_total=1)
    identifier = arena.submit("red").json()["id"]
    with transaction() as session:
        claim = claim_submission(session, identifier)
        evaluations.record_verdict(session, claim, verdict={"verdict": "rejected"}, scorer="by hand")
    assert arena.submit("red", seed=2).status_code == 429


def test_malformed_upload_is_counted_but_not_stored(client: TestClient) -> None:
    arena = open_limited_arena(client, attempts_total=4)
    assert arena.submit("red", anonymized=MALFORMED_FILE).status_code == 422
    assert arena.submit("red", secret=MALFORMED_FILE).status_code == 422
    path = f"/competitions/{arena.slug}/submissions"
    assert arena.post(path, team="red", json={}).status_code == 422
    assert get_used(arena) == count_uses(valid=0, attempts=3)
    assert arena.submit("red").status_code == 202
    refusal = arena.submit("red", anonymized=MALFORMED_FILE)
    assert (refusal.status_code, refusal.json()["code"]) == (429, "quota_used_up")
    assert (count_rows(Submission), count_rows(Attempt)) == (1, 4)


def test_upload_that_fails_by_a_bug_is_not_counted(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_bug(*_: object) -> None:
        raise RuntimeError

    arena = open_limited_arena(client, attempts_total=1)
    arena.get_team_token("red")
    arena.client = TestClient(client.app, base_url="http://localhost", raise_server_exceptions=False)
    with monkeypatch.context() as patch:
        patch.setattr(ReleaseUpload, "parse_files", raise_bug)
        assert arena.submit("red").status_code == 500
    assert get_used(arena)["attempts_total"] == 0
    assert arena.submit("red").status_code == 202


def open_target(contest: Contest) -> tuple[str, bytes]:
    """Open a target of red for blue, and return its id and a guess on it."""
    contest.arena.get_team_token("blue")
    (red,) = contest.publish_targets("red")
    return contest.find_target(red)["id"], contest.build_guess(red, 1)


def test_only_malformed_guesses_count_as_attempts(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml="[limits]\nattempts_total = 2\nguesses_per_target = 9\n")
    target, right_guess = open_target(contest)
    responses = [contest.submit_guess("blue", target, right_guess).status_code for _ in range(4)]
    assert responses == [202] * 4
    assert [contest.submit_guess("blue", target, MALFORMED_FILE).status_code for _ in range(3)] == [
        422,
        422,
        429,
    ]
    assert contest.submit_guess("blue", target, right_guess).status_code == 429
    assert get_used(contest.arena, "blue") == {"attempts_per_day": 2, "attempts_total": 2}
    report = contest.arena.get(f"{contest.path}/quota", team="blue").json()
    assert report["phase"] == "reidentification"


def test_earlier_uploads_count_in_total_but_not_today(client: TestClient) -> None:
    arena = open_limited_arena(client, valid_per_day=1, valid_total=2)
    assert arena.submit("red").status_code == 202
    assert arena.submit("red", seed=2).status_code == 429
    last_midnight, _ = find_midnights(datetime.now(UTC), "Asia/Tokyo")
    move_uploads_to(last_midnight)
    assert get_used(arena)["valid_per_day"] == 1
    move_uploads_to(last_midnight - timedelta(microseconds=1))
    assert list(get_used(arena).values()) == [0, 1, 0, 1]
    assert arena.submit("red", seed=2).status_code == 202
    assert arena.submit("red", seed=3).status_code == 429
    resets = datetime.fromisoformat(get_caps(arena)["valid_per_day"]["resets_at"])
    assert resets.astimezone(ZoneInfo("Asia/Tokyo")).time() == datetime.min.time()
    assert get_caps(arena)["valid_total"]["resets_at"] is None


def move_uploads_to(moment: datetime) -> None:
    with transaction() as session:
        session.execute(update(Submission).values(received_at=moment))
        session.execute(update(Attempt).values(started_at=moment))


def grant(arena: Arena, cap: str, amount: int = 1, team: str = "red") -> Response:
    arena.get_team_token(team)
    identifier = load_team_id(team)
    body = {"team_id": str(identifier), "cap": cap, "amount": amount}
    return arena.post(f"/competitions/{arena.slug}/grants", json=body)


def test_daily_grant_lasts_a_day_and_total_grant_lasts_forever(client: TestClient) -> None:
    arena = open_limited_arena(client, valid_per_day=1, valid_total=1)
    assert arena.submit("red").status_code == 202
    for cap in ("valid_per_day", "valid_total"):
        assert arena.submit("red", seed=2).status_code == 429
        assert grant(arena, cap).status_code == 201
    assert arena.submit("red", seed=2).status_code == 202
    assert arena.submit("blue").status_code == 202
    assert arena.submit("blue", seed=2).status_code == 429
    execute(update(Grant).values(granted_at=Grant.granted_at - timedelta(days=1)))
    current_caps = get_caps(arena)
    assert (current_caps["valid_per_day"]["limit"], current_caps["valid_total"]["limit"]) == (1, 2)


@pytest.mark.parametrize(
    ("cap", "amount"), [("valid", 1), ("file_mb", 1), ("valid_total", 0), ("valid_total", 10**9), ("\x00", 1)]
)
def test_invalid_grant_is_refused(arena: Arena, cap: str, amount: int) -> None:
    assert grant(arena, cap, amount).status_code == 422
    assert count_rows(Grant) == 0


def test_retry_after_the_deadline_returns_the_receipt(contest: Contest) -> None:
    first = submit_with_key(contest.arena, "once")
    score_everything()
    contest.open_attacks()
    assert submit_with_key(contest.arena, "once").content == first.content
    late_response = submit_with_key(contest.arena, "twice")
    assert (late_response.status_code, late_response.json()["code"]) == (409, "phase_closed")


def test_parallel_retries_make_one_submission_and_one_attempt(arena: Arena) -> None:
    arena.get_team_token("red")
    responses = call_in_parallel(lambda _: submit_with_key(arena, "once"), 10)
    assert count_statuses(responses) == {202: 10}
    assert len({response.content for response in responses}) == 1
    assert (count_rows(Submission), count_rows(Attempt), count_rows(Evaluation)) == (1, 1, 1)


def test_same_key_with_different_content_is_refused(arena: Arena) -> None:
    submit_with_key(arena, "once")
    for overrides in ({"seed": 2}, {"data": {"comment": "another"}}):
        response = submit_with_key(arena, "once", **overrides)
        assert (response.status_code, response.json()["code"]) == (422, "idempotency_key_reused")
    assert count_rows(Submission) == 1


def test_retried_guess_gets_its_receipt_after_withdrawal_and_close(contest: Contest) -> None:
    target, right_guess = open_target(contest)
    first = contest.submit_guess("blue", target, right_guess, key="once")
    (red,) = contest.secrets
    assert contest.post_as_organizer(f"/submissions/{red}/disqualify").status_code == 200
    assert contest.submit_guess("blue", target, right_guess, key="once").content == first.content
    assert contest.submit_guess("blue", target, right_guess, key="twice").status_code == 404
    judge_everything()
    contest.close_attacks()
    assert contest.submit_guess("blue", target, right_guess, key="once").content == first.content


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "ü"])
def test_invalid_key_is_refused_before_counting(arena: Arena, key: str) -> None:
    headers = {
        b"Authorization": f"Bearer {arena.get_team_token('red')}".encode(),
        b"Idempotency-Key": key.encode(),
    }
    response = arena.client.post(f"{API}/competitions/small/submissions", headers=headers, files={"x": b""})
    assert (response.status_code, response.json()["code"]) == (422, "idempotency_key")
    assert count_rows(Attempt) == 0


def test_guess_quota_counts_no_failures_and_grows_by_grants(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml="[limits]\nguesses_per_target = 1\n")
    target, right_guess = open_target(contest)
    assert contest.submit_guess("blue", target, right_guess).status_code == 202
    with transaction() as session:
        leases.finish(session, session.scalars(select(Guess)).one(), State.ERROR)
    assert contest.list_targets("blue")[0]["guesses_left"] == 1
    assert grant(contest.arena, "guesses_per_target", 1, "blue").status_code == 201
    statuses = [contest.submit_guess("blue", target, right_guess).status_code for _ in range(3)]
    assert statuses == [202, 202, 429]


def test_same_key_for_a_different_target_or_guess_is_refused(contest: Contest) -> None:
    contest.arena.get_team_token("blue")
    red, green = contest.publish_targets("red", "green")
    right_guess = contest.build_guess(red, 5)
    first_target, second_target = (contest.find_target(submission)["id"] for submission in (red, green))
    assert contest.submit_guess("blue", first_target, right_guess, key="once").status_code == 202
    for target, guess in ((second_target, right_guess), (first_target, contest.build_guess(red, 6))):
        refusal = contest.submit_guess("blue", target, guess, key="once")
        assert (refusal.status_code, refusal.json()["code"]) == (422, "idempotency_key_reused")
    assert count_rows(Guess) == 1
