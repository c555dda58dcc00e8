"""Whose work is next: competitions in turn, teams in turn; the place shown is the order that is kept."""

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
from tests.support import queue_model
from tests.support.queue import empty_queue
from tests.support.queue_model import Contest, Piece, contests
from workers import clock

pytestmark = pytest.mark.full

LEASE = timedelta(minutes=5)


def begun(session: Session) -> UUID | None:
    found = leases.claim_next(session, Evaluation, lease=LEASE, attempts=3)
    return None if found is None else found.id


def claimed() -> UUID | None:
    with transaction() as session:
        return begun(session)


def all_claimed() -> list[UUID]:
    found = []
    while (one := claimed()) is not None:
        found.append(one)
    return found


def parties(identifiers: Sequence[UUID]) -> list[UUID]:
    with transaction() as session:
        rows = session.scalars(select(Evaluation).where(Evaluation.id.in_(identifiers)))
        party = {row.id: row.party_id for row in rows}
    return [party[one] for one in identifiers]


def test_one_teams_many_uploads_delay_another_by_one_piece(settings: Settings) -> None:
    (cup,) = contests(1, teams=3)
    greedy, second, third = cup.teams
    pieces = [Piece(cup, greedy, at) for at in range(10)]
    queue_model.evaluations([*pieces, Piece(cup, second, 20), Piece(cup, third, 30), Piece(cup, second, 40)])
    order = parties(all_claimed())
    assert order[:5] == [greedy, second, third, greedy, second]
    assert order[5:] == [greedy] * 8


def test_one_competitions_many_teams_delay_another_by_one_piece(settings: Settings) -> None:
    large, small = contests(2, teams=5)
    queue_model.evaluations([Piece(large, team, at) for at, team in enumerate(large.teams)])
    queue_model.evaluations([Piece(small, small.teams[0], at) for at in (50, 60)])
    order = parties(all_claimed())
    assert order[1] == order[3] == small.teams[0]


def test_who_was_served_last_is_last_though_its_work_is_older(settings: Settings) -> None:
    (cup,) = contests(1, teams=2)
    served, waiting = cup.teams
    queue_model.evaluations([Piece(cup, served, 0, begun=90, state=State.SCORED)])
    queue_model.evaluations([Piece(cup, waiting, 0, begun=80, state=State.SCORED)])
    queue_model.evaluations([Piece(cup, served, 1), Piece(cup, waiting, 99)])
    assert parties(all_claimed()) == [waiting, served]


def test_a_set_of_a_whole_contest_scored_again_is_one_party_beside_the_teams(settings: Settings) -> None:
    (cup,) = contests(1, teams=2)
    again = UUID(int=7)
    queue_model.evaluations([Piece(cup, cup.teams[0], at, party=again) for at in range(6)])
    queue_model.evaluations([Piece(cup, team, 10) for team in cup.teams])
    order = parties(all_claimed())
    assert set(order[:3]) == {again, *cup.teams}
    assert order[3:] == [again] * 5


@pytest.mark.parametrize("seed", range(12))
def test_places_are_the_order_in_which_work_is_claimed(settings: Settings, seed: int) -> None:
    """Whatever has been served before, as long as nothing is added."""
    chance = random.Random(seed)
    cups = contests(3, teams=4)

    def some(state: State, number: int) -> list[Piece]:
        made = []
        for _ in range(number):
            cup = chance.choice(cups)
            start = None if state == State.QUEUED else chance.uniform(0, 50)
            made.append(Piece(cup, chance.choice(cup.teams), chance.choice(range(40)), start, state))
        return made

    queue_model.evaluations([*some(State.SCORED, 15), *some(State.QUEUED, 30)])
    with transaction() as session:
        order = fairness.order(Evaluation)
        places = {row.id: row.place for row in session.execute(select(order))}
    assert sorted(places.values()) == list(range(30))
    assert all_claimed() == sorted(places, key=lambda one: places[one])


def test_the_place_that_is_shown_falls_by_one_with_each_piece_begun_before_it(settings: Settings) -> None:
    (cup,) = contests(1, teams=2)
    first, second = cup.teams
    pieces = [Piece(cup, first, 0), Piece(cup, first, 1), Piece(cup, second, 2), Piece(cup, first, 3)]
    last = queue_model.evaluations(pieces)[-1]

    def place() -> int | None:
        with transaction() as session:
            return submissions.place_in_queue(session, session.get_one(Evaluation, last))

    seen = [place()]
    while claimed() is not None:
        seen.append(place())
    assert seen == [3, 2, 1, 0, None]


def test_what_lost_its_worker_keeps_its_turn(settings: Settings) -> None:
    (cup,) = contests(1, teams=2)
    first, second = cup.teams
    lost, waits = queue_model.evaluations([Piece(cup, first, 0), Piece(cup, second, 1)])
    assert claimed() == lost
    with transaction() as session:
        session.execute(update(Evaluation).where(Evaluation.id == lost).values(leased_until=queue_model.NOON))
        session.execute(update(Evaluation).where(Evaluation.id == lost).values(started_at=queue_model.NOON))
    assert all_claimed() == [waits, lost]


def test_what_was_tried_too_often_ends_and_the_next_is_begun_instead(settings: Settings) -> None:
    (cup,) = contests(1, teams=2)
    bad, good = queue_model.evaluations([Piece(cup, team, at) for at, team in enumerate(cup.teams)])
    with transaction() as session:
        session.execute(update(Evaluation).where(Evaluation.id == bad).values(attempt=3))
    assert claimed() == good
    with transaction() as session:
        assert session.get_one(Evaluation, bad).state == State.ERROR


def test_workers_that_claim_at_once_never_get_the_same(settings: Settings) -> None:
    cups = contests(3, teams=3)
    made = queue_model.evaluations(
        [Piece(cup, team, at) for at in range(10) for cup in cups for team in cup.teams]
    )
    with ThreadPoolExecutor(8) as pool:
        got = [one for share in pool.map(lambda _: all_claimed(), range(8)) for one in share]
    assert Counter(got) == Counter(made)


def test_workers_that_claim_at_once_serve_different_competitions(settings: Settings) -> None:
    """The second sees that the first is being taken, and takes what comes after it."""
    cups = contests(2, teams=2)
    queue_model.evaluations([Piece(cup, team, at) for at in range(3) for cup in cups for team in cup.teams])
    with transaction() as one, transaction() as other:
        taken = [found for found in (begun(one), begun(other)) if found is not None]
        rows = [one.get_one(Evaluation, taken[0]), other.get_one(Evaluation, taken[1])]
        assert {row.competition_id for row in rows} == {cup.competition for cup in cups}


def test_a_claim_among_thousands_reads_no_table_from_end_to_end(settings: Settings) -> None:
    """10,000 finished evaluations beside 1,000 that wait: only what waits is walked through."""
    cups = contests(5, teams=20)
    done = [
        Piece(cup, team, number, begun=number, state=State.SCORED)
        for number in range(100)
        for cup in cups
        for team in cup.teams
    ]
    queue_model.evaluations(done)
    queue_model.evaluations([Piece(cup, team, at) for at in range(10) for cup in cups for team in cup.teams])
    order = fairness.order(Evaluation)
    asked = select(Evaluation.id).join(order, order.c.id == Evaluation.id).order_by(order.c.place).limit(1)
    spelled = asked.compile(engine.get_engine(), compile_kwargs={"literal_binds": True})
    with engine.get_engine().begin() as connection:
        connection.execute(text("ANALYZE evaluations"))
        plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {spelled}").scalars())
        walked = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {spelled}").scalar_one()
    assert "Seq Scan on evaluations" not in plan, plan
    assert rows_read(walked[0]["Plan"]) < 6_000


def rows_read(node: dict[str, object]) -> float:
    """How many rows of the table the plan looks at."""
    own = 0.0
    if node.get("Relation Name") == "evaluations":
        own = float(str(node["Actual Rows"])) * float(str(node["Actual Loops"]))
        own += float(str(node.get("Rows Removed by Filter", 0)))
    plans = node.get("Plans", [])
    assert isinstance(plans, list)
    return own + sum(rows_read(one) for one in plans)


def report() -> UUID | None:
    with transaction() as session:
        found = leases.claim_next(session, ThresholdReport, lease=LEASE, attempts=3)
        return None if found is None else found.id


def ended(identifier: UUID) -> None:
    with transaction() as session:
        leases.finish(session, session.get_one(ThresholdReport, identifier), State.SCORED)


def test_of_a_competition_one_report_is_made_at_a_time(settings: Settings) -> None:
    many, one = contests(2, teams=0)
    first, second, third, other = queue_model.reports([(many, 0), (many, 1), (many, 2), (one, 3)])
    assert (report(), report(), report()) == (first, other, None)
    ended(first)
    assert (report(), report()) == (second, None)
    ended(second)
    assert report() == third


def test_workers_that_claim_reports_at_once_begin_one_of_a_competition(settings: Settings) -> None:
    cups = contests(3, teams=0)
    queue_model.reports([(cup, at) for at in range(6) for cup in cups])
    start = Barrier(8)

    def first() -> UUID | None:
        start.wait()
        return report()

    with ThreadPoolExecutor(8) as pool:
        got = [one for one in pool.map(lambda _: first(), range(8)) if one is not None]
    with transaction() as session:
        running = select(ThresholdReport).where(ThresholdReport.state == State.SCORING)
        assert Counter(row.competition_id for row in session.scalars(running)) == {
            cup.competition: 1 for cup in cups
        }
    assert len(got) == 3


def lost_messages(cup: Contest, number: int) -> None:
    """Evaluations that were queued long ago, with no message in the queue."""
    queue_model.evaluations([Piece(cup, cup.teams[0], at) for at in range(-100, number - 100)])
    with transaction() as session:
        session.execute(update(Evaluation).values(created_at=text("now() - interval '1 hour'")))
    empty_queue()


def test_the_sweep_rings_as_often_as_work_has_no_message(settings: Settings) -> None:
    (cup,) = contests(1, teams=1)
    lost_messages(cup, 12)
    queue.publish([queue.SCORE] * 5 + [queue.JUDGE] * 20)
    clock.sweep()
    assert queue.depths() == {queue.SCORE: 12, queue.JUDGE: 20, queue.ADVISE: 0}
    clock.sweep()
    assert queue.depths() == {queue.SCORE: 12, queue.JUDGE: 20, queue.ADVISE: 0}


def test_the_sweep_rings_so_often_and_no_more(settings: Settings) -> None:
    (cup,) = contests(1, teams=1)
    lost_messages(cup, requeue.MOST + 30)
    clock.sweep()
    assert queue.depth() == requeue.MOST
    clock.sweep()
    assert queue.depth() == requeue.MOST + 30


def test_the_sweep_does_not_ring_for_reports_that_must_wait(settings: Settings) -> None:
    (cup,) = contests(1, teams=0)
    queue_model.reports([(cup, at) for at in range(5)])
    with transaction() as session:
        session.execute(update(ThresholdReport).values(created_at=text("now() - interval '1 hour'")))
    running = report()
    clock.sweep()
    assert queue.depth() == 0
    assert running is not None
    ended(running)
    clock.sweep()
    assert queue.depth() == 4
