"""What the standings of a round are computed from, as read from the database."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import fsum
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, or_, select, true
from sqlalchemy.orm import Session, aliased

from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from app.db.models import (
    Adjustment,
    AttackStanding,
    Evaluation,
    Guess,
    RecordedVerdict,
    Rejudgement,
    Rescore,
    Round,
    Series,
    Standing,
    State,
    Submission,
    Target,
    Team,
)
from app.services.boards.verdicts import VerdictNumbers, has_same_versions
from app.services.contests.contest import Contest

ENDED_STATES = (State.SCORED, State.REJECTED)


class FinishedRelease(NamedTuple):
    """A submission that has been scored.

    ``at``: when it was scored for the first time. ``numbers`` are None if it cannot represent its team,
    because it was rejected or scored by versions that do not count.
    """

    submission_id: UUID
    evaluation_id: UUID
    team_id: UUID
    is_baseline: bool
    received_at: datetime
    at: datetime
    is_accepted: bool
    numbers: VerdictNumbers | None


class JudgedGuess(NamedTuple):
    """A guess that counts. ``risk`` is in [0, 1]; ``submission_id`` is the release that it attacks."""

    submission_id: UUID
    team_id: UUID
    question: str
    risk: float
    correct: int
    received_at: datetime
    accepted_at: datetime
    judged_at: datetime


class Points(NamedTuple):
    """A penalty or bonus that a team gets at a moment; a withdrawn one is given once more, negated."""

    team_id: UUID
    points: float
    at: datetime


class CompetingTeam(NamedTuple):
    id: UUID
    name: str
    created_at: datetime


class EarlierScore(NamedTuple):
    """The score of a team on a board of an earlier round from a moment on; None if nothing counts then."""

    round: str
    series: Series
    team_id: UUID
    score: float | None
    at: datetime


class BoardTarget(NamedTuple):
    """A target that counts: accepted, and neither it nor its team is disqualified."""

    id: UUID
    name: str
    individual_count: int
    submission_id: UUID
    evaluation_id: UUID
    team_id: UUID
    team: str


@dataclass(frozen=True, slots=True)
class RoundFacts:
    """The events of a round, in no particular order; those of disqualified teams and submissions are absent.

    ``published_at``: from then on only ``targets`` and baselines are compared. ``teams`` are in order of
    creation. ``earlier_releases`` and ``earlier_attacks`` are for the functions that rank these boards.
    """

    rules: Rules
    releases: Sequence[FinishedRelease]
    guesses: Sequence[JudgedGuess]
    points: Sequence[Points]
    targets: Mapping[UUID, BoardTarget]
    """By submission."""
    teams: Sequence[CompetingTeam]
    published_at: datetime | None
    earlier_releases: Sequence[EarlierScore] = ()
    earlier_attacks: Sequence[EarlierScore] = ()


def load_facts(
    session: Session,
    contest: Contest,
    team_ids: Collection[UUID] | None = None,
    *,
    proposed_by: Rescore | None = None,
) -> RoundFacts:
    """Load the facts of a round, or those on which the standings of these teams depend.

    ``proposed_by``: as they would be if this rescore were applied.
    """
    rules, round_ = (proposed_by or contest.round).rules, contest.round
    targets = load_targets(session, round_, proposed_by)
    return RoundFacts(
        rules=rules,
        releases=_load_releases(session, round_, rules, team_ids, proposed_by),
        guesses=_load_guesses(session, rules, targets, team_ids, proposed_by),
        points=_load_points(session, round_.id),
        targets={target.submission_id: target for target in targets},
        teams=list_competing_teams(session, round_.id),
        published_at=round_.published_at,
        earlier_releases=_load_earlier_scores(session, contest, Standing) if rules.ranking.function else (),
        earlier_attacks=(
            _load_earlier_scores(session, contest, AttackStanding) if rules.ranking.attack_function else ()
        ),
    )


def _load_earlier_scores(
    session: Session, contest: Contest, table: type[Standing | AttackStanding]
) -> list[EarlierScore]:
    """Return the scores on the boards of the earlier rounds. A practice round counts for nothing."""
    names_by_id = {
        round_.id: round_.name
        for round_ in contest.competition.rounds
        if round_.position < contest.round.position and not round_.settings.practice
    }
    columns = table.round_id, table.series, table.team_id, table.score, table.at
    query = select(*columns).where(table.round_id.in_(names_by_id))
    return [EarlierScore._make((names_by_id[row[0]], *row[1:])) for row in session.execute(query)]


def _counts(rescore: Rescore | None) -> ColumnElement[bool]:
    """Build the condition that an evaluation counts for its submission, or would under a rescore."""
    return Evaluation.current.is_(True) if rescore is None else Evaluation.rescore_id == rescore.id


def _load_releases(
    session: Session,
    round_: Round,
    rules: Rules,
    team_ids: Collection[UUID] | None,
    rescore: Rescore | None,
) -> list[FinishedRelease]:
    """Return the finished submissions in order of receipt, with U and E only.

    Cancelled submissions are left out, although a rescore may have scored them.
    """
    current, earlier = aliased(Evaluation), aliased(Evaluation)
    has_counted = or_(earlier.rescore_id.is_(None), Rescore.applied_at.is_not(None))
    counted_from = (
        select(func.min(func.coalesce(Rescore.applied_at, earlier.finished_at)))
        .select_from(earlier)
        .outerjoin(Rescore, Rescore.id == earlier.rescore_id)
        .where(earlier.submission_id == Submission.id, earlier.state.in_(ENDED_STATES), has_counted)
    )
    content = RecordedVerdict.content
    query = (
        select(
            Submission.id,
            Evaluation.id,
            Team.id,
            Team.baseline,
            Submission.received_at,
            # A rescore keeps the moment; it sets one for submissions that it has scored for the first time.
            func.coalesce(counted_from.scalar_subquery(), Evaluation.finished_at),
            Evaluation.state == State.SCORED,
            has_same_versions(rules.scored_by),
            content["utility"].as_float(),
            content["security"].as_float(),
        )
        .join(Submission.team)
        .join(Evaluation, and_(Evaluation.submission_id == Submission.id, _counts(rescore)))
        .join(current, and_(current.submission_id == Submission.id, current.current))
        .join(RecordedVerdict, RecordedVerdict.evaluation_id == Evaluation.id)
        .where(Submission.round_id == round_.id, current.state != State.CANCELLED)
        .where(Evaluation.state.in_(ENDED_STATES), *is_qualified())
        .where(true() if team_ids is None else Team.id.in_(team_ids))
        .order_by(Submission.received_at, Submission.id)
    )
    return [
        FinishedRelease._make(
            (
                *fields,
                is_accepted,
                VerdictNumbers(utility, security) if is_accepted and is_comparable else None,
            )
        )
        for *fields, is_accepted, is_comparable, utility, security in session.execute(query)
    ]


def is_qualified() -> tuple[ColumnElement[bool], ...]:
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
        .join(Evaluation, and_(Evaluation.submission_id == Submission.id, _counts(rescore)))
        .where(Target.round_id == round_.id, Evaluation.state == State.SCORED, *is_qualified())
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
            func.coalesce(result.risk, 0.0),
            func.coalesce(result.correct, 0),
            Guess.received_at,
            Guess.created_at,
            func.coalesce(Guess.finished_at, result.finished_at),
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
        JudgedGuess._make((submission_ids[target_id], *fields))
        for target_id, *fields in session.execute(query)
    ]


def load_adjustments(session: Session, round_id: UUID) -> dict[UUID, float]:
    """Return the present sum of the penalties and bonuses of each team that got any."""
    points = select(Adjustment.team_id, func.array_agg(Adjustment.points)).group_by(Adjustment.team_id)
    rows = session.execute(points.where(Adjustment.round_id == round_id, Adjustment.withdrawn_at.is_(None)))
    return {team_id: fsum(values) for team_id, values in rows}


def _load_points(session: Session, round_id: UUID) -> list[Points]:
    adjustments = session.scalars(select(Adjustment).where(Adjustment.round_id == round_id))
    return [
        points
        for adjustment in adjustments
        for points in (
            Points(adjustment.team_id, adjustment.points, adjustment.created_at),
            *(
                [Points(adjustment.team_id, -adjustment.points, adjustment.withdrawn_at)]
                if adjustment.withdrawn_at
                else []
            ),
        )
    ]


def list_competing_teams(session: Session, round_id: UUID) -> list[CompetingTeam]:
    """Return the teams that are neither disqualified nor baselines, in the order of their creation.

    Teams that joined after the round had closed do not compete in it.
    """
    columns = Team.id, Team.name, Team.created_at
    query = select(*columns).join(Round, Round.competition_id == Team.competition_id)
    query = query.where(Round.id == round_id, Team.disqualified_at.is_(None), ~Team.baseline)
    query = query.where(or_(Round.closed_at.is_(None), Team.created_at <= Round.closed_at))
    return [CompetingTeam(*row) for row in session.execute(query.order_by(Team.created_at, Team.id))]
