"""Fold the events of a round into standings: a pure function, for new rows and for rebuilding all of them.

The standings of a series are its rows in the order of ``at``. A team has a row for each moment at which its
standing changed, and it holds until the team's next row.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import Protocol, TypeVar
from uuid import UUID

from app.boards.attack_board import AttackBoard, ComputedAttackStanding
from app.boards.events import Event, list_attack_board_events, list_release_board_events
from app.boards.facts import RoundFacts
from app.boards.function_ranking import BoardRanker
from app.boards.release_board import ComputedStanding, ReleaseBoard
from app.core.db.models import Series
from app.core.db.now import BEGINNING, END

StandingT = TypeVar("StandingT", ComputedStanding, ComputedAttackStanding)
StandingT_co = TypeVar("StandingT_co", ComputedStanding, ComputedAttackStanding, covariant=True)


class Board(Protocol[StandingT_co]):
    """The state of a board, which events change.

    It depends on the events alone, not on what has been computed in between: a fold may begin at any moment.
    """

    def apply(self, event: Event) -> Iterable[UUID]:
        """Take an event into account, and return the teams whose standing may have changed."""

    def compute(self, team_ids: Collection[UUID]) -> Iterable[StandingT_co]:
        """Return the standings of these teams, or of all if each depends on the others."""


def fold_releases(
    facts: RoundFacts,
    series: Series,
    *,
    since: datetime = BEGINNING,
    until: datetime = END,
    ranker: BoardRanker | None = None,
) -> Iterator[tuple[datetime, ComputedStanding]]:
    """Yield the standings on the anonymization board that change from ``since`` on and before ``until``.

    They are in order of time. ``ranker``: the ranking function of a package, if the rules name one.
    """
    return _fold(ReleaseBoard(facts, ranker), list_release_board_events(facts, series), since, until)


def fold_attacks(
    facts: RoundFacts,
    series: Series,
    *,
    since: datetime = BEGINNING,
    until: datetime = END,
    ranker: BoardRanker | None = None,
) -> Iterator[tuple[datetime, ComputedAttackStanding]]:
    """Yield the standings on the re-identification board that change in that time."""
    return _fold(AttackBoard(facts, ranker), list_attack_board_events(facts, series), since, until)


def find_window_end(facts: RoundFacts, since: datetime, *, moments: int) -> datetime:
    """Return the end of a window that begins at ``since``, in which something happens at so many moments."""
    timed_events = (
        timed_event
        for series in Series
        for list_events in (list_release_board_events, list_attack_board_events)
        for timed_event in list_events(facts, series)
    )
    later_moments = sorted({at for at, _ in timed_events if at >= since})
    return later_moments[moments] if len(later_moments) > moments else END


def _fold(
    board: Board[StandingT], events: Iterable[tuple[datetime, Event]], since: datetime, until: datetime
) -> Iterator[tuple[datetime, StandingT]]:
    moments = [
        (at, [event for _, event in simultaneous])
        for at, simultaneous in groupby(sorted(events, key=_get_moment), key=_get_moment)
        if at < until
    ]
    if not moments or moments[-1][0] < since:
        return
    earlier = [event for at, simultaneous in moments if at < since for event in simultaneous]
    standings = {standing.team_id: standing for standing in board.compute(_apply(board, earlier))}
    for at, simultaneous in moments:
        if at < since:
            continue
        for standing in board.compute(_apply(board, simultaneous)):
            if standings.get(standing.team_id) != standing:
                standings[standing.team_id] = standing
                yield at, standing


def _get_moment(timed_event: tuple[datetime, Event]) -> datetime:
    return timed_event[0]


def _apply(board: Board[StandingT], events: Iterable[Event]) -> set[UUID]:
    return {team_id for event in events for team_id in board.apply(event)}
