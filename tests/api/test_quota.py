"""How often a team may hand in: caps, days, grants, retries, many uploads at once."""

import re
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
from sqlalchemy import func, select, update

from app.db.models import Attempt, Base, Evaluation, Grant, Guess, State, Submission, Team
from app.db.transaction import transaction
from app.services.contests.phases import midnights
from app.services.jobs import leases
from app.services.submissions import evaluations
from app.services.submissions.quota import LONGEST_WAIT_S
from tests.support.arena import API, Arena, competition_file, noisy_release
from tests.support.claimed_jobs import FAULT, claim_evaluation
from tests.support.contest import Contest, judge_everything
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

AT_ONCE = 20
MALFORMED = b"wrong\n"


def limited(client: TestClient, **limits: int) -> Arena:
    more = "[limits]\n" + "".join(f"{name} = {limit}\n" for name, limit in limits.items())
    return Arena.opened(client, file=competition_file(more=more))


def counted(model: type[Base]) -> int:
    with transaction() as session:
        return session.scalars(select(func.count()).select_from(model)).one()


def at_once(call: Callable[[int], Response], number: int = AT_ONCE) -> list[Response]:
    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(call, range(number)))


def statuses(answers: list[Response]) -> Counter[int]:
    return Counter(answer.status_code for answer in answers)


def caps(arena: Arena, team: str = "red") -> dict[str, dict[str, Any]]:
    found = arena.get(f"/competitions/{arena.slug}/quota", token=arena.team(team)).json()
    return {cap["name"]: cap for cap in found["caps"]}


def used(arena: Arena, team: str = "red") -> dict[str, int]:
    return {name: cap["used"] for name, cap in caps(arena, team).items()}


def keyed(arena: Arena, key: str, *, team: str = "red", seed: int = 1, **changed: Any) -> Response:
    table, secret = noisy_release(seed, arena.table)
    answer: Response = arena.client.post(
        f"{API}/competitions/{arena.slug}/submissions",
        headers={"Authorization": f"Bearer {arena.team(team)}", "Idempotency-Key": key},
        files={"anonymized": ("a.csv", table), "secret": ("s.csv", secret)},
        **changed,
    )
    return answer


def seconds_to_midnight(zone: str = "Asia/Tokyo") -> float:
    now = datetime.now(ZoneInfo(zone))
    midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), ZoneInfo(zone))
    return (midnight - now).total_seconds()


@pytest.mark.parametrize(
    ("now", "zone", "since", "resets_at"),
    [
        ("2027-01-10T14:59:59.999999Z", "Asia/Tokyo", "2027-01-09T15:00:00Z", "2027-01-10T15:00:00Z"),
        ("2027-01-10T15:00:00Z", "Asia/Tokyo", "2027-01-10T15:00:00Z", "2027-01-11T15:00:00Z"),
        ("2027-01-10T00:00:00Z", "UTC", "2027-01-10T00:00:00Z", "2027-01-11T00:00:00Z"),
        # the day of 23 hours
        ("2027-03-28T12:00:00Z", "Europe/Berlin", "2027-03-27T23:00:00Z", "2027-03-28T22:00:00Z"),
        # the day of 25 hours, in its first and in its second two o'clock
        ("2027-10-31T00:30:00Z", "Europe/Berlin", "2027-10-30T22:00:00Z", "2027-10-31T23:00:00Z"),
        ("2027-10-31T01:30:00Z", "Europe/Berlin", "2027-10-30T22:00:00Z", "2027-10-31T23:00:00Z"),
        ("2027-06-01T18:29:59Z", "Asia/Kolkata", "2027-05-31T18:30:00Z", "2027-06-01T18:30:00Z"),
        ("2028-02-29T20:00:00Z", "Pacific/Kiritimati", "2028-02-29T10:00:00Z", "2028-03-01T10:00:00Z"),
    ],
)
def test_a_day_lasts_from_midnight_to_midnight_on_the_clocks_of_the_zone(
    now: str, zone: str, since: str, resets_at: str
) -> None:
    day = (datetime.fromisoformat(since), datetime.fromisoformat(resets_at))
    assert midnights(datetime.fromisoformat(now), zone) == day


@pytest.mark.parametrize("zone", ["Africa/Cairo", "America/Santiago", "Asia/Beirut"])
def test_every_moment_lies_in_its_day_even_where_clocks_skip_midnight(zone: str) -> None:
    start = datetime(2027, 1, 1, tzinfo=UTC)
    for hours in range(0, 366 * 24, 5):
        now = start + timedelta(hours=hours)
        last, following = midnights(now, zone)
        assert last <= now < following, now


@pytest.mark.parametrize("cap", ["valid_per_day", "valid_total", "attempts_per_day", "attempts_total"])
def test_of_twenty_uploads_at_once_a_cap_of_three_takes_three(client: TestClient, cap: str) -> None:
    arena = limited(client, **{cap: 3})
    arena.team("red")
    answers = at_once(lambda number: arena.submit("red", seed=number))
    assert statuses(answers) == {202: 3, 429: 17}
    waits = {int(answer.headers["retry-after"]) for answer in answers if answer.status_code == 429}
    expected = seconds_to_midnight() if cap.endswith("_per_day") else LONGEST_WAIT_S
    assert all(0 <= wait - expected <= 30 for wait in waits)
    assert {answer.json()["code"] for answer in answers if answer.status_code == 429} == {"quota_used_up"}
    assert counted(Submission) == 3
    assert sorted(answer.json()["quota_left"][cap] for answer in answers if answer.status_code == 202) == (
        [0, 1, 2] if cap.startswith("valid") else sorted(caps_after(answers, cap))
    )
    assert arena.submit("blue").status_code == 202


def test_a_refusal_names_midnight_with_the_zone_of_the_contest(client: TestClient) -> None:
    arena = limited(client, attempts_per_day=1)
    arena.submit("red")
    detail = arena.submit("red", seed=2).json()["detail"]
    assert re.search(r", until \d{4}-\d\d-\d\d 00:00:00 JST$", detail)


def caps_after(answers: list[Response], cap: str) -> list[int]:
    """Attempts are counted when an upload begins: of those at once, each receipt tells what was left then."""
    left = [answer.json()["quota_left"][cap] for answer in answers if answer.status_code == 202]
    assert set(left) <= {0, 1, 2}
    return left


def test_of_twenty_guesses_at_once_a_target_takes_three(client: TestClient) -> None:
    contest = Contest.opened(client)
    red, other = contest.submit("red"), contest.submit("green")
    contest.arena.team("blue")
    contest.attack()
    target, right = contest.target_of(red)["id"], contest.right_on(red, 1)
    answers = at_once(lambda _: contest.guess("blue", target, right))
    assert statuses(answers) == {202: 3, 429: 17}
    assert sorted(one.json()["guesses_left"] for one in answers if one.status_code == 202) == [0, 1, 2]
    assert counted(Guess) == 3
    assert contest.guess("blue", contest.target_of(other)["id"], right).status_code == 202
    left = {target["name"]: target["guesses_left"] for target in contest.targets("blue")}
    assert sorted(left.values()) == [0, 2]


def test_error_and_cancellation_give_the_valid_one_back_and_never_the_attempt(client: TestClient) -> None:
    arena = limited(client, valid_total=2, attempts_total=5)
    first, second = (arena.submit("red", seed=seed).json()["id"] for seed in (1, 2))
    assert arena.submit("red", seed=3).status_code == 429
    end_in_error(first)
    assert used(arena) == {"valid_per_day": 1, "valid_total": 1, "attempts_per_day": 2, "attempts_total": 2}
    assert (
        arena.post(f"/submissions/{second}/cancel", token=arena.team("red")).json()["status"] == "CANCELLED"
    )
    assert used(arena) == {"valid_per_day": 0, "valid_total": 0, "attempts_per_day": 2, "attempts_total": 2}
    assert [arena.submit("red", seed=seed).status_code for seed in (3, 4, 5)] == [202, 202, 429]
    assert arena.post(f"/submissions/{first}/rescore").status_code == 202
    assert used(arena)["valid_total"] == 3
    assert caps(arena)["valid_total"]["left"] == 0


def end_in_error(submission: str) -> None:
    with transaction() as session:
        found = session.scalars(
            select(Evaluation.id).where(Evaluation.submission_id == UUID(submission))
        ).one()
        claimed = claim_evaluation(session, found)
        leases.fail(session, Evaluation, claimed.evaluation_id, claimed.attempt, FAULT)


def test_a_rejected_submission_stays_counted(client: TestClient) -> None:
    arena = limited(client, valid_total=1)
    identifier = UUID(arena.submit("red").json()["id"])
    with transaction() as session:
        found = session.scalars(select(Evaluation.id).where(Evaluation.submission_id == identifier)).one()
        claimed = claim_evaluation(session, found)
        evaluations.record(session, claimed, verdict={"verdict": "rejected"}, scorer="by hand")
    assert arena.submit("red", seed=2).status_code == 429


def test_a_malformed_upload_counts_as_an_attempt_and_becomes_nothing(client: TestClient) -> None:
    arena = limited(client, attempts_total=4)
    assert arena.submit("red", anonymized=MALFORMED).status_code == 422
    assert arena.submit("red", secret=MALFORMED).status_code == 422
    path = f"/competitions/{arena.slug}/submissions"
    assert arena.post(path, token=arena.team("red"), json={}).status_code == 422
    assert used(arena) == {"valid_per_day": 0, "valid_total": 0, "attempts_per_day": 3, "attempts_total": 3}
    assert arena.submit("red").status_code == 202
    refused = arena.submit("red", anonymized=MALFORMED)
    assert (refused.status_code, refused.json()["code"]) == (429, "quota_used_up")
    assert (counted(Submission), counted(Attempt)) == (1, 4)


def test_a_malformed_guess_counts_as_an_attempt_and_a_good_one_does_not(client: TestClient) -> None:
    contest = Contest.opened(client, more="[limits]\nattempts_total = 2\nguesses_per_target = 9\n")
    red = contest.submit("red")
    contest.arena.team("blue")
    contest.attack()
    target, right = contest.target_of(red)["id"], contest.right_on(red, 1)
    answers = [contest.guess("blue", target, right).status_code for _ in range(4)]
    assert answers == [202] * 4
    assert [contest.guess("blue", target, MALFORMED).status_code for _ in range(3)] == [422, 422, 429]
    assert contest.guess("blue", target, right).status_code == 429
    assert used(contest.arena, "blue") == {"attempts_per_day": 2, "attempts_total": 2}
    report = contest.arena.get(f"{contest.path}/quota", token=contest.arena.team("blue")).json()
    assert report["phase"] == "reidentification"


def test_a_guess_that_ended_in_error_is_given_back(client: TestClient) -> None:
    contest = Contest.opened(client, more="[limits]\nguesses_per_target = 1\n")
    red = contest.submit("red")
    contest.arena.team("blue")
    contest.attack()
    target, right = contest.target_of(red)["id"], contest.right_on(red, 1)
    assert contest.guess("blue", target, right).status_code == 202
    assert contest.guess("blue", target, right).status_code == 429
    with transaction() as session:
        leases.finish(session, session.scalars(select(Guess)).one(), State.ERROR)
    assert contest.targets("blue")[0]["guesses_left"] == 1
    assert contest.guess("blue", target, right).status_code == 202


def test_yesterdays_uploads_count_in_total_and_not_today(client: TestClient) -> None:
    arena = limited(client, valid_per_day=1, valid_total=2)
    assert arena.submit("red").status_code == 202
    assert arena.submit("red", seed=2).status_code == 429
    just_before, _ = midnights(datetime.now(UTC), "Asia/Tokyo")
    move_to(just_before)
    assert used(arena)["valid_per_day"] == 1
    move_to(just_before - timedelta(microseconds=1))
    assert used(arena) == {"valid_per_day": 0, "valid_total": 1, "attempts_per_day": 0, "attempts_total": 1}
    assert arena.submit("red", seed=2).status_code == 202
    assert arena.submit("red", seed=3).status_code == 429
    resets = datetime.fromisoformat(caps(arena)["valid_per_day"]["resets_at"])
    assert resets.astimezone(ZoneInfo("Asia/Tokyo")).time() == datetime.min.time()
    assert caps(arena)["valid_total"]["resets_at"] is None


def move_to(moment: datetime) -> None:
    with transaction() as session:
        session.execute(update(Submission).values(received_at=moment))
        session.execute(update(Attempt).values(at=moment))


def grant(arena: Arena, cap: str, amount: int = 1, team: str = "red") -> Response:
    arena.team(team)
    with transaction() as session:
        identifier = session.scalars(select(Team.id).where(Team.name == team)).one()
    body = {"team_id": str(identifier), "cap": cap, "amount": amount}
    return arena.post(f"/competitions/{arena.slug}/grants", json=body)


def test_a_grant_of_a_daily_cap_is_for_its_day_and_of_a_total_for_ever(client: TestClient) -> None:
    arena = limited(client, valid_per_day=1, valid_total=1)
    assert arena.submit("red").status_code == 202
    for cap in ("valid_per_day", "valid_total"):
        assert arena.submit("red", seed=2).status_code == 429
        assert grant(arena, cap).status_code == 201
    assert arena.submit("red", seed=2).status_code == 202
    assert arena.submit("blue").status_code == 202
    assert arena.submit("blue", seed=2).status_code == 429
    with transaction() as session:
        session.execute(update(Grant).values(at=Grant.at - timedelta(days=1)))
    found = caps(arena)
    assert (found["valid_per_day"]["limit"], found["valid_total"]["limit"]) == (1, 2)


def test_a_grant_of_guesses_is_for_every_target(client: TestClient) -> None:
    contest = Contest.opened(client, more="[limits]\nguesses_per_target = 1\n")
    red = contest.submit("red")
    contest.arena.team("blue")
    contest.attack()
    target, right = contest.target_of(red)["id"], contest.right_on(red, 1)
    assert grant(contest.arena, "guesses_per_target", 2, "blue").status_code == 201
    assert [contest.guess("blue", target, right).status_code for _ in range(4)] == [202, 202, 202, 429]


@pytest.mark.parametrize(
    ("cap", "amount"), [("valid", 1), ("file_mb", 1), ("valid_total", 0), ("valid_total", 10**9), ("\x00", 1)]
)
def test_a_grant_of_nonsense_is_refused(arena: Arena, cap: str, amount: int) -> None:
    assert grant(arena, cap, amount).status_code == 422
    assert counted(Grant) == 0


def test_the_receipt_tells_what_is_left_as_the_quota_does(client: TestClient) -> None:
    arena = limited(client, valid_per_day=5, valid_total=7, attempts_per_day=9, attempts_total=11)
    arena.submit("red", anonymized=MALFORMED)
    receipt = arena.submit("red").json()
    expected = {"valid_per_day": 4, "valid_total": 6, "attempts_per_day": 7, "attempts_total": 9}
    assert receipt["quota_left"] == expected
    assert {name: cap["left"] for name, cap in caps(arena).items()} == expected
    arena.submit("red", seed=2)
    assert arena.submission(receipt["id"], "red")["quota_left"] == expected


def test_a_retry_gets_the_very_same_receipt_and_counts_nothing(client: TestClient) -> None:
    arena = limited(client, valid_total=1, attempts_total=1)
    first = keyed(arena, "once")
    assert first.status_code == 202
    score_everything()
    for _ in range(2):
        again = keyed(arena, "once")
        assert (again.status_code, again.content) == (202, first.content)
    assert (counted(Submission), counted(Attempt)) == (1, 1)


def test_a_retry_after_the_deadline_gets_the_receipt_and_a_new_upload_does_not(client: TestClient) -> None:
    contest = Contest.opened(client)
    first = keyed(contest.arena, "once")
    score_everything()
    contest.attack()
    assert keyed(contest.arena, "once").content == first.content
    late = keyed(contest.arena, "twice")
    assert (late.status_code, late.json()["code"]) == (409, "phase_closed")


def test_ten_retries_at_once_are_one_submission_and_one_attempt(arena: Arena) -> None:
    arena.team("red")
    answers = at_once(lambda _: keyed(arena, "once"), 10)
    assert statuses(answers) == {202: 10}
    assert len({answer.content for answer in answers}) == 1
    assert (counted(Submission), counted(Attempt), counted(Evaluation)) == (1, 1, 1)


def test_ten_retries_of_a_guess_at_once_are_one_guess_and_one_attempt(client: TestClient) -> None:
    contest = Contest.opened(client)
    red = contest.submit("red")
    contest.arena.team("blue")
    contest.attack()
    target, right = contest.target_of(red)["id"], contest.right_on(red, 5)
    before = counted(Attempt)
    answers = at_once(lambda _: contest.guess("blue", target, right, key="once"), 10)
    assert statuses(answers) == {202: 10}
    assert len({answer.content for answer in answers}) == 1
    assert (counted(Guess), counted(Attempt) - before) == (1, 1)


def test_the_same_key_with_other_content_is_refused(arena: Arena) -> None:
    keyed(arena, "once")
    for changed in ({"seed": 2}, {"data": {"comment": "another"}}):
        answer = keyed(arena, "once", **changed)
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert counted(Submission) == 1


def test_the_same_key_on_another_target_is_refused(client: TestClient) -> None:
    contest = Contest.opened(client)
    red, green = contest.submit("red"), contest.submit("green")
    contest.arena.team("blue")
    contest.attack()
    right = contest.right_on(red, 5)
    one, other = (contest.target_of(each)["id"] for each in (red, green))
    assert contest.guess("blue", one, right, key="once").status_code == 202
    refused = contest.guess("blue", other, right, key="once")
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")
    assert counted(Guess) == 1


def test_a_retried_guess_gets_its_receipt_though_the_target_is_withdrawn_and_all_is_over(
    client: TestClient,
) -> None:
    contest = Contest.opened(client)
    red = contest.submit("red")
    contest.arena.team("blue")
    contest.attack()
    target, right = contest.target_of(red)["id"], contest.right_on(red, 5)
    first = contest.guess("blue", target, right, key="once")
    assert contest.organize(f"/submissions/{red}/disqualify").status_code == 200
    assert contest.guess("blue", target, right, key="once").content == first.content
    assert contest.guess("blue", target, right, key="twice").status_code == 404
    judge_everything()
    contest.close()
    assert contest.guess("blue", target, right, key="once").content == first.content


def test_keys_belong_to_a_team(arena: Arena) -> None:
    receipts = [keyed(arena, "once", team=team).json()["id"] for team in ("red", "blue")]
    assert len(set(receipts)) == 2
    assert counted(Submission) == 2


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "ü"])
def test_a_key_that_is_none_is_refused_before_anything_is_counted(arena: Arena, key: str) -> None:
    headers = {b"Authorization": f"Bearer {arena.team('red')}".encode(), b"Idempotency-Key": key.encode()}
    answer = arena.client.post(f"{API}/competitions/small/submissions", headers=headers, files={"x": b""})
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key")
    assert counted(Attempt) == 0
