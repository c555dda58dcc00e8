"""Questions that organizers ask the threshold advisor."""

from __future__ import annotations  # the numeric types are imported for type checkers only

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anoncup.errors import InvalidInput
from anoncup.excessive import SIMULATED_PERMUTATIONS
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules

if TYPE_CHECKING:
    import pandas as pd

_MAX_UNIQUE_SHARE = 0.1
"""Maximum share of unique rows. With more, hardly any individuals can be swapped within their class."""


@dataclass(frozen=True, slots=True)
class AdviceQuestion:
    """Parameters of a threshold report.

    - ``groups``: columns whose values a cheat keeps, so that it permutes individuals with equal values only.
      None: the track's default columns without identifying ones; empty: anybody may be permuted.
    - ``distance``: its name, None for that of the competition.
    - ``bits``: cheats pass with a probability of at most 2^-``bits``.
    - ``draws``: number of permutations of each type to simulate.
    """

    groups: Sequence[str] | None = None
    distance: str | None = None
    bits: int = 50
    draws: int = SIMULATED_PERMUTATIONS


def resolve_question(question: AdviceQuestion, rules: Rules) -> AdviceQuestion:
    """Return the question with its defaults filled in.

    Raises InvalidInput for an unknown distance or column and for numbers out of range, and NotFound if the
    track has no distances.
    """
    if question.bits < 1 or question.draws < 0:
        raise InvalidInput("bits must be at least 1, and draws at least 0")
    track = TRACKS[rules.track]
    distance = question.distance or rules.required_excessive.distance
    if distance not in track.distances:
        raise InvalidInput(
            "distances of the {track} track: {known}",
            code="unknown_distance",
            track=track.name,
            known=tuple(track.distances),
        )
    known_columns, default_columns = track.distances.group_columns(rules)
    groups = tuple(default_columns if question.groups is None else question.groups)
    unknown_columns = set(groups) - set(known_columns)
    if unknown_columns:
        raise InvalidInput(
            "{unknown}: group columns are {known}",
            code="unknown_column",
            unknown=tuple(sorted(unknown_columns)),
            known=tuple(known_columns),
        )
    return AdviceQuestion(groups, distance, question.bits, question.draws)


def drop_identifying_columns(table: pd.DataFrame, columns: Sequence[str]) -> tuple[str, ...]:
    """Drop the column with the most distinct values until at most 10 % of the rows are unique.

    At least one column is kept. If several have the most values, the last of them is dropped.
    """
    remaining, counts = list(columns), table.nunique()
    while (
        len(remaining) > 1 and (table.groupby(remaining).size() == 1).sum() > len(table) * _MAX_UNIQUE_SHARE
    ):
        remaining.remove(max(reversed(remaining), key=counts.__getitem__))
    return tuple(remaining)
