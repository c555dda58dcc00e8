"""Two attacks on a board, by who has the targets and reads it as a visitor: whose are they, and whose rows.

Written apart from the rule it is held against (app/scoring/publication.py): it recomputes from the tables.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from app import wire
from app.scoring.arrays import FloatArray
from app.scoring.competition_file import parse_competition
from app.scoring.distances import gower_block
from app.scoring.evaluate import evaluate
from app.scoring.excessive.advisor import advise
from app.scoring.publication import Final, Scores, computed
from app.scoring.ranking import NOTHING, utility_score
from app.scoring.rates import Candidates, Noted
from app.scoring.release import PreparedOriginal, prepare
from app.scoring.rules import Rules
from app.scoring.scales import scales
from app.scoring.synthetic import household_columns, household_table
from app.scoring.templates import template
from app.scoring.tracks.microdata import MICRODATA
from app.services.boards.verdicts import numbers

ROWS = 240
Method = Callable[[int], tuple[str, dict[str, Any]]]


def method_of(team: int) -> tuple[str, dict[str, Any]]:
    """The usual methods, each team with a strength of its own."""
    return (
        ("swap_within_classes", {}),
        ("microaggregate", {}),
        ("add_noise", {"strength": 0.03 + team / 200}),
        ("add_noise", {"strength": 0.1 + team / 100}),
        ("k_anonymize", {"k": 2 + team // 6}),
        ("delete_rows", {"share": 0.02 + team / 100}),
    )[team % 6]


@dataclass(frozen=True)
class Contest:
    """The public part of a contest, ``targets`` by their owners; what the service knows of each, and what an
    attacker has recomputed."""

    rules: Rules
    original: PreparedOriginal
    targets: list[Any]
    scores: list[Scores]
    finals: list[Final]
    known: list["Recomputed"]


def near_of(team: int) -> tuple[str, dict[str, Any]]:
    """What a threshold leaves of them."""
    return (
        ("swap_within_classes", {}),
        ("microaggregate", {}),
        ("add_noise", {"strength": 0.03 + team / 200}),
        ("add_noise", {"strength": 0.1 + team / 40}),
    )[team % 4]


def noise_of(team: int) -> tuple[str, dict[str, Any]]:
    """So little that some attacker has every row right."""
    return "add_noise", {"strength": 0.02 + team / 400}


def threshold(rows: int = ROWS) -> float:
    """What organizers of these data are advised."""
    original = prepare(household_table(rows), household_columns())
    groups = MICRODATA.groups(original, MICRODATA.group_columns(parse_competition(template(2015)))[1])
    advice = advise(original, MICRODATA.distances["gower"], groups, draws=0)
    assert advice.threshold is not None
    return advice.threshold


@lru_cache(maxsize=8)
def contest(
    teams: int,
    *,
    secret_free: bool = False,
    rows: int = ROWS,
    method: Method = method_of,
    limit: float | None = None,
) -> Contest:
    """Each team's release by such a method, with a seed of its own, in an order that tells nothing."""
    original = prepare(household_table(rows), household_columns())
    rules = parse_competition(template(2015))
    rules = replace(rules, scales=scales(MICRODATA, original, rules.measures))
    rules = replace(rules, excessive=replace(rules.against_excess, threshold=limit))
    if secret_free:
        off = replace(rules.measures["information_loss"], weight=0.0)
        rules = replace(rules, measures={**rules.measures, "information_loss": off})
    targets, scores, finals = [], [], []
    for team in range(teams):
        name, options = method(team)
        table, source = MICRODATA.anonymize(
            MICRODATA.methods[name], original.table, rules, np.random.default_rng(team), options
        )
        table, source = MICRODATA.shuffle(table, source, rng=np.random.default_rng(team))
        verdict = evaluate(rules, original, table, source)
        assert not verdict.violations
        read = numbers(wire.read(verdict.to_json() | {"reach": verdict.reach}))
        told = computed(
            rules,
            MICRODATA,
            values=read.measures,
            rounding=read.rounding,
            bounds=read.bounds,
            utility=read.utility,
            reach=read.reach,
        )
        scores.append(Scores(verdict.overall, verdict.utility, verdict.security))
        finals.append(Final(team, told, scores[-1]))
        targets.append(table)
    known = [recomputed(rules, original, table) for table in targets]
    return Contest(rules, original, targets, scores, finals, known)


@dataclass(frozen=True)
class Recomputed:
    """``utility``: the part of U that reads no secret; ``by_hits``: if one is right on 0, 1, ... rows,
    what U lies between, for each that can be; ``any_to``: what E can be besides, when U is as ``then``.
    ``fewest``: on how many rows one is right at least.
    """

    utility: float
    by_hits: list[list[tuple[float, float]]]
    any_to: float
    then: tuple[float, float]
    rows: int
    fewest: int


def recomputed(rules: Rules, original: PreparedOriginal, table: Any) -> Recomputed:
    """What the attacker finds of a target, without its secret."""
    anybody = MICRODATA.release_of(original, table, np.arange(len(table)))
    weights = {name: each.weight for name, each in rules.measures.items() if each.weight}
    shares = {name: weight / sum(weights.values()) for name, weight in weights.items()}
    utility = 0.0
    for name in shares.keys() - {"information_loss"}:
        measure = MICRODATA.measures[name]
        tiny = NOTHING * MICRODATA.largest_cell(original) if measure.in_data_units else NOTHING
        value = measure.compute(anybody, **rules.measures[name].parameters)
        utility += utility_score(value, rules.scales[name], tiny=tiny) * shares[name]

    def whole(losses: tuple[float, float]) -> tuple[float, float]:
        scale = rules.scales["information_loss"]
        least, most = (utility_score(max(loss, 0.0), scale) for loss in losses)
        share = shares.get("information_loss", 0.0)
        return utility + share * least, utility + share * most

    lossy = Losses.of(anybody, rules.threshold)
    by_hits: list[list[tuple[float, float]]] = [[whole(lossy.anyhow())]]
    any_to = 0.0
    for answer in answers(rules, anybody.target):
        if isinstance(answer, Candidates):
            chosen = [int(group) for group in answer.chosen if group >= 0]
            chances = [
                min(chosen.count(group), int(answer.sizes[group])) / answer.sizes[group]
                for group in set(chosen)
            ]
            any_to = max(any_to, sum(chances) / len(table))
            continue
        most = len({int(row) for row in answer if row >= 0})
        by_hits += [[] for _ in range(most + 1 - len(by_hits))]
        for hits, losses in enumerate(lossy.by_hits(answer, most)):
            if losses[0] <= losses[1] + 1e-9:
                by_hits[hits].append(whole(losses))
    then = by_hits[0][0]
    guesses = [each for each in answers(rules, anybody.target) if not isinstance(each, Candidates)]
    fewest = max(lossy.fewest(each) for each in guesses)
    by_hits[:fewest] = [[] for _ in range(fewest)]
    return Recomputed(utility, by_hits, any_to, then, len(table), fewest)


def answers(rules: Rules, target: Any) -> Iterator[Any]:
    """Those of all attackers: guesses, and one that draws lots."""
    for name, attacker in MICRODATA.attackers.items():
        settings = rules.attackers.get(name)
        answer = attacker.attack(target, **(settings.parameters if settings else {}))
        yield answer.guess if isinstance(answer, Noted) else answer


@dataclass(frozen=True)
class Losses:
    """What rows cost, (rows, originals), in ways that add up to no more than the loss, if ``signs`` is 1, or
    than minus that.

    ``free``: of each way what is to be added; ``least``: of each row, whosever it is. ``apart``: by Gower's
    distance, of which ``most`` is allowed together.
    """

    signs: list[int]
    costs: list[FloatArray]
    free: list[float]
    least: list[FloatArray]
    cells: int
    apart: FloatArray
    most: float

    @staticmethod
    def of(release: Any, limit: float | None) -> "Losses":
        x, y = release.original.values, release.target.values
        x, y = x / np.ptp(x, axis=0), y / np.ptp(x, axis=0)
        gaps = abs(x[None] - y[:, None])
        levels = [potential(a, b) for a, b in zip(x.T, y.T, strict=True)]
        of_x, of_y = (np.stack(one, axis=1) for one in zip(*levels, strict=True))
        middle = np.median(np.concatenate((x, y)), axis=0)
        ways = [
            (gaps, 0 * x, 0 * y),
            (gaps, of_x, -of_y),
            (-gaps, 0 * x, 0 * y),
            (-gaps, abs(x - middle), abs(y - middle)),
        ]
        every = [one + of_owner[None] + of_row[:, None] for one, of_owner, of_row in ways]
        found = Losses(
            signs=[1, 1, -1, -1],
            costs=[one.sum(axis=2) for one in every],
            free=[-sum(sorted(a.sum(axis=1))[-len(y) :]) - b.sum() for _, a, b in ways],
            least=[one.min(axis=1).sum(axis=1) for one in every],
            cells=y.size,
            apart=gower_block(release.target, 0, len(y)),
            most=np.inf if limit is None else limit * len(x) - (len(x) - len(y)),
        )
        return found if limit is None else found.with_the_rule(gaps.sum(axis=2))

    def with_the_rule(self, loss: FloatArray) -> "Losses":
        """Who pays for distance, of which there is no more than the threshold allows."""
        possible = self.apart <= self.most
        unit = loss.mean() / self.apart[possible].mean()
        prices = [(sign, unit * price) for price in (0, *2.0 ** np.arange(-4, 5)) for sign in (1, -1)]
        ways = [np.where(possible, sign * loss + price * self.apart, np.inf) for sign, price in prices]
        return replace(
            self,
            signs=self.signs + [sign for sign, _ in prices],
            costs=self.costs + ways,
            free=self.free + [-price * self.most for _, price in prices],
            least=self.least + [way.min(axis=1) for way in ways],
        )

    def anyhow(self) -> tuple[float, float]:
        return self.limits([free + least.sum() for free, least in zip(self.free, self.least, strict=True)])

    def limits(self, bounds: list[float]) -> tuple[float, float]:
        low, high = (
            max(bound for bound, each in zip(bounds, self.signs, strict=True) if each == sign)
            for sign in (1, -1)
        )
        return low / self.cells, -high / self.cells

    def fewest(self, guess: Any) -> int:
        """How many rows have to be right: with fewer of them, the nearest others are too far in all."""
        rows = np.flatnonzero(guess >= 0)
        others = self.apart.copy()
        others[rows, guess[rows]] = np.inf
        wrong = others.min(axis=1)
        saved = -np.sort(np.minimum(self.apart[rows, guess[rows]] - wrong[rows], 0.0))
        totals = wrong.sum() - np.concatenate(([0.0], np.cumsum(saved)))
        return int(np.flatnonzero(totals <= self.most + 1e-6)[0])

    def by_hits(self, guess: Any, most: int) -> Iterator[tuple[float, float]]:
        """Between what the loss lies if so many are right, from 0 to ``most``."""
        rows = np.flatnonzero(guess >= 0)
        further = [
            np.sort(c[rows, guess[rows]] - n[rows]) for c, n in zip(self.costs, self.least, strict=True)
        ]
        for hits in range(most + 1):
            yield self.limits(
                [
                    free + least.sum() + each[:hits].sum()
                    for free, least, each in zip(self.free, self.least, further, strict=True)
                ]
            )


def potential(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A function, at x and at y, whose sums differ by what rows are moved at least, value by value."""
    places = np.unique(np.concatenate((x, y)))
    below_x, below_y = ((column[None] <= places[:-1, None]).sum(axis=1) for column in (x, y))
    slopes = 1.0 * (below_x - (len(x) - len(y)) > below_y) - (below_x < below_y)
    heights = np.append(0.0, np.cumsum(slopes * np.diff(places)))
    return np.interp(x, places, heights), np.interp(y, places, heights)


def scored_with_answers(found: Contest, digits: int) -> np.ndarray:
    """(targets, rows): which rows `anoncup score` gives with an attacker's answer as the secret."""
    rows = [each.rounded(digits) for each in found.scores]
    pairs = np.zeros((len(found.targets), len(rows)), dtype=bool)
    for place, table in enumerate(found.targets):
        for answer in answers(found.rules, MICRODATA.target_of(found.original, table)):
            if isinstance(answer, np.ndarray) and sorted(answer) == list(range(found.original.rows)):
                verdict = evaluate(found.rules, found.original, table, answer)
                scores = Scores(verdict.overall, verdict.utility, verdict.security).rounded(digits)
                pairs[place] |= [scores == row for row in rows]
    return pairs


def secret_free_values(found: Contest, table: Any) -> list[float]:
    """What the columns of an exact board told of a target."""
    anybody = MICRODATA.release_of(found.original, table, np.arange(len(table)))
    return [
        each.compute(anybody, **found.rules.measure(name).parameters)
        for name, each in MICRODATA.measures.items()
        if not each.reads_secret
    ]


def could_be(one: Recomputed, row: Scores, digits: int) -> bool:
    """Whether some rate explains the row: a U within its limits is then left."""
    known = [(hits / one.rows, *span) for hits, spans in enumerate(one.by_hits) for span in spans]
    any_from = one.fewest / one.rows
    lots = np.linspace(any_from, one.any_to, 20_001) if one.any_to > any_from else ()
    drawn = [(rate, *one.then) for rate in lots]
    rates, least, most = np.array(known + drawn).T
    edge = 1e-9
    half = 0.5 * 10.0**-digits + edge
    low = np.maximum(2 * row.overall - 1e-4 - rates, np.maximum(least, row.utility - half)) - edge
    high = np.minimum(2 * row.overall + 1e-4 - rates, np.minimum(most, row.utility + half)) + edge
    return bool(((abs(rates - row.security) <= half) & (low <= high)).any())


def fitting(found: Contest, digits: int) -> np.ndarray:
    """(targets, rows): what the attacker cannot exclude, one by one."""
    rows = [each.rounded(digits) for each in found.scores]
    return np.array([[could_be(one, row, digits) for row in rows] for one in found.known])


def in_some_matching(pairs: np.ndarray) -> np.ndarray:
    """Which pairs are left when every target must have a row of its own."""
    left = np.zeros_like(pairs)
    for target, row in zip(*np.nonzero(pairs), strict=True):
        rest = np.delete(np.delete(pairs, target, 0), row, 1)
        left[target, row] = is_matchable(rest)
    return left


def is_matchable(pairs: np.ndarray) -> bool:
    if not len(pairs):
        return True
    return bool((maximum_bipartite_matching(csr_array(pairs.astype(np.int8))) >= 0).all())


def likeliest(found: Contest, digits: int, *, tries: int = 20) -> float:
    """How many targets it names rightly, on average, that gives each the row left for it whose U is nearest
    to its own, moved by what most releases lose besides."""
    known = np.array([each.utility for each in found.known])
    rows = np.array([each.rounded(digits).utility for each in found.scores])
    pairs = in_some_matching(fitting(found, digits))
    cost = np.where(pairs, abs(rows - known[:, None] - np.median(rows) + np.median(known)), 1e3)
    rng, right = np.random.default_rng(0), 0
    for _ in range(tries):  # equal costs are decided by lot
        order = rng.permutation(len(rows))
        right += int((order[linear_sum_assignment(cost[:, order])[1]] == np.arange(len(rows))).sum())
    return right / tries
