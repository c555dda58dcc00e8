"""A mail server on this machine: aiosmtpd, which keeps what it accepts and can refuse it."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from app.config import get_settings
from tests.support.service_processes import find_free_port

PUBLIC_URL = "https://cup.example.org"
SENDER = "杯 <cup@example.org>"
USER, PASSWORD = "cup", "geheim"
_ACCEPTED = "250 OK"


@dataclass
class MailServer:
    """A server with its mails. ``answers`` are refusals by command; a path has its certificate."""

    port: int
    certificate: Path | None = None
    answers: dict[str, str] = field(default_factory=dict)
    envelopes: list[Envelope] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    on_mail: Callable[[], None] = lambda: None
    on_recipient: Callable[[], None] = lambda: None

    def configure(self, monkeypatch: pytest.MonkeyPatch, folder: Path, **settings: str) -> None:
        """Let the service send its mail to this server."""
        (folder / "smtp").write_text(f"{PASSWORD}\n")
        values = {"HOST": "127.0.0.1", "PORT": str(self.port), "SENDER": SENDER, "TLS": "none"}
        if self.certificate is not None:
            values |= {"TLS": "starttls", "USER": USER, "PASSWORD_FILE": str(folder / "smtp")}
            monkeypatch.setenv("SSL_CERT_FILE", str(self.certificate.with_name("public.pem")))
        monkeypatch.setenv("ANONCUP_PUBLIC_URL", PUBLIC_URL)
        for name, value in (values | settings).items():
            monkeypatch.setenv(f"ANONCUP_SMTP__{name}", value)
        get_settings.cache_clear()

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
        if answer == _ACCEPTED:
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
    controller = Controller(_Handler(server), hostname="127.0.0.1", port=server.port, **options)
    controller.start()
    try:
        yield server
    finally:
        controller.stop()
