"""What a measure, an attacker, an anonymization method and a track are, as entries of the registries.

A parameter's name means the same everywhere: ``columns``, ``quasi_identifiers`` (lists of quasi-identifiers),
``target``, ``sensitive`` (lists of sensitive columns), ``column`` (one sensitive column), ``give_up``; for
methods also ``k`` (rows), ``strength`` (standard deviations) and ``share`` (of the rows).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from app.scoring.arrays import IntArray
from app.scoring.rates import Candidates
from app.scoring.release import Release


@dataclass(frozen=True, slots=True)
class Measure:
    """A number about a release. ``compute(release, **parameters)`` returns it.

    ``by_column``: the same number for each sensitive column, where there is one. ``in_data_units``: it has
    the unit of the sensitive cells. ``weighs``: 0 is best and it may have a weight in U; the others are only
    reported.
    """

    name: str
    version: int
    compute: Callable[..., float]
    parameters: tuple[str, ...] = ()
    by_column: Callable[[Release], dict[str, float]] | None = None
    in_data_units: bool = False
    weighs: bool = False
    higher_is_better: bool = False


@dataclass(frozen=True, slots=True)
class Attacker:
    """``attack(target, **parameters)`` returns a guess vector, or candidates where it draws lots."""

    name: str
    version: int
    attack: Callable[..., IntArray | Candidates]
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Method:
    """``apply(table, roles, *, rng, **parameters)`` returns an anonymized table and its source index."""

    name: str
    apply: Callable[..., tuple[pd.DataFrame, IntArray]]
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Track:
    """A kind of contest: all that is measured, run and offered in it."""

    name: str
    measures: Mapping[str, Measure]
    attackers: Mapping[str, Attacker]
    methods: Mapping[str, Method] = field(default_factory=dict)
    distances: tuple[str, ...] = ()
