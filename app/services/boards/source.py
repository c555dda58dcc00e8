"""Rows of the database from which boards are computed, as they were in effect at a moment.

Nothing extra is stored for frozen boards. An evaluation takes effect when it is created or, if it belongs to
a rescore, when that is applied. Replaced evaluations, results of guesses and competition files are kept.
Disqualifications have no history: a disqualified team or submission is absent from every board, and a
reinstated one is back on all of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.orm import Session, aliased

from anoncup.competition.scoring_versions import Versions
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.model import AnyTrack
from app.db.models import Evaluation, Rescore, Round, State, Submission, Target, Team
from app.db.stored_files import read_rules
from app.services.boards import verdicts
from app.services.boards.verdicts import EvaluationKey, VerdictNumbers
from app.services.boards.version_filter import select_comparable
from app.services.contests import visibility
from app.services.contests.contest import Contest
from app.services.contests.visibility import UNFROZEN, BoardAccess, BoardScope

_EvaluationQuery = Select[UUID, datetime, UUID, str, bool, State, UUID, datetime | None]
ENDED_STATES = (State.SCORED, State.REJECTED)
_EFFECTIVE_FROM = func.coalesce(Rescore.applied_at, Evaluation.created_at)
"""Moment from which an evaluation is in effect for its submission."""
_CurrentEvaluation = aliased(Evaluation)
"""Shared by all queries, because SQLAlchemy takes long to make an alias."""


class FinishedEvaluation(NamedTuple):
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
    """The input of all boards of one scope, except guesses and the numbers of verdicts.

    ``rules`` were in force at the moment of the scope. ``evaluations`` had ended then; they are in order of
    receipt. ``targets`` are sorted by name. They are accepted, and neither they nor their teams are
    disqualified; before the publication there are none. With ``proposed_by``, guesses have the results of
    this rescore.
    """

    scope: BoardScope
    round_id: UUID
    rules: Rules
    evaluations: Sequence[FinishedEvaluation]
    targets: Sequence[BoardTarget]
    proposed_by: UUID | None = None

    @property
    def track(self) -> AnyTrack:
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


class EffectivePeriod(NamedTuple):
    """Period in which an evaluation was in effect: after ``begins_at``, up to and including ``ends_at``."""

    evaluation: FinishedEvaluation
    begins_at: datetime
    ends_at: datetime


class ReplacedRules(NamedTuple):
    """A competition file that a rescore replaced, with the scoring versions that applied to it."""

    replaced_at: datetime
    file: str
    scored_by: Versions

    def parse(self) -> Rules:
        return replace(read_rules(self.file), scored_by=self.scored_by)


class TargetRow(NamedTuple):
    id: UUID
    name: str
    individual_count: int
    submission_id: UUID


@dataclass(frozen=True, slots=True)
class BoardRows:
    """The rows from which all boards of a contest are computed, the present ones and those of any moment.

    ``periods`` are in order of receipt of their submissions, and then of time; disqualified teams and
    submissions are left out. ``replaced_rules`` are in order of time, and ``targets`` are sorted by name.
    """

    contest: Contest
    replaced_rules: Sequence[ReplacedRules]
    periods: Sequence[EffectivePeriod]
    targets: Sequence[TargetRow]

    def build_source(self, scope: BoardScope) -> BoardSource:
        """Return the part that was in effect at the moment of the scope."""
        moment = scope.as_of
        evaluations = [
            period.evaluation for period in self.periods if period.begins_at < moment <= period.ends_at
        ]
        rules = _find_rules(self.contest, self.replaced_rules, moment)
        return _build_source(self.contest.round.id, scope, rules, evaluations, self.targets)

    def list_rule_periods(self) -> list[tuple[datetime, Rules]]:
        """Return the end of each rule period with its rules; the present rules end at ``UNFROZEN``."""
        past_periods = [(replaced.replaced_at, replaced.parse()) for replaced in self.replaced_rules]
        return [*past_periods, (UNFROZEN, self.contest.rules)]


def read_rows(session: Session, contest: Contest, *, targets_only: bool = False) -> BoardRows:
    return BoardRows(
        contest,
        _list_replaced_rules(session, contest),
        list_effective_periods(session, contest.round.id, targets_only=targets_only),
        _list_targets(session, contest.round.id),
    )


def read_source(
    session: Session, access: BoardAccess, rows: BoardRows | None = None, *, targets_only: bool = False
) -> BoardSource:
    """Return the input of this viewer's boards, from ``rows`` if they have been read already.

    ``targets_only`` limits the evaluations that are read to those of targets.
    """
    rows = rows or read_rows(session, access.contest, targets_only=targets_only)
    return rows.build_source(access.scope)


def read_proposed_source(
    session: Session,
    round_: Round,
    rules: Rules,
    evaluations: Iterable[Evaluation],
    *,
    proposed_by: UUID | None = None,
) -> BoardSource:
    """Return the input that the organizers' boards would have with the proposed rules and evaluations.

    With ``proposed_by``, guesses have the results of this rescore. Unfinished evaluations and disqualified
    submissions are left out. The others keep their order.
    """
    finished_evaluations = [
        _build_finished_evaluation(evaluation)
        for evaluation in evaluations
        if evaluation.state in ENDED_STATES and is_qualified(evaluation.submission)
    ]
    scope = visibility.build_organizer_scope(round_)
    targets = _list_targets(session, round_.id)
    board_source = _build_source(round_.id, scope, rules, finished_evaluations, targets)
    return replace(board_source, proposed_by=proposed_by)


def is_qualified(submission: Submission) -> bool:
    return submission.disqualified_at is None and submission.team.disqualified_at is None


def _build_finished_evaluation(evaluation: Evaluation) -> FinishedEvaluation:
    submission = evaluation.submission
    team = submission.team
    submission_fields = submission.id, submission.received_at, team.id, team.name, team.baseline
    return FinishedEvaluation(*submission_fields, evaluation.state, evaluation.id, evaluation.finished_at)


def _build_source(
    round_id: UUID,
    scope: BoardScope,
    rules: Rules,
    evaluations: Sequence[FinishedEvaluation],
    target_rows: Iterable[TargetRow],
) -> BoardSource:
    accepted = {
        evaluation.submission_id: evaluation for evaluation in evaluations if evaluation.state == State.SCORED
    }
    targets = [
        BoardTarget(target.id, target.name, target.individual_count, accepted[target.submission_id])
        for target in target_rows
        if scope.finals_only and target.submission_id in accepted
    ]
    return BoardSource(scope, round_id, rules, evaluations, targets)


def _list_targets(session: Session, round_id: UUID) -> list[TargetRow]:
    """Return the targets of a round, sorted by name."""
    columns = Target.id, Target.name, Target.rows, Target.submission_id
    query = select(*columns).where(Target.round_id == round_id).order_by(Target.name)
    return [TargetRow(*row) for row in session.execute(query)]


def load_numbers(
    session: Session, source: BoardSource, evaluations: Iterable[FinishedEvaluation]
) -> dict[UUID, VerdictNumbers]:
    """Return the comparable numbers of these evaluations, by evaluation."""
    numbers = verdicts.load_numbers(session, [evaluation.key for evaluation in evaluations])
    return select_comparable(numbers, source.rules.scored_by)


def list_effective_periods(
    session: Session, round_id: UUID, *, targets_only: bool = False
) -> list[EffectivePeriod]:
    """Return the periods of effect of all evaluations, except those of disqualified submissions and teams."""
    query = _select_effective(round_id).add_columns(_EFFECTIVE_FROM)
    if targets_only:
        target_submissions = select(Target.submission_id).where(Target.round_id == round_id)
        query = query.where(Submission.id.in_(target_submissions))
    starts = [
        (FinishedEvaluation._make(fields), effective_from)
        for *fields, effective_from in session.execute(query)
    ]
    return list(_iter_periods(starts))


def _iter_periods(starts: Sequence[tuple[FinishedEvaluation, datetime]]) -> Iterator[EffectivePeriod]:
    """Yield the periods of evaluations, which are given with the moments at which they took effect."""
    for index, (evaluation, effective_from) in enumerate(starts, 1):
        is_replaced = index < len(starts) and starts[index][0].submission_id == evaluation.submission_id
        ends_at = starts[index][1] if is_replaced else UNFROZEN
        if evaluation.state in ENDED_STATES and evaluation.ended_at is not None:
            begins_at = max(effective_from, evaluation.ended_at)
            if begins_at < ends_at:
                yield EffectivePeriod(evaluation, begins_at, ends_at)


def _select_effective(round_id: UUID) -> _EvaluationQuery:
    """Select the evaluations that have taken effect, in order of receipt and then of effect.

    Cancelled submissions are excluded: they were never visible, though a rescore may have scored them.
    """
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
        .join(
            _CurrentEvaluation,
            and_(_CurrentEvaluation.submission_id == Submission.id, _CurrentEvaluation.current),
        )
        .outerjoin(Rescore, Rescore.id == Evaluation.rescore_id)
        .where(Submission.round_id == round_id, _CurrentEvaluation.state != State.CANCELLED)
        .where(Submission.disqualified_at.is_(None), Team.disqualified_at.is_(None))
        .where(or_(Evaluation.rescore_id.is_(None), Rescore.applied_at.is_not(None)))
        .order_by(Submission.received_at, Submission.id, _EFFECTIVE_FROM)
    )


def _list_replaced_rules(session: Session, contest: Contest) -> list[ReplacedRules]:
    query = (
        select(Rescore.applied_at, Rescore.replaced_file, Rescore.replaced_scored_by)
        .where(Rescore.round_id == contest.round.id, Rescore.replaced_file.is_not(None))
        .order_by(Rescore.applied_at)
    )
    return [ReplacedRules(*fields) for fields in session.execute(query)]


def _find_rules(contest: Contest, replaced_rules: Iterable[ReplacedRules], moment: datetime) -> Rules:
    """Return the competition's rules at the moment.

    These are the rules that the next rescore replaced or, if there was none, the present ones. Ordinary
    revisions change nothing that is measured.
    """
    replaced = next((rules for rules in replaced_rules if rules.replaced_at >= moment), None)
    return contest.rules if replaced is None else replaced.parse()
