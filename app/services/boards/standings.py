"""Stored standings: computed when something that counts changes, and read by every board.

They are replaced in the transaction of the change, from its moment on, so that a board is never behind. What
cannot be computed there (a ranking function of a package, a file that cannot be read) is marked as stale, and
keeps its last state until a worker has computed it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from operator import itemgetter
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import Select, delete, func, insert, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.errors import CompetitionUnavailable
from anoncup.formulas.ranks import TIE_TOLERANCE
from app.db.models import (
    AttackStanding,
    Competition,
    Evaluation,
    Rescore,
    Round,
    Series,
    Standing,
    Submission,
)
from app.db.now import BEGINNING, END
from app.services.boards import fold, verdicts
from app.services.boards.facts import FinishedRelease, RoundFacts, load_facts
from app.services.boards.function_ranking import BoardRanker
from app.services.boards.release_board import ReleaseStanding
from app.services.contests.contest import Contest
from app.services.jobs import stale_standings
from app.services.jobs.stale_standings import StaleClaim

TeamStandingT = TypeVar("TeamStandingT", Standing, AttackStanding)
BoardFold = Callable[..., Iterator[tuple[datetime, Any]]]
StandingRows = list[tuple[type[Standing | AttackStanding], list[dict[str, Any]]]]
"""New rows of the tables."""


def refresh(
    session: Session, round_id: UUID, team_ids: Collection[UUID] | None = None, *, since: datetime = BEGINNING
) -> None:
    """Compute the standings of these teams, or of all, from a moment on.

    The round's standings are locked until the transaction ends, so that everything that was committed before
    is taken into account.
    """
    session.flush()
    _lock(session, round_id)
    contest = Contest(session.get_one(Round, round_id))
    if _needs_worker(contest.round):
        stale_standings.mark(session, round_id, since=since)
        return
    try:
        with session.begin_nested():
            _refresh_directly(session, contest, team_ids, since)
    except CompetitionUnavailable:
        stale_standings.mark(session, round_id, since=since)


def _refresh_directly(
    session: Session, contest: Contest, team_ids: Collection[UUID] | None, since: datetime
) -> None:
    attack = contest.rules.ranking.attack
    if compares_teams(contest.rules) or (attack and attack.compares_teams):
        team_ids = None
    facts = _load_complete_facts(session, contest, since, team_ids)
    rows = compute_rows(facts, since, team_ids=team_ids)
    _replace(session, contest, rows, since, team_ids=team_ids)
    if team_ids is None and since == BEGINNING:
        stale_standings.remove_mark(session, contest.round.id)


def _lock(session: Session, round_id: UUID) -> None:
    """Lock the standings of a round until the transaction ends."""
    session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(str(round_id), 0))))


def _needs_worker(round_: Round) -> bool:
    """Return whether standings can only be computed by a worker: functions of packages run in its sandbox."""
    try:
        return bool(round_.rules.ranking.list_functions())
    except CompetitionUnavailable:
        return True


def refresh_evaluation(session: Session, evaluation: Evaluation) -> None:
    """Take a new verdict into account, unless it counts only once a rescore is applied."""
    if evaluation.current and evaluation.finished_at is not None:
        submission = session.get_one(Submission, evaluation.submission_id)
        refresh(session, evaluation.round_id, [submission.team_id], since=evaluation.finished_at)


def refresh_all_rounds(session: Session, competition: Competition) -> None:
    for round_ in competition.rounds:
        refresh(session, round_.id)


def load_stale_facts(session: Session, claim: StaleClaim) -> RoundFacts | None:
    """Return what a worker computes standings from; None if it needs no functions, and all is done.

    Raises CompetitionUnavailable.
    """
    contest = Contest(session.get_one(Round, claim.round_id))
    if contest.rules.ranking.list_functions():
        return _load_complete_facts(session, contest, claim.since)
    _lock(session, claim.round_id)
    _refresh_directly(session, contest, None, BEGINNING)
    return None


def store_claimed(session: Session, claim: StaleClaim, rows: StandingRows, *, until: datetime) -> None:
    """Store what a worker has computed, unless it took too long or everything changed meanwhile."""
    _lock(session, claim.round_id)
    stale = stale_standings.lock_claim(session, claim)
    if stale is not None:
        contest = Contest(session.get_one(Round, claim.round_id))
        _replace(session, contest, rows, claim.since, until=until)
        stale_standings.finish(session, stale, until=until)


def _load_complete_facts(
    session: Session, contest: Contest, since: datetime, team_ids: Collection[UUID] | None = None
) -> RoundFacts:
    facts = load_facts(session, contest, team_ids)
    return replace(facts, releases=_complete_numbers(session, facts, since))


def compute_rows(
    facts: RoundFacts,
    since: datetime,
    *,
    until: datetime = END,
    team_ids: Collection[UUID] | None = None,
    rankers: Mapping[str, BoardRanker] | None = None,
) -> StandingRows:
    """Return the new rows between two moments, of these teams or of all.

    ``rankers`` run the ranking functions that the rules name.
    """
    rankers, ranking = rankers or {}, facts.rules.ranking
    folds: list[tuple[type[Standing | AttackStanding], BoardFold, str | None]] = [
        (Standing, fold.fold_releases, ranking.function),
        (AttackStanding, fold.fold_attacks, ranking.attack_function),
    ]
    new_rows: StandingRows = []
    for table, fold_board, function in folds:
        rank = rankers.get(function) if function is not None else None
        rows = _fold_series(facts, partial(fold_board, since=since, until=until, rank=rank))
        new_rows.append((table, [row for row in rows if team_ids is None or row["team_id"] in team_ids]))
    return new_rows


def _replace(
    session: Session,
    contest: Contest,
    new_rows: StandingRows,
    since: datetime,
    *,
    until: datetime = END,
    team_ids: Collection[UUID] | None = None,
) -> None:
    round_id = contest.round.id
    for table, rows in new_rows:
        is_affected = [table.round_id == round_id, table.at >= since, table.at < until]
        if team_ids is not None:
            is_affected.append(table.team_id.in_(team_ids))
        session.execute(delete(table).where(*is_affected))
        if rows:
            session.execute(insert(table), [{"round_id": round_id, **row} for row in rows])
    _mark_later_rounds(session, contest, since)


def _mark_later_rounds(session: Session, contest: Contest, since: datetime) -> None:
    """Leave later rounds to a worker whose functions may read the scores of this one."""
    for round_ in contest.competition.rounds if contest.round.name else ():
        if round_.position > contest.round.position and _needs_worker(round_):
            stale_standings.mark(session, round_.id, since=since)


def compute_proposed(session: Session, contest: Contest, rescore: Rescore) -> list[ReleaseStanding]:
    """Return the standings on the anonymization board that organizers would see if a rescore were applied."""
    facts = load_facts(session, contest, proposed_by=rescore)
    facts = replace(facts, releases=_complete_numbers(session, facts, BEGINNING))
    changes = fold.fold_releases(facts, Series.ALL_GUESSES)
    return list({standing.team_id: standing for _, standing in changes}.values())


def _complete_numbers(session: Session, facts: RoundFacts, since: datetime) -> list[FinishedRelease]:
    """Return the releases with all numbers of their verdicts, as far as the formula may use them.

    A formula that compares teams ranks the release of each team that has the lowest ``overall``.
    """
    ranking = facts.rules.ranking
    if ranking.rule == "score" and not ranking.list_functions():
        return list(facts.releases)
    releases = facts.releases
    if compares_teams(facts.rules) and not ranking.list_functions():
        best_ids = _list_best(facts, since)
        releases = [release for release in releases if release.submission_id in best_ids]
    numbers = verdicts.load_numbers(
        session, [release.evaluation_id for release in releases if release.numbers]
    )
    return [
        release._replace(numbers=release.numbers and numbers.get(release.evaluation_id, release.numbers))
        for release in facts.releases
    ]


def _list_best(facts: RoundFacts, since: datetime) -> set[UUID]:
    """Return the releases that may have the lowest ``overall`` of their team at a moment, or later.

    Guesses may change the order of targets. The others are the best when they come, or never.
    """
    best_ids, lowest = set(facts.targets), dict[UUID, float]()
    losses = [
        (max(release.at, since), release.numbers.overall, release)
        for release in facts.releases
        if release.numbers
    ]
    for _, loss, release in sorted(losses, key=itemgetter(0, 1)):
        if loss - lowest.get(release.team_id, loss) <= TIE_TOLERANCE:
            best_ids.add(release.submission_id)
            lowest[release.team_id] = min(loss, lowest.get(release.team_id, loss))
    return best_ids


def _fold_series(facts: RoundFacts, fold_board: BoardFold) -> Iterator[dict[str, Any]]:
    """Yield the new rows of all series. They are the same as long as there are no guesses.

    A ranking function gets the series that says least first: it could remember what it has read.
    """
    depends_on_series = facts.guesses or facts.earlier_releases or facts.earlier_attacks
    shared = None if depends_on_series else list(fold_board(facts, Series.ALL_GUESSES))
    for series in Series:
        for at, standing in fold_board(facts, series) if shared is None else shared:
            yield {"series": series, "at": at, **standing._asdict()}


def load_newest(
    session: Session, table: type[TeamStandingT], round_id: UUID, series: Series, *, before: datetime
) -> list[TeamStandingT]:
    return list(session.scalars(select_newest(table, round_id, series, before=before)))


def select_newest(
    table: type[TeamStandingT], round_id: UUID, series: Series, *, before: datetime
) -> Select[TeamStandingT]:
    """Select the standing of each team just before a moment."""
    return (
        select(table)
        .where(table.round_id == round_id, table.series == series, table.at < before)
        .ext(distinct_on(table.team_id))
        .order_by(table.team_id, table.at.desc())
    )
