"""Entries of the anonymization board: the finished submissions of each team and the best of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.competition.scoring_versions import Versions
from anoncup.evaluation.ranking import compute_overall_loss
from anoncup.rules.model import Rules
from app.db.models import Competition, Evaluation, State, Submission, Target
from app.services.boards import best_guesses, effective_evaluations, verdicts
from app.services.boards.effective_evaluations import ENDED_STATES, FinishedEvaluation
from app.services.boards.verdicts import VerdictNumbers
from app.services.boards.version_filter import select_comparable
from app.services.contests.contest import Contest
from app.services.contests.visibility import BoardScope


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A finished submission with the risk found by rivals.

    ``numbers`` is None if the submission cannot represent its team on the board.
    """

    evaluation: FinishedEvaluation
    numbers: VerdictNumbers | None
    rival_risk: float | None
    security: float | None
    overall: float | None

    @property
    def utility(self) -> float | None:
        return self.numbers.utility if self.numbers else None

    @property
    def sort_key(self) -> tuple[bool, float, datetime, UUID]:
        """Sort key: lowest overall first, earlier receipt among equals, entries that do not count last."""
        return self.overall is None, self.overall or 0.0, *self.evaluation.receipt_order


def list_entries(session: Session, contest: Contest, scope: BoardScope) -> list[BoardEntry]:
    """Return the finished submissions in this view, without disqualified ones, in order of receipt."""
    rules_in_force = effective_evaluations.load_rules(session, contest, scope.as_of)
    rival_risks = best_guesses.load_rival_risks(session, contest.competition, scope, rules_in_force)
    evaluations = effective_evaluations.list_finished(session, contest.competition, scope.as_of)
    eligible = _filter_eligible(session, contest.competition, scope, evaluations)
    numbers = select_comparable(
        verdicts.load_numbers(session, [evaluation.key for evaluation in eligible]), rules_in_force.scored_by
    )
    return [
        build_entry(
            evaluation, numbers.get(evaluation.evaluation_id), rival_risks.get(evaluation.submission_id)
        )
        for evaluation in evaluations
    ]


def build_proposed_entries(
    session: Session,
    competition: Competition,
    scope: BoardScope,
    rules: Rules,
    evaluations: Iterable[Evaluation],
    *,
    scored_by: Versions,
) -> list[BoardEntry]:
    """Return the entries that the given evaluations would have if they were in effect, in the same order.

    Unfinished evaluations and disqualified submissions are left out.
    """
    rival_risks = best_guesses.load_rival_risks(session, competition, scope, rules, include_rejected=True)
    qualified = [
        evaluation
        for evaluation in evaluations
        if evaluation.state in ENDED_STATES and is_qualified(evaluation.submission)
    ]
    finished_evaluations = [_build_finished_evaluation(evaluation) for evaluation in qualified]
    eligible = _filter_eligible(session, competition, scope, finished_evaluations)
    numbers = select_comparable(
        verdicts.load_numbers(session, [finished.key for finished in eligible]), scored_by
    )
    return [
        build_entry(finished, numbers.get(finished.evaluation_id), rival_risks.get(finished.submission_id))
        for finished in finished_evaluations
    ]


def is_qualified(submission: Submission) -> bool:
    return submission.disqualified_at is None and submission.team.disqualified_at is None


def _build_finished_evaluation(evaluation: Evaluation) -> FinishedEvaluation:
    submission = evaluation.submission
    team = submission.team
    submission_fields = submission.id, submission.received_at, team.id, team.name, team.baseline
    return FinishedEvaluation(*submission_fields, evaluation.state, evaluation.id, evaluation.finished_at)


def _filter_eligible(
    session: Session, competition: Competition, scope: BoardScope, evaluations: Sequence[FinishedEvaluation]
) -> list[FinishedEvaluation]:
    """Return the accepted evaluations; once targets are published, only those of finals and baselines."""
    accepted = [evaluation for evaluation in evaluations if evaluation.state == State.SCORED]
    if not scope.finals_only:
        return accepted
    finals = set(session.scalars(select(Target.submission_id).where(Target.competition_id == competition.id)))
    return [
        evaluation for evaluation in accepted if evaluation.is_baseline or evaluation.submission_id in finals
    ]


def build_entry(
    evaluation: FinishedEvaluation, numbers: VerdictNumbers | None, rival_risk: float | None
) -> BoardEntry:
    if numbers is None:
        return BoardEntry(evaluation, None, None, None, None)
    security = max(numbers.security, rival_risk or 0.0)
    return BoardEntry(
        evaluation, numbers, rival_risk, security, compute_overall_loss(numbers.utility, security)
    )


def select_best_per_team(entries: Iterable[BoardEntry]) -> list[BoardEntry]:
    """Return the best entry of each team, best first.

    An entry that does not count is used only for a team without any that counts.
    """
    best_by_team: dict[UUID, BoardEntry] = {}
    for candidate in entries:
        best_so_far = best_by_team.get(candidate.evaluation.team_id)
        if best_so_far is None or candidate.sort_key < best_so_far.sort_key:
            best_by_team[candidate.evaluation.team_id] = candidate
    return sorted(best_by_team.values(), key=lambda candidate: candidate.sort_key)
