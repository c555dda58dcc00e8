"""Whose a target could be: the teams with which all that is published is consistent (docs/publication.md).

Who has a target and the original computes every measure that reads no secret, and every attacker's answer.
What depends on the secret is unknown but for its limits. A published row fits a target if some values within
these limits are rounded to what stands in the row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, nextafter

from app.scoring.ranking import NOTHING, utility_score
from app.scoring.registry import Track
from app.scoring.rules import Rules

OVERALL_DIGITS = 4
"""Decimals of ``overall`` that others see before the reveal."""
SLACK = 1e-9
"""Two numbers that differ by less may be the same, computed in another order."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Of a release: (U + E) / 2, U and E, each in [0, 1]."""

    overall: float
    utility: float
    security: float

    def rounded(self, digits: int) -> "Scores":
        """As others see them."""
        return Scores(
            round(self.overall, OVERALL_DIGITS), round(self.utility, digits), round(self.security, digits)
        )


@dataclass(frozen=True, slots=True)
class Bound:
    """What an attacker's answer tells of its rate: at most ``most`` of ``trials`` rows, whatever the secret.

    ``lots``: the answer draws lots, so that the rate need not be a number of rows.
    """

    most: float
    trials: int
    lots: bool


@dataclass(frozen=True, slots=True)
class Span:
    """If E lies in [``low``, ``high``], U may lie in [``least``, ``most``]."""

    low: float
    high: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Computed:
    """What anyone can compute of a target: U and E lie in one of ``spans``, and E is one of k / ``rows`` with
    k in 0..``hits``, or anything in [0, ``drawn``].
    """

    spans: tuple[Span, ...]
    rows: int
    hits: int
    drawn: float = 0.0


@dataclass(frozen=True, slots=True)
class Final:
    """A target and the truth about it. ``seen``: others have read its scores, rounded, as its team's row."""

    team: int
    computed: Computed
    scores: Scores
    seen: bool = True


def computed(
    rules: Rules,
    track: Track,
    *,
    values: Mapping[str, float],
    rounding: Mapping[str, float],
    bounds: Mapping[str, Bound],
    utility: float,
    reach: Sequence[float] = (),
) -> Computed:
    """From a verdict's values, their rounding and its attackers' bounds, by name, and its ``reach``, flat.

    Without a reach the secret part of U lies between 0 and its weight; where besides the file leaves a scale
    open, which anybody computes from the original, ``utility`` counts as known.
    """
    counting = [bounds[name] for name in bounds if rules.counts(name)]
    rows = max((1, *(each.trials for each in counting)))
    return Computed(
        spans=spans_of(reach, rows)
        or (Span(0.0, 1.0, *whole_range(rules, track, values, rounding, utility)),),
        rows=rows,
        hits=max((floor(each.most + SLACK) for each in counting if not each.lots), default=0),
        drawn=max((each.most / max(each.trials, 1) for each in counting if each.lots), default=0.0),
    )


def spans_of(reach: Sequence[float], rows: int) -> tuple[Span, ...]:
    """What is told of a number of rows holds below the next that something is told of."""
    ends = {hits: nextafter(more / rows, 0.0) for hits, more in pairwise(dict.fromkeys(reach[::3]))}
    return tuple(
        Span(hits / rows, ends.get(hits, 1.0), least, most)
        for hits, least, most in zip(reach[::3], reach[1::3], reach[2::3], strict=True)
    )


def whole_range(
    rules: Rules,
    track: Track,
    values: Mapping[str, float],
    rounding: Mapping[str, float],
    utility: float,
) -> tuple[float, float]:
    """Of U, whatever E is."""
    weights = rules.weights
    if not weights.keys() <= rules.scales.keys():
        return utility, utility
    known = {
        name: utility_score(values[name], rules.scales[name], tiny=rounding.get(name, NOTHING))
        for name in weights
        if not track.measures[name].reads_secret
    }
    if track.utility == "largest":
        least = max(known.values(), default=0.0)
        return least, least if known.keys() == weights.keys() else 1.0
    total = sum(weights.values())
    least = sum(weights[name] / total * score for name, score in known.items())
    return least, least + sum(weight / total for name, weight in weights.items() if name not in known)


def fits(target: Computed, shown: Scores, digits: int) -> bool:
    """Whether the release behind this row, rounded to ``digits``, could be the target."""
    half = 0.5 * 10.0**-digits
    low, high = shown.security - half - SLACK, shown.security + half + SLACK
    return any(
        low <= span.high and span.low <= high and meets(target, span, shown, half) for span in target.spans
    )


def meets(target: Computed, span: Span, shown: Scores, half: float) -> bool:
    unit = 10.0**-OVERALL_DIGITS
    low_u, high_u = max(span.least, shown.utility - half), min(span.most, shown.utility + half)
    low_e = max(shown.security - half, 2 * shown.overall - unit - high_u) - SLACK
    high_e = min(shown.security + half, 2 * shown.overall + unit - low_u) + SLACK
    rate = largest_rate(target, max(span.low, low_e), min(span.high, high_e))
    return low_u <= high_u + SLACK and rate is not None


def largest_rate(target: Computed, low: float, high: float) -> float | None:
    """The largest E in [low, high]; None if there is none."""
    # A product may be rounded to the next number of rows.
    most = min(floor(high * target.rows) + 1, target.hits)
    rates = [hits / target.rows for hits in range(most, most - 3, -1)]
    found = [rate for rate in (*rates, min(high, target.drawn)) if max(low, 0.0) <= rate <= high]
    return max(found, default=None)


def may_be_behind(target: Computed, shown: Scores) -> bool:
    """Whether a team with this row could have the target besides: no better than its best."""
    least = 2 * shown.overall - 10.0**-OVERALL_DIGITS - SLACK
    largest = ((largest_rate(target, span.low, span.high), span.most) for span in reversed(target.spans))
    return any(rate is not None and most + rate >= least for rate, most in largest)


def possible_owners(finals: Sequence[Final], limits: Mapping[int, int], digits: int) -> list[frozenset[int]]:
    """For each target the teams whose it could be; its own team is always among them.

    A team counts only if all targets can belong to somebody at once: every row that was seen has one that
    fits, and no team more than its ``limits``, by team. Of every team at least one final is seen, its best;
    each seen row is taken to be known as a final's.
    """
    slots = Slots.of(finals, limits)
    into = arcs(finals, slots, digits)
    return [owners_of(place, finals, slots, into) for place in range(len(finals))]


@dataclass(frozen=True, slots=True)
class Slots:
    """Where targets may go: one place for each seen row, and what is left of each team's limit.

    ``left``: by team, how many targets may stand there; ``used``: how many truly do. ``first``: of each team
    the seen row with the lowest overall, that the others are not better than.
    """

    left: dict[int, int]
    used: dict[int, int]
    first: dict[int, Scores]

    @staticmethod
    def of(finals: Sequence[Final], limits: Mapping[int, int]) -> "Slots":
        seen = {team: sum(each.seen for each in finals if each.team == team) for team in limits}
        used = {team: sum(not each.seen for each in finals if each.team == team) for team in limits}
        best = {
            each.team: each.scores
            for each in sorted(finals, key=lambda one: -one.scores.overall)
            if each.seen
        }
        left = {team: max(limit - seen[team], used[team]) for team, limit in limits.items() if team in best}
        return Slots({team: size for team, size in left.items() if size}, used, best)


def arcs(finals: Sequence[Final], slots: Slots, digits: int) -> list[int]:
    """By node the nodes one step before it, as bits, in the graph of what could be moved.

    Nodes: targets; a place for each seen row; one for each of ``slots.left``; all that is left free. A target
    leads to every place it could have, a place to the targets that truly have it. So a target can have a
    place exactly if the place leads back to it: then all on the way move on by one.
    """
    count, teams = len(finals), list(slots.left)
    free = 2 * count + len(teams)
    into = [0] * (free + 1)
    for place, each in enumerate(finals):
        home = count + place if each.seen else 2 * count + teams.index(each.team)
        into[place] = 1 << home
        if each.seen:
            into[count + place] = having(
                [fits(one.computed, each.scores.rounded(digits), digits) for one in finals]
            ) & ~(1 << place)
    for node, team in enumerate(teams, 2 * count):
        first = slots.first[team].rounded(digits)
        behind = [may_be_behind(one.computed, first) and (one.seen or one.team != team) for one in finals]
        into[node] = having(behind) | (1 << free if slots.used[team] else 0)
        into[free] |= (1 << node) if slots.used[team] < slots.left[team] else 0
    return into


def having(truths: Sequence[bool]) -> int:
    return sum(1 << place for place, true in enumerate(truths) if true)


def owners_of(place: int, finals: Sequence[Final], slots: Slots, into: Sequence[int]) -> frozenset[int]:
    count, back = len(finals), leading_to(place, into)
    nodes = [(count + other, each.team) for other, each in enumerate(finals) if each.seen]
    nodes += [(2 * count + other, team) for other, team in enumerate(slots.left)]
    found = {team for node, team in nodes if back >> node & 1 and into[node] >> place & 1}
    return frozenset(found | {finals[place].team})


def leading_to(node: int, into: Sequence[int]) -> int:
    """The nodes from which there is a way to this one, as bits."""
    found = left = 1 << node
    while left:
        lowest = left & -left
        new = into[lowest.bit_length() - 1] & ~found
        found |= new
        left = (left ^ lowest) | new
    return found
