"""Fair claiming: competitions and teams take turns, and the shown queue position is the actual one."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from threading import Barrier
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import insert, select, text, update
from sqlalchemy.orm import Session

from anoncup.schemas.fields import Role
from app.config import Settings
from app.core.db.models import Competition, Evaluation, Round, State, Submission, Team, ThresholdReport, User
from app.core.db.transaction import transaction
from app.core.identity.names import build_key
from app.jobs import leases, queue
from app.submissions import submissions
from tests.support.arena import build_competition_toml
from tests.support.database_rows import execute, load_all
from tests.support.queue import empty_queue
from workers import clock

pytestmark = pytest.mark.full

NOON = datetime(2026, 1, 10, 12, tzinfo=UTC)


@dataclass(frozen=True)
class QueueContest:
    competition_id: UUID
    round_id: UUID
    user_id: UUID
    team_ids: Sequence[UUID]


def create_contests(count: int, *, team_count: int) -> list[QueueContest]:
    new_contests = [
        QueueContest(uuid4(), uuid4(), uuid4(), [uuid4() for _ in range(team_count)]) for _ in range(count)
    ]
    with transaction() as session:
        for index, contest in enumerate(new_contests):
            slug, name = f"cup-{index}", f"organizer {contest.user_id}"
            file = build_competition_toml(slug)
            competition = Competition(id=contest.competition_id, slug=slug, file=file)
            session.add(Round(id=contest.round_id, competition=competition, scales={}, original={}))
            names = {"id": contest.user_id, "name": name, "name_key": build_key(name)}
            session.add(User(**names, password_hash="", role=Role.ORGANIZER))
            session.flush()
            session.add_all(
                Team(
                    id=team,
                    competition_id=contest.competition_id,
                    name=str(team),
                    name_key=build_key(str(team)),
                )
                for team in contest.team_ids
            )
    return new_contests


@dataclass(frozen=True)
class QueuedEvaluation:
    """An evaluation that is scheduled for a team, or for a rescore if ``party_id`` is given.

    ``queued_s`` and ``started_s`` are seconds after noon; ``started_s`` is None before the start.
    """

    contest: QueueContest
    team_id: UUID
    queued_s: float
    started_s: float | None = None
    state: State = State.QUEUED
    party_id: UUID | None = None


def compute_time(seconds: float | None) -> datetime | None:
    return None if seconds is None else NOON + timedelta(seconds=seconds)


_EMPTY_SUBMISSION: dict[str, Any] = {"comment": "", "files": {}, "uploaded_sha256": {}, "rows": 1} | {
    "sizes": {}, "remarks": [], "commitment": "", "quota_left": {}
}  # fmt: skip


def insert_evaluations(queued_evaluations: Iterable[QueuedEvaluation]) -> list[UUID]:
    submissions: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for evaluation in queued_evaluations:
        submission_id, created_at = uuid4(), compute_time(evaluation.queued_s)
        round_id, team_id = evaluation.contest.round_id, evaluation.team_id
        submissions.append(
            _EMPTY_SUBMISSION
            | {"id": submission_id, "round_id": round_id, "team_id": team_id, "received_at": created_at}
            | {"user_id": evaluation.contest.user_id}
        )
        rows.append(
            {"id": uuid4(), "round_id": round_id, "submission_id": submission_id, "created_at": created_at}
            | {"party_id": evaluation.party_id or team_id, "state": evaluation.state, "step_name": ""}
            | {"started_at": compute_time(evaluation.started_s)}
        )
    with transaction() as session:
        session.execute(insert(Submission), submissions)
        session.execute(insert(Evaluation), rows)
    return [row["id"] for row in rows]


def insert_reports(requests: Iterable[tuple[QueueContest, float]]) -> list[UUID]:
    """Insert threshold reports, requested at these seconds after noon. Return their identifiers."""
    rows: list[dict[str, Any]] = [
        {"id": uuid4(), "round_id": contest.round_id, "user_id": contest.user_id}
        | {"created_at": compute_time(requested_s), "file": "", "original": {}, "question": {}}
        for contest, requested_s in requests
    ]
    with transaction() as session:
        session.execute(insert(ThresholdReport), rows)
    return [row["id"] for row in rows]


def claim(kind: Any = Evaluation) -> UUID | None:
    with transaction() as session:
        return claim_in_session(session, kind)


def claim_in_session(session: Session, kind: Any = Evaluation) -> UUID | None:
    job = leases.claim_next(session, kind)
    return None if job is None else job.id


def claim_all() -> list[UUID]:
    return list(iter(claim, None))


def list_party_ids(identifiers: Sequence[UUID]) -> list[UUID]:
    rows = load_all(select(Evaluation).where(Evaluation.id.in_(identifiers)))
    party = {row.id: row.party_id for row in rows}
    return [party[identifier] for identifier in identifiers]


def insert_rounds(contests: Sequence[QueueContest], count: int) -> list[UUID]:
    """Queue evaluations: one after the other for each team of each contest, ``count`` times."""
    parties = [(contest, team) for contest in contests for team in contest.team_ids] * count
    return insert_evaluations(
        QueuedEvaluation(contest, team, number) for number, (contest, team) in enumerate(parties)
    )


def test_busy_team_delays_another_by_one_evaluation(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=3)
    busy_team, second_team, third_team = contest.team_ids
    later = [(second_team, 20), (third_team, 30), (second_team, 40)]
    insert_evaluations(
        QueuedEvaluation(contest, team, queued_at)
        for team, queued_at in [*((busy_team, queued_at) for queued_at in range(10)), *later]
    )
    order = list_party_ids(claim_all())
    assert order[:5] == [busy_team, second_team, third_team, busy_team, second_team]
    assert order[5:] == [busy_team] * 8


def test_large_competition_delays_another_by_one_evaluation(settings: Settings) -> None:
    large_contest, small_contest = create_contests(2, team_count=5)
    insert_rounds([large_contest], 1)
    small_team = small_contest.team_ids[0]
    insert_evaluations(QueuedEvaluation(small_contest, small_team, at) for at in (50, 60))
    order = list_party_ids(claim_all())
    assert order[1] == order[3] == small_team


def test_most_recently_served_team_comes_last(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=2)
    served_team, waiting_team = contest.team_ids
    insert_evaluations(
        [
            QueuedEvaluation(contest, served_team, 0, started_s=90, state=State.SCORED),
            QueuedEvaluation(contest, waiting_team, 0, started_s=80, state=State.SCORED),
            QueuedEvaluation(contest, served_team, 1),
            QueuedEvaluation(contest, waiting_team, 99),
        ]
    )
    assert list_party_ids(claim_all()) == [waiting_team, served_team]


def test_rescore_takes_turns_like_a_team(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=2)
    rescore = UUID(int=7)
    insert_evaluations(
        QueuedEvaluation(contest, contest.team_ids[0], queued_at, party_id=rescore) for queued_at in range(6)
    )
    insert_evaluations(QueuedEvaluation(contest, team, 10) for team in contest.team_ids)
    order = list_party_ids(claim_all())
    assert set(order[:3]) == {rescore, *contest.team_ids}
    assert order[3:] == [rescore] * 5


@pytest.mark.parametrize("seed", range(12))
def test_queue_positions_equal_the_order_of_claims(settings: Settings, seed: int) -> None:
    """The order holds whatever was served before, as long as no evaluation is added."""
    rng = random.Random(seed)
    contests = create_contests(3, team_count=4)

    def build_evaluations(state: State, count: int) -> Iterator[QueuedEvaluation]:
        for _ in range(count):
            contest = rng.choice(contests)
            started_at = None if state == State.QUEUED else rng.uniform(0, 50)
            team = rng.choice(contest.team_ids)
            yield QueuedEvaluation(contest, team, rng.randrange(40), started_at, state)

    insert_evaluations([*build_evaluations(State.SCORED, 15), *build_evaluations(State.QUEUED, 30)])
    with transaction() as session:
        query = submissions.select_with_details().where(Submission.evaluation.has(state=State.QUEUED))
        waiting = session.scalars(query).all()
        places = submissions.load_queue_positions(session, waiting)
    assert sorted(places.values()) == list(range(30))
    assert claim_all() == [
        row.evaluation.id for row in sorted(waiting, key=lambda submission: places[submission.id])
    ]


def test_evaluation_that_lost_its_worker_keeps_its_place_in_line(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=2)
    lost_id, waiting_id = insert_rounds([contest], 1)
    assert claim() == lost_id
    expiry = {"leased_until": NOON, "started_at": NOON}
    execute(update(Evaluation).where(Evaluation.id == lost_id).values(expiry))
    assert claim_all() == [waiting_id, lost_id]


def test_concurrent_workers_never_claim_the_same_evaluation(settings: Settings) -> None:
    evaluation_ids = insert_rounds(create_contests(3, team_count=3), 10)
    with ThreadPoolExecutor(8) as pool:
        batches = list(pool.map(lambda _: claim_all(), range(8)))
    assert Counter(chain.from_iterable(batches)) == Counter(evaluation_ids)


def test_concurrent_workers_serve_different_competitions(settings: Settings) -> None:
    """The second worker sees the first one's lock and takes the next piece of work."""
    contests = create_contests(2, team_count=2)
    insert_rounds(contests, 3)
    with transaction() as first_session, transaction() as second_session:
        claimed_ids = claim_in_session(first_session), claim_in_session(second_session)
    rows = load_all(select(Evaluation.round_id).where(Evaluation.id.in_(claimed_ids)))
    assert set(rows) == {contest.round_id for contest in contests}


def finish_report(identifier: UUID) -> None:
    with transaction() as session:
        leases.finish(session, session.get_one(ThresholdReport, identifier), State.SCORED)


def test_competition_gets_one_report_at_a_time(settings: Settings) -> None:
    first_contest, second_contest = create_contests(2, team_count=0)
    first_report, second_report, third_report, other_report = insert_reports(
        [(first_contest, 0), (first_contest, 1), (first_contest, 2), (second_contest, 3)]
    )
    assert [claim(ThresholdReport) for _ in range(3)] == [first_report, other_report, None]
    finish_report(first_report)
    assert [claim(ThresholdReport) for _ in range(2)] == [second_report, None]
    finish_report(second_report)
    assert claim(ThresholdReport) == third_report


def test_concurrent_workers_claim_one_report_per_competition(settings: Settings) -> None:
    contests = create_contests(3, team_count=0)
    insert_reports([(contest, queued_at) for queued_at in range(6) for contest in contests])
    barrier = Barrier(8)

    def claim_after_barrier(_: int) -> UUID | None:
        barrier.wait()
        return claim(ThresholdReport)

    with ThreadPoolExecutor(8) as pool:
        report_ids = set(pool.map(claim_after_barrier, range(8))) - {None}
    running = load_all(select(ThresholdReport).where(ThresholdReport.state == State.SCORING))
    assert {row.id for row in running} == report_ids
    assert Counter(row.round_id for row in running) == {contest.round_id: 1 for contest in contests}


def insert_evaluations_without_messages(count: int) -> None:
    """Create evaluations that were queued an hour ago and have no message in the queue."""
    insert_rounds(create_contests(1, team_count=1), count)
    execute(update(Evaluation).values(created_at=text("now() - interval '1 hour'")))
    empty_queue()


def test_sweep_sends_missing_messages_once(settings: Settings) -> None:
    insert_evaluations_without_messages(12)
    queue.publish([queue.SCORE] * 5 + [queue.JUDGE] * 20)
    for _ in range(2):
        clock.sweep()
        assert queue.count_messages_by_task() == {queue.SCORE: 12, queue.JUDGE: 20, queue.ADVISE: 0}


def test_sweep_sends_a_limited_number_of_messages(settings: Settings) -> None:
    insert_evaluations_without_messages(leases.MAX_MESSAGES + 30)
    for message_count in (leases.MAX_MESSAGES, leases.MAX_MESSAGES + 30):
        clock.sweep()
        assert queue.count_messages() == message_count


def test_sweep_does_not_requeue_reports_that_must_wait(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=0)
    insert_reports([(contest, queued_at) for queued_at in range(5)])
    execute(update(ThresholdReport).values(created_at=text("now() - interval '1 hour'")))
    running_report = claim(ThresholdReport)
    clock.sweep()
    assert queue.count_messages() == 0
    assert running_report is not None
    finish_report(running_report)
    clock.sweep()
    assert queue.count_messages() == 4
