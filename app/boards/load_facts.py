"""Read what the standings of a round are computed from."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, func, or_, select, true
from sqlalchemy.orm import Session, aliased

from anoncup.competition.ranking_formulas import compares_teams, scores_alone
from anoncup.evaluation.verdict_numbers import VerdictNumbers
from anoncup.formulas.ranks import TIE_TOLERANCE
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from app.boards import verdicts
from app.boards.facts import (
    BoardTarget,
    CompetingTeam,
    EarlierScore,
    FinishedRelease,
    JudgedGuess,
    RoundFacts,
    TeamAdjustment,
)
from app.boards.models import AttackStanding, Standing
from app.boards.verdicts import has_same_versions, is_any
from app.core.db.models import (
    Adjustment,
    Evaluation,
    Guess,
    RecordedVerdict,
    Rejudgement,
    Rescore,
    Round,
    Series,
    State,
    Submission,
    Target,
    Team,
)
from app.core.db.transaction import BEGINNING, END

TeamStandingT = TypeVar("TeamStandingT", Standing, AttackStanding)
_ENDED_STATES = (State.SCORED, State.REJECTED)
_SERIES_BY_FEEDBACK = {
    "hidden": Series.WITHOUT_GUESSES,
    "daily": Series.DAILY,
    "immediate": Series.ALL_GUESSES,
}
"""The standings that everybody sees before the close."""


def load_facts(
    session: Session,
    round_: Round,
    since: datetime,
    team_ids: Collection[UUID] | None = None,
    *,
    proposed_by: Rescore | None = None,
) -> RoundFacts:
    """Load the facts for the standings of a round from ``since`` on, or for those of these teams.

    ``proposed_by``: as they would be if this rescore were applied.
    """
    rules = (proposed_by or round_).rules
    targets = {target.submission_id: target for target in load_targets(session, round_, proposed_by)}
    is_needed: ColumnElement[bool] = true() if team_ids is None else Team.id.in_(team_ids)
    omitted: Mapping[UUID, int] = {}
    if team_ids is None and _ranks_by_stored_best(round_, since):
        is_needed = _is_needed(session, round_, since, targets)
        counts = _select_releases(round_, proposed_by, Team.id, func.count()).where(~is_needed)
        omitted = dict(session.execute(counts.group_by(Team.id)).all())
    facts = RoundFacts(
        rules=rules,
        releases=_load_releases(session, round_, rules, is_needed, proposed_by),
        omitted=omitted,
        guesses=_load_guesses(session, rules, targets.values(), team_ids, proposed_by),
        adjustments=list(_iter_adjustments(session, round_.id)),
        targets=targets,
        teams=list_competing_teams(session, round_.id),
        published_at=round_.published_at,
        earlier_releases=_load_earlier(session, round_, Standing) if rules.ranking.function else (),
        earlier_attacks=_load_earlier(session, round_, AttackStanding)
        if rules.ranking.attack_function
        else (),
    )
    return _add_details(session, facts, since)


def _is_counted(rescore: Rescore | None) -> ColumnElement[bool]:
    """Build the condition that an evaluation counts for its submission, or would under a rescore."""
    return Evaluation.current.is_(True) if rescore is None else Evaluation.rescore_id == rescore.id


def _ranks_by_stored_best(round_: Round, since: datetime) -> bool:
    """Return whether the best release of a team stays the best until the team has a new verdict.

    It does if ``overall`` chooses it, which guesses change for targets only.
    """
    is_by_overall = not scores_alone(round_.rules) and not round_.rules.ranking.list_functions()
    return is_by_overall and (round_.published_at or BEGINNING) < since


def _is_needed(
    session: Session, round_: Round, since: datetime, targets: Collection[UUID]
) -> ColumnElement[bool]:
    """Build the condition that a submission can be the best of its team from a moment on.

    These are the stored best ones, targets, and all of the teams that have a new verdict.
    """
    stored_ids = {
        standing.submission_id
        for series in Series
        for standing in load_newest(session, Standing, round_, series, before=since)
    }
    changed_teams = (
        select(Submission.team_id)
        .join(Evaluation, Evaluation.submission_id == Submission.id)
        .outerjoin(Rescore, Rescore.id == Evaluation.rescore_id)
        .where(Submission.round_id == round_.id)
        .where(func.coalesce(Rescore.applied_at, Evaluation.finished_at) >= since)
    )
    return or_(is_any(Submission.id, stored_ids | set(targets)), Submission.team_id.in_(changed_teams))


def load_newest(
    session: Session, table: type[TeamStandingT], round_: Round, series: Series, *, before: datetime
) -> list[TeamStandingT]:
    """Return the standing of each team just before a moment, which is its newest row.

    The index finds each; the older rows, of which there may be many, are not read.
    """
    newest = (
        select(table)
        .where(table.round_id == round_.id, table.series == series, table.team_id == Team.id)
        .where(table.at < before)
        .order_by(table.at.desc())
        .limit(1)
        .lateral()
    )
    query = select(aliased(table, newest)).join_from(Team, newest, true())
    return list(session.scalars(query.where(Team.competition_id == round_.competition_id)))


def _select_releases(round_: Round, rescore: Rescore | None, *columns: Any) -> Select[Any]:
    """Select columns of the finished submissions."""
    return (
        select(*columns)
        .select_from(Submission)
        .join(Submission.team)
        .join(Evaluation, and_(Evaluation.submission_id == Submission.id, _is_counted(rescore)))
        .join(RecordedVerdict, RecordedVerdict.evaluation_id == Evaluation.id)
        # A rescore may have scored cancelled ones.
        .where(
            Submission.round_id == round_.id, Submission.evaluation.has(Evaluation.state != State.CANCELLED)
        )
        .where(Evaluation.state.in_(_ENDED_STATES), *qualified_conditions())
    )


def _load_releases(
    session: Session,
    round_: Round,
    rules: Rules,
    is_needed: ColumnElement[bool],
    rescore: Rescore | None,
) -> list[FinishedRelease]:
    """Return the finished submissions in order of receipt, with utility and security only."""
    query = _select_releases(
        round_,
        rescore,
        Submission.id,
        Evaluation.id,
        Submission.team_id,
        Team.baseline,
        Submission.received_at,
        func.coalesce(_select_first_verdict_at(), Evaluation.finished_at),
        and_(Evaluation.state == State.SCORED, has_same_versions(rules.scored_by)),
        RecordedVerdict.content["utility"].as_float(),
        RecordedVerdict.content["security"].as_float(),
    )
    query = query.where(is_needed).order_by(Submission.received_at, Submission.id)
    return [
        FinishedRelease._make((*fields, VerdictNumbers(utility, security) if counts else None))
        for *fields, counts, utility, security in session.execute(query)
    ]


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
    targets: Collection[BoardTarget],
    team_ids: Collection[UUID] | None,
    rescore: Rescore | None,
) -> list[JudgedGuess]:
    """Return the judged guesses on the targets: all, or those of these teams and those on their targets."""
    result = Guess if rescore is None else Rejudgement
    query = (
        select(
            Target.submission_id,
            Guess.team_id,
            Guess.question,
            func.coalesce(result.risk, 0.0),
            func.coalesce(result.correct, 0),
            Guess.received_at,
            Guess.created_at,
            # A rejudgement does not move the moment from which a guess counts.
            func.coalesce(Guess.finished_at, result.finished_at),
        )
        .join(Team, Team.id == Guess.team_id)
        .join(Target, Target.id == Guess.target_id)
        .where(Target.id.in_([target.id for target in targets]))
        .where(Guess.question.in_(TRACKS[rules.track].select_questions(rules)))
        .where(result.state == State.SCORED, Guess.state != State.REFUSED, Team.disqualified_at.is_(None))
    )
    if rescore is not None:
        query = query.join(Rejudgement, Rejudgement.guess_id == Guess.id)
        query = query.where(Rejudgement.rescore_id == rescore.id)
    if team_ids is not None:
        own_targets = [target.id for target in targets if target.team_id in team_ids]
        query = query.where(or_(Guess.target_id.in_(own_targets), Guess.team_id.in_(team_ids)))
    return [JudgedGuess(*row) for row in session.execute(query)]


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


def _load_earlier(
    session: Session, round_: Round, table: type[Standing | AttackStanding]
) -> list[EarlierScore]:
    """Return the scores on the boards of the earlier rounds. A practice round counts for nothing."""
    return [
        score
        for sibling in round_.competition.rounds
        if sibling.position < round_.position and not sibling.settings.practice
        for score in iter_public_scores(session, sibling, table)
    ]


def iter_public_scores(
    session: Session, round_: Round, table: type[Standing | AttackStanding]
) -> Iterator[EarlierScore]:
    """Yield the scores that everybody saw: without hidden guesses and what was frozen, until the close.

    All others count from the close on. Of several scores of a team at one moment the last holds.
    """
    publication, closed_at = round_.rules.publication, round_.closed_at
    public_series = _SERIES_BY_FEEDBACK[publication.feedback]
    hidden_from = min(filter(None, (publication.frozen_from, closed_at)), default=END)
    query = (
        select(table.series, table.team_id, table.score, table.at)
        .where(table.round_id == round_.id)
        .order_by(table.at)
    )
    for series, team_id, score, at in session.execute(query):
        if series == public_series and at < hidden_from:
            yield EarlierScore(round_.name, team_id, score, at)
        if series == Series.ALL_GUESSES and closed_at is not None:
            yield EarlierScore(round_.name, team_id, score, max(at, closed_at))


def _add_details(session: Session, facts: RoundFacts, since: datetime) -> RoundFacts:
    """Return the facts with the measures and attackers that rules may use for standings from a moment on.

    A formula that compares teams ranks the release of each team that has the lowest ``overall``.
    """
    ranking = facts.rules.ranking
    if ranking.is_by_overall and not ranking.list_functions():
        return facts
    evaluation_ids = {release.evaluation_id for release in facts.releases if release.numbers}
    if compares_teams(facts.rules) and not ranking.list_functions():
        evaluation_ids &= _list_possible_best(facts, since)
    numbers = verdicts.load_numbers(session, evaluation_ids)
    releases = [
        release._replace(numbers=numbers.get(release.evaluation_id, release.numbers))
        for release in facts.releases
    ]
    return replace(facts, releases=releases)


def _list_possible_best(facts: RoundFacts, since: datetime) -> set[UUID]:
    """Return the evaluations that may have the lowest ``overall`` of their team at a moment, or later.

    Guesses may change the order of targets. Another release keeps its ``overall``, so it can only be the best
    of its team if it beats all earlier ones when it is scored; the verdicts of the rest need not be read.
    """
    best_ids, lowest = {target.evaluation_id for target in facts.targets.values()}, dict[UUID, float]()
    dated = [release._replace(at=max(release.at, since)) for release in facts.releases if release.numbers]
    for release in sorted(dated, key=attrgetter("at", "numbers.overall")):
        loss = release.numbers.overall if release.numbers else 0.0
        if loss - lowest.get(release.team_id, loss) <= TIE_TOLERANCE:
            best_ids.add(release.evaluation_id)
            lowest[release.team_id] = min(loss, lowest.get(release.team_id, loss))
    return best_ids
