"""Fair claiming: competitions and teams take turns, and the queue position shown is the actual order."""

import random
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from uuid import UUID

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.orm import Session

from app.config import Settings
from app.db import engine
from app.db.models import Evaluation, State, ThresholdReport
from app.db.transaction import transaction
from app.services.jobs import fairness, leases, queue, requeue
from app.services.submissions import submissions
from tests.support import queued_work
from tests.support.queue import empty_queue
from tests.support.queued_work import QueueContest, QueuedEvaluation, create_contests
from workers import clock

pytestmark = pytest.mark.full

LEASE = timedelta(minutes=5)


def claim_in_session(session: Session) -> UUID | None:
    row = leases.claim_next(session, Evaluation, lease=LEASE, attempts=3)
    return None if row is None else row.id


def claim_one() -> UUID | None:
    with transaction() as session:
        return claim_in_session(session)


def claim_all() -> list[UUID]:
    identifiers = []
    while (identifier := claim_one()) is not None:
        identifiers.append(identifier)
    return identifiers


def list_parties(identifiers: Sequence[UUID]) -> list[UUID]:
    with transaction() as session:
        rows = session.scalars(select(Evaluation).where(Evaluation.id.in_(identifiers)))
        party = {row.id: row.party_id for row in rows}
    return [party[identifier] for identifier in identifiers]


def test_one_teams_many_uploads_delay_another_by_one_piece(settings: Settings) -> None:
    (contest,) = create_contests(1, teams=3)
    greedy, second, third = contest.teams
    pieces = [QueuedEvaluation(contest, greedy, queued_at) for queued_at in range(10)]
    queued_work.insert_evaluations(
        [
            *pieces,
            QueuedEvaluation(contest, second, 20),
            QueuedEvaluation(contest, third, 30),
            QueuedEvaluation(contest, second, 40),
        ]
    )
    order = list_parties(claim_all())
    assert order[:5] == [greedy, second, third, greedy, second]
    assert order[5:] == [greedy] * 8


def test_one_competitions_many_teams_delay_another_by_one_piece(settings: Settings) -> None:
    large, small = create_contests(2, teams=5)
    queued_work.insert_evaluations(
        [QueuedEvaluation(large, team, queued_at) for queued_at, team in enumerate(large.teams)]
    )
    queued_work.insert_evaluations(
        [QueuedEvaluation(small, small.teams[0], queued_at) for queued_at in (50, 60)]
    )
    order = list_parties(claim_all())
    assert order[1] == order[3] == small.teams[0]


def test_the_team_served_last_comes_last_even_if_its_work_is_older(settings: Settings) -> None:
    (contest,) = create_contests(1, teams=2)
    served, waiting = contest.teams
    queued_work.insert_evaluations([QueuedEvaluation(contest, served, 0, started_s=90, state=State.SCORED)])
    queued_work.insert_evaluations([QueuedEvaluation(contest, waiting, 0, started_s=80, state=State.SCORED)])
    queued_work.insert_evaluations(
        [QueuedEvaluation(contest, served, 1), QueuedEvaluation(contest, waiting, 99)]
    )
    assert list_parties(claim_all()) == [waiting, served]


def test_a_rejudging_is_one_party_beside_the_teams(settings: Settings) -> None:
    (contest,) = create_contests(1, teams=2)
    rejudging = UUID(int=7)
    queued_work.insert_evaluations(
        [QueuedEvaluation(contest, contest.teams[0], queued_at, party=rejudging) for queued_at in range(6)]
    )
    queued_work.insert_evaluations([QueuedEvaluation(contest, team, 10) for team in contest.teams])
    order = list_parties(claim_all())
    assert set(order[:3]) == {rejudging, *contest.teams}
    assert order[3:] == [rejudging] * 5


@pytest.mark.parametrize("seed", range(12))
def test_places_are_the_order_in_which_work_is_claimed(settings: Settings, seed: int) -> None:
    """The order holds for any work served before, as long as no work is added."""
    rng = random.Random(seed)
    all_contests = create_contests(3, teams=4)

    def make_pieces(state: State, number: int) -> list[QueuedEvaluation]:
        pieces = []
        for _ in range(number):
            contest = rng.choice(all_contests)
            begun_at = None if state == State.QUEUED else rng.uniform(0, 50)
            pieces.append(
                QueuedEvaluation(contest, rng.choice(contest.teams), rng.choice(range(40)), begun_at, state)
            )
        return pieces

    queued_work.insert_evaluations([*make_pieces(State.SCORED, 15), *make_pieces(State.QUEUED, 30)])
    with transaction() as session:
        order = fairness.build_claim_order(Evaluation)
        positions = {row.id: row.place for row in session.execute(select(order))}
    assert sorted(positions.values()) == list(range(30))
    assert claim_all() == sorted(positions, key=lambda identifier: positions[identifier])


def test_the_place_that_is_shown_falls_by_one_with_each_piece_begun_before_it(settings: Settings) -> None:
    (contest,) = create_contests(1, teams=2)
    first, second = contest.teams
    pieces = [
        QueuedEvaluation(contest, first, 0),
        QueuedEvaluation(contest, first, 1),
        QueuedEvaluation(contest, second, 2),
        QueuedEvaluation(contest, first, 3),
    ]
    last = queued_work.insert_evaluations(pieces)[-1]

    def read_position() -> int | None:
        with transaction() as session:
            return submissions.get_queue_position(session, session.get_one(Evaluation, last))

    positions = [read_position()]
    while claim_one() is not None:
        positions.append(read_position())
    assert positions == [3, 2, 1, 0, None]


def test_work_that_lost_its_worker_keeps_its_position(settings: Settings) -> None:
    (contest,) = create_contests(1, teams=2)
    first, second = contest.teams
    lost_id, waiting_id = queued_work.insert_evaluations(
        [QueuedEvaluation(contest, first, 0), QueuedEvaluation(contest, second, 1)]
    )
    assert claim_one() == lost_id
    with transaction() as session:
        session.execute(
            update(Evaluation).where(Evaluation.id == lost_id).values(leased_until=queued_work.NOON)
        )
        session.execute(
            update(Evaluation).where(Evaluation.id == lost_id).values(started_at=queued_work.NOON)
        )
    assert claim_all() == [waiting_id, lost_id]


def test_work_without_attempts_left_ends_and_the_next_is_claimed(settings: Settings) -> None:
    (contest,) = create_contests(1, teams=2)
    exhausted_id, next_id = queued_work.insert_evaluations(
        [QueuedEvaluation(contest, team, queued_at) for queued_at, team in enumerate(contest.teams)]
    )
    with transaction() as session:
        session.execute(update(Evaluation).where(Evaluation.id == exhausted_id).values(attempt=3))
    assert claim_one() == next_id
    with transaction() as session:
        assert session.get_one(Evaluation, exhausted_id).state == State.ERROR


def test_workers_that_claim_at_once_never_get_the_same(settings: Settings) -> None:
    all_contests = create_contests(3, teams=3)
    evaluation_ids = queued_work.insert_evaluations(
        [
            QueuedEvaluation(contest, team, queued_at)
            for queued_at in range(10)
            for contest in all_contests
            for team in contest.teams
        ]
    )
    with ThreadPoolExecutor(8) as pool:
        claimed_ids = [
            identifier for batch in pool.map(lambda _: claim_all(), range(8)) for identifier in batch
        ]
    assert Counter(claimed_ids) == Counter(evaluation_ids)


def test_workers_that_claim_at_once_serve_different_competitions(settings: Settings) -> None:
    """The second worker sees the first one's lock and takes the next piece of work."""
    all_contests = create_contests(2, teams=2)
    queued_work.insert_evaluations(
        [
            QueuedEvaluation(contest, team, queued_at)
            for queued_at in range(3)
            for contest in all_contests
            for team in contest.teams
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
        assert {row.competition_id for row in rows} == {contest.competition for contest in all_contests}


def test_a_claim_among_thousands_reads_no_table_from_end_to_end(settings: Settings) -> None:
    """With 10,000 finished and 1,000 waiting evaluations, only the waiting ones are read."""
    all_contests = create_contests(5, teams=20)
    finished = [
        QueuedEvaluation(contest, team, number, started_s=number, state=State.SCORED)
        for number in range(100)
        for contest in all_contests
        for team in contest.teams
    ]
    queued_work.insert_evaluations(finished)
    queued_work.insert_evaluations(
        [
            QueuedEvaluation(contest, team, queued_at)
            for queued_at in range(10)
            for contest in all_contests
            for team in contest.teams
        ]
    )
    order = fairness.build_claim_order(Evaluation)
    query = select(Evaluation.id).join(order, order.c.id == Evaluation.id).order_by(order.c.place).limit(1)
    sql = query.compile(engine.get_engine(), compile_kwargs={"literal_binds": True})
    with engine.get_engine().begin() as connection:
        connection.execute(text("ANALYZE evaluations"))
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
        row = leases.claim_next(session, ThresholdReport, lease=LEASE, attempts=3)
        return None if row is None else row.id


def finish_report(identifier: UUID) -> None:
    with transaction() as session:
        leases.finish(session, session.get_one(ThresholdReport, identifier), State.SCORED)


def test_one_report_of_a_competition_is_made_at_a_time(settings: Settings) -> None:
    first_contest, second_contest = create_contests(2, teams=0)
    first, second, third, other_report = queued_work.insert_reports(
        [(first_contest, 0), (first_contest, 1), (first_contest, 2), (second_contest, 3)]
    )
    assert (claim_report(), claim_report(), claim_report()) == (first, other_report, None)
    finish_report(first)
    assert (claim_report(), claim_report()) == (second, None)
    finish_report(second)
    assert claim_report() == third


def test_workers_that_claim_reports_at_once_begin_one_of_a_competition(settings: Settings) -> None:
    all_contests = create_contests(3, teams=0)
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
    with transaction() as session:
        running = select(ThresholdReport).where(ThresholdReport.state == State.SCORING)
        assert Counter(row.competition_id for row in session.scalars(running)) == {
            contest.competition: 1 for contest in all_contests
        }
    assert len(report_ids) == 3


def queue_without_messages(contest: QueueContest, count: int) -> None:
    """Create evaluations that were queued an hour ago and have no message in the queue."""
    queued_work.insert_evaluations(
        [QueuedEvaluation(contest, contest.teams[0], queued_at) for queued_at in range(-100, count - 100)]
    )
    with transaction() as session:
        session.execute(update(Evaluation).values(created_at=text("now() - interval '1 hour'")))
    empty_queue()


def test_the_sweep_sends_one_message_for_each_evaluation_without_one(settings: Settings) -> None:
    (contest,) = create_contests(1, teams=1)
    queue_without_messages(contest, 12)
    queue.publish([queue.SCORE] * 5 + [queue.JUDGE] * 20)
    clock.sweep()
    assert queue.count_messages_by_task() == {queue.SCORE: 12, queue.JUDGE: 20, queue.ADVISE: 0}
    clock.sweep()
    assert queue.count_messages_by_task() == {queue.SCORE: 12, queue.JUDGE: 20, queue.ADVISE: 0}


def test_the_sweep_sends_a_limited_number_of_messages(settings: Settings) -> None:
    (contest,) = create_contests(1, teams=1)
    queue_without_messages(contest, requeue.MAX_MESSAGES + 30)
    clock.sweep()
    assert queue.count_messages() == requeue.MAX_MESSAGES
    clock.sweep()
    assert queue.count_messages() == requeue.MAX_MESSAGES + 30


def test_the_sweep_does_not_requeue_reports_that_must_wait(settings: Settings) -> None:
    (contest,) = create_contests(1, teams=0)
    queued_work.insert_reports([(contest, queued_at) for queued_at in range(5)])
    with transaction() as session:
        session.execute(update(ThresholdReport).values(created_at=text("now() - interval '1 hour'")))
    running_report = claim_report()
    clock.sweep()
    assert queue.count_messages() == 0
    assert running_report is not None
    finish_report(running_report)
    clock.sweep()
    assert queue.count_messages() == 4
