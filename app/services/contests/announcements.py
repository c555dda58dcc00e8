"""What the organizers tell everybody."""

import unicodedata
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import select, tuple_
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, InvalidInput, NotFound
from app.db.models import Announcement
from app.locale.language import LANGUAGES, in_language
from app.services.accounts import audit
from app.services.accounts.accounts import Principal
from app.services.contests import competitions

LONGEST = 4_000


def post(session: Session, principal: Principal, slug: str, text: dict[str, str]) -> Announcement:
    """Say something in one language or in both."""
    contest = competitions.for_organizer(session, principal, slug)
    said = Announcement(competition_id=contest.id, user_id=principal.user_id, text=clean(text))
    session.add(said)
    session.flush()
    audit.record(
        session,
        principal,
        "announcement.post",
        competition_id=contest.id,
        subject=str(said.id),
        after=said.text,
    )
    return said


def clean(text: dict[str, str]) -> dict[str, str]:
    """The text as it is kept, by language."""
    kept = {language: tidy(text.get(language, "")) for language in LANGUAGES}
    kept = {language: said for language, said in kept.items() if said}
    if not kept:
        raise InvalidInput("write the announcement in at least one language", code="no_text")
    for language, said in kept.items():
        if not readable(said, most=LONGEST):
            raise InvalidInput(
                "{language}: text of at most {most} characters, without control characters",
                code="announcement_text",
                language=language,
                most=LONGEST,
            )
    return kept


def texts(said: Announcement) -> dict[str, str]:
    """By language: as people wrote it, or as the service says it in all that there are."""
    if said.said is None:
        return said.text
    return {language: in_language(language).say(said.said.message) for language in LANGUAGES}


def tidy(text: str) -> str:
    """As it is kept: line ends as line feeds, nothing around it."""
    return "\n".join(text.split("\r\n")).strip()


def readable(text: str, *, most: int) -> bool:
    """Short enough, and nothing invisible in it that breaks a page."""
    return len(text) <= most and not any(map(breaks, text))


def breaks(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs"} and character not in "\n\t"


def listed(
    session: Session,
    principal: Principal | None,
    slug: str,
    *,
    after: tuple[datetime, UUID] | None = None,
    limit: int | None = None,
) -> Sequence[Announcement]:
    """For everybody, newest first."""
    contest = competitions.find(session, principal, slug)
    query = select(Announcement).where(Announcement.competition_id == contest.id)
    if after is not None:
        query = query.where(tuple_(Announcement.at, Announcement.id) < tuple_(*after))
    return session.scalars(query.order_by(Announcement.at.desc(), Announcement.id.desc()).limit(limit)).all()


def withdraw(session: Session, principal: Principal, announcement_id: UUID) -> None:
    said = session.get(Announcement, announcement_id, with_for_update=True)
    if said is None or not competitions.is_known(session, principal, said.competition_id):
        raise NotFound("there is no such announcement", code="no_such_announcement")
    competitions.require_organizer(session, said.competition_id, principal)
    if said.user_id is None:
        raise Conflict(
            "announcements made by the service itself cannot be withdrawn", code="service_announcement"
        )
    principal.require_confirmed()
    audit.record(
        session,
        principal,
        "announcement.withdraw",
        competition_id=said.competition_id,
        subject=str(said.id),
        before=said.text,
    )
    session.delete(said)
