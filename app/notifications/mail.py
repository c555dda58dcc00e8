"""Mail: write its text, and record the outcome.

A code is made when its mail is written, and only its digest is stored. Mail that is sent again has another
code, and all of them work.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.header import Header
from email.mime.text import MIMEText
from email.policy import compat32
from email.utils import format_datetime, formataddr, parseaddr
from urllib.parse import urlsplit

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session, joinedload

from anoncup.errors import CompetitionUnavailable
from anoncup.messages import Message
from anoncup.rules.rounds import choose_text
from app.accounts.email_addresses import CONFIRMATION_LIFETIME
from app.accounts.models import PasswordLink
from app.announcements import announcements
from app.config import SmtpServer, get_settings
from app.core import outbox
from app.core.db.models import Announcement, Competition, Delivery, EmailAddress, Round, User
from app.core.db.transaction import read_clock
from app.core.identity import tokens
from app.core.locale.language import Translator, load_translator
from app.notifications.deliveries import DELIVERED, ClaimedDelivery, is_waiting, record_attempt

REFUSED = "refused"
"""Outcome of mail that the server will never accept."""
UNKNOWN = "unknown"
"""Outcome of mail whose whole text the server got without an answer. Sent again, it might arrive twice."""
_FINAL_OUTCOMES = (DELIVERED, REFUSED, UNKNOWN)
"""After all other outcomes mail is sent again."""
_LINK_LIFETIME = timedelta(hours=1)
_POLICY = compat32.clone(max_line_length=998)  # mail programs read List-Unsubscribe best in one line


@dataclass(frozen=True, slots=True)
class Letter:
    """Subject and text of a mail. Mail about competitions also says how to stop it."""

    subject: str
    paragraphs: tuple[str, ...]
    is_about_competition: bool = False


def has_due(session: Session) -> bool:
    is_due = is_waiting(read_clock(session)), Delivery.email_address_id.is_not(None)
    return bool(session.scalar(select(select(Delivery.id).where(*is_due).exists())))


def write(session: Session, server: SmtpServer, claimed: ClaimedDelivery) -> MIMEText | None:
    """Return the mail of a claimed delivery; None if there is nothing to send any more."""
    options = [joinedload(Delivery.email_address)]
    delivery = session.get(Delivery, claimed.delivery_id, options=options)
    if delivery is None:
        return None
    t = load_translator(delivery.email_address.language)
    try:
        letter = _WRITERS[delivery.event](session, delivery, t)
    except CompetitionUnavailable:  # nothing can be said about a file that this version cannot read
        return None
    if letter is None:
        return None
    return _build_message(server, delivery, letter, t, sent_at=read_clock(session))


def record(session: Session, claimed: ClaimedDelivery, outcome: str | None) -> None:
    """Record the outcome of an attempt, None if there was nothing to send."""
    delivery = record_attempt(session, claimed, is_final=outcome in (*_FINAL_OUTCOMES, None))
    if delivery is not None and outcome is not None:
        session.get_one(EmailAddress, delivery.email_address_id).outcome = outcome


def remove_unconfirmed(session: Session) -> None:
    """Delete addresses that nobody has confirmed in time: they may be those of strangers."""
    is_expired = EmailAddress.created_at < func.clock_timestamp() - CONFIRMATION_LIFETIME
    session.execute(delete(EmailAddress).where(EmailAddress.confirmed_at.is_(None), is_expired))


def _build_message(
    server: SmtpServer, delivery: Delivery, letter: Letter, t: Translator, *, sent_at: datetime
) -> MIMEText:
    """Return the mail.

    It is no EmailMessage, which encodes URLs of headers, loses spaces of Japanese subjects and decodes
    addresses that look encoded.
    """
    public_url = get_settings().public_url
    unsubscribe_url = f"{public_url}/email/unsubscribe?address={delivery.email_address.id}"
    paragraphs = list(letter.paragraphs)
    if letter.is_about_competition:
        paragraphs += ["-- \n" + t("To stop mail about competitions, open this page:"), unsubscribe_url]
    text = ("\n\n".join(paragraphs) + "\n").replace("\n", "\r\n")
    message = MIMEText(text, "plain", "utf-8", policy=_POLICY)
    message["From"] = formataddr(parseaddr(server.sender))
    message["To"] = delivery.email_address.address
    subject = " ".join(letter.subject.split())  # a title may have several lines
    message["Subject"] = Header(subject, "utf-8", header_name="Subject").encode()
    message["Date"] = format_datetime(sent_at)
    message["Message-ID"] = f"<{delivery.id}@{urlsplit(public_url).hostname}>"
    message["Auto-Submitted"] = "auto-generated"
    if letter.is_about_competition:
        message["List-Unsubscribe"] = f"<{unsubscribe_url}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return message


def _write_confirmation(_: Session, delivery: Delivery, t: Translator) -> Letter | None:
    """Write to an address that may be a stranger's, so nothing that a user has typed is in the mail."""
    address = delivery.email_address
    if address.confirmed_at is not None:
        return None
    code = tokens.generate_code(24)
    address.digests = [*address.digests, tokens.hash_token(code)]
    public_url = get_settings().public_url
    return Letter(
        t("Confirm your e-mail address"),
        (
            t(
                "Somebody entered this address for mail from {url}. To confirm it, open this page:",
                url=public_url,
            ),
            f"{public_url}/email?code={code}",
            t("If it was not you, ignore this mail. The address is deleted after 24 hours."),
        ),
    )


def _write_password_link(session: Session, delivery: Delivery, t: Translator) -> Letter:
    address, code = delivery.email_address, tokens.generate_code(24)
    values = {
        "user_id": address.user_id,
        "digest": tokens.hash_token(code),
        "mailed": True,
        "expires_at": func.statement_timestamp() + _LINK_LIFETIME,
    }
    # The worker may insert links but not read them, so nothing is returned.
    session.execute(insert(PasswordLink).values(values))
    name = session.scalars(select(User.name).where(User.id == address.user_id)).one()
    public_url = get_settings().public_url
    return Letter(
        t("New password"),
        (
            t(
                "Somebody asked for a new password of the account “{name}” at {url}.",
                name=name,
                url=public_url,
            ),
            t("To set it, open this page. The link works once, for 1 hour."),
            f"{public_url}/password?code={code}",
            t("If it was not you, ignore this mail. Your password stays the same."),
        ),
    )


def _write_announcement(session: Session, delivery: Delivery, t: Translator) -> Letter | None:
    announcement = session.get(Announcement, delivery.subject_id)
    if announcement is None:  # withdrawn
        return None
    competition = session.get_one(Competition, announcement.competition_id)
    text = choose_text(announcements.translate(announcement), t.language)
    title = choose_text(competition.title, t.language)
    page = f"{get_settings().public_url}/competitions/{competition.slug}"
    return Letter(t("{title}: announcement", title=title), (text, page), is_about_competition=True)


_DEADLINE_SENTENCES = {
    "anonymization": Message("The anonymization phase ends soon"),
    "reidentification": Message("The re-identification phase ends soon"),
}


def _write_deadline(session: Session, delivery: Delivery, t: Translator) -> Letter | None:
    """Write the reminder with the end as it is now; None after that, and during a pause, which moves it."""
    round_ = session.get_one(Round, delivery.subject_id)
    timetable = round_.timetable
    phase = timetable.phase(delivery.phase or "")
    is_over = phase is None or phase.end <= read_clock(session) or round_.paused_at is not None
    if is_over or phase is None or round_.removed_at is not None:
        return None
    sentence = t.translate_message(_DEADLINE_SENTENCES[phase.name])
    end = phase.end.astimezone(timetable.zone)
    return Letter(
        t(
            "{title}: {text}",
            title=choose_text(round_.competition.title, t.language),
            text=sentence,
        ),
        (
            t("It ends at {time} ({zone}).", time=f"{end:%Y-%m-%d %H:%M}", zone=timetable.zone.key),
            f"{get_settings().public_url}/competitions/{round_.address}",
        ),
        is_about_competition=True,
    )


_WRITERS: Mapping[str, Callable[[Session, Delivery, Translator], Letter | None]] = {
    outbox.CONFIRMATION: _write_confirmation,
    outbox.PASSWORD_LINK: _write_password_link,
    outbox.ANNOUNCEMENT: _write_announcement,
    outbox.DEADLINE: _write_deadline,
}
