"""Commands for releases: ``anoncup submit``, ``submissions``, ``cancel``, ``final`` and ``quota``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.connection import connect
from anoncup.cli.options import (
    AsJson,
    Identifier,
    ReleasePaths,
    Slug,
    SubmittedSecret,
    accept_files,
    require_id,
    use_local_names,
)
from anoncup.cli.output import (
    ColumnSpec,
    format_cell,
    make_time_column,
    print_entries,
    print_fields,
    print_json,
    print_result,
    print_table,
    replace_unprintable,
)
from anoncup.cli.terminal import progress_bar, show_verdict
from anoncup.errors import InvalidInput, Unavailable

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
_MISTAKES = {
    "secret_of_another_file",
    "sent_before",
    "rows_in_original_order",
    "too_few_rows",
    "deleted_rows",
    "excessive_anonymization",
}
"""Codes of warnings about a release that the rules reject, that hides nothing, or that scores nothing new."""
Checks = Annotated[
    bool, typer.Option("--check/--no-check", help="check the files first: malformed ones cost no attempt")
]


def _get_overall(submission: schemas.Submission) -> float | None:
    """Return the overall score; None for a submission that is not scored or was rejected."""
    if submission.status != "SCORED" or submission.result is None:
        return None
    return submission.result.overall


def _describe_reason(submission: schemas.Submission) -> str | None:
    """Return why a submission does not count; None if it does, or is not scored yet."""
    if submission.disqualified:
        return ": ".join(filter(None, ("disqualified", submission.disqualification_reason)))
    if submission.status == "REJECTED" and submission.result is not None:
        return "; ".join(violation.message for violation in submission.result.violations)
    return submission.failure


_SUBMISSION_COLUMNS: ColumnSpec[schemas.Submission] = {
    "no.": "number",
    "id": "id",
    "status": "status",
    "received": make_time_column("received_at"),
    "score": "score",
    "overall": _get_overall,
    "utility loss": "result.utility",
    "risk": "result.security",
    "final": "final",
    "comment": "comment",
    "reason": _describe_reason,
}
_DETAIL_COLUMNS: ColumnSpec[schemas.Submission] = {
    "no.": "number",
    "submission": "id",
    "competition": "competition",
    "team": "team",
    "status": "status",
    "step": lambda entry: (
        None if entry.result else f"{entry.step} of {entry.steps} {entry.step_name}".rstrip()
    ),
    "before it": "queue_position",
    "received": make_time_column("received_at"),
    "finished": make_time_column("finished_at"),
    "final": "final",
    "comment": "comment",
    "reason": _describe_reason,
}
_CAP_COLUMNS: ColumnSpec[schemas.Cap] = {
    "cap": lambda cap: _describe_cap(cap.name),
    "used": "used",
    "limit": "limit",
    "left": "left",
    "resets": make_time_column("resets_at"),
}


def _describe_cap(name: str) -> str:
    """Return the name of a cap in words, such as "valid submissions per day"."""
    return name.replace("valid", "valid submissions").replace("_total", " in all").replace("_", " ")


def submissions(
    slug: Slug,
    identifier: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", callback=require_id, help="show this submission in full"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List your team's submissions, newest first, or show one with every measure."""
    with connect() as client:
        if identifier is None:
            entries = client.list_submissions(slug)
            print_entries(entries, _choose_columns(entries), as_json=as_json, empty_text="no submissions")
            return
        submission = client.get_submission(identifier)
    if slug not in (submission.competition, submission.competition.partition(".")[0]):
        raise InvalidInput(
            "that submission belongs to {competition}",
            code="other_competition",
            competition=replace_unprintable(submission.competition),
        )
    show_submission(submission, as_json=as_json)


def _choose_columns(entries: Iterable[schemas.Submission]) -> ColumnSpec[schemas.Submission]:
    """Return the columns of the list, with the number by which the competition ranks."""
    unused = "score" if all(entry.score is None for entry in entries) else "overall"
    return {heading: field for heading, field in _SUBMISSION_COLUMNS.items() if heading != unused}


def show_submission(submission: schemas.Submission, *, as_json: bool) -> None:
    """Print a submission with its files, and its verdict once there is one."""
    if as_json:
        print_json(submission)
        return
    print_fields(submission, _DETAIL_COLUMNS)
    for name, digest in submission.sha256.items():
        print(f"SHA-256 of {replace_unprintable(name)}: {digest}")
    if submission.result is not None:
        show_verdict(submission.result, [*submission.warnings, *(submission.result.warnings or ())])
    if submission.score is not None:
        print(f"{'score':>12}  {format_cell(submission.score)}  (by the competition's formula)")


def cancel(identifier: Identifier, as_json: AsJson = False) -> None:
    """Withdraw a submission that is not scored yet."""
    with connect() as client:
        submission = client.cancel_submission(identifier)
    print_result(submission, f"{submission.id} is {submission.status}", as_json=as_json)


def final(
    identifier: Identifier,
    off: Annotated[bool, typer.Option("--off", help="remove the mark")] = False,
    as_json: AsJson = False,
) -> None:
    """Mark a submission as one of your team's finals, which stand for it in the second phase."""
    with connect() as client:
        submission = client.mark_final(identifier, final=not off)
    sentence = f"{submission.id} is {'' if submission.final else 'not '}one of your finals"
    print_result(submission, sentence, as_json=as_json)


def quota(slug: Slug, as_json: AsJson = False) -> None:
    """Show what your team may still send, and when there will be more."""
    with connect() as client:
        usage = client.get_quota(slug)
    if as_json:
        print_json(usage)
        return
    print(f"phase: {replace_unprintable(usage.phase)}")
    print_table(usage.caps, _CAP_COLUMNS)


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
    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway", help="send it although the check finds a wrong secret, a broken rule or a repetition"
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Submit a release with its secret. An upload whose connection breaks is sent again and counts once.

    A release that is known to be wrong, or was sent before, is sent only with --anyway.

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
        if not anyway:
            _require_no_mistake(warnings)
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


def _require_no_mistake(warnings: Iterable[schemas.Notice]) -> None:
    """Raise InvalidInput if the dry run found what costs an attempt in vain."""
    mistakes = [f"{entry.code}: {entry.message}" for entry in warnings if entry.code in _MISTAKES]
    if mistakes:
        show_warnings(entry for entry in warnings if entry.code not in _MISTAKES)
        raise InvalidInput(
            "nothing was sent. {mistakes}. Add --anyway to send it all the same",
            code="not_sent",
            mistakes=tuple(map(replace_unprintable, mistakes)),
        )


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
            f"warning: {replace_unprintable(prefix)}{replace_unprintable(warning.code)}: "
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
        print(f"  warning: {replace_unprintable(warning.code)}: {replace_unprintable(warning.message)}")
    if receipt.quota_left:
        left = {_describe_cap(name): count for name, count in receipt.quota_left.items()}
        print(f"  left: {format_cell(left)}")
