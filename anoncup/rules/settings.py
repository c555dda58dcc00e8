"""The tables of a competition file as dataclasses; ``anoncup.rules.model.Rules`` combines them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from math import ceil
from typing import Any, Literal

from anoncup.formulas.syntax import Formula

Parameters = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a microdata table by role, in the order of the file."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasureSettings:
    """Settings of a measure. With weight 0 it is only reported and does not affect the utility loss (U)."""

    weight: float = 0.0
    parameters: Parameters = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AttackerSettings:
    """Settings of an attacker. Without ``counts``, it is only reported and does not affect the risk (E)."""

    counts: bool = True
    parameters: Parameters = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Excessive:
    """The rule against excessive anonymization, which rejects releases (``excessive.rejection_rule``).

    ``distance`` is the name of one of the track's distances. With ``approach`` "I", no individual's released
    data may lie within ``threshold`` of another individual's original data. With "II", the distances of
    individuals to their own originals may not exceed it: their mean with the ``rule`` "average", each of them
    with "strict". Without ``threshold``, nothing is rejected.
    """

    distance: str = "gower"
    approach: Literal["I", "II"] = "II"
    rule: Literal["average", "strict"] = "average"
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """How teams are ranked (``docs/formulas.md``).

    ``defence`` ranks releases in this ``order``, and ``rule`` is then "formula". ``utility`` replaces U in
    it. ``attack`` ranks attacking teams, highest first. ``total`` and ``attack_total`` combine the scores of
    releases and of attacks in the rounds. ``function`` is the ranking function of a package, as PACKAGE:NAME,
    that ranks releases in place of a rule, and ``rule`` is then "function". ``attack_function`` is in place
    of ``attack``.
    """

    rule: Literal["score", "rank_sum", "formula", "function"] = "score"
    finals: int = 2
    order: Literal["ascending", "descending"] = "ascending"
    utility: Formula | None = None
    defence: Formula | None = None
    attack: Formula | None = None
    total: Formula | None = None
    attack_total: Formula | None = None
    function: str | None = None
    attack_function: str | None = None

    @property
    def is_by_overall(self) -> bool:
        """Whether the mean of U and E ranks releases, and no formula or function."""
        return self.rule == "score"

    def list_functions(self) -> list[str]:
        """Return the ranking functions of packages, as PACKAGE:NAME."""
        return [name for name in (self.function, self.attack_function) if name is not None]

    def collect_value_names(self) -> set[str]:
        """Return the names of the values in the formulas that rank releases."""
        formulas = [formula for formula in (self.utility, self.defence) if formula is not None]
        return set().union(*(formula.collect_value_names() for formula in formulas))


OVERALL_DIGITS = 4
"""Number of decimals of ``overall`` that others see before the reveal."""


@dataclass(frozen=True, slots=True)
class Publication:
    """Visibility of boards, scores and owners.

    ``digits``: number of decimals of U and E that others see before the reveal. ``owners``: whether targets
    show the teams that made them before the reveal. Hiding them does not guarantee that nobody finds out; see
    ``docs/publication.md``.
    """

    board: Literal["public", "teams", "organizers"] = "public"
    frozen_from: datetime | None = None
    feedback: Literal["hidden", "immediate", "daily"] = "hidden"
    shuffle_targets: bool = False
    digits: int = 2
    owners: Literal["shown", "hidden"] = "shown"
    reveal_notice_hours: int = 24


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of uploads. ``min_rows_kept`` is a share of the rows, or None in tracks without deletion."""

    min_rows_kept: float | None = 0.5
    valid_per_day: int = 10
    valid_total: int = 100
    attempts_per_day: int = 50
    attempts_total: int = 500
    guesses_per_target: int = 3
    file_mb: int = 64


@dataclass(frozen=True, slots=True)
class Description:
    """The organizers' text about the contest, in Markdown by language. With ``terms``, members accept it."""

    texts: Mapping[str, str] = field(default_factory=dict)
    terms: bool = False


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase, open in the half-open interval [start, end)."""

    name: Literal["anonymization", "reidentification"]
    start: datetime
    end: datetime


def count_required_rows(share: float, rows: int) -> int:
    """Return the minimum number of rows of a release, ``share`` of ``rows`` rounded up.

    The share counts as an exact decimal fraction, so that binary rounding never requires one row too many:
    0.7 of 10 rows are 7, not 8.
    """
    return ceil(Fraction(repr(share)) * rows)
