"""A command's way to the service: signed in, its refusals in words, its transfers with a bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import typer

from anoncup.cli import credentials
from anoncup.errors import DomainError, InvalidInput, InvalidUpload, NotSignedIn, Problem, TooMany
from anoncup.messages import Heard

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.client import Client, Refused


@contextmanager
def connected(*, anybody: bool = False, password: Callable[[], str] | None = None) -> Iterator[Client]:
    """The service as the environment or ``anoncup login`` names it.

    ``anybody``: a visitor may ask; ``password``: asked for what cannot be undone.
    """
    from anoncup.client import Client

    known = credentials.known()
    if known is None:
        raise InvalidInput("which service? run anoncup login, or set ANONCUP_URL", code="no_service")
    if known.token is None and not anybody:
        raise NotSignedIn("you are not signed in: run anoncup login")
    with in_words(), Client(known.url, known.token, password=password) as client:
        yield client


def asking(*, stdin: bool) -> Callable[[], str]:
    """How the password is got for what cannot be undone."""

    def asked() -> str:
        if not stdin and not sys.stdin.isatty():
            raise InvalidInput("this needs your password: give --password-stdin", code="password_needed")
        return password_of(stdin=stdin)

    return asked


def password_of(*, stdin: bool, new: bool = False) -> str:
    if stdin:
        return sys.stdin.readline().rstrip("\r\n")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=new, err=True))


@contextmanager
def in_words() -> Iterator[None]:
    """Refusals as the command line says them."""
    from anoncup.client import Refused

    try:
        yield
    except Refused as refusal:
        raise said(refusal) from refusal


def said(refusal: Refused) -> DomainError:
    if refusal.problem.errors:
        found = [problem_of(each) for each in refusal.problem.errors]
        return InvalidUpload(found, total=refusal.problem.total or len(found))
    if refusal.status == 401 and refusal.code != "wrong_password":
        return NotSignedIn("{reason}: run anoncup login", code=refusal.code, reason=refusal.message)
    if refusal.status == 429 and refusal.retry_after is not None:
        again = datetime.now().astimezone() + timedelta(seconds=refusal.retry_after)
        return TooMany(
            "{reason}; again from {at}",
            retry_after=refusal.retry_after,
            code=refusal.code,
            reason=refusal.message,
            at=f"{again:%Y-%m-%d %H:%M:%S %Z}",
        )
    fields = "".join(f"; {one.field}: {one.message}" for one in refusal.problem.fields)
    sentence = Heard(f"{refusal} ({refusal.code}){fields}", **refusal.problem.values)
    return DomainError(sentence, code=refusal.code)


def problem_of(found: schemas.WrongInFile) -> Problem:
    return Problem(
        file=found.file,
        row=found.row,
        column=found.column,
        code=found.code,
        message=Heard(found.message, **found.values),
        line=found.line,
        value=found.values.get("value"),
    )


@contextmanager
def transfer_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar of bytes on the terminal's error channel; none where there is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    errors = Console(stderr=True)
    with Progress(
        *columns, TransferSpeedColumn(), console=errors, transient=True, disable=not errors.is_terminal
    ) as bar:
        task = bar.add_task(title, total=None)
        yield lambda sent, of: bar.update(task, completed=sent, total=of or None)
