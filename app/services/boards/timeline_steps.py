"""Replay of the anonymization board: applies board events one after the other."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.evaluation.ranking import compute_rank_sums, compute_ranks
from anoncup.rules.model import Rules
from app.db.models import State, Target
from app.services.boards import anonymization, best_guesses, effective_evaluations, entries, verdicts
from app.services.boards.best_guesses import RiskCombiner
from app.services.boards.board_events import (
    BoardEvent,
    EffectiveEnd,
    EffectiveStart,
    Reidentification,
    RuleChange,
    TargetPublication,
)
from app.services.boards.effective_evaluations import FinishedEvaluation
from app.services.boards.entries import BoardEntry
from app.services.boards.verdicts import VerdictNumbers
from app.services.boards.version_filter import compute_eligible_numbers
from app.services.contests.visibility import BoardAccess

_RankKey = tuple[bool, float, datetime, UUID, UUID]
"""Sort key of a team's best entry, followed by the team."""


@dataclass
class BoardReplay:
    """State of the board during a replay.

    ``evaluations_by_team`` holds the evaluations in effect, by team and submission. ``risks_by_submission``
    holds the highest risk found in each submission, by question and team. ``ranking`` lists the best entries
    that have a rank, sorted by ``BoardEntry.sort_key``.
    """

    rules: Rules
    numbers_by_evaluation: Mapping[UUID, VerdictNumbers]
    final_ids: frozenset[UUID]
    finals_only: bool = False
    evaluations_by_team: dict[UUID, dict[UUID, FinishedEvaluation]] = field(default_factory=dict)
    risks_by_submission: dict[UUID, dict[str, dict[UUID, float]]] = field(default_factory=dict)
    best_entries: dict[UUID, BoardEntry] = field(default_factory=dict)
    ranking: list[_RankKey] = field(default_factory=list)
    team_by_submission: dict[UUID, UUID] = field(default_factory=dict)
    rank_sum_ranks: dict[UUID, int] | None = None
    effective_numbers: dict[UUID, VerdictNumbers | None] = field(default_factory=dict)
    combine_risks: RiskCombiner = field(init=False)

    def __post_init__(self) -> None:
        self.combine_risks = best_guesses.make_risk_combiner(self.rules)

    @classmethod
    def create(cls, session: Session, access: BoardAccess) -> "BoardReplay":
        """Return the board before the first event."""
        competition = access.contest.competition
        (_, rules), *_ = effective_evaluations.list_rule_periods(session, access.contest)
        evaluation_keys = [
            period.evaluation.key
            for period in effective_evaluations.list_effective_periods(session, competition)
        ]
        finals = session.scalars(select(Target.submission_id).where(Target.competition_id == competition.id))
        return cls(rules, verdicts.load_numbers(session, evaluation_keys), frozenset(finals))

    def apply(self, events: Sequence[BoardEvent]) -> set[UUID]:
        """Apply simultaneous events and return the teams whose best entry changed."""
        affected_teams = {team_id for event in events for team_id in self.apply_change(event.change)}
        return {team_id for team_id in affected_teams if self.update_best(team_id)}

    def apply_change(self, change: object) -> Iterable[UUID]:
        """Apply one change and return the teams that it may affect."""
        match change:
            case EffectiveStart(evaluation):
                self.evaluations_by_team.setdefault(evaluation.team_id, {})[evaluation.submission_id] = (
                    evaluation
                )
                self.team_by_submission[evaluation.submission_id] = evaluation.team_id
                return [evaluation.team_id]
            case EffectiveEnd(evaluation):
                team_evaluations = self.evaluations_by_team[evaluation.team_id]
                if team_evaluations.get(evaluation.submission_id) is evaluation:
                    del team_evaluations[evaluation.submission_id]
                return [evaluation.team_id]
            case Reidentification(submission_id, question, team_id, risk):
                team_risks = self.risks_by_submission.setdefault(submission_id, {}).setdefault(question, {})
                team_risks[team_id] = max(risk, team_risks.get(team_id, 0.0))
                return (
                    [self.team_by_submission[submission_id]]
                    if submission_id in self.team_by_submission
                    else []
                )
            case RuleChange(rules):
                self.rules, self.combine_risks = rules, best_guesses.make_risk_combiner(rules)
                self.effective_numbers.clear()
            case TargetPublication():
                self.finals_only = True
        return list(self.evaluations_by_team)

    def update_best(self, team_id: UUID) -> bool:
        """Update the team's best entry and return whether it changed."""
        previous = self.best_entries.get(team_id)
        best = min(
            map(self.build_entry, self.evaluations_by_team[team_id].values()),
            key=lambda candidate: candidate.sort_key,
            default=None,
        )
        if best == previous:
            return False
        self.rank_sum_ranks = None
        if previous is not None:
            del self.best_entries[team_id]
            if _is_ranked(previous):
                del self.ranking[bisect_left(self.ranking, (*previous.sort_key, team_id))]
        if best is not None:
            self.best_entries[team_id] = best
            if _is_ranked(best):
                insort(self.ranking, (*best.sort_key, team_id))
        return True

    def build_entry(self, evaluation: FinishedEvaluation) -> BoardEntry:
        is_eligible = evaluation.state == State.SCORED
        if self.finals_only:
            is_eligible = is_eligible and (
                evaluation.is_baseline or evaluation.submission_id in self.final_ids
            )
        numbers = self.find_effective_numbers(evaluation.evaluation_id) if is_eligible else None
        return entries.build_entry(evaluation, numbers, self.find_rival_risk(evaluation.submission_id))

    def find_effective_numbers(self, evaluation_id: UUID) -> VerdictNumbers | None:
        """Return the evaluation's numbers under the present rules.

        Results are cached because this is called again whenever the risk found in the submission changes.
        """
        if evaluation_id not in self.effective_numbers:
            numbers = self.numbers_by_evaluation.get(evaluation_id)
            scored_by = self.rules.scored_by
            self.effective_numbers[evaluation_id] = (
                compute_eligible_numbers(numbers, scored_by) if numbers is not None and scored_by else numbers
            )
        return self.effective_numbers[evaluation_id]

    def find_rival_risk(self, submission_id: UUID) -> float | None:
        """Return the risk from all guesses on a submission, combined as the present rules ask."""
        if submission_id not in self.risks_by_submission:
            return None
        risks_by_question = self.risks_by_submission[submission_id].items()
        return self.combine_risks(
            {name: sorted(risk_by_team.values(), reverse=True) for name, risk_by_team in risks_by_question}
        )

    def find_best(self, team_id: UUID) -> BoardEntry | None:
        return self.best_entries.get(team_id)

    @property
    def ranked_count(self) -> int:
        return len(self.ranking)

    def find_rank(self, team_id: UUID) -> int | None:
        best = self.best_entries.get(team_id)
        if best is None or not _is_ranked(best):
            return None
        if self.rules.ranking.rule == "rank_sum":
            return self.rank_by_sum()[team_id]
        return bisect_left(self.ranking, best.sort_key[:2]) + 1

    def list_leaders(self, leader_count: int) -> list[tuple[UUID, int]]:
        """Return the leading teams with their ranks, in the order of the board."""
        if self.rules.ranking.rule == "rank_sum":
            return list(self.rank_by_sum().items())[:leader_count]
        team_ids = [team_id for *_, team_id in self.ranking[:leader_count]]
        return [(team_id, self.find_rank(team_id) or 0) for team_id in team_ids]

    def rank_by_sum(self) -> dict[UUID, int]:
        """Return rank by team under the rank-sum rule, in the order of the board.

        Every best entry can affect all ranks, so any change of one discards the cached result.
        """
        if self.rank_sum_ranks is None:
            ranked_entries = sorted(
                filter(_is_ranked, self.best_entries.values()), key=lambda item: item.evaluation.receipt_order
            )
            ranked_values = [anonymization.collect_ranked_values(self.rules, item) for item in ranked_entries]
            row_ranks = compute_ranks(
                compute_rank_sums(ranked_values, rounding=anonymization.collect_rounding(ranked_entries))
            )
            team_ranks = zip((item.evaluation.team_id for item in ranked_entries), row_ranks, strict=True)
            self.rank_sum_ranks = dict(
                sorted(((team_id, rank or 0) for team_id, rank in team_ranks), key=lambda item: item[1])
            )
        return self.rank_sum_ranks


def _is_ranked(entry: BoardEntry) -> bool:
    return entry.overall is not None and not entry.evaluation.is_baseline
