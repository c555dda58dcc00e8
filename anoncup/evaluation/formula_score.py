"""The values of the ranking's formula for releases that nobody else has attacked yet."""

import math
from collections.abc import Sequence

import numpy as np

from anoncup.competition.ranking_formulas import (
    compares_teams,
    find_defence_formula,
    list_counting_attackers,
)
from anoncup.evaluation.evaluate import Verdict
from anoncup.formulas.board_numbers import Attacks, BoardNumbers, build_defence_functions
from anoncup.formulas.evaluation import evaluate_formula
from anoncup.formulas.values import Values
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.outcomes import Rate


def compute_formula_score(rules: Rules, verdict: Verdict) -> float | None:
    """Return the score of a release on a board without guesses of other teams and without adjustments.

    None if the formula compares releases, so that the score depends on those of other teams, or if it has no
    finite value.
    """
    return None if compares_teams(rules) else compute_formula_scores(rules, [verdict])[0]


def compute_formula_scores(rules: Rules, verdicts: Sequence[Verdict]) -> list[float | None]:
    """Return the scores of releases on a board that has no others, without guesses and adjustments.

    None for a score without a finite value.
    """
    names = _collect_names(rules, verdicts)
    functions = build_defence_functions(_collect_attacks(rules, verdicts))
    if rules.ranking.utility is not None:
        utility = evaluate_formula(rules.ranking.utility, BoardNumbers(len(verdicts), names, functions))
        names["utility"] = Values(utility.numbers)
    board = BoardNumbers(len(verdicts), names, functions)
    scores = evaluate_formula(find_defence_formula(rules), board).numbers.tolist()
    return [score if math.isfinite(score) else None for score in scores]


def _collect_names(rules: Rules, verdicts: Sequence[Verdict]) -> dict[str, Values]:
    attackers = {
        name: [verdict.attackers[name].rate.risk for verdict in verdicts]
        for name in list_counting_attackers(rules)
    }
    numbers = {
        "utility": [verdict.utility for verdict in verdicts],
        "security": [verdict.security for verdict in verdicts],
        "adjustment": [0.0 for _ in verdicts],
        **attackers,
    }
    return {
        **{
            name: Values(
                np.array([verdict.measures[name].value for verdict in verdicts]), rounding=result.rounding
            )
            for name, result in verdicts[0].measures.items()
        },
        **{name: Values(np.array(values)) for name, values in numbers.items()},
    }


def _collect_attacks(rules: Rules, verdicts: Sequence[Verdict]) -> Attacks:
    """Return the risks of the built-in attackers, and one team that has found nothing."""
    by_attackers = {
        name: {
            question: np.array([_find_risk(verdict.attackers[name].rate, question) for verdict in verdicts])
            for question in questions
        }
        for name, questions in list_counting_attackers(rules).items()
    }
    nothing = np.zeros((len(verdicts), 1))
    by_teams = dict.fromkeys(TRACKS[rules.track].select_questions(rules), nothing)
    return Attacks(by_teams, np.full(len(verdicts), -1), by_attackers)


def _find_risk(rate: Rate, question: str) -> float:
    return rate.risks.get(question, math.nan) if rate.risks else rate.risk
