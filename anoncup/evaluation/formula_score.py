"""The value of the ranking's formula for a release that nobody else has attacked yet."""

import math

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
    if compares_teams(rules):
        return None
    names = _collect_names(rules, verdict)
    functions = build_defence_functions(_collect_attacks(rules, verdict))
    if rules.ranking.utility is not None:
        utility = evaluate_formula(rules.ranking.utility, BoardNumbers(1, names, functions))
        names["utility"] = Values(utility.numbers)
    value = float(evaluate_formula(find_defence_formula(rules), BoardNumbers(1, names, functions)).numbers[0])
    return value if math.isfinite(value) else None


def _collect_names(rules: Rules, verdict: Verdict) -> dict[str, Values]:
    attackers = {name: verdict.attackers[name].rate.risk for name in list_counting_attackers(rules)}
    numbers = {"utility": verdict.utility, "security": verdict.security, "adjustment": 0.0, **attackers}
    return {
        **{
            name: Values(np.array([result.value]), rounding=result.rounding)
            for name, result in verdict.measures.items()
        },
        **{name: Values(np.array([number])) for name, number in numbers.items()},
    }


def _collect_attacks(rules: Rules, verdict: Verdict) -> Attacks:
    """Return the risks of the built-in attackers, and one team that has found nothing."""
    by_attackers = {
        name: {
            question: np.array([_find_risk(verdict.attackers[name].rate, question)]) for question in questions
        }
        for name, questions in list_counting_attackers(rules).items()
    }
    by_teams = {question: np.zeros((1, 1)) for question in TRACKS[rules.track].select_questions(rules)}
    return Attacks(by_teams, np.array([-1]), by_attackers)


def _find_risk(rate: Rate, question: str) -> float:
    return rate.risks.get(question, math.nan) if rate.risks else rate.risk
