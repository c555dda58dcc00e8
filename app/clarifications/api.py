"""Routes of the teams' questions to the organizers, and of their answers."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import BaseModel, ConfigDict, Field

from anoncup.schemas.fields import example
from app.clarifications import clarifications, schemas
from app.core.db.transaction import transaction
from app.core.http.paging import RequestedPage
from app.core.identity.authentication import CurrentPrincipal, OptionalPrincipal

router = APIRouter(tags=["clarifications"])

_ClarificationText = Annotated[str, Field(max_length=clarifications.MAX_LENGTH)]


class ClarificationIn(BaseModel):
    """Your team's question. It is plain text; line breaks are kept."""

    model_config = ConfigDict(extra="forbid")

    question: Annotated[_ClarificationText, example("May a release have fewer rows than the original?")]


class AnswerIn(BaseModel):
    """The organizers' answer."""

    model_config = ConfigDict(extra="forbid")

    answer: Annotated[
        _ClarificationText, example("Yes, at least half as many. The rules page states the limit.")
    ]
    public: Annotated[
        bool,
        Field(description="whether everybody can read question and answer, without the name of the team"),
    ] = False


@router.get("/competitions/{slug}/clarifications")
def list_clarifications(
    slug: str, principal: OptionalPrincipal, page: RequestedPage
) -> Sequence[schemas.Clarification]:
    """List clarifications, newest first.

    Organizers see all; others see public ones and those of their team.
    """
    with transaction() as session:
        rows = clarifications.list_clarifications(
            session, principal, slug, cursor=page.position, limit=page.fetch_limit
        )
    return page.take_page(rows, lambda last: (last.asked_at, last.id))


@router.post("/competitions/{slug}/clarifications", status_code=status.HTTP_201_CREATED)
def ask_for_clarification(
    slug: str, principal: CurrentPrincipal, body: ClarificationIn
) -> schemas.Clarification:
    """Ask the organizers a question in your team's name. They and your team can read it."""
    with transaction() as session:
        return clarifications.ask(session, principal, slug, body.question)


@router.put("/clarifications/{clarification_id}/answer")
def answer_clarification(
    clarification_id: UUID, principal: CurrentPrincipal, body: AnswerIn
) -> schemas.Clarification:
    """Publish or replace the answer, to the team or to everybody. For organizers."""
    with transaction() as session:
        return clarifications.answer(session, principal, clarification_id, body.answer, public=body.public)
