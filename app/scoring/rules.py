"""The competition file: one dataclass tree for what an organizer writes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from math import ceil
from typing import Literal

Parameters = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Columns:
    """The roles of a microdata table's columns, both in the order of the file."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasureSettings:
    """``weight`` 0: reported, but outside U."""

    weight: float = 0.0
    parameters: Parameters = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AttackerSettings:
    """``counts`` False: reported, but outside E."""

    counts: bool = True
    parameters: Parameters = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Excessive:
    distance: str = "gower"
    approach: Literal["I", "II"] = "II"
    rule: Literal["average", "strict"] = "average"
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    rule: Literal["score", "rank_sum"] = "score"
    finals: int = 2


@dataclass(frozen=True, slots=True)
class Publication:
    """``digits``: decimals of U and E that others see before the reveal. ``owners_at_least``: with fewer
    possible owners of a target than this the phase does not turn; 1 only warns.
    """

    board: Literal["public", "teams", "organizers"] = "public"
    frozen_from: datetime | None = None
    feedback: Literal["hidden", "immediate", "daily"] = "hidden"
    shuffle_targets: bool = False
    digits: int = 2
    owners: Literal["hidden", "shown"] = "hidden"
    owners_at_least: int = 1
    reveal_notice_hours: int = 24


@dataclass(frozen=True, slots=True)
class Limits:
    min_rows_kept: float = 0.5
    valid_per_day: int = 10
    valid_total: int = 100
    attempts_per_day: int = 50
    attempts_total: int = 500
    guesses_per_target: int = 3
    file_mb: int = 64


@dataclass(frozen=True, slots=True)
class Phase:
    """Open in the half-open window [start, end)."""

    name: Literal["anonymization", "reidentification"]
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Rules:
    slug: str
    title: Mapping[str, str]
    track: Literal["microdata", "transactions"]
    timezone: str
    columns: Columns | None = None
    measures: Mapping[str, MeasureSettings] = field(default_factory=dict)
    attackers: Mapping[str, AttackerSettings] = field(default_factory=dict)
    scales: Mapping[str, float] = field(default_factory=dict)
    excessive: Excessive = field(default_factory=Excessive)
    ranking: Ranking = field(default_factory=Ranking)
    publication: Publication = field(default_factory=Publication)
    limits: Limits = field(default_factory=Limits)
    phases: tuple[Phase, ...] = ()
    scored_by: Mapping[str, str] = field(default_factory=dict)
    """Names and versions of all that counts, once that is fixed; see ``counted``."""


MORE_OPEN: Mapping[str, tuple[str, ...]] = {
    "board": ("organizers", "teams", "public"),
    "feedback": ("hidden", "daily", "immediate"),
    "owners": ("hidden", "shown"),
}
"""Of the choices in ``[publication]``: each shows more than the one before."""


def discloses_more(before: Rules, after: Rules) -> bool:
    """Whether ``after`` shows anything to more people, sooner or in more detail, or lets teams guess more
    often, whatever else it hides.
    """
    return (
        shows_more(before.publication, after.publication)
        or after.limits.guesses_per_target > before.limits.guesses_per_target
        or after.ranking != before.ranking  # a second order of the same rows; other tables for all teams
        or moves_midnight(before, after)
        or opens_sooner(before, after)
    )


def shows_more(before: Publication, after: Publication) -> bool:
    opened = any(
        order.index(getattr(after, name)) > order.index(getattr(before, name))
        for name, order in MORE_OPEN.items()
    )
    return (
        opened
        or thaws(before.frozen_from, after.frozen_from)
        or after.digits > before.digits
        or after.owners_at_least < before.owners_at_least
        or (before.shuffle_targets and not after.shuffle_targets)
    )


def thaws(before: datetime | None, after: datetime | None) -> bool:
    """Whether boards that were to stand still go on for longer."""
    return before is not None and (after is None or after > before)


def moves_midnight(before: Rules, after: Rules) -> bool:
    """Whether another zone shows the scores of guesses, which come at midnight, up to a day sooner."""
    daily = {before.publication.feedback, after.publication.feedback} == {"daily"}
    return daily and before.timezone != after.timezone


def opens_sooner(before: Rules, after: Rules) -> bool:
    """Whether the teams get the targets sooner, or at all."""
    starts = [
        next((phase.start for phase in one.phases if phase.name == "reidentification"), None)
        for one in (before, after)
    ]
    was, now = starts
    return now is not None and (was is None or now < was)


def rows_required(share: float, rows: int) -> int:
    """Fewest rows a release may have: ``share`` of ``rows``, rounded up.

    The share is taken as the decimal that was written: 0.7 of 10 rows are 7, not 8.
    """
    return ceil(Fraction(repr(share)) * rows)
