"""Two attacks on a board, by who has the targets and reads it as a visitor: whose are they, and whose rows.

Written apart from the rule it is held against (app/scoring/publication.py): it recomputes from the tables.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from app.scoring.arrays import FloatArray
from app.scoring.competition import Competition, MeasureSettings
from app.scoring.competition_file import parse_competition
from app.scoring.evaluate import evaluate
from app.scoring.publication import Final, Scores, computed
from app.scoring.ranking import NOTHING, utility_score
from app.scoring.rates import Candidates, Noted
from app.scoring.release import PreparedOriginal, prepare
from app.scoring.scales import scales
from app.scoring.synthetic import household_columns, household_table
from app.scoring.templates import template
from app.scoring.tracks.microdata import MICRODATA
from app.services.boards.verdicts import numbers

ROWS = 240


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
    """The public part of a contest, ``targets`` by their owners, and what the service knows of each."""

    rules: Competition
    original: PreparedOriginal
    targets: list[Any]
    scores: list[Scores]
    finals: list[Final]


@lru_cache(maxsize=8)
def contest(teams: int, *, secret_free: bool = False) -> Contest:
    """Each team's release by a usual method, with a seed of its own."""
    original = prepare(household_table(ROWS), household_columns())
    rules = parse_competition(template(2015))
    rules = replace(rules, scales=scales(MICRODATA, original, rules.measures))
    if secret_free:
        off = replace(rules.measures["information_loss"], weight=0.0)
        rules = replace(rules, measures={**rules.measures, "information_loss": off})
    targets, scores, finals = [], [], []
    for team in range(teams):
        name, options = method_of(team)
        table, source = MICRODATA.anonymize(
            MICRODATA.methods[name], original.table, rules, np.random.default_rng(team), options
        )
        verdict = evaluate(rules, original, table, source)
        known = numbers(verdict.to_json())
        told = computed(
            rules,
            MICRODATA,
            values=known.measures,
            rounding=known.rounding,
            bounds=known.bounds,
            utility=known.utility,
        )
        scores.append(Scores(verdict.overall, verdict.utility, verdict.security))
        finals.append(Final(team, told, scores[-1]))
        targets.append(table)
    return Contest(rules, original, targets, scores, finals)


@dataclass(frozen=True)
class Recomputed:
    """``utility``: the part that reads no secret; ``share``: what the rest can add; ``rates``: every value
    that E can have; ``any_to``: besides, anything up to it.
    """

    utility: float
    share: float
    rates: FloatArray
    any_to: float


def recomputed(found: Contest, table: Any) -> Recomputed:
    """What the attacker finds of a target, without its secret."""
    anybody = MICRODATA.release_of(found.original, table, np.arange(len(table)))
    weights = {name: each.weight for name, each in found.rules.measures.items() if each.weight}
    utility = share = 0.0
    for name, weight in weights.items():
        measure = MICRODATA.measures[name]
        if measure.reads_secret:
            share += weight / sum(weights.values())
            continue
        tiny = NOTHING * MICRODATA.largest_cell(found.original) if measure.in_data_units else NOTHING
        value = measure.compute(anybody, **found.rules.measures[name].parameters)
        utility += utility_score(value, found.rules.scales[name], tiny=tiny) * weight / sum(weights.values())
    most, any_to = 0, 0.0
    for name, attacker in MICRODATA.attackers.items():
        settings = found.rules.attackers.get(name)
        answer = attacker.attack(anybody.target, **(settings.parameters if settings else {}))
        if isinstance(answer, Candidates):
            chosen = [int(group) for group in answer.chosen if group >= 0]
            chances = [
                min(chosen.count(group), int(answer.sizes[group])) / answer.sizes[group]
                for group in set(chosen)
            ]
            any_to = max(any_to, sum(chances) / len(table))
        else:
            guess = answer.guess if isinstance(answer, Noted) else answer
            assert isinstance(guess, np.ndarray)
            most = max(most, len({int(row) for row in guess if row >= 0}))
    return Recomputed(utility, share, np.arange(most + 1) / len(table), any_to)


def secret_free_values(found: Contest, table: Any) -> list[float]:
    """What the columns of an exact board told of a target."""
    anybody = MICRODATA.release_of(found.original, table, np.arange(len(table)))
    return [
        each.compute(anybody, **found.rules.measures.get(name, MeasureSettings()).parameters)
        for name, each in MICRODATA.measures.items()
        if not each.reads_secret
    ]


def could_be(one: Recomputed, row: Scores, digits: int) -> bool:
    """Whether some rate explains the row: a U within its limits is then left."""
    edge = 1e-9
    half = 0.5 * 10.0**-digits + edge
    for rates in (one.rates, np.linspace(0.0, one.any_to, 20_001)):
        close = rates[abs(rates - row.security) <= half]
        low = np.maximum(2 * row.overall - 1e-4 - close, max(one.utility, row.utility - half)) - edge
        high = (
            np.minimum(2 * row.overall + 1e-4 - close, min(one.utility + one.share, row.utility + half))
            + edge
        )
        if (low <= high).any():
            return True
    return False


def fitting(found: Contest, digits: int) -> np.ndarray:
    """(targets, rows): what the attacker cannot exclude, one by one."""
    known = [recomputed(found, table) for table in found.targets]
    rows = [each.rounded(digits) for each in found.scores]
    return np.array([[could_be(one, row, digits) for row in rows] for one in known])


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
    known = np.array([recomputed(found, table).utility for table in found.targets])
    rows = np.array([each.rounded(digits).utility for each in found.scores])
    pairs = in_some_matching(fitting(found, digits))
    cost = np.where(pairs, abs(rows - known[:, None] - np.median(rows) + np.median(known)), 1e3)
    rng, right = np.random.default_rng(0), 0
    for _ in range(tries):  # equal costs are decided by lot
        order = rng.permutation(len(rows))
        right += int((order[linear_sum_assignment(cost[:, order])[1]] == np.arange(len(rows))).sum())
    return right / tries
