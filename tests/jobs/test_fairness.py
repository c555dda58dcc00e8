"""Fair claiming: competitions and teams take turns, and the shown queue position is the actual one."""

import random
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.orm import Session

from app.config import Settings
from app.core.db import engine
from app.core.db.models import Evaluation, Round, State, Submission, ThresholdReport
from app.core.db.now import read_clock
from app.core.db.transaction import transaction
from app.jobs import fairness, health, leases, queue
from app.submissions import submissions
from tests.support import queued_work
from tests.support.database_rows import execute, load_all
from tests.support.queue import empty_queue
from tests.support.queued_work import QueueContest, QueuedEvaluation, create_contests
from workers import clock

pytestmark = pytest.mark.full


def claim_in_session(session: Session) -> UUID | None:
    row = leases.claim_next(session, Evaluation)
    return None if row is None else row.id


def claim_evaluation() -> UUID | None:
    with transaction() as session:
        return claim_in_session(session)


def claim_all_evaluations() -> list[UUID]:
    identifiers = []
    while (identifier := claim_evaluation()) is not None:
        identifiers.append(identifier)
    return identifiers


def list_party_ids(identifiers: Sequence[UUID]) -> list[UUID]:
    rows = load_all(select(Evaluation).where(Evaluation.id.in_(identifiers)))
    party = {row.id: row.party_id for row in rows}
    return [party[identifier] for identifier in identifiers]


def test_busy_team_delays_another_by_one_evaluation(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=3)
    busy_team, second_team, third_team = contest.team_ids
    busy_team_evaluations = [QueuedEvaluation(contest, busy_team, queued_at) for queued_at in range(10)]
    queued_work.insert_evaluations(
        [
            *busy_team_evaluations,
            QueuedEvaluation(contest, second_team, 20),
            QueuedEvaluation(contest, third_team, 30),
            QueuedEvaluation(contest, second_team, 40),
        ]
    )
    order = list_party_ids(claim_all_evaluations())
    assert order[:5] == [busy_team, second_team, third_team, busy_team, second_team]
    assert order[5:] == [busy_team] * 8


def test_jobs_of_a_removed_round_are_neither_claimed_nor_counted(settings: Settings) -> None:
    removed_contest, contest = create_contests(2, team_count=1)
    queued_work.insert_evaluations(
        [QueuedEvaluation(entry, entry.team_ids[0], 0) for entry in (removed_contest, contest)]
    )
    with transaction() as session:
        session.get_one(Round, removed_contest.round_id).removed_at = read_clock(session)
    with transaction() as session:
        assert leases.count_unattended(session, Evaluation) == 1
        assert (
            health.count_by_state(session, Evaluation, fairness.is_in_present_round(Evaluation))[State.QUEUED]
            == 1
        )
    assert list_party_ids(claim_all_evaluations()) == [contest.team_ids[0]]


def test_large_competition_delays_another_by_one_evaluation(settings: Settings) -> None:
    large_contest, small_contest = create_contests(2, team_count=5)
    queued_work.insert_evaluations(
        [
            QueuedEvaluation(large_contest, team, queued_at)
            for queued_at, team in enumerate(large_contest.team_ids)
        ]
    )
    queued_work.insert_evaluations(
        [QueuedEvaluation(small_contest, small_contest.team_ids[0], queued_at) for queued_at in (50, 60)]
    )
    order = list_party_ids(claim_all_evaluations())
    assert order[1] == order[3] == small_contest.team_ids[0]


def test_most_recently_served_team_comes_last(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=2)
    served_team, waiting_team = contest.team_ids
    queued_work.insert_evaluations(
        [QueuedEvaluation(contest, served_team, 0, started_s=90, state=State.SCORED)]
    )
    queued_work.insert_evaluations(
        [QueuedEvaluation(contest, waiting_team, 0, started_s=80, state=State.SCORED)]
    )
    queued_work.insert_evaluations(
        [QueuedEvaluation(contest, served_team, 1), QueuedEvaluation(contest, waiting_team, 99)]
    )
    assert list_party_ids(claim_all_evaluations()) == [waiting_team, served_team]


def test_rescore_takes_turns_like_a_team(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=2)
    rescore = UUID(int=7)
    queued_work.insert_evaluations(
        [
            QueuedEvaluation(contest, contest.team_ids[0], queued_at, party_id=rescore)
            for queued_at in range(6)
        ]
    )
    queued_work.insert_evaluations([QueuedEvaluation(contest, team, 10) for team in contest.team_ids])
    order = list_party_ids(claim_all_evaluations())
    assert set(order[:3]) == {rescore, *contest.team_ids}
    assert order[3:] == [rescore] * 5


@pytest.mark.parametrize("seed", range(12))
def test_queue_positions_equal_the_order_of_claims(settings: Settings, seed: int) -> None:
    """The order holds whatever was served before, as long as no evaluation is added."""
    rng = random.Random(seed)
    all_contests = create_contests(3, team_count=4)

    def build_evaluations(state: State, count: int) -> list[QueuedEvaluation]:
        evaluations = []
        for _ in range(count):
            contest = rng.choice(all_contests)
            started_at = None if state == State.QUEUED else rng.uniform(0, 50)
            evaluations.append(
                QueuedEvaluation(
                    contest, rng.choice(contest.team_ids), rng.choice(range(40)), started_at, state
                )
            )
        return evaluations

    queued_work.insert_evaluations(
        [*build_evaluations(State.SCORED, 15), *build_evaluations(State.QUEUED, 30)]
    )
    with transaction() as session:
        order = fairness.build_claim_order(Evaluation)
        positions = {row.id: row.place for row in session.execute(select(order))}
    assert sorted(positions.values()) == list(range(30))
    assert claim_all_evaluations() == sorted(positions, key=lambda identifier: positions[identifier])


def test_queue_position_falls_by_one_with_each_claim(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=2)
    first_team, second_team = contest.team_ids
    evaluations = [
        QueuedEvaluation(contest, first_team, 0),
        QueuedEvaluation(contest, first_team, 1),
        QueuedEvaluation(contest, second_team, 2),
        QueuedEvaluation(contest, first_team, 3),
    ]
    last_id = queued_work.insert_evaluations(evaluations)[-1]

    def read_position() -> int | None:
        with transaction() as session:
            query = submissions.select_with_details().where(
                Submission.evaluation.has(Evaluation.id == last_id)
            )
            submission = session.scalars(query).one()
            return submissions.load_queue_positions(session, [submission]).get(submission.id)

    positions = [read_position()]
    while claim_evaluation() is not None:
        positions.append(read_position())
    assert positions == [3, 2, 1, 0, None]


def test_evaluation_that_lost_its_worker_keeps_its_place_in_line(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=2)
    first_team, second_team = contest.team_ids
    lost_id, waiting_id = queued_work.insert_evaluations(
        [QueuedEvaluation(contest, first_team, 0), QueuedEvaluation(contest, second_team, 1)]
    )
    assert claim_evaluation() == lost_id
    with transaction() as session:
        session.execute(
            update(Evaluation).where(Evaluation.id == lost_id).values(leased_until=queued_work.NOON)
        )
        session.execute(
            update(Evaluation).where(Evaluation.id == lost_id).values(started_at=queued_work.NOON)
        )
    assert claim_all_evaluations() == [waiting_id, lost_id]


def test_evaluation_without_attempts_left_fails_and_the_next_is_claimed(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=2)
    exhausted_id, next_id = queued_work.insert_evaluations(
        [QueuedEvaluation(contest, team, queued_at) for queued_at, team in enumerate(contest.team_ids)]
    )
    execute(update(Evaluation).where(Evaluation.id == exhausted_id).values(attempt=3))
    assert claim_evaluation() == next_id
    with transaction() as session:
        assert session.get_one(Evaluation, exhausted_id).state == State.ERROR


def test_concurrent_workers_never_claim_the_same_evaluation(settings: Settings) -> None:
    all_contests = create_contests(3, team_count=3)
    evaluation_ids = queued_work.insert_evaluations(
        [
            QueuedEvaluation(contest, team, queued_at)
            for queued_at in range(10)
            for contest in all_contests
            for team in contest.team_ids
        ]
    )
    with ThreadPoolExecutor(8) as pool:
        claimed_ids = [
            identifier
            for batch in pool.map(lambda _: claim_all_evaluations(), range(8))
            for identifier in batch
        ]
    assert Counter(claimed_ids) == Counter(evaluation_ids)


def test_concurrent_workers_serve_different_competitions(settings: Settings) -> None:
    """The second worker sees the first one's lock and takes the next piece of work."""
    all_contests = create_contests(2, team_count=2)
    queued_work.insert_evaluations(
        [
            QueuedEvaluation(contest, team, queued_at)
            for queued_at in range(3)
            for contest in all_contests
            for team in contest.team_ids
        ]
    )
    with transaction() as first_session, transaction() as second_session:
        claimed_ids = [
            identifier
            for identifier in (claim_in_session(first_session), claim_in_session(second_session))
            if identifier is not None
        ]
        rows = [
            first_session.get_one(Evaluation, claimed_ids[0]),
            second_session.get_one(Evaluation, claimed_ids[1]),
        ]
        assert {row.round_id for row in rows} == {contest.round_id for contest in all_contests}


def test_claim_scans_no_whole_table(settings: Settings) -> None:
    """With 10,000 finished and 1,000 waiting evaluations, only the waiting ones are read."""
    all_contests = create_contests(5, team_count=20)
    finished_evaluations = [
        QueuedEvaluation(contest, team, number, started_s=number, state=State.SCORED)
        for number in range(100)
        for contest in all_contests
        for team in contest.team_ids
    ]
    queued_work.insert_evaluations(finished_evaluations)
    queued_work.insert_evaluations(
        [
            QueuedEvaluation(contest, team, queued_at)
            for queued_at in range(10)
            for contest in all_contests
            for team in contest.team_ids
        ]
    )
    order = fairness.build_claim_order(Evaluation)
    query = select(Evaluation.id).join(order, order.c.id == Evaluation.id).order_by(order.c.place).limit(1)
    sql = query.compile(engine.get_engine(), compile_kwargs={"literal_binds": True})
    with engine.get_engine().begin() as connection:
        # The plan depends on the statistics of all tables, which autovacuum may or may not have made.
        connection.execute(text("ANALYZE"))
        plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {sql}").scalars())
        analysis = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").scalar_one()
    assert "Seq Scan on evaluations" not in plan, plan
    assert count_rows_read(analysis[0]["Plan"]) < 6_000


def count_rows_read(node: dict[str, object]) -> float:
    """Return the number of rows of ``evaluations`` that the plan reads."""
    count = 0.0
    if node.get("Relation Name") == "evaluations":
        count = float(str(node["Actual Rows"])) * float(str(node["Actual Loops"]))
        count += float(str(node.get("Rows Removed by Filter", 0)))
    plans = node.get("Plans", [])
    assert isinstance(plans, list)
    return count + sum(count_rows_read(child) for child in plans)


def claim_report() -> UUID | None:
    with transaction() as session:
        row = leases.claim_next(session, ThresholdReport)
        return None if row is None else row.id


def finish_report(identifier: UUID) -> None:
    with transaction() as session:
        leases.finish(session, session.get_one(ThresholdReport, identifier), State.SCORED)


def test_competition_gets_one_report_at_a_time(settings: Settings) -> None:
    first_contest, second_contest = create_contests(2, team_count=0)
    first_report, second_report, third_report, other_report = queued_work.insert_reports(
        [(first_contest, 0), (first_contest, 1), (first_contest, 2), (second_contest, 3)]
    )
    assert (claim_report(), claim_report(), claim_report()) == (first_report, other_report, None)
    finish_report(first_report)
    assert (claim_report(), claim_report()) == (second_report, None)
    finish_report(second_report)
    assert claim_report() == third_report


def test_concurrent_workers_claim_one_report_per_competition(settings: Settings) -> None:
    all_contests = create_contests(3, team_count=0)
    queued_work.insert_reports([(contest, queued_at) for queued_at in range(6) for contest in all_contests])
    barrier = Barrier(8)

    def claim_after_barrier() -> UUID | None:
        barrier.wait()
        return claim_report()

    with ThreadPoolExecutor(8) as pool:
        report_ids = [
            identifier
            for identifier in pool.map(lambda _: claim_after_barrier(), range(8))
            if identifier is not None
        ]
    running = select(ThresholdReport).where(ThresholdReport.state == State.SCORING)
    assert Counter(row.round_id for row in load_all(running)) == {
        contest.round_id: 1 for contest in all_contests
    }
    assert len(report_ids) == 3


def insert_evaluations_without_messages(contest: QueueContest, count: int) -> None:
    """Create evaluations that were queued an hour ago and have no message in the queue."""
    queued_work.insert_evaluations(
        [QueuedEvaluation(contest, contest.team_ids[0], queued_at) for queued_at in range(-100, count - 100)]
    )
    execute(update(Evaluation).values(created_at=text("now() - interval '1 hour'")))
    empty_queue()


def test_sweep_sends_missing_messages_once(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=1)
    insert_evaluations_without_messages(contest, 12)
    queue.publish([queue.SCORE] * 5 + [queue.JUDGE] * 20)
    clock.sweep()
    assert queue.count_messages_by_task() == {queue.SCORE: 12, queue.JUDGE: 20, queue.ADVISE: 0}
    clock.sweep()
    assert queue.count_messages_by_task() == {queue.SCORE: 12, queue.JUDGE: 20, queue.ADVISE: 0}


def test_sweep_sends_a_limited_number_of_messages(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=1)
    insert_evaluations_without_messages(contest, leases.MAX_MESSAGES + 30)
    clock.sweep()
    assert queue.count_messages() == leases.MAX_MESSAGES
    clock.sweep()
    assert queue.count_messages() == leases.MAX_MESSAGES + 30


def test_sweep_does_not_requeue_reports_that_must_wait(settings: Settings) -> None:
    (contest,) = create_contests(1, team_count=0)
    queued_work.insert_reports([(contest, queued_at) for queued_at in range(5)])
    execute(update(ThresholdReport).values(created_at=text("now() - interval '1 hour'")))
    running_report = claim_report()
    clock.sweep()
    assert queue.count_messages() == 0
    assert running_report is not None
    finish_report(running_report)
    clock.sweep()
    assert queue.count_messages() == 4
