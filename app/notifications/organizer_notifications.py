"""Notifications of organizers: URLs of apprise that an administrator sets, and the texts that are sent there.

URLs contain secrets, such as the key of a chat. They are not shown, logged or exported.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.orm import Session, joinedload, undefer

from anoncup.errors import InvalidInput, NotFound
from anoncup.messages import Message
from anoncup.rules.rounds import choose_text
from app.announcements import announcements
from app.config import get_settings
from app.core import outbox
from app.core.db.models import Announcement, Competition, Delivery, NotificationUrl, Round
from app.core.locale.language import ENGLISH, LANGUAGES, Translator, load_translator
from app.notifications.deliveries import ClaimedDelivery


@dataclass(frozen=True, slots=True)
class Notification:
    """A text for one URL."""

    url: str
    title: str
    body: str


_PHASE_SENTENCES = {
    ("started", "anonymization"): Message("The anonymization phase has begun."),
    ("started", "reidentification"): Message("The re-identification phase has begun."),
    ("paused", None): Message("The competition is paused."),
    ("resumed", None): Message("The competition goes on. All later starts and ends have moved."),
    ("moved", None): Message("The end of a phase has moved."),
    ("finals_frozen", None): Message("The finals are fixed."),
    ("targets_published", None): Message("The targets are published."),
    ("closed", None): Message("The competition has closed, and all scores are visible."),
    ("revealed", None): Message("The secrets are revealed."),
}


def set_urls(session: Session, slug: str, urls: Sequence[str]) -> list[str]:
    """Replace the URLs of a competition, and return the names of their services."""
    competition = session.scalar(select(Competition).where(Competition.slug == slug).with_for_update())
    if competition is None:
        raise NotFound("there is no competition {name!r}", code="no_such_competition", name=slug[:63])
    services = [_get_service_name(url, position) for position, url in enumerate(urls, start=1)]
    session.execute(delete(NotificationUrl).where(NotificationUrl.competition_id == competition.id))
    session.add_all(NotificationUrl(competition_id=competition.id, url=url) for url in urls)
    return services


def _get_service_name(url: str, position: int) -> str:
    import apprise  # only this command needs it  # noqa: PLC0415

    logging.getLogger("apprise").disabled = True  # it logs parts of the URL
    service = apprise.Apprise.instantiate(url) if url.isprintable() else None
    if service is None:
        raise InvalidInput(
            "URL {position} is none that apprise knows, such as {example}",
            position=position,
            example="slack://TokenA/TokenB/TokenC/#channel",
        )
    return str(service.service_name)


def write(session: Session, claimed: ClaimedDelivery) -> Notification | None:
    """Return the notification of a claimed delivery; None if there is nothing to send any more."""
    with_url = joinedload(Delivery.notification_url).options(undefer(NotificationUrl.url))
    delivery = session.get(Delivery, claimed.delivery_id, options=[with_url])
    if delivery is None:
        return None
    competition = session.get_one(Competition, delivery.notification_url.competition_id)
    titles = competition.title
    t = load_translator(next((language for language in titles if language in LANGUAGES), ENGLISH))
    text = _write_text(session, delivery, t)
    if text is None:
        return None
    page = f"{get_settings().public_url}/competitions/{competition.slug}"
    return Notification(delivery.notification_url.url, choose_text(titles, t.language), f"{text}\n{page}")


def _write_text(session: Session, delivery: Delivery, t: Translator) -> str | None:
    """Return the text; None if the announcement is withdrawn or the round is removed."""
    if delivery.event == outbox.ANNOUNCEMENT:
        announcement = session.get(Announcement, delivery.subject_id)
        if announcement is None:
            return None
        return choose_text(announcements.translate(announcement), t.language)
    if session.get_one(Round, delivery.subject_id).removed_at is not None:
        return None
    change = delivery.change or ""
    sentence = _PHASE_SENTENCES.get((change, delivery.phase)) or _PHASE_SENTENCES[change, None]
    return t.translate_message(sentence)
