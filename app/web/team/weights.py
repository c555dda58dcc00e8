"""What U and the result of a submission would be, if the measures had other weights."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from anoncup import schemas
from anoncup.evaluation.ranking import combine_utility_scores, overall
from anoncup.rules.model import Rules
from anoncup.rules.toml_values import LARGEST
from anoncup.tracks.model import Track

PREFIX = "weight."
ASKED = "what"
LONGEST = 40
"""Characters of a number that somebody types."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A measure that may weigh; ``typed``: its weight as it stands in the form, ``wrong``: it is none."""

    name: str
    typed: str
    wrong: bool

    @property
    def field(self) -> str:
        return PREFIX + self.name


@dataclass(frozen=True, slots=True)
class WhatIf:
    """``utility`` and ``overall`` under the weights of the form; None before they are asked for, and if
    one is wrong."""

    measures: tuple[Weighed, ...]
    asked: bool
    utility: float | None = None
    overall: float | None = None

    @property
    def wrong(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.measures if one.wrong)


def what_if(rules: Rules, track: Track, verdict: schemas.Verdict, query: Mapping[str, str]) -> WhatIf | None:
    """None where there is nothing to weigh."""
    names = [name for name in track.measures if may_weigh(rules, track, verdict, name)]
    if not names:
        return None
    asked = ASKED in query
    typed = {name: query.get(PREFIX + name, "") if asked else plain(rules.weight(name)) for name in names}
    weights = {name: weight_of(text) for name, text in typed.items()}
    lines = tuple(Weighed(name, text[:LONGEST], weights[name] is None) for name, text in typed.items())
    known = {name: weight for name, weight in weights.items() if weight is not None}
    if not asked or len(known) < len(weights):
        return WhatIf(lines, asked)
    utility = utility_under(rules, track, verdict, known)
    return WhatIf(lines, asked, utility, overall(utility, verdict.security))


def may_weigh(rules: Rules, track: Track, verdict: schemas.Verdict, name: str) -> bool:
    return track.measures[name].weighs and name in verdict.measures and bool(rules.scales.get(name))


def utility_under(
    rules: Rules, track: Track, verdict: schemas.Verdict, weights: Mapping[str, float]
) -> float:
    """U by the very sums of scoring; what weighs nothing is left out, as there."""
    weighing = {name: weight for name, weight in weights.items() if weight > 0}
    found = {name: verdict.measures[name] for name in weighing}
    return combine_utility_scores(
        {name: one.value for name, one in found.items()},
        weights=weighing,
        scales=rules.scales,
        rounding={name: one.rounding for name, one in found.items()},
        how=track.utility,
    )


def weight_of(typed: str) -> float | None:
    """A number, 0 or more, as a competition file may have it; None of anything else. Nothing typed is 0."""
    try:
        weight = float(typed.strip() or 0)
    except ValueError:
        return None
    return weight if isfinite(weight) and 0 <= weight <= LARGEST and len(typed) <= LONGEST else None


def plain(weight: float) -> str:
    return str(int(weight)) if weight == int(weight) else str(weight)
