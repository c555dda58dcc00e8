"""Read what the standings of a round are computed from."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, ScalarSelect, and_, func, or_, select, true
from sqlalchemy.orm import Session, aliased

from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from app.boards import earlier_scores
from app.boards.facts import (
    BoardTarget,
    CompetingTeam,
    FinishedRelease,
    JudgedGuess,
    RoundFacts,
    TeamAdjustment,
)
from app.boards.models import AttackStanding, Standing
from app.boards.verdict_details import add_details
from app.boards.verdicts import VerdictNumbers, has_same_versions
from app.competitions.contest import Contest
from app.core.db.models import (
    Adjustment,
    Evaluation,
    Guess,
    RecordedVerdict,
    Rejudgement,
    Rescore,
    Round,
    State,
    Submission,
    Target,
    Team,
)

_ENDED_STATES = (State.SCORED, State.REJECTED)


def load_facts(
    session: Session,
    contest: Contest,
    since: datetime,
    team_ids: Collection[UUID] | None = None,
    *,
    proposed_by: Rescore | None = None,
) -> RoundFacts:
    """Load the facts for the standings of a round from ``since`` on, or for those of these teams.

    ``proposed_by``: as they would be if this rescore were applied.
    """
    rules, round_ = (proposed_by or contest.round).rules, contest.round
    targets = load_targets(session, round_, proposed_by)
    facts = RoundFacts(
        rules=rules,
        releases=_load_releases(session, round_, rules, team_ids, proposed_by),
        guesses=_load_guesses(session, rules, targets, team_ids, proposed_by),
        adjustments=list(_iter_adjustments(session, round_.id)),
        targets={target.submission_id: target for target in targets},
        teams=list_competing_teams(session, round_.id),
        published_at=round_.published_at,
        earlier_releases=earlier_scores.load(session, contest, Standing) if rules.ranking.function else (),
        earlier_attacks=(
            earlier_scores.load(session, contest, AttackStanding) if rules.ranking.attack_function else ()
        ),
    )
    return add_details(session, facts, since)


def _is_counted(rescore: Rescore | None) -> ColumnElement[bool]:
    """Build the condition that an evaluation counts for its submission, or would under a rescore."""
    return Evaluation.current.is_(True) if rescore is None else Evaluation.rescore_id == rescore.id


def _load_releases(
    session: Session,
    round_: Round,
    rules: Rules,
    team_ids: Collection[UUID] | None,
    rescore: Rescore | None,
) -> list[FinishedRelease]:
    """Return the finished submissions in order of receipt, with utility and security only."""
    content = RecordedVerdict.content
    query = (
        select(
            Submission.id.label("submission_id"),
            Evaluation.id.label("evaluation_id"),
            Submission.team_id,
            Team.baseline,
            Submission.received_at,
            func.coalesce(_select_first_verdict_at(), Evaluation.finished_at).label("at"),
            and_(Evaluation.state == State.SCORED, has_same_versions(rules.scored_by)).label("counts"),
            content["utility"].as_float().label("utility"),
            content["security"].as_float().label("security"),
        )
        .join(Submission.team)
        .join(Evaluation, and_(Evaluation.submission_id == Submission.id, _is_counted(rescore)))
        .join(RecordedVerdict, RecordedVerdict.evaluation_id == Evaluation.id)
        .where(Submission.round_id == round_.id, _is_not_cancelled())
        .where(Evaluation.state.in_(_ENDED_STATES), *qualified_conditions())
        .where(true() if team_ids is None else Team.id.in_(team_ids))
        .order_by(Submission.received_at, Submission.id)
    )
    return [
        FinishedRelease(
            submission_id=row.submission_id,
            evaluation_id=row.evaluation_id,
            team_id=row.team_id,
            is_baseline=row.baseline,
            received_at=row.received_at,
            at=row.at,
            numbers=VerdictNumbers(row.utility, row.security) if row.counts else None,
        )
        for row in session.execute(query)
    ]


def _is_not_cancelled() -> ColumnElement[bool]:
    """Build the condition that a submission counts. A rescore may have scored cancelled ones."""
    return Submission.evaluation.has(Evaluation.state != State.CANCELLED)


def _select_first_verdict_at() -> ScalarSelect[datetime]:
    """Select the moment from which a submission counts: its first verdict.

    That of a rescore counts from its application, so a later rescore does not move the moment.
    """
    earlier = aliased(Evaluation)
    return (
        select(func.min(func.coalesce(Rescore.applied_at, earlier.finished_at)))
        .select_from(earlier)
        .outerjoin(Rescore, Rescore.id == earlier.rescore_id)
        .where(earlier.submission_id == Submission.id, earlier.state.in_(_ENDED_STATES))
        .where(or_(earlier.rescore_id.is_(None), Rescore.applied_at.is_not(None)))
        .scalar_subquery()
    )


def qualified_conditions() -> tuple[ColumnElement[bool], ...]:
    """Build the conditions that neither a submission nor its team is disqualified."""
    return Submission.disqualified_at.is_(None), Team.disqualified_at.is_(None)


def load_targets(session: Session, round_: Round, rescore: Rescore | None = None) -> list[BoardTarget]:
    """Return the targets that count, sorted by name; none before they are published."""
    if round_.published_at is None:
        return []
    query = (
        select(Target.id, Target.name, Target.rows, Submission.id, Evaluation.id, Team.id, Team.name)
        .join(Submission, Submission.id == Target.submission_id)
        .join(Submission.team)
        .join(Evaluation, and_(Evaluation.submission_id == Submission.id, _is_counted(rescore)))
        .where(Target.round_id == round_.id, Evaluation.state == State.SCORED, *qualified_conditions())
        .order_by(Target.name)
    )
    return [BoardTarget(*row) for row in session.execute(query)]


def _load_guesses(
    session: Session,
    rules: Rules,
    targets: Sequence[BoardTarget],
    team_ids: Collection[UUID] | None,
    rescore: Rescore | None,
) -> list[JudgedGuess]:
    """Return the judged guesses on the targets: all, or those of these teams and those on their targets."""
    submission_ids = {target.id: target.submission_id for target in targets}
    own_targets = [target.id for target in targets if team_ids is None or target.team_id in team_ids]
    result = Guess if rescore is None else Rejudgement
    query = (
        select(
            Guess.target_id,
            Guess.team_id,
            Guess.question,
            func.coalesce(result.risk, 0.0).label("risk"),
            func.coalesce(result.correct, 0).label("correct"),
            Guess.received_at,
            Guess.created_at,
            # A rejudgement does not move the moment from which a guess counts.
            func.coalesce(Guess.finished_at, result.finished_at).label("judged_at"),
        )
        .join(Team, Team.id == Guess.team_id)
        .where(
            Guess.target_id.in_(submission_ids),
            Guess.question.in_(TRACKS[rules.track].select_questions(rules)),
        )
        .where(result.state == State.SCORED, Guess.state != State.REFUSED, Team.disqualified_at.is_(None))
    )
    if rescore is not None:
        query = query.join(Rejudgement, Rejudgement.guess_id == Guess.id).where(
            Rejudgement.rescore_id == rescore.id
        )
    if team_ids is not None:
        query = query.where(or_(Guess.target_id.in_(own_targets), Guess.team_id.in_(team_ids)))
    return [
        JudgedGuess(
            submission_id=submission_ids[row.target_id],
            team_id=row.team_id,
            question=row.question,
            risk=row.risk,
            correct=row.correct,
            received_at=row.received_at,
            accepted_at=row.created_at,
            judged_at=row.judged_at,
        )
        for row in session.execute(query)
    ]


def _iter_adjustments(session: Session, round_id: UUID) -> Iterator[TeamAdjustment]:
    adjustments = session.scalars(select(Adjustment).where(Adjustment.round_id == round_id))
    for adjustment in adjustments:
        yield TeamAdjustment(adjustment.team_id, adjustment.points, adjustment.created_at)
        if adjustment.withdrawn_at is not None:
            yield TeamAdjustment(adjustment.team_id, -adjustment.points, adjustment.withdrawn_at)


def list_competing_teams(session: Session, round_id: UUID) -> list[CompetingTeam]:
    """Return the teams that are neither disqualified nor baselines, in the order of their creation.

    Teams that joined after the round had closed do not compete in it.
    """
    query = select(Team.id, Team.name).join(Round, Round.competition_id == Team.competition_id)
    query = query.where(Round.id == round_id, Team.disqualified_at.is_(None), ~Team.baseline)
    query = query.where(or_(Round.closed_at.is_(None), Team.created_at <= Round.closed_at))
    return [CompetingTeam(*row) for row in session.execute(query.order_by(Team.created_at, Team.id))]
