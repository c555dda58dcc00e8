"""Routes of announcements: everybody reads them, organizers write them."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import BaseModel, ConfigDict, Field

from anoncup import schemas
from anoncup.schemas.fields import example
from app.accounts.step_up import ReauthenticatedCaller
from app.announcements import announcements
from app.core.db.models import Announcement
from app.core.db.transaction import transaction
from app.core.http.paging import RequestedPage
from app.core.identity.authentication import CurrentPrincipal, OptionalPrincipal

router = APIRouter(tags=["announcements"])

_AnnouncementText = Annotated[str | None, Field(max_length=announcements.MAX_LENGTH)]


class Text(BaseModel):
    """A text in one language or both."""

    model_config = ConfigDict(extra="forbid")

    en: Annotated[_AnnouncementText, example("The deadline moves by a day.")] = None
    ja: Annotated[_AnnouncementText, example("締切を一日延ばします。")] = None


class AnnouncementIn(BaseModel):
    """A new announcement. It is plain text; line breaks are kept."""

    text: Text


@router.post("/competitions/{slug}/announcements", status_code=status.HTTP_201_CREATED)
def post_announcement(slug: str, principal: CurrentPrincipal, body: AnnouncementIn) -> schemas.Announcement:
    """Publish an announcement. For organizers."""
    with transaction() as session:
        text = body.text.model_dump(exclude_none=True)
        return _serialize_announcement(announcements.post(session, principal, slug, text))


@router.get("/competitions/{slug}/announcements")
def list_announcements(
    slug: str, principal: OptionalPrincipal, page: RequestedPage
) -> list[schemas.Announcement]:
    """List the announcements, newest first."""
    with transaction() as session:
        rows = announcements.list_announcements(
            session, principal, slug, cursor=page.position, limit=page.fetch_limit
        )
    return [_serialize_announcement(row) for row in page.take_page(rows, lambda last: (last.at, last.id))]


@router.delete("/announcements/{announcement_id}", status_code=status.HTTP_204_NO_CONTENT)
def withdraw_announcement(announcement_id: UUID, principal: ReauthenticatedCaller) -> None:
    """Withdraw an announcement. The audit log keeps it."""
    with transaction() as session:
        announcements.withdraw(session, principal, announcement_id)


def _serialize_announcement(announcement: Announcement) -> schemas.Announcement:
    service_notice = announcement.coded_message
    return schemas.Announcement.from_row(
        announcement,
        text=announcements.translate(announcement),
        code=service_notice.code if service_notice else None,
        values=service_notice.message.render_values_in_english() if service_notice else None,
    )
