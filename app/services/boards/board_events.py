"""Events that change the anonymization board, and the moment from which a viewer sees each of them."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from sqlalchemy import Select, func, or_, over, select
from sqlalchemy.orm import Session

from anoncup.rules.model import Rules
from anoncup.rules.settings import Publication
from anoncup.tracks.model import find_largest_risk
from app.db.models import Guess, State, Target, Team
from app.services.boards import effective_evaluations
from app.services.boards.effective_evaluations import FinishedEvaluation
from app.services.contests import phases, visibility
from app.services.contests.contest import Contest
from app.services.contests.visibility import BoardAccess

_JudgedGuessQuery = Select[UUID, str, UUID, float, datetime, datetime]
_MICROSECOND, _SECOND = timedelta(microseconds=1), timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class EffectiveStart:
    """An evaluation takes effect for its submission."""

    evaluation: FinishedEvaluation


@dataclass(frozen=True, slots=True)
class EffectiveEnd:
    """An evaluation is no longer in effect for its submission."""

    evaluation: FinishedEvaluation


@dataclass(frozen=True, slots=True)
class Reidentification:
    """A guess of a team found ``risk`` in a submission that is a target."""

    submission_id: UUID
    question: str
    team_id: UUID
    risk: float


@dataclass(frozen=True, slots=True)
class RuleChange:
    """The rules of the competition change."""

    rules: Rules


@dataclass(frozen=True, slots=True)
class TargetPublication:
    """The targets are published. From then on the board compares the finals."""


_BoardChange = EffectiveStart | EffectiveEnd | Reidentification | RuleChange | TargetPublication


@dataclass(frozen=True, slots=True)
class BoardEvent:
    """A change of the board. ``shown_at`` is the first full second at which the board shows it."""

    shown_at: datetime
    change: _BoardChange


@dataclass(frozen=True, slots=True)
class BoardVisibility:
    """Determines when one viewer sees a change.

    ``can_see_exact_scores`` means that changes are visible at once. ``stable_since`` is the moment from which
    the present publication settings hold; earlier boards are unknown.
    """

    can_see_exact_scores: bool
    stable_since: datetime | None
    publication: Publication
    timezone: str
    closed_at: datetime | None
    contest_end: datetime | None

    def find_last_hidden_moment(self, moment: datetime) -> datetime | None:
        """Return the last moment whose board still hides a change made at ``moment``; None if all hide it."""
        frozen_from = self.publication.frozen_from
        if not self.can_see_exact_scores and frozen_from is not None and frozen_from <= moment:
            if self.contest_end is None:
                return None
            moment = max(moment, self.contest_end - _MICROSECOND)
        return moment if self.stable_since is None else max(moment, self.stable_since)

    def find_last_hidden_moment_of_guess(self, accepted_at: datetime, judged_at: datetime) -> datetime | None:
        """Return the last moment whose board still hides a guess; None if all hide it."""
        moment = max(accepted_at, judged_at)
        if self.can_see_exact_scores or self.publication.feedback == "immediate":
            return self.find_last_hidden_moment(moment)
        candidates = [] if self.closed_at is None else [max(moment, self.closed_at - _MICROSECOND)]
        if self.publication.feedback == "daily":
            midnight = phases.find_midnights(accepted_at, self.timezone)[1]
            candidates.append(max(moment, midnight - _MICROSECOND))
        return self.find_last_hidden_moment(min(candidates)) if candidates else None


def _build_visibility(session: Session, access: BoardAccess) -> BoardVisibility:
    contest, viewer = access.contest, access.scope.viewer
    rules = contest.rules
    return BoardVisibility(
        can_see_exact_scores=visibility.can_see_exact_scores(contest.competition, viewer),
        stable_since=visibility.find_last_visibility_change(session, contest, viewer),
        publication=rules.publication,
        timezone=rules.timezone,
        closed_at=contest.competition.closed_at,
        contest_end=contest.over_at,
    )


def list_events(session: Session, access: BoardAccess) -> list[BoardEvent]:
    """Return all events that the viewer's boards show, in the order in which they show them."""
    contest, board_visibility = access.contest, _build_visibility(session, access)
    changes = [
        *_iter_rule_changes(session, contest, board_visibility),
        *_iter_evaluation_changes(session, contest, board_visibility),
    ]
    changes += _iter_guess_changes(session, contest, board_visibility)
    return sorted(
        (
            BoardEvent(_find_next_full_second(hidden_until), change)
            for hidden_until, change in changes
            if hidden_until is not None
        ),
        key=_get_shown_at,
    )


def _get_shown_at(event: BoardEvent) -> datetime:
    return event.shown_at


def _find_next_full_second(moment: datetime) -> datetime:
    """Return the first full second after ``moment``."""
    return moment.replace(microsecond=0) + _SECOND


def _iter_rule_changes(
    session: Session, contest: Contest, board_visibility: BoardVisibility
) -> Iterator[tuple[datetime | None, _BoardChange]]:
    rule_periods = effective_evaluations.list_rule_periods(session, contest)
    for (replaced_at, _), (_, rules) in itertools.pairwise(rule_periods):
        yield board_visibility.find_last_hidden_moment(replaced_at), RuleChange(rules)
    if contest.competition.published_at is not None:
        yield board_visibility.find_last_hidden_moment(contest.competition.published_at), TargetPublication()


def _iter_evaluation_changes(
    session: Session, contest: Contest, board_visibility: BoardVisibility
) -> Iterator[tuple[datetime | None, _BoardChange]]:
    for period in effective_evaluations.list_effective_periods(session, contest.competition):
        yield board_visibility.find_last_hidden_moment(period.begins_at), EffectiveStart(period.evaluation)
        if period.ends_at != visibility.UNFROZEN:
            yield board_visibility.find_last_hidden_moment(period.ends_at), EffectiveEnd(period.evaluation)


def _iter_guess_changes(
    session: Session, contest: Contest, board_visibility: BoardVisibility
) -> Iterator[tuple[datetime | None, _BoardChange]]:
    """Yield the judged guesses on finals that can change the board, each with its last hidden moment.

    Guesses of disqualified teams are left out.
    """
    largest_only = contest.track.rival_risk is find_largest_risk
    highest_by_key: dict[tuple[UUID, str, UUID | None], tuple[float, datetime]] = {}
    judged_guesses = session.execute(_select_judged_guesses(contest, largest_only=largest_only))
    for submission_id, question, team_id, risk, accepted_at, judged_at in judged_guesses:
        key = submission_id, question, None if largest_only else team_id
        highest_risk, highest_accepted_at = highest_by_key.get(key, (-1.0, accepted_at))
        if risk <= highest_risk and highest_accepted_at <= accepted_at:
            continue  # a guess with at least this risk is visible at least as early
        if risk > highest_risk:
            highest_by_key[key] = risk, accepted_at
        yield (
            board_visibility.find_last_hidden_moment_of_guess(accepted_at, judged_at),
            Reidentification(submission_id, question, team_id, risk),
        )


def _select_judged_guesses(contest: Contest, *, largest_only: bool) -> _JudgedGuessQuery:
    """Select the judged guesses on finals in the order in which they were judged, without redundant ones.

    A guess is redundant if one judged earlier found at least as much risk and none judged earlier was
    accepted later. This reduces sixty thousand guesses to a few hundred. ``largest_only`` compares the
    guesses of all teams with each other; otherwise each team's guesses are compared among themselves. Guesses
    of disqualified teams are left out.
    """
    risk = func.coalesce(Guess.risk, 0.0)
    partition = [Guess.target_id, Guess.question, *([] if largest_only else [Guess.team_id])]
    over_earlier = partial(
        over, partition_by=partition, order_by=(Guess.finished_at, Guess.id), rows=(None, -1)
    )
    guess = (
        select(
            Target.submission_id,
            Guess.question,
            Guess.team_id,
            risk.label("risk"),
            Guess.created_at,
            Guess.finished_at,
            Guess.id,
            over_earlier(func.max(risk)).label("most"),
            over_earlier(func.max(Guess.created_at)).label("latest"),
        )
        .join(Target, Target.id == Guess.target_id)
        .join(Team, Team.id == Guess.team_id)
        .where(Guess.competition_id == contest.id, Guess.state == State.SCORED)
        .where(Guess.finished_at.is_not(None), Team.disqualified_at.is_(None))
        .subquery()
        .c
    )
    is_visible_change = or_(guess.most.is_(None), guess.risk > guess.most, guess.created_at < guess.latest)
    columns = (
        guess.submission_id,
        guess.question,
        guess.team_id,
        guess.risk,
        guess.created_at,
        guess.finished_at,
    )
    return select(*columns).where(is_visible_change).order_by(guess.finished_at, guess.id)
