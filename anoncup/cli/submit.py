"""``anoncup submit``: submit a release and optionally wait for its result."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.connection import connect
from anoncup.cli.options import (
    AsJson,
    ReleasePaths,
    Slug,
    SubmittedSecret,
    accept_files,
    use_local_names,
)
from anoncup.cli.output import format_cell, print_json, replace_unprintable
from anoncup.cli.submissions import show_submission
from anoncup.cli.terminal import progress_bar
from anoncup.errors import Unavailable

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.client import Client

EXIT_STATUSES = {"SCORED": 0, "REJECTED": 1, "REFUSED": 1, "CANCELLED": 2, "ERROR": 70}
"""Exit status by final state of a submission or guess.

ERROR is a failure of the service, so it differs from a rejection.
"""
MAX_WAIT_S = 24 * 3600.0
MAX_OUTAGE_S = 60.0
"""Maximum time that the service may be unreachable while a command waits for a result."""
Checks = Annotated[
    bool, typer.Option("--check/--no-check", help="check the files first: malformed ones cost no attempt")
]


@accept_files("release")
def submit(
    slug: Slug,
    *,
    secret: SubmittedSecret = None,
    release: ReleasePaths,
    comment: Annotated[str, typer.Option(help="a note that your team and the organizers see")] = "",
    wait: Annotated[
        bool, typer.Option("--wait", help="wait until it is scored, then show the result")
    ] = False,
    checks: Checks = True,
    as_json: AsJson = False,
) -> None:
    """Submit a release with its secret. An upload whose connection breaks is sent again and counts once.

    With --wait: exit status 0: scored; 1: the contest's rules reject it; 70: scoring failed.
    """
    contents = {name: path.read_bytes() for name, path in release.items()}
    secret_content = secret.read_bytes() if secret else None
    with use_local_names({**release, **({"secret": secret} if secret else {})}), connect() as client:
        warnings: list[schemas.Notice] = []
        if checks:
            with ignore_api_errors(), progress_bar("checking"):
                check_result = client.check_release(slug, contents, secret=secret_content, comment=comment)
                warnings = check_result.warnings
        with progress_bar("sending"):
            receipt = client.submit(slug, contents, secret=secret_content, comment=comment)
        receipt_codes = {warning.code for warning in receipt.warnings}
        show_warnings(warning for warning in warnings if warning.code not in receipt_codes)
        if not as_json:
            _show_receipt(receipt)  # before waiting, as users who interrupt need the id
        elif not wait:
            print_json(receipt)
        if not wait:
            return
        submission = _wait_for_result(client, receipt)
    show_submission(submission, as_json=as_json)
    raise typer.Exit(EXIT_STATUSES[submission.status])


@contextmanager
def ignore_api_errors() -> Iterator[None]:
    """Ignore errors of a dry run, as the upload itself may still succeed.

    Errors that list problems in the files are raised.
    """
    from anoncup.client import ApiError

    try:
        yield
    except ApiError as error:
        if error.problem.errors:
            raise


def show_warnings(warnings: Iterable[schemas.Notice], prefix: str = "") -> None:
    """Print the warnings of a dry run to standard error."""
    for warning in warnings:
        print(
            f"anoncup: {replace_unprintable(prefix)}{replace_unprintable(warning.code)}: "
            f"{replace_unprintable(warning.message)}",
            file=sys.stderr,
        )


def _wait_for_result(client: Client, receipt: schemas.Receipt) -> schemas.Submission:
    """Wait until the submission is in a final state, showing a progress bar, and return it."""
    submission_id = str(receipt.id)
    with progress_bar("scoring") as progress, mention_received("submission", submission_id):

        def watch(submission: schemas.Submission) -> None:
            position = submission.queue_position
            queue_text = "" if position is None else f"queued, {position} before it"
            progress(
                submission.step, submission.steps, replace_unprintable(queue_text or submission.step_name)
            )

        return client.wait_for_submission(
            submission_id, timeout_s=MAX_WAIT_S, max_outage_s=MAX_OUTAGE_S, watch=watch
        )


@contextmanager
def mention_received(kind: str, identifier: str) -> Iterator[None]:
    """Add the id of the submission or guess to the error that is raised if waiting ends without a result."""
    try:
        yield
    except Unavailable as problem:
        raise Unavailable(
            "{kind} {id} was received, but its result is not known yet: {reason}",
            code=problem.code,
            kind=kind,
            id=identifier,
            reason=problem.message,
        ) from problem


def _show_receipt(receipt: schemas.Receipt) -> None:
    print(f"received {format_cell(receipt.received_at)} as no. {receipt.number}, {receipt.id}")
    for name, digest in receipt.sha256.items():
        print(f"  SHA-256 of {replace_unprintable(name)}: {digest}")
    print(f"  commitment of the secret: {receipt.commitment}")
    for warning in receipt.warnings:
        print(f"  {replace_unprintable(warning.code)}: {replace_unprintable(warning.message)}")
    if receipt.quota_left:
        print(f"  left: {format_cell(receipt.quota_left)}")
