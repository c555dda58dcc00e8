"""A mail server on this machine: aiosmtpd, which keeps what it accepts, and can refuse it or misbehave."""

import asyncio
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.support.service_processes import find_free_port
from tests.support.wait import poll_until

PUBLIC_URL = "https://cup.example.org"
SENDER = "杯 <cup@example.org>"
USER, PASSWORD = "cup", "geheim"
DROP = "drop"
"""Instead of an answer, the end of the connection."""
DRIP = "drip "
"""Precedes an answer that comes in single bytes, for a long time."""
_ACCEPTED = "250 OK"
_DRIPPED_BYTES, _DRIP_INTERVAL_S = 1000, 0.02


@dataclass
class MailServer:
    """A server with its mails. ``answers`` are those to a command, or the greeting, if it is not accepted.

    A path has its certificate. The server keeps a mail unless it refuses the text with 4xx or 5xx.
    """

    port: int
    certificate: Path | None = None
    answers: dict[str, str] = field(default_factory=dict)
    envelopes: list[Envelope] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    connections: set[SMTP] = field(default_factory=set)
    on_mail: Callable[[], None] = lambda: None
    on_recipient: Callable[[], None] = lambda: None

    def build_settings(self, folder: Path, **settings: str) -> dict[str, str]:
        """Return the environment of a service that sends its mail to this server."""
        (folder / "smtp").write_text(f"{PASSWORD}\n")
        values = {"HOST": "127.0.0.1", "PORT": str(self.port), "SENDER": SENDER, "TLS": "none"}
        variables = {"ANONCUP_PUBLIC_URL": PUBLIC_URL}
        if self.certificate is not None:
            values |= {"TLS": "starttls", "USER": USER, "PASSWORD_FILE": str(folder / "smtp")}
            variables["SSL_CERT_FILE"] = str(self.certificate.with_name("public.pem"))
        return variables | {f"ANONCUP_SMTP__{name}": value for name, value in (values | settings).items()}

    def read_mails(self) -> list[EmailMessage]:
        return [read_mail(envelope) for envelope in self.envelopes]

    def list_recipients(self) -> list[str]:
        return sorted(address for envelope in self.envelopes for address in envelope.rcpt_tos)

    def take_text(self) -> str:
        """Return the text of the only mail, and forget it."""
        (mail,) = self.read_mails()
        self.envelopes.clear()
        return str(mail.get_content())


def read_mail(envelope: Envelope) -> EmailMessage:
    assert isinstance(envelope.content, bytes)
    mail = message_from_bytes(envelope.content.replace(b"\r\n", b"\n"), policy=default)
    assert isinstance(mail, EmailMessage)
    return mail


class _Protocol(SMTP):
    """Sends answers, or misbehaves instead."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.event_handler.server.connections.add(self)
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self.event_handler.server.connections.discard(self)

    async def push(self, status: bytes | str) -> None:
        answer = status if isinstance(status, str) else status.decode()
        if answer.startswith("220 "):
            answer = self.event_handler.server.answers.get("greeting", answer)
        if answer == DROP:
            self._writer.transport.abort()
            return
        if answer.startswith(DRIP):
            await self.drip(answer.removeprefix(DRIP).ljust(_DRIPPED_BYTES))
            answer = ""
        await super().push(answer)

    async def drip(self, text: str) -> None:
        try:
            for character in text:
                self._writer.write(character.encode())
                await asyncio.sleep(_DRIP_INTERVAL_S)
        except asyncio.CancelledError:  # the client is gone
            self._writer.transport.abort()
            raise


class _Controller(Controller):
    def factory(self) -> SMTP:
        return _Protocol(self.handler, **self.SMTP_kwargs)


class _Handler:
    """Answers commands as its server says."""

    def __init__(self, server: MailServer) -> None:
        self.server = server

    async def handle_MAIL(  # noqa: N802  # the name in aiosmtpd, also below
        self, _: SMTP, __: Session, envelope: Envelope, address: str, ___: list[str]
    ) -> str:
        envelope.mail_from = address
        return self.server.answers.get("MAIL", _ACCEPTED)

    async def handle_RCPT(  # noqa: N802
        self, _: SMTP, __: Session, envelope: Envelope, address: str, ___: list[str]
    ) -> str:
        self.server.on_recipient()
        envelope.rcpt_tos.append(address)
        return self.server.answers.get(f"RCPT {address}") or self.server.answers.get("RCPT", _ACCEPTED)

    async def handle_DATA(  # noqa: N802
        self, _: SMTP, session: Session, envelope: Envelope
    ) -> str:
        answer = self.server.answers.get("DATA", _ACCEPTED)
        if not answer.startswith(("4", "5")):
            self.server.envelopes.append(envelope)
            self.server.sessions.append(session)
        self.server.on_mail()
        return answer


def _check_login(_: SMTP, __: Session, ___: Envelope, ____: str, data: Any) -> AuthResult:
    is_known = isinstance(data, LoginPassword) and (data.login, data.password) == (
        USER.encode(),
        PASSWORD.encode(),
    )
    return AuthResult(success=is_known, handled=False)


@contextmanager
def run_mail_server(
    certificate: Path | None = None, *, port: int | None = None, implicit: bool = False
) -> Iterator[MailServer]:
    """Run a server. With a certificate it requires STARTTLS and a password, or has TLS from the start."""
    server = MailServer(port or find_free_port(), certificate)
    options: dict[str, Any] = {}
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        login = {"auth_required": True, "authenticator": _check_login, "auth_exclude_mechanism": ["LOGIN"]}
        starttls = {"tls_context": context, "require_starttls": True, **login}
        options = {"ssl_context": context} if implicit else starttls
    controller = _Controller(_Handler(server), hostname="127.0.0.1", port=server.port, **options)
    controller.start()
    try:
        yield server
        assert poll_until(lambda: not server.connections)
    finally:
        controller.stop()


def make_certificate(folder: Path) -> Path:
    """Return a file with a key and a certificate for 127.0.0.1, signed by itself."""
    file = folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        [*command, "-keyout", str(file), "-out", str(folder / "public.pem")], check=True, capture_output=True
    )
    file.write_bytes(file.read_bytes() + (folder / "public.pem").read_bytes())
    return file
