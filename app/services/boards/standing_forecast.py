"""Where a submission stands on the board as its reader sees it, and what would take it past those ahead.

Before the reveal others' ``overall`` is known to four decimals only, though ranks are exact. Nothing here
knows more than the reader: what the rounding leaves open is left open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from sqlalchemy.orm import Session

from anoncup.competition.scoring_versions import attacker_counts
from anoncup.rules.settings import OVERALL_DIGITS
from anoncup.schemas import Board, BoardRow, Verdict
from app.db.models import State, Submission
from app.services.boards import effective_evaluations, verdicts
from app.services.boards.version_filter import comparable
from app.services.contests.contest import Contest
from app.services.contests.visibility import ALWAYS, Sight

STEP = Fraction(1, 10**OVERALL_DIGITS)
"""Between two numbers as they are shown."""


@dataclass(frozen=True, slots=True)
class Rank:
    """Another rank: who shares it, and how far ``overall`` is from theirs, both as they are shown.

    ``gap`` 0: less than the decimals show.
    """

    rank: int
    names: tuple[str, ...]
    gap: Decimal


@dataclass(frozen=True, slots=True)
class Way:
    """What surely passes who is next: E or U smaller by ``less``, the other unchanged, if it is as large.

    ``found``: where individuals are counted, how many each attacker that counts may find at most, where
    the strongest finds ``now``; None where no number is enough.
    """

    less: Decimal
    by_risk: bool
    by_loss: bool
    now: int | None = None
    found: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """``first`` to ``last``: its rank; two of them where the rounding does not tell. ``stands``: it is what
    stands on the board for its team; else its rank if it did. ``shared``: by how many others. ``best``: its
    team's row. ``next``: the better rank that is nearest, ``behind`` the worse one, None without one, or
    where ranks are no matter of ``overall``. ``rival``: a guess of another team found more there."""

    first: int
    last: int
    teams: int
    stands: bool
    best: BoardRow | None
    shared: int = 0
    next: Rank | None = None
    leader: Rank | None = None
    behind: Rank | None = None
    way: Way | None = None
    rival: bool = False


@dataclass(frozen=True, slots=True)
class Sent:
    """A submission that is accepted: ``overall`` and ``security`` by what counts; ``counted``: of how many
    individuals its attackers find some, None where that is not what is counted."""

    team: str
    received_at: datetime
    overall: float
    security: float
    counted: int | None


def of_submission(session: Session, sight: Sight, board: Board, submission: Submission) -> Place | None:
    """``board``: as this sight shows it. None of what has no place on it, or none that could be told."""
    sent = sent_as(sight.contest, submission)
    if sent is None:
        return None
    found = place_of(board, sent, by_sum=sight.contest.rules.ranking.rule == "rank_sum")
    return found if found and (found.stands or scored_alike(session, sight)) else None


def sent_as(contest: Contest, submission: Submission) -> Sent | None:
    verdict, team = submission.evaluation.found, submission.team
    out = submission.disqualified_at or team.disqualified_at or team.baseline
    if out or verdict is None or submission.evaluation.state != State.SCORED:
        return None
    counting = comparable({submission.id: verdicts.numbers(verdict)}, contest.rules.scored_by)
    if submission.id not in counting:
        return None
    found = counting[submission.id]
    counted = counted_of(contest, verdict)
    return Sent(team.name, submission.received_at, found.overall, found.security, counted)


def counted_of(contest: Contest, verdict: Verdict) -> int | None:
    """Of how many individuals all attackers that count find some."""
    rules = contest.rules
    trials = {entry.trials for name, entry in verdict.attackers.items() if attacker_counts(rules, name)}
    return trials.pop() if contest.track.counts(rules) and len(trials) == 1 else None


def scored_alike(session: Session, sight: Sight) -> bool:
    """Whether a board that is frozen goes by the rules that are in force now."""
    as_of = sight.view.as_of
    return (
        as_of == ALWAYS or effective_evaluations.rules(session, sight.contest, as_of) == sight.contest.rules
    )


def place_of(board: Board, sent: Sent, *, by_sum: bool) -> Place | None:
    """None where the board says nothing of it. ``by_sum``: ranks are those of sums of ranks."""
    ranked = [row for row in board.rows if row.rank is not None]
    own = next((row for row in ranked if row.team == sent.team), None)
    if own is not None and own.received_at == sent.received_at:
        return standing(board, ranked, own, sent, by_sum=by_sum)
    if by_sum or board.finals:
        return None
    return supposed(board, [row for row in ranked if row is not own], own, sent)


def standing(board: Board, ranked: Sequence[BoardRow], own: BoardRow, sent: Sent, *, by_sum: bool) -> Place:
    rank = own.rank or 0
    shared = sum(row.rank == rank for row in ranked) - 1
    rival = own.security is not None and own.security > sent.security
    if by_sum:
        return Place(rank, rank, len(ranked), stands=True, best=own, shared=shared, rival=rival)
    ahead = [row for row in ranked if (row.rank or 0) < rank]
    after = [row for row in ranked if (row.rank or 0) > rank]
    above = rank_of(ahead, ahead[-1].rank, own) if ahead else None
    return Place(
        rank,
        rank,
        len(ranked),
        stands=True,
        best=own,
        shared=shared,
        next=above,
        leader=rank_of(ahead, 1, own) if above and above.rank > 1 else None,
        behind=rank_of(after, after[0].rank, own) if after else None,
        rival=rival,
        way=None if board.finals or above is None else way(board, ahead, own, sent),
    )


def supposed(board: Board, others: Sequence[BoardRow], own: BoardRow | None, sent: Sent) -> Place:
    """The ranks it may have if it stood for its team."""
    mine = Fraction(sent.overall)
    found = [better(row, bounds(board, row), own, mine) for row in others]
    surely, perhaps = found.count(True), len(found) - found.count(False)
    return Place(1 + surely, 1 + perhaps, len(others) + 1, stands=False, best=own)


def better(
    row: BoardRow, limits: tuple[Fraction, Fraction], own: BoardRow | None, mine: Fraction
) -> bool | None:
    """Whether a row is better than this; None: it is not known. Ranks, which are exact, tell how it is to the
    team's own row, whose score is."""
    if own is not None and own.rank is not None and row.rank is not None:
        held = Fraction(own.overall or 0.0)
        if row.rank == own.rank:
            return held < mine
        if row.rank < own.rank and held <= mine:
            return True
        if row.rank > own.rank and held >= mine:
            return False
    low, high = limits
    return True if high < mine else None if low < mine else False


def bounds(board: Board, row: BoardRow) -> tuple[Fraction, Fraction]:
    """Between which the exact ``overall`` of a row lies."""
    shown = row.overall or 0.0
    if row.own or board.digits is None:
        return Fraction(shown), Fraction(shown)
    written = Fraction(Decimal(repr(shown)))
    return written - STEP / 2, written + STEP / 2


def rank_of(rows: Sequence[BoardRow], rank: int | None, own: BoardRow) -> Rank:
    those = [row for row in rows if row.rank == rank]
    return Rank(
        rank or 0,
        tuple(row.team for row in those),
        abs(as_shown(own.overall or 0.0) - as_shown(those[0].overall or 0.0)),
    )


def as_shown(overall: float) -> Decimal:
    return Decimal(f"{overall:.{OVERALL_DIGITS}f}")


def way(board: Board, ahead: Sequence[BoardRow], own: BoardRow, sent: Sent) -> Way:
    """It passes for certain: below the least that who is next may have."""
    next_ones = [row for row in ahead if row.rank == ahead[-1].rank]
    least = max(bounds(board, row)[0] for row in next_ones)
    risk, loss = Fraction(own.security or 0.0), Fraction(own.utility or 0.0)
    steps = max(floor((risk + loss - 2 * least) / STEP) + 1, 1)
    less = steps * STEP
    found, now = enough(2 * least - loss, risk, sent.counted)
    return Way(Decimal(steps).scaleb(-OVERALL_DIGITS), less <= risk, less <= loss, now, found)


def enough(limit: Fraction, risk: Fraction, of: int | None) -> tuple[int | None, int | None]:
    """Of so many individuals how many make a risk below the limit at most, and how many make this one."""
    if of is None:
        return None, None
    now, most = round(risk * of), ceil(limit * of) - 1
    return (most, now) if most >= 0 and float(Fraction(now, of)) == float(risk) else (None, None)
