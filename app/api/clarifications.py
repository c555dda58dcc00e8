"""What teams ask the organizers, and what these answer."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import BaseModel, ConfigDict, Field

from anoncup import schemas
from anoncup.schemas.fields import example
from app.api.documentation.responses import ORGANIZER, TEAM, refusing
from app.db.transaction import transaction
from app.http.authentication import MaybeSignedIn, SignedIn
from app.http.paging import AskedPage, place_of
from app.services.contests import clarifications
from app.services.contests.clarifications import Asked

router = APIRouter(tags=["clarifications"])

Words = Annotated[str, Field(max_length=clarifications.LONGEST)]


class QuestionIn(BaseModel):
    """What your team wants to know; plain text, and its line breaks are kept."""

    model_config = ConfigDict(extra="forbid")

    question: Annotated[Words, example("May a release have fewer rows than the original?")]


class AnswerIn(BaseModel):
    """What the organizers say to it."""

    model_config = ConfigDict(extra="forbid")

    answer: Annotated[Words, example("Yes: see the rules, Accepted.")]
    public: Annotated[bool, Field(description="everybody reads question and answer, not who asked")] = False


@router.get("/competitions/{slug}/clarifications")
def list_clarifications(slug: str, principal: MaybeSignedIn, page: AskedPage) -> list[schemas.Clarification]:
    """What was asked, newest first: for organizers all, others read what is public and their team's."""
    after = place_of(page.cursor, datetime.fromisoformat, UUID)
    with transaction() as session:
        found = clarifications.listed(session, principal, slug, after=after, limit=page.wanted)
    return [out(each) for each in page.cut(found, lambda last: (last.one.asked_at, last.one.id))]


@router.post(
    "/competitions/{slug}/clarifications",
    status_code=status.HTTP_201_CREATED,
    responses=refusing(TEAM, "clarification_text questions_wait"),
)
def ask_for_clarification(slug: str, principal: SignedIn, body: QuestionIn) -> schemas.Clarification:
    """Ask the organizers, in your team's name. They and your team read it."""
    with transaction() as session:
        return out(clarifications.ask(session, principal, slug, body.question))


@router.put("/clarifications/{clarification_id}/answer", responses=refusing(ORGANIZER, "clarification_text"))
def answer_clarification(
    clarification_id: UUID, principal: SignedIn, body: AnswerIn
) -> schemas.Clarification:
    """Answer a team, or everybody; anew, if there is an answer already. For organizers."""
    with transaction() as session:
        return out(
            clarifications.answer(session, principal, clarification_id, body.answer, public=body.public)
        )


def out(asked: Asked) -> schemas.Clarification:
    one = asked.one
    return schemas.Clarification(
        id=one.id,
        asked_at=one.asked_at,
        question=one.question,
        answer=one.answer,
        answered_at=one.answered_at,
        public=one.public,
        own=asked.own,
        team=asked.team,
    )
