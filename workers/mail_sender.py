"""Send mail to the configured server, which is the only host that is connected to."""

import smtplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.message import Message
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

from anoncup.errors import Unavailable
from app.config import SmtpServer, get_settings
from app.notifications.deliveries import DELIVERED
from app.notifications.mail import REFUSED, UNKNOWN

_READ_TIMEOUT_S = 60.0
"""Time limit of each read. A server that sends single bytes never reaches it."""
OPENING_LIMIT_S = 120.0
"""Time limit of connecting, and of signing in."""
MAIL_LIMIT_S = 300.0
"""Time limit of sending a mail, shorter than its lease. Servers may check a text for minutes."""
CONNECTION_LOST = "connection"


class MailConnection(smtplib.SMTP):
    """A connection that is cut off at a limit, and knows whether the whole text of a mail was sent."""

    is_cut_off = False
    is_text_sent = False

    def connect(self, *arguments: Any, **options: Any) -> tuple[int, bytes]:
        with self.limit_time(OPENING_LIMIT_S):
            return super().connect(*arguments, **options)

    def send(self, s: Any) -> None:
        super().send(s)
        if isinstance(s, bytes) and self.sock is not None:  # a text; commands are str
            self.is_text_sent = True
            self.sock.settimeout(MAIL_LIMIT_S)

    @contextmanager
    def limit_time(self, limit_s: float) -> Iterator[None]:
        """Cut the connection off, with a TimeoutError, if the block takes longer."""
        has_ended = Event()
        Thread(target=self._cut_off, args=(limit_s, has_ended), daemon=True).start()
        try:
            yield
        except smtplib.SMTPServerDisconnected:
            if self.is_cut_off:
                raise TimeoutError from None
            raise
        finally:
            has_ended.set()

    def _cut_off(self, limit_s: float, has_ended: Event) -> None:
        wait_s = limit_s
        while not has_ended.wait(wait_s):
            self.is_cut_off, wait_s = True, 1.0  # again, because TLS may be about to replace the socket
            connected = self.sock
            if connected is not None:
                with suppress(OSError):
                    # The method of TLS sockets would also let them read plain text.
                    socket.socket.shutdown(connected, socket.SHUT_RDWR)


class _TlsMailConnection(MailConnection, smtplib.SMTP_SSL):
    """A connection with TLS from the start."""


@contextmanager
def connect(server: SmtpServer) -> Iterator[MailConnection]:
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
        with suppress(OSError), connection.limit_time(_READ_TIMEOUT_S):
            connection.quit()


def _open(server: SmtpServer) -> MailConnection:
    context, own_name = ssl.create_default_context(), urlsplit(get_settings().public_url).hostname
    connection = (
        _TlsMailConnection(server.host, server.port, own_name, timeout=_READ_TIMEOUT_S, context=context)
        if server.tls == "implicit"
        else MailConnection(server.host, server.port, own_name, timeout=_READ_TIMEOUT_S)
    )
    try:
        with connection.limit_time(OPENING_LIMIT_S):
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


def send(connection: MailConnection, message: Message) -> str:
    """Send a mail and return its outcome. The server's words are not kept: they contain addresses.

    Once the whole text was sent, only an answer tells whether the server has accepted it.
    """
    connection.is_text_sent = False
    try:
        with connection.limit_time(MAIL_LIMIT_S):
            connection.send_message(message)
    except smtplib.SMTPRecipientsRefused as problem:
        return _judge(*(code for code, _ in problem.recipients.values()))
    except smtplib.SMTPSenderRefused:  # accepted before, so a quota may be used up
        return CONNECTION_LOST
    except smtplib.SMTPDataError as problem:
        return _judge(problem.smtp_code, is_text_sent=connection.is_text_sent)
    except OSError:
        return UNKNOWN if connection.is_text_sent else CONNECTION_LOST
    return DELIVERED


def _judge(code: int, *, is_text_sent: bool = False) -> str:
    if code == 421:  # the server closes the connection
        return CONNECTION_LOST
    if 500 <= code < 600:
        return REFUSED
    if is_text_sent and not 400 <= code < 500:
        return DELIVERED if 200 <= code < 300 else UNKNOWN
    return "deferred"
