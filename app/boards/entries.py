"""Entries of releases on a board: the best of each team, and the scores that rank them."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from anoncup.competition.ranking_formulas import (
    compares_teams,
    evaluate_defence,
)
from anoncup.errors import CompetitionUnavailable
from anoncup.evaluation.ranking import compute_overall_loss
from anoncup.evaluation.verdict_numbers import VerdictNumbers, collect_numbers
from anoncup.formulas.ranks import sort_for_board
from anoncup.formulas.syntax import FormulaError
from anoncup.rules.model import Rules
from app.boards.facts import FinishedRelease

RisksByQuestion = dict[str, dict[UUID, float]]
"""The largest risk that each team's guesses found in a release, by question and team."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A finished release with the risk that guesses of other teams found in it (``rival_risk``).

    Without ``numbers`` it cannot represent its team. ``security`` is the larger of ``rival_risk`` and the
    risk that built-in attackers found. A team is represented by its entry with the lowest ``loss``:
    ``overall``, or the value of a formula that compares no teams. ``score`` is the value of the formula or
    function that ranks, and ``parts`` says how a function arrived at it.
    """

    release: FinishedRelease
    numbers: VerdictNumbers | None = None
    rival_risk: float | None = None
    security: float | None = None
    overall: float | None = None
    loss: float | None = None
    score: float | None = None
    parts: str | None = None

    @property
    def utility(self) -> float | None:
        return self.numbers.utility if self.numbers else None


def build_entry(
    release: FinishedRelease, numbers: VerdictNumbers | None, rival_risk: float | None = None
) -> Entry:
    if numbers is None:
        return Entry(release=release)
    security = max(numbers.security, rival_risk or 0.0)
    overall = compute_overall_loss(numbers.utility, security)
    return Entry(
        release=release,
        numbers=numbers,
        rival_risk=rival_risk,
        security=security,
        overall=overall,
        loss=overall,
    )


def choose_lowest(entries: Iterable[Entry]) -> Entry:
    """Return the entry of a team with the lowest loss, the one received first among equals.

    An entry that does not count is returned only if none counts.
    """
    received = sorted(entries, key=get_receipt)
    return received[sort_for_board([entry.loss for entry in received])[0]]


def get_receipt(entry: Entry) -> tuple[datetime, UUID]:
    return entry.release.received_at, entry.release.submission_id


def to_loss(rules: Rules, score: float | None) -> float | None:
    """Return a score as a loss, which is lowest first."""
    is_descending = not rules.ranking.is_by_overall and rules.ranking.order == "descending"
    return -score if score is not None and is_descending else score


def apply_formula(
    rules: Rules,
    entries: Sequence[Entry],
    *,
    adjustments: Mapping[UUID, float],
    risks: Mapping[UUID, RisksByQuestion],
) -> Sequence[Entry]:
    """Return the entries with their scores, and with their losses if the formula compares no teams.

    Baselines do not take part in comparisons. ``risks`` has what guesses found by submission. ``adjustments``
    has the sum of the penalties and bonuses of each team that got any.
    """
    if rules.ranking.is_by_overall:
        return entries
    is_comparison = compares_teams(rules)
    counted = [
        (entry, entry.numbers)
        for entry in entries
        if entry.numbers is not None and not (is_comparison and entry.release.is_baseline)
    ]
    rounding = {name: limit for _, numbers in counted for name, limit in numbers.rounding.items()}
    team_numbers = [
        collect_numbers(
            rules,
            numbers,
            security=entry.security,
            penalty=find_penalty(entry.release.team_id, adjustments),
            rival_risks=_list_rival_risks(entry.release, risks.get(entry.release.submission_id, {})),
        )
        for entry, numbers in counted
    ]
    values = find_values(evaluate_defence, rules, team_numbers, rounding)
    scores = {entry.release.submission_id: value for (entry, _), value in zip(counted, values, strict=True)}
    scored = [replace(entry, score=scores.get(entry.release.submission_id)) for entry in entries]
    return scored if is_comparison else [replace(entry, loss=to_loss(rules, entry.score)) for entry in scored]


def find_values(evaluate: Callable[..., list[float]], *arguments: object) -> list[float | None]:
    """Return the values of a formula, None where one is missing.

    Raises CompetitionUnavailable, for this competition alone, if it cannot be evaluated.
    """
    try:
        values = evaluate(*arguments)
    except FormulaError as error:
        raise CompetitionUnavailable(error.message) from None
    return [None if math.isnan(value) else value for value in values]


def find_penalty(team_id: UUID, adjustments: Mapping[UUID, float]) -> float:
    """Return the sum of penalties less that of bonuses."""
    return 0.0 - adjustments.get(team_id, 0.0)


def _list_rival_risks(release: FinishedRelease, found: RisksByQuestion) -> dict[str, list[float]]:
    """Return the risks that other teams found with each question."""
    return {
        question: [risk for team_id, risk in by_team.items() if team_id != release.team_id]
        for question, by_team in found.items()
    }
