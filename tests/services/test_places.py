"""Where a submission stands: never more than the reader may know, and what is said to be enough, is."""

import random
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from anoncup.evaluation.ranking import overall, ranks
from anoncup.schemas import Board, BoardRow
from app.services.boards.standing_forecast import Place, Sent, place_of

pytestmark = pytest.mark.full

START = datetime(2027, 1, 10, tzinfo=UTC)
OWN = "ours"


def row(team: str, losses: tuple[float, float], rank: int | None, *, own: bool = False) -> BoardRow:
    utility, security = losses
    return BoardRow(
        rank=rank,
        team=team,
        own=own,
        baseline=rank is None,
        entries=1,
        overall=overall(utility, security),
        utility=utility,
        security=security,
        rivals=None,
        rank_sum=None,
        on_front=False,
        received_at=START + timedelta(seconds=len(team)),
        measures={},
        attackers={},
    )


def board_of(losses: dict[str, tuple[float, float]], *, digits: int | None, finals: bool = False) -> Board:
    """A board with its exact ranks, its other rows rounded as before the reveal."""
    found = ranks([overall(*each) for each in losses.values()])
    rows = [
        row(team, each, rank, own=team == OWN)
        for (team, each), rank in zip(losses.items(), found, strict=True)
    ]
    shown = [one if one.own or digits is None else hidden(one, digits) for one in rows]
    shown.sort(key=lambda one: one.rank or 0)
    return Board(
        competition="c",
        title={"en": "C"},
        frozen_from=None,
        finals=finals,
        digits=digits,
        measures=(),
        attackers=(),
        rows=(*shown, row("sample", (0.0, 0.0), None)),
    )


def hidden(one: BoardRow, digits: int) -> BoardRow:
    assert one.overall is not None
    assert one.utility is not None
    assert one.security is not None
    return one.model_copy(
        update={
            "overall": round(one.overall, 4),
            "utility": round(one.utility, digits),
            "security": round(one.security, digits),
        }
    )


def found_on(board: Board, sent: Sent, *, by_sum: bool = False) -> Place:
    place = place_of(board, sent, by_sum=by_sum)
    assert place is not None
    return place


def of_own(board: Board, counted: int | None = None) -> Place:
    (own,) = (one for one in board.rows if one.own)
    assert own.received_at is not None
    return found_on(board, Sent(OWN, own.received_at, own.overall or 0.0, own.security or 0.0, counted))


def drawn(rng: random.Random, *, people: int) -> dict[str, tuple[float, float]]:
    """Teams whose scores are often equal, or equal but for what is not shown."""
    near = rng.choice([1e-6, 1e-4, 1e-2, 1.0])
    teams = [f"team {n}" for n in range(rng.randint(0, 6))] + [OWN]
    some = [(0.3 + 0.1 * near * rng.random(), rng.randint(0, people) / people) for _ in range(3)]
    same = rng.choice([None, rng.randint(0, people) / people])
    made = {}
    for team in teams:
        utility, security = rng.choice(some)
        utility = utility if rng.random() < 0.5 else 0.3 + 0.1 * near * rng.random()
        made[team] = (utility, security if same is None else same)
    return made


@pytest.mark.parametrize("digits", [2, None])
def test_what_is_said_to_be_enough_passes_whoever_is_next_and_nobody_else_is_named(
    digits: int | None,
) -> None:
    rng, people = random.Random(5), 40
    ways = 0
    for _ in range(3000):
        losses = drawn(rng, people=people)
        place = of_own(board_of(losses, digits=digits), people)
        exact = {team: overall(*each) for team, each in losses.items()}
        mine = exact[OWN]
        better = {team: each for team, each in exact.items() if each < mine}
        assert place.first == place.last == 1 + len(better)
        assert place.shared == sum(each == mine for each in exact.values()) - 1
        assert place.teams == len(losses)
        nearest = max(better.values(), default=None)
        named = () if place.next is None else place.next.names
        assert set(named) == {team for team, each in better.items() if each == nearest}
        if place.leader:
            assert set(place.leader.names) == {t for t, each in exact.items() if each == min(exact.values())}
        if nearest is None:
            assert place.way is None
            continue
        ways += 1
        assert place.next is not None
        assert abs(float(place.next.gap) - (mine - nearest)) <= 1.0001e-4
        assert place.way is not None
        utility, security = losses[OWN]
        less = float(place.way.less)
        if place.way.by_risk:
            assert overall(utility, security - less) < nearest
        if place.way.by_loss:
            assert overall(utility - less, security) < nearest
        if place.way.found is not None:
            assert place.way.now == round(security * people)
            assert overall(utility, place.way.found / people) < nearest
            slack = 0.0 if digits is None else 1e-4
            assert overall(utility, (place.way.found + 1) / people) >= nearest - slack - 1e-12
            assert place.way.found < place.way.now
        # It is the least that is enough, but for what the rounding hides.
        assert overall(utility, security) - (less - 3.1e-4) / 2 >= nearest
    assert ways > 500


def test_the_ranks_that_one_may_have_are_those_of_all_boards_that_look_alike() -> None:
    rng, people, told = random.Random(6), 7, [0, 0]
    for _ in range(2000):
        losses = drawn(rng, people=people)
        board = board_of(losses, digits=2)
        mine = overall(*losses[OWN])
        other = mine + rng.choice([0.0, 1e-5, 1e-3]) * rng.random()
        place = found_on(board, Sent(OWN, START - timedelta(days=1), other, 0.0, None))
        exact = 1 + sum(overall(*each) < other for team, each in losses.items() if team != OWN)
        assert place.first <= exact <= place.last
        assert not place.stands
        assert place.best is not None
        assert place.best.team == OWN
        told[place.first == place.last] += 1
        # Each end is the rank on some board that is shown the same.
        shown = [one for one in board.rows if not one.own and one.rank is not None]
        own_rank = next(one.rank for one in board.rows if one.own) or 0
        low = sum(possible(one, own_rank, mine)[0] < Fraction(other) for one in shown)
        high = sum(possible(one, own_rank, mine)[1] < Fraction(other) for one in shown)
        assert place.last == 1 + low
        assert place.first == 1 + high
    assert min(told) > 50


def possible(one: BoardRow, own_rank: int, own: float) -> tuple[Fraction, Fraction]:
    """The least and the largest score, told apart to 1e-9, that is rounded to what is shown and ranked so."""
    shown, half, tiny = Fraction(str(one.overall)), Fraction(1, 20_000), Fraction(1, 10**9)
    low, high, mine = shown - half, shown + half, Fraction(own)
    if (one.rank or 0) < own_rank:
        high = min(high, mine - tiny)
    elif one.rank == own_rank:
        low = high = mine
    else:
        low = max(low, mine + tiny)
    return low, high


def test_nothing_is_supposed_of_ranks_by_sums_or_of_finals() -> None:
    losses = {"a": (0.1, 0.2), OWN: (0.2, 0.2)}
    sent = Sent(OWN, START - timedelta(days=1), 0.4, 0.4, None)
    assert place_of(board_of(losses, digits=2), sent, by_sum=True) is None
    assert place_of(board_of(losses, digits=2, finals=True), sent, by_sum=False) is None
    own = next(one for one in board_of(losses, digits=2).rows if one.own)
    assert own.received_at is not None
    stands = Sent(OWN, own.received_at, own.overall or 0.0, 0.2, 40)
    by_sum = found_on(board_of(losses, digits=2), stands, by_sum=True)
    assert (by_sum.first, by_sum.next, by_sum.way) == (2, None, None)
    final = found_on(board_of(losses, digits=2, finals=True), stands)
    assert final.next is not None
    assert final.way is None


def test_a_team_without_a_row_is_supposed_among_the_others() -> None:
    board = board_of({"a": (0.1, 0.2), "b": (0.5, 0.2), OWN: (0.9, 0.9)}, digits=2)
    alone = board.model_copy(update={"rows": tuple(one for one in board.rows if not one.own)})
    place = found_on(alone, Sent(OWN, START, 0.2, 0.2, None))
    assert (place.first, place.last, place.teams, place.best) == (2, 2, 3, None)


def test_where_nothing_can_be_smaller_enough_no_single_way_is_offered() -> None:
    board = board_of({"a": (0.0, 0.02), OWN: (0.5, 0.5)}, digits=None)
    way = of_own(board, 10).way
    assert way is not None
    assert (way.by_risk, way.by_loss, way.found) == (False, False, None)
    assert float(way.less) == pytest.approx(0.98, abs=1.1e-4)


def test_a_rivals_guess_that_found_more_is_said_of_what_stands() -> None:
    board = board_of({"a": (0.1, 0.2), OWN: (0.2, 0.5)}, digits=None, finals=True)
    own = next(one for one in board.rows if one.own)
    assert own.received_at is not None
    for built_in, rival in ((0.5, False), (0.4, True)):
        sent = Sent(OWN, own.received_at, overall(0.2, built_in), built_in, None)
        assert found_on(board, sent).rival is rival
        assert found_on(board, sent, by_sum=True).rival is rival


def test_who_is_alone_is_first_and_has_nobody_beside_it() -> None:
    place = of_own(board_of({OWN: (0.2, 0.0)}, digits=None))
    assert (place.first, place.teams, place.next, place.behind) == (1, 1, None, None)


def test_all_tied_share_the_first_rank_and_nobody_is_next() -> None:
    board = board_of({**{f"team {n}": (0.2, 0.4) for n in range(500)}, OWN: (0.2, 0.4)}, digits=2)
    place = of_own(board, 40)
    assert (place.first, place.shared, place.teams) == (1, 500, 501)
    assert (place.next, place.leader, place.behind, place.way) == (None, None, None, None)
