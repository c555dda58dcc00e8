"""Announcements: everybody reads them, the organizers write them."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import BaseModel, ConfigDict, Field

from anoncup import schemas
from anoncup.schemas.fields import example
from app.api.documentation.responses import ORGANIZER, refusing
from app.db.models import Announcement
from app.db.transaction import transaction
from app.http.authentication import MaybeSignedIn, SignedIn
from app.http.paging import AskedPage, place_of
from app.http.step_up import Confirming
from app.services.contests import announcements

router = APIRouter(tags=["announcements"])

Words = Annotated[str | None, Field(max_length=announcements.LONGEST)]


class Text(BaseModel):
    """What is said, in one language or in both."""

    model_config = ConfigDict(extra="forbid")

    en: Annotated[Words, example("The deadline moves by a day.")] = None
    ja: Annotated[Words, example("締切を一日延ばします。")] = None


class AnnouncementIn(BaseModel):
    """An announcement to make; it is plain text, and its line breaks are kept."""

    text: Text


@router.post(
    "/competitions/{slug}/announcements",
    status_code=status.HTTP_201_CREATED,
    responses=refusing(ORGANIZER, "no_text announcement_text"),
)
def post_announcement(slug: str, principal: SignedIn, body: AnnouncementIn) -> schemas.Announcement:
    """Tell everybody something, as an organizer."""
    with transaction() as session:
        text = body.text.model_dump(exclude_none=True)
        return out(announcements.post(session, principal, slug, text))


@router.get("/competitions/{slug}/announcements")
def list_announcements(slug: str, principal: MaybeSignedIn, page: AskedPage) -> list[schemas.Announcement]:
    """What the organizers have said, newest first."""
    after = place_of(page.cursor, datetime.fromisoformat, UUID)
    with transaction() as session:
        found = announcements.listed(session, principal, slug, after=after, limit=page.wanted)
    return [out(one) for one in page.cut(found, lambda last: (last.at, last.id))]


@router.delete(
    "/announcements/{announcement_id}",
    status_code=status.HTTP_204_NO_CONTENT,
    responses=refusing(ORGANIZER, "service_announcement"),
)
def withdraw_announcement(announcement_id: UUID, principal: Confirming) -> None:
    """Take an announcement back; the audit log keeps it."""
    with transaction() as session:
        announcements.withdraw(session, principal, announcement_id)


def out(said: Announcement) -> schemas.Announcement:
    service = said.said
    return schemas.Announcement(
        id=said.id,
        at=said.at,
        text=announcements.texts(said),
        code=service.code if service else None,
        values=service.message.plain() if service else None,
    )
