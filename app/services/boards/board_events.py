"""What happens to the anonymization board, and when it can be seen there."""

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
from anoncup.tracks.model import largest
from app.db.models import Guess, State, Target, Team
from app.services.boards import effective_evaluations
from app.services.boards.effective_evaluations import Finished
from app.services.contests import phases, visibility
from app.services.contests.contest import Contest
from app.services.contests.visibility import Sight

Judged = Select[UUID, str, UUID, float, datetime, datetime]
TINY, SECOND = timedelta(microseconds=1), timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Begins:
    """An evaluation stands for its submission."""

    finished: Finished


@dataclass(frozen=True, slots=True)
class Ends:
    """It does no longer."""

    finished: Finished


@dataclass(frozen=True, slots=True)
class Found:
    """A team has found that much in a submission that is a target."""

    submission: UUID
    question: str
    team: UUID
    risk: float


@dataclass(frozen=True, slots=True)
class Replaced:
    """The rules are others."""

    rules: Rules


@dataclass(frozen=True, slots=True)
class Published:
    """From now on finals are compared."""


What = Begins | Ends | Found | Replaced | Published


@dataclass(frozen=True, slots=True)
class Happening:
    """``shown_at``: the first full second whose board shows it."""

    shown_at: datetime
    what: What


@dataclass(frozen=True, slots=True)
class Showing:
    """When an audience sees what happens. ``exact``: at once. ``since``: nothing is known before."""

    exact: bool
    since: datetime | None
    publication: Publication
    timezone: str
    closed: datetime | None
    over: datetime | None

    def board(self, at: datetime) -> datetime | None:
        """Of what would be shown after ``at``: the last moment that does not show it; None: none does."""
        frozen_from = self.publication.frozen_from
        if not self.exact and frozen_from is not None and frozen_from <= at:
            if self.over is None:
                return None
            at = max(at, self.over - TINY)
        return at if self.since is None else max(at, self.since)

    def guess(self, accepted: datetime, judged: datetime) -> datetime | None:
        """The same of a guess."""
        at = max(accepted, judged)
        if self.exact or self.publication.feedback == "immediate":
            return self.board(at)
        shown = [] if self.closed is None else [max(at, self.closed - TINY)]
        if self.publication.feedback == "daily":
            midnight = phases.midnights(accepted, self.timezone)[1]
            shown.append(max(at, midnight - TINY))
        return self.board(min(shown)) if shown else None


def showing_to(session: Session, sight: Sight) -> Showing:
    contest, viewer = sight.contest, sight.view.audience
    rules = contest.rules
    return Showing(
        exact=visibility.is_exact(contest.row, viewer),
        since=visibility.alike_since(session, contest, viewer),
        publication=rules.publication,
        timezone=rules.timezone,
        closed=contest.row.closed_at,
        over=contest.over_at,
    )


def happenings(session: Session, sight: Sight) -> list[Happening]:
    """All that the audience's boards show, in the order in which they do."""
    contest, showing = sight.contest, showing_to(session, sight)
    found = [*of_rules(session, contest, showing), *of_scores(session, contest, showing)]
    found += of_guesses(session, contest, showing)
    return sorted((Happening(second(at), what) for at, what in found if at is not None), key=when)


def when(one: Happening) -> datetime:
    return one.shown_at


def second(at: datetime) -> datetime:
    """The first full second after."""
    return at.replace(microsecond=0) + SECOND


def of_rules(session: Session, contest: Contest, showing: Showing) -> Iterator[tuple[datetime | None, What]]:
    eras = effective_evaluations.eras(session, contest)
    for (at, _), (_, rules) in itertools.pairwise(eras):
        yield showing.board(at), Replaced(rules)
    if contest.row.published_at is not None:
        yield showing.board(contest.row.published_at), Published()


def of_scores(session: Session, contest: Contest, showing: Showing) -> Iterator[tuple[datetime | None, What]]:
    for stay in effective_evaluations.stays(session, contest.row):
        yield showing.board(stay.begins), Begins(stay.finished)
        if stay.ends != visibility.ALWAYS:
            yield showing.board(stay.ends), Ends(stay.finished)


def of_guesses(
    session: Session, contest: Contest, showing: Showing
) -> Iterator[tuple[datetime | None, What]]:
    """Judged ones on finals, of teams that are not disqualified."""
    largest_only = contest.track.rivals is largest
    most: dict[tuple[UUID, str, UUID | None], tuple[float, datetime]] = {}
    judged = session.execute(judged_on_finals(contest, largest_only=largest_only))
    for submission, question, team, risk, accepted, ended in judged:
        key = submission, question, None if largest_only else team
        known, since = most.get(key, (-1.0, accepted))
        if risk <= known and since <= accepted:
            continue  # what found no less is seen no later
        if risk > known:
            most[key] = risk, accepted
        yield showing.guess(accepted, ended), Found(submission, question, team, risk)


def judged_on_finals(contest: Contest, *, largest_only: bool) -> Judged:
    """In the order of their ends, without most of those that tell nothing: another that ended before found as
    much, and none of these was accepted later. Of sixty thousand that leaves a few hundred.

    ``largest_only``: all teams are compared, else each with itself.
    """
    risk = func.coalesce(Guess.risk, 0.0)
    among = [Guess.target_id, Guess.question, *([] if largest_only else [Guess.team_id])]
    before = partial(over, partition_by=among, order_by=(Guess.finished_at, Guess.id), rows=(None, -1))
    found = (
        select(
            Target.submission_id,
            Guess.question,
            Guess.team_id,
            risk.label("risk"),
            Guess.created_at,
            Guess.finished_at,
            Guess.id,
            before(func.max(risk)).label("most"),
            before(func.max(Guess.created_at)).label("latest"),
        )
        .join(Target, Target.id == Guess.target_id)
        .join(Team, Team.id == Guess.team_id)
        .where(Guess.competition_id == contest.id, Guess.state == State.SCORED)
        .where(Guess.finished_at.is_not(None), Team.disqualified_at.is_(None))
        .subquery()
        .c
    )
    tells = or_(found.most.is_(None), found.risk > found.most, found.created_at < found.latest)
    columns = (
        found.submission_id,
        found.question,
        found.team_id,
        found.risk,
        found.created_at,
        found.finished_at,
    )
    return select(*columns).where(tells).order_by(found.finished_at, found.id)
