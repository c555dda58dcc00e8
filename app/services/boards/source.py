"""Rows of the database from which boards are computed, as they were in effect at a moment.

Nothing extra is stored for frozen boards. An evaluation takes effect when it is created or, if it belongs to
a rescore, when that is applied. Replaced evaluations and replaced competition files are kept.
Disqualifications have no history: a disqualified team or submission is absent from every board, and a
reinstated one is back on all of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.orm import Session, aliased

from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.model import Track
from app.db.models import Competition, Evaluation, Rescore, State, Submission, Target, Team
from app.services.boards import verdicts
from app.services.boards.verdicts import EvaluationKey, VerdictNumbers
from app.services.boards.version_filter import select_comparable
from app.services.contests import visibility
from app.services.contests.contest import Contest, parse_stored_rules
from app.services.contests.visibility import UNFROZEN, BoardAccess, BoardScope

_EvaluationQuery = Select[UUID, datetime, UUID, str, bool, State, UUID, datetime | None]
ENDED_STATES = (State.SCORED, State.REJECTED)
_EFFECTIVE_FROM = func.coalesce(Rescore.applied_at, Evaluation.created_at)
"""Moment from which an evaluation is in effect for its submission."""


@dataclass(frozen=True, slots=True)
class FinishedEvaluation:
    """An evaluation whose scoring has ended. ``is_baseline`` marks a submission of a sample method."""

    submission_id: UUID
    received_at: datetime
    team_id: UUID
    team: str
    is_baseline: bool
    state: State
    evaluation_id: UUID
    ended_at: datetime | None

    @property
    def key(self) -> EvaluationKey:
        return self.evaluation_id, self.ended_at

    @property
    def receipt_order(self) -> tuple[datetime, UUID]:
        """Sort key for the order of receipt."""
        return self.received_at, self.submission_id


@dataclass(frozen=True, slots=True)
class BoardTarget:
    """A target that counts on the boards."""

    id: UUID
    name: str
    individual_count: int
    evaluation: FinishedEvaluation


@dataclass(frozen=True, slots=True)
class BoardSource:
    """What the boards of one scope are computed from, except guesses and the numbers of verdicts.

    ``rules`` were in force at the moment of the scope. ``evaluations`` had ended then; they are in order of
    receipt. ``targets`` are sorted by name. They are accepted, and neither they nor their teams are
    disqualified; before the publication there are none.
    """

    scope: BoardScope
    competition_id: UUID
    rules: Rules
    evaluations: Sequence[FinishedEvaluation]
    targets: Sequence[BoardTarget]

    @property
    def track(self) -> Track:
        return TRACKS[self.rules.track]

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(self.track.select_questions(self.rules))

    @property
    def counts_individuals(self) -> bool:
        return self.track.asks_identity(self.rules)

    @property
    def eligible_evaluations(self) -> list[FinishedEvaluation]:
        """The accepted evaluations; once targets are published, only those of targets and baselines."""
        accepted = [evaluation for evaluation in self.evaluations if evaluation.state == State.SCORED]
        if not self.scope.finals_only:
            return accepted
        finals = {target.evaluation.submission_id for target in self.targets}
        return [
            evaluation
            for evaluation in accepted
            if evaluation.is_baseline or evaluation.submission_id in finals
        ]


def read_source(session: Session, access: BoardAccess) -> BoardSource:
    """Read the rows that this viewer's boards are computed from."""
    contest, scope = access.contest, access.scope
    return _build_source(
        session,
        contest.competition,
        scope,
        load_rules(session, contest, scope.as_of),
        list_finished(session, contest.competition, scope.as_of),
    )


def read_proposed_source(
    session: Session, competition: Competition, rules: Rules, evaluations: Iterable[Evaluation]
) -> BoardSource:
    """Read what the organizers' boards would be computed from if the rules and evaluations were in effect.

    Unfinished evaluations and disqualified submissions are left out. The others keep their order.
    """
    finished_evaluations = [
        _build_finished_evaluation(evaluation)
        for evaluation in evaluations
        if evaluation.state in ENDED_STATES and is_qualified(evaluation.submission)
    ]
    scope = visibility.build_organizer_scope(competition)
    return _build_source(session, competition, scope, rules, finished_evaluations)


def is_qualified(submission: Submission) -> bool:
    return submission.disqualified_at is None and submission.team.disqualified_at is None


def _build_finished_evaluation(evaluation: Evaluation) -> FinishedEvaluation:
    submission = evaluation.submission
    team = submission.team
    submission_fields = submission.id, submission.received_at, team.id, team.name, team.baseline
    return FinishedEvaluation(*submission_fields, evaluation.state, evaluation.id, evaluation.finished_at)


def _build_source(
    session: Session,
    competition: Competition,
    scope: BoardScope,
    rules: Rules,
    evaluations: Sequence[FinishedEvaluation],
) -> BoardSource:
    targets = _list_targets(session, competition, evaluations) if scope.finals_only else []
    return BoardSource(scope, competition.id, rules, evaluations, targets)


def _list_targets(
    session: Session, competition: Competition, evaluations: Iterable[FinishedEvaluation]
) -> list[BoardTarget]:
    accepted = {
        evaluation.submission_id: evaluation for evaluation in evaluations if evaluation.state == State.SCORED
    }
    targets = session.execute(
        select(Target.id, Target.name, Target.rows, Target.submission_id)
        .where(Target.competition_id == competition.id)
        .order_by(Target.name)
    )
    return [
        BoardTarget(target_id, name, individual_count, accepted[submission_id])
        for target_id, name, individual_count, submission_id in targets
        if submission_id in accepted
    ]


def load_numbers(
    session: Session, source: BoardSource, evaluations: Iterable[FinishedEvaluation]
) -> dict[UUID, VerdictNumbers]:
    """Return the comparable numbers of these evaluations, by evaluation."""
    numbers = verdicts.load_numbers(session, [evaluation.key for evaluation in evaluations])
    return select_comparable(numbers, source.rules.scored_by)


def list_finished(session: Session, competition: Competition, moment: datetime) -> list[FinishedEvaluation]:
    """Return the evaluations that were in effect and had ended at ``moment``, in order of receipt.

    ``UNFROZEN`` means now. Disqualified teams and submissions are left out.
    """
    rows = session.execute(_select_effective(competition.id, moment))
    latest_by_submission = {fields[0]: FinishedEvaluation(*fields) for fields in rows}
    return [
        evaluation
        for evaluation in latest_by_submission.values()
        if evaluation.state in ENDED_STATES and _has_ended_before(evaluation.ended_at, moment)
    ]


@dataclass(frozen=True, slots=True)
class EffectivePeriod:
    """Period in which an evaluation was in effect: after ``begins_at``, up to and including ``ends_at``."""

    evaluation: FinishedEvaluation
    begins_at: datetime
    ends_at: datetime


def list_effective_periods(session: Session, competition: Competition) -> list[EffectivePeriod]:
    """Return all periods of effect of all evaluations.

    The evaluations whose period contains a moment are those that ``list_finished`` returns for it.
    """
    query = _filter_effective(_select_qualified(competition.id), UNFROZEN).add_columns(_EFFECTIVE_FROM)
    by_submission: dict[UUID, list[tuple[FinishedEvaluation, datetime]]] = {}
    for *fields, effective_from in session.execute(query):
        evaluation = FinishedEvaluation(*fields)
        by_submission.setdefault(evaluation.submission_id, []).append((evaluation, effective_from))
    return [period for evaluations in by_submission.values() for period in _iter_periods(evaluations)]


def _iter_periods(evaluations: Sequence[tuple[FinishedEvaluation, datetime]]) -> Iterator[EffectivePeriod]:
    period_ends = [*(effective_from for _, effective_from in evaluations[1:]), UNFROZEN]
    for (evaluation, effective_from), period_end in zip(evaluations, period_ends, strict=True):
        if (
            evaluation.state in ENDED_STATES
            and evaluation.ended_at is not None
            and max(effective_from, evaluation.ended_at) < period_end
        ):
            yield EffectivePeriod(evaluation, max(effective_from, evaluation.ended_at), period_end)


def list_rule_periods(session: Session, contest: Contest) -> list[tuple[datetime, Rules]]:
    """Return the end of each rule period with its rules; the present rules end at ``UNFROZEN``."""
    replaced_rules = session.execute(
        select(Rescore.applied_at, Rescore.replaced_file, Rescore.replaced_scored_by)
        .where(Rescore.competition_id == contest.id, Rescore.replaced_file.is_not(None))
        .order_by(Rescore.applied_at)
    )
    past_periods = [
        (applied_at, replace(parse_stored_rules(competition_file), scored_by=scored_by))
        for applied_at, competition_file, scored_by in replaced_rules
    ]
    return [*past_periods, (UNFROZEN, contest.rules)]


def _has_ended_before(ended_at: datetime | None, moment: datetime) -> bool:
    return moment == UNFROZEN or (ended_at is not None and ended_at < moment)


def _select_effective(competition_id: UUID, moment: datetime) -> _EvaluationQuery:
    """Select the evaluations that had taken effect before ``moment``; the last of each submission applies."""
    query = _select_qualified(competition_id)
    return query.where(Evaluation.current) if moment == UNFROZEN else _filter_effective(query, moment)


def _select_qualified(competition_id: UUID) -> _EvaluationQuery:
    """Select all evaluations of submissions that are not disqualified, in order of receipt."""
    return (
        select(
            Submission.id,
            Submission.received_at,
            Team.id,
            Team.name,
            Team.baseline,
            Evaluation.state,
            Evaluation.id,
            Evaluation.finished_at,
        )
        .select_from(Submission)
        .join(Submission.team)
        .join(Evaluation, Evaluation.submission_id == Submission.id)
        .where(Submission.competition_id == competition_id)
        .where(Submission.disqualified_at.is_(None), Team.disqualified_at.is_(None))
        .order_by(Submission.received_at, Submission.id)
    )


def _filter_effective(query: _EvaluationQuery, moment: datetime) -> _EvaluationQuery:
    """Limit the query to evaluations that had taken effect before ``moment``, and order it by that time.

    Cancelled submissions are excluded: they were never visible, though a rescore may have scored them.
    """
    current = aliased(Evaluation)
    return (
        query.outerjoin(Rescore, Rescore.id == Evaluation.rescore_id)
        .join(current, and_(current.submission_id == Submission.id, current.current))
        .where(current.state != State.CANCELLED, moment > _EFFECTIVE_FROM)
        .where(or_(Evaluation.rescore_id.is_(None), Rescore.applied_at.is_not(None)))
        .order_by(_EFFECTIVE_FROM)
    )


def load_rules(session: Session, contest: Contest, moment: datetime) -> Rules:
    """Return the competition's rules at the moment.

    These are the rules that the next rescore replaced or, if there was none, the present ones. Ordinary
    revisions change nothing that is measured.
    """
    if moment == UNFROZEN:
        return contest.rules
    return next(
        period_rules
        for period_end, period_rules in list_rule_periods(session, contest)
        if period_end >= moment
    )
