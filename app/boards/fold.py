"""Fold the events of a round into standings: a pure function, for new rows and for rebuilding all of them.

The standings of a series are its rows in the order of ``at``. A team has a row for each moment at which its
standing changed, and it holds until the team's next row.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from app.boards.attack_board import AttackBoard, ComputedAttackStanding
from app.boards.facts import Event, RoundFacts
from app.boards.function_ranking import BoardRanker
from app.boards.models import AttackStanding, Standing
from app.boards.release_board import ComputedStanding, ReleaseBoard
from app.core.db.models import Series
from app.core.db.transaction import BEGINNING, END

StandingT = TypeVar("StandingT", ComputedStanding, ComputedAttackStanding)
Changes = Iterator[tuple[datetime, StandingT]]
_get_moment = attrgetter("at")


class TableRows(NamedTuple):
    """New rows of one of the tables."""

    table: type[Standing | AttackStanding]
    rows: list[dict[str, Any]]


def compute_rows(
    facts: RoundFacts,
    since: datetime,
    *,
    until: datetime = END,
    team_ids: Collection[UUID] | None = None,
    rankers: Mapping[str, BoardRanker] | None = None,
) -> list[TableRows]:
    """Return the new rows between two moments, of these teams or of all.

    ``rankers`` run the ranking functions that the rules name.
    """
    rankers, ranking = rankers or {}, facts.rules.ranking
    release_ranker = rankers[ranking.function] if ranking.function else None
    attack_ranker = rankers[ranking.attack_function] if ranking.attack_function else None
    folds = (
        (Standing, partial(fold_releases, since=since, until=until, ranker=release_ranker)),
        (AttackStanding, partial(fold_attacks, since=since, until=until, ranker=attack_ranker)),
    )
    return [
        TableRows(
            table,
            [row for row in _fold_series(facts, fold) if team_ids is None or row["team_id"] in team_ids],
        )
        for table, fold in folds
    ]


def _fold_series(facts: RoundFacts, fold_board: Callable[..., Changes[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the new rows of all series, which differ only in guesses.

    ``Series`` begins with the one that says least: a ranking function could remember what it has read.
    """
    shared = None if facts.guesses else list(fold_board(facts, Series.ALL_GUESSES))
    for series in Series:
        for at, standing in fold_board(facts, series) if shared is None else shared:
            yield {"series": series, "at": at, **standing._asdict()}


def fold_releases(
    facts: RoundFacts,
    series: Series,
    *,
    since: datetime = BEGINNING,
    until: datetime = END,
    ranker: BoardRanker | None = None,
) -> Changes[ComputedStanding]:
    """Yield the standings on the anonymization board that change from ``since`` on and before ``until``.

    They are in order of time. ``ranker``: the ranking function of a package, if the rules name one.
    """
    board = ReleaseBoard(facts, ranker)
    return _fold(board.apply, board.compute, facts.list_release_events(series), since, until)


def fold_attacks(
    facts: RoundFacts,
    series: Series,
    *,
    since: datetime = BEGINNING,
    until: datetime = END,
    ranker: BoardRanker | None = None,
) -> Changes[ComputedAttackStanding]:
    """Yield the standings on the re-identification board that change in that time."""
    board = AttackBoard(facts, ranker)
    return _fold(board.apply, board.compute, facts.list_attack_events(series), since, until)


def find_window_end(facts: RoundFacts, since: datetime, *, moments: int) -> datetime:
    """Return the end of a window that begins at ``since``, in which something happens at so many moments."""
    later_moments = {
        event.at
        for series in Series
        for event in (*facts.list_release_events(series), *facts.list_attack_events(series))
        if event.at >= since
    }
    return sorted(later_moments)[moments] if len(later_moments) > moments else END


def _fold(
    apply: Callable[[Event], Iterable[UUID]],
    compute: Callable[[Collection[UUID]], Iterable[StandingT]],
    events: Iterable[Event],
    since: datetime,
    until: datetime,
) -> Changes[StandingT]:
    moments = [
        (at, list(simultaneous))
        for at, simultaneous in groupby(sorted(events, key=_get_moment), _get_moment)
        if at < until
    ]
    if not moments or moments[-1][0] < since:
        return
    changed = {
        team_id
        for at, simultaneous in moments
        if at < since
        for event in simultaneous
        for team_id in apply(event)
    }
    standings = {standing.team_id: standing for standing in compute(changed)}
    for at, simultaneous in moments:
        if at < since:
            continue
        for standing in compute({team_id for event in simultaneous for team_id in apply(event)}):
            if standings.get(standing.team_id) != standing:
                standings[standing.team_id] = standing
                yield at, standing
