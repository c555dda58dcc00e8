"""The values of ranking formulas from the rows of a board."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from app.services.boards.verdicts import VerdictNumbers

RisksByQuestion = Mapping[str, Mapping[UUID, float]]
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


def compute_defence(
    rules: Rules, releases: Sequence[ReleaseNumbers], inputs: FormulaInputs
) -> list[float | None]:
    """Return the value of the formula that ranks releases for each of them, or None where it is missing.

    Raises CompetitionUnavailable, for this competition alone, if the formula cannot be evaluated.
    """
    numbers, rounding = _collect_numbers(rules, releases, inputs)
    try:
        values = evaluate_defence(rules, numbers, rounding)
    except FormulaError as error:
        raise CompetitionUnavailable(error.message) from None
    return [None if math.isnan(value) else value for value in values]


def compute_attack(
    formula: Formula,
    team_ids: Sequence[UUID],
    owners: Mapping[UUID, UUID],
    identified: Mapping[UUID, int | None],
    inputs: FormulaInputs,
) -> dict[UUID, float | None]:
    """Return the value of the formula that ranks attacks for each team.

    ``team_ids`` are the teams whose guesses count, ``owners`` has the team of each target's submission,
    and ``identified`` the number of individuals that each team re-identified.
    """
    teams = [
        TeamNumbers(
            {
                "penalty": _find_penalty(team_id, inputs),
                "mean_per_target": _average_risk(team_id, owners, inputs),
                "identified": float(identified.get(team_id) or 0),
            }
        )
        for team_id in team_ids
    ]
    try:
        values = evaluate_formula(formula, teams)
    except FormulaError as error:
        raise CompetitionUnavailable(error.message) from None
    return {
        team_id: None if math.isnan(value) else value for team_id, value in zip(team_ids, values, strict=True)
    }


def _average_risk(team_id: UUID, owners: Mapping[UUID, UUID], inputs: FormulaInputs) -> float:
    """Return the mean of the largest risks that a team found in the targets of the others, 0 where none."""
    risks = [
        max(
            (by_team.get(team_id, 0.0) for by_team in inputs.risks.get(submission_id, {}).values()),
            default=0.0,
        )
        for submission_id, owner in owners.items()
        if owner != team_id
    ]
    return math.fsum(risks) / len(risks) if risks else math.nan


def _collect_numbers(
    rules: Rules, releases: Sequence[ReleaseNumbers], inputs: FormulaInputs
) -> tuple[list[TeamNumbers], Mapping[str, float]]:
    """Return the numbers of the releases, and the largest values of measures that are rounding noise."""
    track = TRACKS[rules.track]
    questions, attackers = tuple(track.select_questions(rules)), list_counting_attackers(rules)

    def build_numbers(release: ReleaseNumbers) -> TeamNumbers:
        numbers = release.numbers

        def find_risks(question: str) -> list[float]:
            by_team = inputs.risks.get(release.submission_id, {}).get(question, {})
            return [
                *(by_team[team_id] for team_id in by_team.keys() - {release.team_id}),
                *(
                    _find_attacker_risk(numbers, name, question)
                    for name in attackers
                    if question in attackers[name]
                ),
            ]

        names = {
            **{name: numbers.measures.get(name, math.nan) for name in track.measures},
            **{name: numbers.attackers.get(name, math.nan) for name in attackers},
            "utility": numbers.utility,
            "security": release.security,
            "penalty": _find_penalty(release.team_id, inputs),
        }
        return TeamNumbers(names, {"strongest": build_strongest(questions, find_risks)})

    rounding = {name: limit for release in releases for name, limit in release.numbers.rounding.items()}
    return [build_numbers(release) for release in releases], rounding


def _find_attacker_risk(numbers: VerdictNumbers, attacker: str, question: str) -> float:
    by_question = numbers.risks.get(attacker)
    return (
        numbers.attackers.get(attacker, math.nan)
        if by_question is None
        else by_question.get(question, math.nan)
    )


def _find_penalty(team_id: UUID, inputs: FormulaInputs) -> float:
    """Return the sum of penalties less that of bonuses."""
    return 0.0 - inputs.adjustments.get(team_id, 0.0)
