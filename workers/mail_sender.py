"""Send mail to the configured server, which is the only host that is connected to."""

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.message import Message
from urllib.parse import urlsplit

from anoncup.errors import Unavailable
from app.config import SmtpServer, get_settings
from app.services.notifications.deliveries import DELIVERED
from app.services.notifications.mail import REFUSED

_TIMEOUT_S = 60.0
"""Time limit of each answer of the server. A claimed mail needs four."""
CONNECTION_LOST = "connection"


@contextmanager
def connect(server: SmtpServer) -> Iterator[smtplib.SMTP]:
    """Open a connection that may send mail; raise Unavailable if the server cannot be used."""
    try:
        connection = _open(server)
    except (OSError, ValueError) as problem:  # that of smtplib, or of a password that is not ASCII
        status = getattr(problem, "smtp_code", None)
        raise Unavailable(
            "the mail server {host} cannot be used: {reason}",
            host=server.host,
            reason=f"{type(problem).__name__} {status or ''}".strip(),
        ) from None
    try:
        yield connection
    finally:
        with suppress(OSError):
            connection.quit()


def _open(server: SmtpServer) -> smtplib.SMTP:
    context, own_name = ssl.create_default_context(), urlsplit(get_settings().public_url).hostname
    connection = (
        smtplib.SMTP_SSL(server.host, server.port, own_name, timeout=_TIMEOUT_S, context=context)
        if server.tls == "implicit"
        else smtplib.SMTP(server.host, server.port, own_name, timeout=_TIMEOUT_S)
    )
    try:
        if server.tls == "starttls":
            connection.starttls(context=context)
        if server.user:
            connection.login(server.user, server.read_password())
        _require_sender(connection, server.sender_address)
    except BaseException:
        connection.close()
        raise
    return connection


def _require_sender(connection: smtplib.SMTP, sender: str) -> None:
    """Raise SMTPSenderRefused unless the server accepts the sender: otherwise it would refuse all mail."""
    connection.ehlo_or_helo_if_needed()
    code, reply = connection.mail(sender)
    if code != 250:
        raise smtplib.SMTPSenderRefused(code, reply, sender)
    connection.rset()


def send(connection: smtplib.SMTP, message: Message) -> str:
    """Send a mail and return its outcome. The server's words are not kept: they contain addresses."""
    try:
        connection.send_message(message)
    except smtplib.SMTPRecipientsRefused as problem:
        return _judge(*(code for code, _ in problem.recipients.values()))
    except smtplib.SMTPSenderRefused:  # accepted before, so a quota may be used up
        return CONNECTION_LOST
    except smtplib.SMTPResponseException as problem:
        return _judge(problem.smtp_code)
    except OSError:
        return CONNECTION_LOST
    return DELIVERED


def _judge(code: int) -> str:
    if code == 421:  # the server closes the connection
        return CONNECTION_LOST
    return REFUSED if 500 <= code < 600 else "deferred"
