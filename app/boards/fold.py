"""Fold the events of a round into standings: a pure function, for new rows and for rebuilding all of them.

The standings of a series are its rows in the order of ``at``. A team has a row for each moment at which its
standing changed, and it holds until the team's next row.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from app.boards.attack_board import AttackBoard, ComputedAttackStanding
from app.boards.facts import RoundFacts
from app.boards.function_ranking import BoardRanker, BoardState
from app.boards.models import AttackStanding, Standing
from app.boards.release_board import ComputedStanding, ReleaseBoard
from app.core.db.models import Series
from app.core.db.transaction import BEGINNING, END

StandingT = TypeVar("StandingT", ComputedStanding, ComputedAttackStanding)
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
    boards: tuple[tuple[type[Standing | AttackStanding], type[BoardState[Any]], str | None], ...] = (
        (Standing, ReleaseBoard, ranking.function),
        (AttackStanding, AttackBoard, ranking.attack_function),
    )
    return [
        TableRows(
            table,
            [
                row
                for row in _fold_all_series(
                    partial(board, facts, rankers[function] if function else None), since, until
                )
                if team_ids is None or row["team_id"] in team_ids
            ],
        )
        for table, board, function in boards
    ]


def _fold_all_series(
    build_board: Callable[[], BoardState[Any]], since: datetime, until: datetime
) -> Iterator[dict[str, Any]]:
    """Yield the new rows of all series, which differ only in guesses.

    ``Series`` begins with the one that says least: a ranking function could remember what it has read.
    """
    changes: list[tuple[datetime, Any]] | None = None
    for series in Series:
        board = build_board()
        if changes is None or board.facts.guesses:
            changes = list(fold(board, series, since=since, until=until))
        for at, standing in changes:
            yield {"series": series, "at": at, **standing._asdict()}


def find_window_end(facts: RoundFacts, since: datetime, *, moments: int) -> datetime:
    """Return the end of a window that begins at ``since``, in which something happens at so many moments."""
    later_moments = {
        event.at
        for board in (ReleaseBoard(facts), AttackBoard(facts))
        for series in Series
        for event in board.list_events(series)
        if event.at >= since
    }
    return sorted(later_moments)[moments] if len(later_moments) > moments else END


def fold(
    board: BoardState[StandingT], series: Series, *, since: datetime = BEGINNING, until: datetime = END
) -> Iterator[tuple[datetime, StandingT]]:
    """Yield the standings that change on an empty board from ``since`` on and before ``until``, in order."""
    moments = [
        (at, list(simultaneous))
        for at, simultaneous in groupby(sorted(board.list_events(series), key=_get_moment), _get_moment)
        if at < until
    ]
    if not moments or moments[-1][0] < since:
        return
    changed = {
        team_id
        for at, simultaneous in moments
        if at < since
        for event in simultaneous
        for team_id in board.apply(event)
    }
    standings = {standing.team_id: standing for standing in board.compute(changed)}
    for at, simultaneous in moments:
        if at < since:
            continue
        for standing in board.compute({team_id for event in simultaneous for team_id in board.apply(event)}):
            if standings.get(standing.team_id) != standing:
                standings[standing.team_id] = standing
                yield at, standing
