"""Whose a target could be: the teams with which all that is published is consistent (docs/publication.md).

Who has a target and the original computes every measure that reads no secret, and every attacker's answer.
What depends on the secret is unknown but for its limits. A published row fits a target if some values within
these limits are rounded to what stands in the row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor

from app.scoring.competition import Competition
from app.scoring.counted import counts
from app.scoring.ranking import NOTHING, utility_score
from app.scoring.registry import Track

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
class Computed:
    """What anyone can compute of a target: U lies in [``least``, ``most``], and E is one of k / ``rows`` with
    k in 0..``hits``, or anything in [0, ``drawn``].
    """

    least: float
    most: float
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
    competition: Competition,
    track: Track,
    *,
    values: Mapping[str, float],
    rounding: Mapping[str, float],
    bounds: Mapping[str, Bound],
    utility: float,
) -> Computed:
    """From a verdict's values, their rounding and its attackers' bounds, by name.

    Where the file leaves a scale open, which anybody computes from the original, ``utility`` counts as known.
    """
    weights = {name: each.weight for name, each in competition.measures.items() if each.weight > 0}
    total, least, most = sum(weights.values()), 0.0, 0.0
    for name, weight in weights.items():
        if track.measures[name].reads_secret:
            most += weight / total
        elif name in competition.scales:
            tiny = rounding.get(name, NOTHING)
            least += weight / total * utility_score(values[name], competition.scales[name], tiny=tiny)
    if not weights.keys() <= competition.scales.keys():
        least, most = utility, 0.0
    counting = [bounds[name] for name in bounds if counts(competition, name)]
    return Computed(
        least=least,
        most=least + most,
        rows=max((each.trials for each in counting), default=1),
        hits=max((floor(each.most + SLACK) for each in counting if not each.lots), default=0),
        drawn=max((each.most / max(each.trials, 1) for each in counting if each.lots), default=0.0),
    )


def fits(target: Computed, shown: Scores, digits: int) -> bool:
    """Whether the release behind this row, rounded to ``digits``, could be the target."""
    half, unit = 0.5 * 10.0**-digits, 10.0**-OVERALL_DIGITS
    low_u, high_u = max(target.least, shown.utility - half), min(target.most, shown.utility + half)
    low_e = max(shown.security - half, 2 * shown.overall - unit - high_u)
    high_e = min(shown.security + half, 2 * shown.overall + unit - low_u)
    return low_u <= high_u + SLACK and may_be_rate(target, low_e - SLACK, high_e + SLACK)


def may_be_rate(target: Computed, low: float, high: float) -> bool:
    """Whether E can lie in [low, high]."""
    if max(low, 0.0) <= min(high, target.drawn):
        return True
    fewest, most = max(ceil(low * target.rows), 0), min(floor(high * target.rows), target.hits)
    return fewest <= most


def may_be_behind(target: Computed, shown: Scores) -> bool:
    """Whether a team with this row could have the target besides: no better than its best."""
    largest = (target.most + max(target.hits / max(target.rows, 1), target.drawn)) / 2
    return largest >= shown.overall - 0.5 * 10.0**-OVERALL_DIGITS - SLACK


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
