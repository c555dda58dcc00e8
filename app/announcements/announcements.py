"""Public announcements of the organizers and of the service."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, InvalidInput, NotFound
from app.competitions import competitions
from app.core import audit, outbox
from app.core.db.models import Announcement
from app.core.db.paging import Position, fetch_newest_first
from app.core.identity.principal import Principal
from app.core.locale.language import LANGUAGES, load_translator
from app.core.texts import is_valid_text, normalize_text

MAX_LENGTH = 4_000
_MAX_RECENT = 3
"""Number of announcements that the overview shows unfolded."""


def post(session: Session, principal: Principal, slug: str, text: dict[str, str]) -> Announcement:
    """Publish an announcement in one or more languages."""
    round_ = competitions.find_for_organizer(session, principal, slug)
    announcement = Announcement(
        competition_id=round_.competition_id, user_id=principal.user_id, text=_clean_texts(text)
    )
    session.add(announcement)
    session.flush()
    outbox.add_announcement(session, round_.competition_id, announcement.id)
    audit.record(
        session,
        principal,
        "announcement.post",
        round_.competition_id,
        subject=str(announcement.id),
        after=announcement.text,
    )
    return announcement


def _clean_texts(text: dict[str, str]) -> dict[str, str]:
    """Return the normalized texts by language; raises InvalidInput."""
    cleaned = {language: normalize_text(text.get(language, "")) for language in LANGUAGES}
    cleaned = {language: content for language, content in cleaned.items() if content}
    if not cleaned:
        raise InvalidInput("write the announcement in at least one language", code="no_text")
    for language, content in cleaned.items():
        if not is_valid_text(content, max_length=MAX_LENGTH):
            raise InvalidInput(
                "{language}: text of at most {most} characters, without control characters",
                code="announcement_text",
                language=language,
                most=MAX_LENGTH,
            )
    return cleaned


def translate(announcement: Announcement) -> dict[str, str]:
    """Return the text by language.

    Announcements of organizers exist in the languages they wrote, those of the service in all languages.
    """
    if announcement.coded_message is None:
        return announcement.text
    return {
        language: load_translator(language).translate_message(announcement.coded_message.message)
        for language in LANGUAGES
    }


def list_announcements(
    session: Session,
    principal: Principal | None,
    slug: str,
    *,
    cursor: Position | None = None,
    limit: int | None = None,
) -> Sequence[Announcement]:
    """Return the announcements of a competition, newest first."""
    round_ = competitions.find(session, principal, slug)
    query = select(Announcement).where(Announcement.competition_id == round_.competition_id)
    return fetch_newest_first(session, query, Announcement.at, Announcement.id, cursor=cursor, limit=limit)


def summarize(session: Session, principal: Principal | None, slug: str) -> dict[str, Any]:
    """Return the recent announcements, and the older ones."""
    announcements = list_announcements(session, principal, slug)
    return {"recent": announcements[:_MAX_RECENT], "older": announcements[_MAX_RECENT:]}


def withdraw(session: Session, principal: Principal, announcement_id: UUID) -> None:
    announcement = session.get(Announcement, announcement_id, with_for_update=True)
    if announcement is None or not competitions.is_organizer(session, announcement.competition_id, principal):
        raise NotFound("there is no such announcement", code="no_such_announcement")
    principal.require("organize")
    if announcement.user_id is None:
        raise Conflict(
            "announcements made by the service itself cannot be withdrawn", code="service_announcement"
        )
    principal.require_reauthentication()
    audit.record(
        session,
        principal,
        "announcement.withdraw",
        announcement.competition_id,
        subject=str(announcement.id),
        before=announcement.text,
    )
    session.delete(announcement)
