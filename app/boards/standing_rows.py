"""The rows of standings that follow from the facts of a round. Nothing is read or stored here."""

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from app.boards.attack_board import ComputedAttackStanding
from app.boards.facts import RoundFacts
from app.boards.fold import fold_attacks, fold_releases
from app.boards.function_ranking import BoardRanker
from app.boards.models import AttackStanding, Standing
from app.boards.release_board import ComputedStanding
from app.core.db.models import Series
from app.core.db.now import END

_Changes = Iterator[tuple[datetime, ComputedStanding | ComputedAttackStanding]]


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


def _fold_series(
    facts: RoundFacts, fold_board: Callable[[RoundFacts, Series], _Changes]
) -> Iterator[dict[str, Any]]:
    """Yield the new rows of all series, which differ only in guesses.

    ``Series`` begins with the one that says least: a ranking function could remember what it has read.
    """
    shared = None if facts.guesses else list(fold_board(facts, Series.ALL_GUESSES))
    for series in Series:
        for at, standing in fold_board(facts, series) if shared is None else shared:
            yield {"series": series, "at": at, **standing._asdict()}
