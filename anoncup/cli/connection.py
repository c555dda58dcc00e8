"""Connect a command to the service, and translate its errors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import typer

from anoncup.cli import credentials
from anoncup.errors import DomainError, FileProblem, InvalidInput, InvalidUpload, NotSignedIn, TooManyRequests
from anoncup.messages import RemoteMessage

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.client import ApiError, Client


@contextmanager
def connect(*, anonymous: bool = False, password: Callable[[], str] | None = None) -> Iterator[Client]:
    """Open a client for the service named in the environment or saved by ``anoncup login``.

    Set ``anonymous`` for requests that need no account. ``password`` is called if the service asks for
    step-up authentication.
    """
    from anoncup.client import Client

    account = credentials.load()
    if account is None:
        raise InvalidInput("which service? run anoncup login, or set ANONCUP_URL", code="no_service")
    if account.token is None and not anonymous:
        raise NotSignedIn("you are not signed in: run anoncup login")
    with translate_api_errors(), Client(account.url, account.token, password=password) as client:
        yield client


def print_round(client: Client, slug: str) -> None:
    """Print which round a slug alone stands for."""
    if "." not in slug and (name := client.get_competition(slug).round):
        print(f"round: {name}")


def make_password_prompt(*, from_stdin: bool) -> Callable[[], str]:
    """Return a function that reads the password for step-up authentication when it is called."""

    def prompt() -> str:
        if not from_stdin and not sys.stdin.isatty():
            raise InvalidInput("this needs your password: give --password-stdin", code="password_needed")
        return read_password(from_stdin=from_stdin)

    return prompt


def read_password(*, from_stdin: bool, confirm: bool = False) -> str:
    """Read a line of standard input, or prompt for the password, twice to ``confirm`` it."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    prompt = "Password of 8 to 256 characters" if confirm else "Password"
    return str(typer.prompt(prompt, hide_input=True, confirmation_prompt=confirm, err=True))


_HINTS = {
    "terms_not_accepted": ": read its page, then add --accept-terms",
    "another_team": ": leave out --team",
    "package_missing": " at the service, which finds packages when it starts",
}
"""What an option of the command changes, by the code of the service's refusal."""


@contextmanager
def translate_api_errors() -> Iterator[None]:
    """Raise error responses of the service as domain errors with messages for the command line."""
    from anoncup.client import ApiError

    try:
        yield
    except ApiError as error:
        raise build_domain_error(error) from error


def build_domain_error(error: ApiError) -> DomainError:
    """Return an error response as the first of these domain errors that fits.

    InvalidUpload, if the response lists errors in files; NotSignedIn, if the token is not valid;
    TooManyRequests, with the time of the next attempt if it comes by itself; otherwise a DomainError, with
    the messages about fields of the request.
    """
    if error.problem.errors:
        file_problems = [_build_file_problem(entry) for entry in error.problem.errors]
        return InvalidUpload(file_problems, total=error.problem.total or len(file_problems))
    if error.status == 401 and error.code != "wrong_password":
        return NotSignedIn("{reason}: run anoncup login", code=error.code, reason=error.message)
    # A limit of the whole phase is never renewed, although the response has to name a time.
    is_renewed = error.code != "quota_used_up" or "until" in error.problem.values
    if error.status == 429 and error.retry_after is not None and is_renewed:
        retry_at = datetime.now().astimezone() + timedelta(seconds=error.retry_after)
        return TooManyRequests(
            "{reason}; again from {at}",
            retry_after=error.retry_after,
            code=error.code,
            reason=error.message,
            at=f"{retry_at:%Y-%m-%d %H:%M:%S %Z}",
        )
    field_messages = "".join(f"; {entry.field}: {entry.message}" for entry in error.problem.fields)
    hint = _HINTS.get(error.code, "")
    message = RemoteMessage(f"{error} ({error.code}){field_messages}{hint}", **error.problem.values)
    return DomainError(message, code=error.code)


def _build_file_problem(entry: schemas.WrongInFile) -> FileProblem:
    """Return an error in a file, as a response lists it, as a domain object."""
    return FileProblem(
        file=entry.file,
        row=entry.row,
        column=entry.column,
        code=entry.code,
        message=RemoteMessage(entry.message, **entry.values),
        line=entry.line,
        value=entry.values.get("value"),
    )
