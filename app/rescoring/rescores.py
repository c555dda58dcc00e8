"""Rescores: submissions are scored and guesses judged again by new rules.

The results are compared, then applied or cancelled as a whole.

Until a rescore is applied, only the organizers can see its results. Users know it as a re-score set.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session, aliased, defer, joinedload

from anoncup import schemas
from anoncup.competition.parser import read_file
from anoncup.errors import Conflict, NotFound
from anoncup.evaluation.verdict_numbers import VerdictNumbers
from anoncup.messages import PluralMessage
from anoncup.rules.model import Rules
from anoncup.rules.rounds import replace_round_phases
from anoncup.schemas import RescoreOutcome
from app.boards import anonymization, standing_updates, verdicts
from app.boards.anonymization import RankedStanding
from app.boards.load_facts import load_newest
from app.boards.models import Standing
from app.competitions import competitions, revisions
from app.competitions.revisions import Revision, RoundRevision
from app.core import audit
from app.core.db import transaction
from app.core.db.models import (
    Competition,
    Evaluation,
    Guess,
    Rejudgement,
    Rescore,
    Round,
    Series,
    State,
    Submission,
)
from app.core.db.stored_files import read_rules
from app.core.identity.principal import Principal
from app.jobs import leases
from app.submissions import evaluations
from app.targets import rejudgements
from app.targets.rejudgements import RejudgementCounts


class EvaluationChange(NamedTuple):
    """The results of one submission by the current rules and by the proposed ones."""

    submission: Submission
    before: RescoreOutcome
    after: RescoreOutcome


@dataclass(frozen=True, slots=True)
class RescorePreview:
    """A rescore with its progress and changes; an applied one has no changes.

    ``finished`` and ``total`` are numbers of submissions; ``guesses`` has those of guesses.
    """

    rescore: Rescore
    stage: schemas.Stage
    finished: int
    total: int
    guesses: RejudgementCounts
    changes: Sequence[EvaluationChange] = ()
    guess_changes: Sequence[tuple[Guess, Rejudgement]] = ()

    @property
    def remaining(self) -> int:
        """Number of submissions and guesses without a result by the new rules."""
        return self.total - self.finished + self.guesses.total - self.guesses.finished


def begin(session: Session, principal: Principal, slug: str, revision: Revision) -> Rescore:
    """Queue all submissions and guesses to be scored by the rules of ``revision``; only one may be open."""
    round_ = competitions.lock_for_organizer(session, principal, slug, all_rounds=True)
    revisions.require_unchanged(revisions.describe_state(round_.competition), revision.replaces)
    new = _find_only_change(round_, revision)
    current_rules, new_rules = round_.rules, new.rules
    if round_.original != new.original or any(
        getattr(current_rules, name) != getattr(new_rules, name) for name in ("slug", "track", "columns")
    ):
        raise Conflict("address, track, columns and data are fixed: a set changes the rules", code="fixed")
    if round_.allocated_at is not None and revisions.build_team_files_key(
        current_rules
    ) != revisions.build_team_files_key(new_rules):
        raise Conflict(revisions.ALREADY_ALLOCATED, code="drawn_already")
    revisions.require_no_shorter_notice(session, round_, current_rules, new_rules)
    revisions.require_no_open_rescore(session, round_.id)
    rescore = Rescore(
        round_id=round_.id,
        user_id=principal.user_id,
        file=new.file,
        competition_file=revision.file,
        scales=new.scales,
        scored_by=competitions.collect_current_versions(replace(new_rules, scored_by={})),
        replaces=competitions.compute_text_digest(round_.competition.file),
    )
    session.add(rescore)
    session.flush()
    for submission_id in _list_scorable(session, round_.id):
        evaluations.enqueue(session, submission_id, rescore=rescore)
    rejudgements.enqueue_all(session, rescore, new_rules)
    audit.record(session, principal, "rescore.begin", round_.competition_id, subject=str(rescore.id))
    return rescore


def _find_only_change(round_: Round, revision: Revision) -> RoundRevision:
    """Return the new state of the round that is scored again; raise Conflict if another round changes."""
    new = revision.find_round(round_)
    kept_rounds = [sibling for sibling in round_.competition.rounds if sibling.id != round_.id]
    if new is None or len(revision.rounds) != len(kept_rounds) + 1:
        raise Conflict("a set changes the rules of one round and not which rounds there are", code="fixed")
    for kept_round in kept_rounds:
        kept_revision = revision.find_round(kept_round)
        if kept_revision is None or _get_rules_without_phases(kept_revision.file) != (
            _get_rules_without_phases(kept_round.file)
        ):
            raise Conflict(
                "a set changes the rules of one round: write them into its table in [[rounds]]",
                code="other_round_changes",
            )
    return new


def _get_rules_without_phases(file: str) -> Rules:
    return replace(read_rules(file), phases=())


def _list_scorable(session: Session, round_id: UUID) -> Sequence[UUID]:
    query = (
        select(Submission.id)
        .join(Evaluation, Evaluation.submission_id == Submission.id)
        .where(Submission.round_id == round_id)
        .where(Evaluation.current, Evaluation.state != State.CANCELLED)
        .order_by(Submission.received_at)
    )
    return session.scalars(query).all()


def list_rescores(session: Session, principal: Principal, slug: str) -> list[RescorePreview]:
    """Return the rescores of a competition, newest first."""
    round_ = competitions.find_for_organizer(session, principal, slug)
    rescores = session.scalars(
        select(Rescore).where(Rescore.round_id == round_.id).order_by(Rescore.created_at.desc())
    )
    return [load_progress(session, rescore) for rescore in rescores]


def load_progress(session: Session, rescore: Rescore) -> RescorePreview:
    """Return the progress of a rescore, without its changes."""
    current_evaluation = aliased(Evaluation)
    query = (
        select(func.count(), func.count().filter(Evaluation.state.not_in(leases.UNFINISHED)))
        .select_from(Evaluation)
        .join(
            current_evaluation,
            (current_evaluation.submission_id == Evaluation.submission_id) & current_evaluation.current,
        )
        .where(Evaluation.rescore_id == rescore.id, current_evaluation.state != State.CANCELLED)
    )
    total, finished = session.execute(query).one()
    guesses = rejudgements.count(session, rescore)
    is_finished = (finished, guesses.finished) == (total, guesses.total)
    return RescorePreview(rescore, _determine_stage(rescore, is_finished), finished, total, guesses)


def _determine_stage(rescore: Rescore, is_finished: bool) -> schemas.Stage:
    if rescore.applied_at is not None:
        return "applied"
    if rescore.cancelled_at is not None:
        return "cancelled"
    return "ready" if is_finished else "scoring"


def preview(session: Session, principal: Principal, rescore_id: UUID) -> RescorePreview:
    """Return a rescore with its changes, and with standings by the new rules once everything is scored."""
    rescore = find_for_organizer(session, principal, rescore_id)
    result, round_ = load_progress(session, rescore), session.get_one(Round, rescore.round_id)
    now = transaction.read_clock(session)
    newest = load_newest(session, Standing, round_, Series.ALL_GUESSES, before=now)
    current = anonymization.rank_standings(session, round_.rules, newest)
    proposed = []
    if result.stage == "ready":
        standings = standing_updates.compute_proposed(session, round_, rescore)
        proposed = anonymization.rank_standings(session, rescore.rules, standings)
    return _add_changes(session, result, current, proposed)


def _add_changes(
    session: Session,
    result: RescorePreview,
    current: Sequence[RankedStanding] = (),
    proposed: Sequence[RankedStanding] = (),
) -> RescorePreview:
    """Return a rescore with its changes and these standings of the teams; an applied one has no changes."""
    if result.stage == "applied":
        return result
    query = (
        select(Evaluation)
        .join(Evaluation.submission)
        .where(Evaluation.rescore_id == result.rescore.id)
        .where(Submission.evaluation.has(Evaluation.state != State.CANCELLED))
        .options(
            defer(Evaluation.verdict, raiseload=True),
            joinedload(Evaluation.submission, innerjoin=True).options(
                joinedload(Submission.team, innerjoin=True),
                joinedload(Submission.evaluation, innerjoin=True).defer(Evaluation.verdict, raiseload=True),
            ),
        )
        .order_by(Submission.received_at, Submission.id)
    )
    evaluations = session.scalars(query).all()
    ids = [evaluation.id for new in evaluations for evaluation in (new, new.submission.evaluation)]
    numbers = verdicts.load_numbers(session, ids)
    boards = [{team.standing.team_id: team for team in board} for board in (current, proposed)]

    def build_outcome(evaluation: Evaluation, team: RankedStanding | None) -> RescoreOutcome:
        return _build_outcome(evaluation, numbers.get(evaluation.id), team)

    changes = [
        EvaluationChange(
            submission := new.submission,
            before=build_outcome(submission.evaluation, boards[0].get(submission.team_id)),
            after=build_outcome(new, boards[1].get(submission.team_id)),
        )
        for new in evaluations
    ]
    return replace(result, changes=changes, guess_changes=rejudgements.list_changes(session, result.rescore))


def _build_outcome(
    evaluation: Evaluation, numbers: VerdictNumbers | None, team: RankedStanding | None
) -> RescoreOutcome:
    return RescoreOutcome(
        status=evaluation.state,
        rank=team.rank if team else None,
        score=team.standing.score if team else None,
        utility=numbers.utility if numbers else None,
        security=numbers.security if numbers else None,
        overall=numbers.overall if numbers else None,
        violations=list(numbers.violations) if numbers else [],
        **schemas.build_failure_fields(evaluation.failure),
    )


def find_for_organizer(session: Session, principal: Principal, rescore_id: UUID) -> Rescore:
    rescore = session.get(Rescore, rescore_id, populate_existing=True)
    if rescore is None or not competitions.is_round_organizer(session, rescore.round_id, principal):
        raise NotFound("there is no such re-score set", code="no_such_rescore")
    principal.require("organize")
    return rescore


def apply(session: Session, principal: Principal, rescore_id: UUID) -> Rescore:
    """Make the new rules, their evaluations and their results of guesses the current ones."""
    round_, rescore = _lock_open_rescore(session, principal, rescore_id)
    result = _add_changes(session, load_progress(session, rescore))
    if result.stage != "ready":
        raise Conflict("the set is still being scored", code="rescore_scoring")
    for message in (
        PluralMessage(
            "{count} submission could not be scored by the new rules: cancel the set",
            "{count} submissions could not be scored by the new rules: cancel the set",
            "count",
            count=sum(map(is_newly_failed, result.changes)),
        ),
        PluralMessage(
            "{count} guess could not be scored by the new rules: cancel the set",
            "{count} guesses could not be scored by the new rules: cancel the set",
            "count",
            count=result.guesses.failed,
        ),
    ):
        if message.values["count"]:
            raise Conflict(message, code="rescore_failed")
    principal.require_reauthentication()
    of_submissions = Evaluation.submission_id.in_([change.submission.id for change in result.changes])
    session.execute(update(Evaluation).where(of_submissions, Evaluation.current).values(current=False))
    is_new = Evaluation.rescore_id == rescore.id
    session.execute(update(Evaluation).where(of_submissions, is_new).values(current=True))
    details = _summarize_changes(result)
    rejudgements.apply(session, rescore)
    round_.competition.file = _keep_phases(rescore.competition_file, round_.competition)
    round_.scales, round_.scored_by = rescore.scales, rescore.scored_by
    round_.allocation = competitions.describe_allocation(round_.rules)
    rescore.applied_at = transaction.read_clock(session)
    standing_updates.refresh(session, round_.id)
    audit.record(
        session, principal, "rescore.apply", round_.competition_id, subject=str(rescore.id), after=details
    )
    return rescore


def list_changed_parts(round_: Round, rescore: Rescore) -> list[str]:
    """Return the parts of the round's rules that a rescore would change, without phases, which are kept.

    "rounds" is among them if the rescore changes how much a round counts.
    """
    old_weights, new_weights = (
        [
            (name, entry.settings.weight, entry.settings.practice)
            for name, entry in read_file(file).rounds.items()
        ]
        for file in (round_.competition.file, rescore.competition_file)
    )
    parts = {*competitions.find_changed_parts(round_.file, rescore.file)} - {"phases"}
    return sorted(parts if old_weights == new_weights else {*parts, "rounds"})


def _keep_phases(file: str, competition: Competition) -> str:
    """Return the file with the present deadlines, which may have moved while the rescore was open."""
    for round_ in competition.rounds:
        file = replace_round_phases(file, round_.name, round_.timetable.phases)
    return file


def _summarize_changes(preview: RescorePreview) -> dict[str, Any]:
    """Return state and overall score of each submission before and after, for the audit log.

    Guesses have state and value, if these change.
    """
    submissions = {
        str(change.submission.id): [
            [outcome.status, outcome.overall] for outcome in (change.before, change.after)
        ]
        for change in preview.changes
    }
    guesses = {
        str(pair[0].id): [[job.state, job.outcome and job.outcome["value"]] for job in pair]
        for pair in preview.guess_changes
    }
    return submissions | guesses


def is_newly_failed(change: EvaluationChange) -> bool:
    """Whether scoring failed by the new rules but not by the current ones."""
    return change.after.status == State.ERROR != change.before.status


def cancel(session: Session, principal: Principal, rescore_id: UUID) -> Rescore:
    """Cancel a rescore and its unfinished evaluations and rejudgements."""
    round_, rescore = _lock_open_rescore(session, principal, rescore_id)
    unfinished = session.scalars(
        select(Evaluation)
        .where(Evaluation.rescore_id == rescore.id, Evaluation.state.in_(leases.UNFINISHED))
        .with_for_update()
    )
    for evaluation in unfinished:
        leases.finish(session, evaluation, State.CANCELLED)
    rejudgements.cancel(session, rescore)
    rescore.cancelled_at = transaction.read_clock(session)
    audit.record(session, principal, "rescore.cancel", round_.competition_id, subject=str(rescore.id))
    return rescore


def _lock_open_rescore(session: Session, principal: Principal, rescore_id: UUID) -> tuple[Round, Rescore]:
    """Lock the competition and return it with its open rescore; raises Conflict if that has ended."""
    rescore = find_for_organizer(session, principal, rescore_id)
    round_ = competitions.lock(session, rescore.round_id)
    session.refresh(rescore)
    for ended_at in (rescore.applied_at, rescore.cancelled_at):
        if ended_at is not None:
            raise Conflict("the set is applied or cancelled already", code="rescore_ended")
    return round_, rescore
