"""What teams ask the organizers about the contest, and the answers: to the team alone, or to everybody."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, or_, select, tuple_
from sqlalchemy.orm import Session, joinedload

from anoncup.errors import Conflict, InvalidInput, NotFound
from app.db.models import Clarification
from app.db.now import clock
from app.services.accounts import audit, memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, visibility
from app.services.contests.announcements import readable, tidy
from app.services.contests.visibility import Audience

WITH_TEAM = joinedload(Clarification.team, innerjoin=True)
LONGEST = 2_000
MOST_OPEN = 10
"""Questions of a team that wait for an answer at a time."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as one person may read it; ``own``: their team's; ``team``: who asked, if they may know."""

    one: Clarification
    own: bool
    team: str | None


def ask(session: Session, principal: Principal, slug: str, question: str) -> Asked:
    """In the team's name; a disqualified team may ask, too."""
    principal.require("submit")
    contest = competitions.find(session, principal, slug)
    team = memberships.require_team(session, contest.id, principal, locked=True)
    waits = select(func.count()).where(Clarification.team_id == team.id, Clarification.answer.is_(None))
    if session.scalars(waits).one() >= MOST_OPEN:
        raise Conflict(
            "{most} questions of your team are waiting for an answer: ask again when they have been answered",
            code="questions_wait",
            most=MOST_OPEN,
        )
    asked = Clarification(
        competition_id=contest.id, team=team, user_id=principal.user_id, question=clean(question)
    )
    session.add(asked)
    session.flush()
    return Asked(asked, own=True, team=team.name)


def clean(text: str) -> str:
    kept = tidy(text)
    if not kept or not readable(kept, most=LONGEST):
        raise InvalidInput(
            "a text of 1 to {most} characters, without control characters, is needed",
            code="clarification_text",
            most=LONGEST,
        )
    return kept


def answer(
    session: Session, principal: Principal, clarification_id: UUID, text: str, *, public: bool
) -> Asked:
    """As an organizer; anew, if there is an answer. ``public``: everybody reads both, not who asked."""
    found = session.get(
        Clarification, clarification_id, with_for_update={"of": Clarification}, options=[WITH_TEAM]
    )
    if found is None or not competitions.is_known(session, principal, found.competition_id):
        raise NotFound("there is no such question", code="no_such_clarification")
    competitions.require_organizer(session, found.competition_id, principal)
    before = {"answer": found.answer, "public": found.public}
    found.answer, found.public = clean(text), public
    found.answered_at = clock(session)
    audit.record(
        session,
        principal,
        "clarification.answer",
        competition_id=found.competition_id,
        subject=str(found.id),
        before=before if before["answer"] is not None else None,
        after={"answer": found.answer, "public": public},
    )
    session.flush()
    return Asked(found, own=False, team=found.team.name)


def listed(
    session: Session,
    principal: Principal | None,
    slug: str,
    *,
    after: tuple[datetime, UUID] | None = None,
    limit: int | None = None,
) -> list[Asked]:
    """What this person may read, newest first: organizers all, others their own team's and what is public."""
    contest = competitions.find(session, principal, slug)
    viewer = visibility.audience(session, contest.row, principal)
    query = select(Clarification).where(Clarification.competition_id == contest.id)
    if not viewer.organizer:
        query = query.where(or_(Clarification.public, Clarification.team_id == viewer.team_id))
    if after is not None:
        query = query.where(tuple_(Clarification.asked_at, Clarification.id) < tuple_(*after))
    newest = query.order_by(Clarification.asked_at.desc(), Clarification.id.desc())
    found = session.scalars(newest.options(WITH_TEAM).limit(limit))
    return [seen(one, viewer) for one in found]


def for_everybody(session: Session, principal: Principal | None, slug: str, *, limit: int) -> list[Asked]:
    """What was answered to everybody as everybody reads it, the latest answer first."""
    contest = competitions.find(session, principal, slug)
    open_ones = Clarification.competition_id == contest.id, Clarification.public
    answered = select(Clarification).where(*open_ones, Clarification.answered_at.is_not(None))
    newest = answered.order_by(Clarification.answered_at.desc(), Clarification.id.desc())
    return [Asked(one, own=False, team=None) for one in session.scalars(newest.limit(limit))]


def seen(one: Clarification, viewer: Audience) -> Asked:
    own = one.team_id == viewer.team_id
    return Asked(one, own=own, team=one.team.name if own or viewer.organizer else None)


def unanswered(session: Session, competition_id: UUID) -> int:
    """How many wait for the organizers."""
    open_ones = Clarification.competition_id == competition_id, Clarification.answer.is_(None)
    return session.scalars(select(func.count()).where(*open_ones)).one()
