"""Entries of releases on a board: the best of each team, and the scores that rank them."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from anoncup.competition.ranking_formulas import (
    build_strongest,
    compares_teams,
    evaluate_defence,
    list_counting_attackers,
)
from anoncup.errors import CompetitionUnavailable
from anoncup.evaluation.ranking import compute_overall_loss
from anoncup.formulas.evaluation import TeamNumbers
from anoncup.formulas.ranks import sort_for_board
from anoncup.formulas.syntax import FormulaError
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from app.boards.facts import FinishedRelease
from app.boards.verdicts import VerdictNumbers

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
    is_comparison, attackers = compares_teams(rules), list_counting_attackers(rules)
    counted = [
        (entry, entry.numbers)
        for entry in entries
        if entry.numbers is not None and not (is_comparison and entry.release.is_baseline)
    ]
    rounding = {name: limit for _, numbers in counted for name, limit in numbers.rounding.items()}
    names = [
        _collect_numbers(
            rules,
            entry,
            numbers,
            rival_risks=risks.get(entry.release.submission_id, {}),
            penalty=find_penalty(entry.release.team_id, adjustments),
            attackers=attackers,
        )
        for entry, numbers in counted
    ]
    values = find_values(evaluate_defence, rules, names, rounding)
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


def _collect_numbers(
    rules: Rules,
    entry: Entry,
    numbers: VerdictNumbers,
    *,
    rival_risks: RisksByQuestion,
    penalty: float,
    attackers: Mapping[str, Collection[str]],
) -> TeamNumbers:
    """Return the numbers of an entry by their names in formulas.

    ``attackers`` has the questions of those that count.
    """
    track = TRACKS[rules.track]
    names = {
        **{name: numbers.measures.get(name, math.nan) for name in track.measures},
        **{name: numbers.attackers.get(name, math.nan) for name in attackers},
        "utility": numbers.utility,
        "security": entry.security or 0.0,
        "penalty": penalty,
    }

    def list_risks(question: str) -> list[float]:
        """Return the risks that other teams and the attackers that count found with a question."""
        by_team, owner_id = rival_risks.get(question, {}), entry.release.team_id
        return [
            *(risk for team_id, risk in by_team.items() if team_id != owner_id),
            *(numbers.find_risk(name, question) for name, asked in attackers.items() if question in asked),
        ]

    questions = tuple(track.select_questions(rules))
    return TeamNumbers(names, {"strongest": build_strongest(questions, list_risks)})
