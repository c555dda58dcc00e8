"""The process that sends the events of the outbox. It reads the database every second and needs no queue.

Killing it at any point loses nothing. It has no private key, since it talks to other servers.

usage: python -m workers.deliver
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from threading import Thread
from typing import NoReturn
from uuid import UUID

import structlog
from sqlalchemy.orm import InstrumentedAttribute, Session

from anoncup.errors import DomainError, Unavailable
from app.config import SmtpServer, get_settings
from app.core import logs
from app.core.db.models import Delivery
from app.core.db.privileges import warn_if_overprivileged
from app.core.db.transaction import transaction
from app.notifications import deliveries, mail, organizer_notifications
from app.notifications.deliveries import ClaimedDelivery
from workers import mail_sender, notification_sender

log = structlog.get_logger(__name__)

_POLL_INTERVAL_S = 1.0
_MAX_PAUSE_S = 60.0
_CLEANUP_INTERVAL_S = 3600.0


def send_due_notifications() -> int:
    """Send the notifications of organizers that are due, one after another, and return the number."""
    count = 0
    while claimed := _claim(Delivery.notification_url_id):
        count += 1
        _send_notification(claimed)
    return count


def _claim(receiver_id: InstrumentedAttribute[UUID | None]) -> ClaimedDelivery | None:
    """Claim the next event to receivers of a kind."""
    with transaction() as session:
        return deliveries.claim_next(session, receiver_id)


def _send_notification(claimed: ClaimedDelivery) -> None:
    """Send a notification and record the outcome. One that cannot be written is logged and stays claimed."""
    try:
        with transaction() as session:
            notification = organizer_notifications.write(session, claimed)
    except Exception:
        log.exception("notification_not_written", id=str(claimed.delivery_id))
        return
    is_sent = notification is None or notification_sender.send(**asdict(notification))
    with transaction() as session:
        deliveries.record_attempt(session, claimed, is_final=is_sent)
    log.info("notification_attempted", id=str(claimed.delivery_id), attempt=claimed.attempt, sent=is_sent)


def send_due_mail() -> int:
    """Send the mail that is due, one after another, and return the number.

    None is claimed before the server can be used, so that its failures use up no attempts. A process that is
    killed leaves one mail at most of which nobody knows whether it was sent. After one of which the server
    does not say whether it accepted it, Unavailable is raised: it is not sent again, and the next ones wait.
    """
    server = get_settings().smtp
    with transaction() as session:
        if server is None or not mail.has_due(session):
            return 0
    count = 0
    with mail_sender.connect(server) as connection:
        while claimed := _claim(Delivery.email_address_id):
            count += 1
            outcome = _send_mail(server, connection, claimed)
            if outcome == mail.UNKNOWN:
                raise Unavailable(
                    "the mail server {host} did not say whether it accepted a mail", host=server.host
                )
            if outcome == mail_sender.CONNECTION_LOST:
                break
    return count


def _send_mail(
    server: SmtpServer, connection: mail_sender.MailConnection, claimed: ClaimedDelivery
) -> str | None:
    """Send a mail and return the outcome. One that cannot be written or sent is logged and stays claimed."""
    try:
        with transaction() as session:
            message = mail.write(session, server, claimed)
        outcome = None if message is None else mail_sender.send(connection, message)
    except Exception:
        log.exception("mail_not_sent", id=str(claimed.delivery_id))
        return mail_sender.CONNECTION_LOST
    with transaction() as session:
        mail.record(session, claimed, outcome)
    log.info("mail_attempted", id=str(claimed.delivery_id), attempt=claimed.attempt, outcome=outcome)
    return outcome


def _repeat(send: Callable[[], int], clean_up: Callable[[Session], None]) -> NoReturn:
    """Send for ever, with pauses while there is nothing to send, and longer ones after failures."""
    pause_s, last_cleanup = 0.0, float("-inf")
    while True:
        time.sleep(pause_s)
        try:
            if time.monotonic() >= last_cleanup + _CLEANUP_INTERVAL_S:
                last_cleanup = time.monotonic()
                with transaction() as session:
                    clean_up(session)
            pause_s = 0.0 if send() else _POLL_INTERVAL_S
        except DomainError as problem:
            log.warning("deliveries_hindered", reason=str(problem))
            pause_s = min(_MAX_PAUSE_S, 2 * pause_s + _POLL_INTERVAL_S)


def _repeat_mail() -> None:
    """Send mail for ever. An unexpected error ends the process, which is then started again."""
    try:
        _repeat(send_due_mail, mail.remove_unconfirmed)
    except BaseException:
        log.exception("mail_failed")
        os._exit(1)


def main() -> None:
    logs.configure()
    warn_if_overprivileged()
    log.info("deliveries_start")
    Thread(target=_repeat_mail, daemon=True).start()  # a slow mail server delays no notification
    _repeat(send_due_notifications, deliveries.remove_old)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
