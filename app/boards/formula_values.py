"""The values of ranking formulas from the rows of a board."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple
from uuid import UUID

from anoncup.competition.ranking_formulas import (
    build_strongest,
    evaluate_defence,
    list_counting_attackers,
)
from anoncup.errors import CompetitionUnavailable
from anoncup.formulas.errors import FormulaError
from anoncup.formulas.evaluation import TeamNumbers, evaluate_formula
from anoncup.formulas.syntax import Formula
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from app.boards.verdicts import VerdictNumbers

RisksByQuestion = dict[str, dict[UUID, float]]
"""The largest risk that each team's guesses found in a release, by question and team."""


@dataclass(frozen=True, slots=True)
class FormulaInputs:
    """What formulas use besides the verdicts.

    ``risks`` has what guesses found by submission. ``adjustments`` has the sum of the penalties and bonuses
    of each team that got any.
    """

    risks: Mapping[UUID, RisksByQuestion] = field(default_factory=dict)
    adjustments: Mapping[UUID, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReleaseNumbers:
    """The numbers of a release that formulas use."""

    submission_id: UUID
    team_id: UUID
    numbers: VerdictNumbers
    security: float


class AttackNumbers(NamedTuple):
    """The numbers of a team's attacks that formulas use.

    ``risks`` has the largest that it found in each target of the others, 0 in those that it did not attack.
    """

    team_id: UUID
    identified: int | None
    risks: Sequence[float]


def compute_defence(
    rules: Rules, releases: Sequence[ReleaseNumbers], inputs: FormulaInputs
) -> list[float | None]:
    """Return the value of the formula that ranks releases for each of them, like ``evaluate_teams``."""
    attackers = list_counting_attackers(rules)
    numbers = [_build_release_numbers(rules, release, inputs, attackers) for release in releases]
    rounding = {name: limit for release in releases for name, limit in release.numbers.rounding.items()}
    try:
        values = evaluate_defence(rules, numbers, rounding)
    except FormulaError as error:
        raise CompetitionUnavailable(error.message) from None
    return [None if math.isnan(value) else value for value in values]


def compute_attack(
    formula: Formula, teams: Sequence[AttackNumbers], adjustments: Mapping[UUID, float]
) -> list[float | None]:
    """Return the value of the formula that ranks attacks for each team, or None where it is missing."""
    numbers = [
        TeamNumbers(
            {
                "penalty": _find_penalty(team.team_id, adjustments),
                "mean_per_target": math.fsum(team.risks) / len(team.risks) if team.risks else math.nan,
                "identified": float(team.identified or 0),
            }
        )
        for team in teams
    ]
    return evaluate_teams(formula, numbers)


def evaluate_teams(formula: Formula, teams: Sequence[TeamNumbers]) -> list[float | None]:
    """Return the value of a formula for each team, or None where it is missing.

    Raises CompetitionUnavailable, for this competition alone, if it cannot be evaluated.
    """
    try:
        values = evaluate_formula(formula, teams)
    except FormulaError as error:
        raise CompetitionUnavailable(error.message) from None
    return [None if math.isnan(value) else value for value in values]


def _build_release_numbers(
    rules: Rules, release: ReleaseNumbers, inputs: FormulaInputs, attackers: Mapping[str, Collection[str]]
) -> TeamNumbers:
    """Return the numbers of a release by their names in formulas.

    ``attackers`` has the questions of those that count.
    """
    track, numbers = TRACKS[rules.track], release.numbers
    names = {
        **{name: numbers.measures.get(name, math.nan) for name in track.measures},
        **{name: numbers.attackers.get(name, math.nan) for name in attackers},
        "utility": numbers.utility,
        "security": release.security,
        "penalty": _find_penalty(release.team_id, inputs.adjustments),
    }
    find_risks = partial(_list_risks, release, inputs, attackers)
    questions = tuple(track.select_questions(rules))
    return TeamNumbers(names, {"strongest": build_strongest(questions, find_risks)})


def _list_risks(
    release: ReleaseNumbers, inputs: FormulaInputs, attackers: Mapping[str, Collection[str]], question: str
) -> list[float]:
    """Return the risks that other teams and the attackers that count found with a question."""
    by_team = inputs.risks.get(release.submission_id, {}).get(question, {})
    return [
        *(risk for team_id, risk in by_team.items() if team_id != release.team_id),
        *(
            _find_attacker_risk(release.numbers, name, question)
            for name, questions in attackers.items()
            if question in questions
        ),
    ]


def _find_attacker_risk(numbers: VerdictNumbers, attacker: str, question: str) -> float:
    by_question = numbers.risks.get(attacker)
    if by_question is None:
        return numbers.attackers.get(attacker, math.nan)
    return by_question.get(question, math.nan)


def _find_penalty(team_id: UUID, adjustments: Mapping[UUID, float]) -> float:
    """Return the sum of penalties less that of bonuses."""
    return 0.0 - adjustments.get(team_id, 0.0)
