"""Questions of teams to the organizers, with answers that are private to the team or public."""

from typing import Any
from uuid import UUID

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session, joinedload

from anoncup.errors import Conflict, InvalidInput, NotFound
from app.clarifications import schemas
from app.clarifications.models import Clarification
from app.competitions import competitions, visibility
from app.core import audit
from app.core.db.paging import Position, fetch_newest_first
from app.core.db.transaction import read_clock
from app.core.identity.principal import Principal
from app.core.texts import is_valid_text, normalize_text

_WITH_TEAM = joinedload(Clarification.team)
MAX_LENGTH = 2_000
_MAX_ANSWERS = 2
"""Number of public answers on the overview; the page of the questions shows all."""
MAX_UNANSWERED = 10
"""Maximum number of unanswered questions per team."""


def ask(session: Session, principal: Principal, slug: str, question: str) -> schemas.Clarification:
    """Ask a question on behalf of the person's team; disqualified teams may ask, too."""
    round_, team = competitions.find_for_member(session, principal, slug, scope="submit", for_update=True)
    open_query = select(func.count()).where(Clarification.team_id == team.id, Clarification.answer.is_(None))
    if session.scalars(open_query).one() >= MAX_UNANSWERED:
        raise Conflict(
            "{most} questions of your team are waiting for an answer: ask again when they have been answered",
            code="questions_wait",
            most=MAX_UNANSWERED,
        )
    clarification = Clarification(
        competition_id=round_.competition_id,
        team=team,
        user_id=principal.user_id,
        question=_clean_text(question),
    )
    session.add(clarification)
    session.flush()
    return _mask_clarification(clarification, team_id=team.id)


def _clean_text(text: str) -> str:
    cleaned = normalize_text(text)
    if not cleaned or not is_valid_text(cleaned, max_length=MAX_LENGTH):
        raise InvalidInput(
            "a text of 1 to {most} characters, without control characters, is needed",
            code="clarification_text",
            most=MAX_LENGTH,
        )
    return cleaned


def answer(
    session: Session, principal: Principal, clarification_id: UUID, text: str, *, public: bool
) -> schemas.Clarification:
    """Answer a question as an organizer, or replace its answer.

    ``public``: everybody can read the question and the answer, but not who asked.
    """
    clarification = session.get(
        Clarification, clarification_id, with_for_update={"of": Clarification}, options=[_WITH_TEAM]
    )
    if clarification is None:
        raise NotFound("there is no such question", code="no_such_clarification")
    competitions.require_organizer(session, clarification.competition_id, principal)
    previous = {"answer": clarification.answer, "public": clarification.public}
    clarification.answer, clarification.public = _clean_text(text), public
    clarification.answered_at = read_clock(session)
    audit.record(
        session,
        principal,
        "clarification.answer",
        clarification.competition_id,
        subject=str(clarification.id),
        before=previous if previous["answer"] is not None else None,
        after={"answer": clarification.answer, "public": public},
    )
    session.flush()
    return _mask_clarification(clarification, is_organizer=True)


def list_clarifications(
    session: Session,
    principal: Principal | None,
    slug: str,
    *,
    cursor: Position | None = None,
    limit: int | None = None,
) -> list[schemas.Clarification]:
    """Return the clarifications that this person may read, newest first.

    Organizers see all of them, others those of their own team and the public ones.
    """
    round_ = competitions.find(session, principal, slug)
    viewer = visibility.load_viewer(session, round_.competition, principal)
    query = (
        select(Clarification).where(Clarification.competition_id == round_.competition_id).options(_WITH_TEAM)
    )
    if not viewer.is_organizer:
        is_own = and_(Clarification.team_id.is_not(None), Clarification.team_id == viewer.team_id)
        query = query.where(or_(Clarification.public, is_own))
    rows = fetch_newest_first(
        session, query, Clarification.asked_at, Clarification.id, cursor=cursor, limit=limit
    )
    return [
        _mask_clarification(row, team_id=viewer.team_id, is_organizer=viewer.is_organizer) for row in rows
    ]


def summarize(session: Session, principal: Principal | None, slug: str) -> dict[str, Any]:
    """Return the latest public answers, and the number of answers that this person may read."""
    questions = list_clarifications(session, principal, slug)
    return {
        "answers": list_public_answers(session, principal, slug, limit=_MAX_ANSWERS),
        "answered": sum(question.answer is not None for question in questions),
    }


def list_public_answers(
    session: Session, principal: Principal | None, slug: str, *, limit: int
) -> list[schemas.Clarification]:
    """Return the public answers as visitors see them, latest answer first."""
    round_ = competitions.find(session, principal, slug)
    conditions = Clarification.competition_id == round_.competition_id, Clarification.public
    query = select(Clarification).where(*conditions, Clarification.answered_at.is_not(None))
    ordered_query = query.order_by(Clarification.answered_at.desc(), Clarification.id.desc())
    return [_mask_clarification(row) for row in session.scalars(ordered_query.limit(limit))]


def _mask_clarification(
    row: Clarification, *, team_id: UUID | None = None, is_organizer: bool = False
) -> schemas.Clarification:
    """Return a clarification without the name of the team, unless the reader is of it or an organizer."""
    is_own = row.team_id is not None and row.team_id == team_id
    team = row.team.name if (is_own or is_organizer) and row.team else None
    return schemas.Clarification.from_row(row, own=is_own, team=team)


def count_unanswered(session: Session, competition_id: UUID) -> int:
    """Count the questions that have no answer yet."""
    conditions = Clarification.competition_id == competition_id, Clarification.answer.is_(None)
    return session.scalars(select(func.count()).where(*conditions)).one()
