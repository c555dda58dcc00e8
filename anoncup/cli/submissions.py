"""Commands for what a team has sent: ``anoncup submissions``, ``cancel``, ``final`` and ``quota``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.connection import connect
from anoncup.cli.options import AsJson, Identifier, Slug
from anoncup.cli.output import (
    ColumnSpec,
    make_time_column,
    print_entries,
    print_fields,
    print_json,
    print_result,
    print_table,
    replace_unprintable,
)
from anoncup.cli.terminal import show_verdict
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup import schemas


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
    "step": lambda entry: f"{entry.step} of {entry.steps} {entry.step_name}".rstrip(),
    "before it": "queue_position",
    "received": make_time_column("received_at"),
    "finished": make_time_column("finished_at"),
    "final": "final",
    "comment": "comment",
    "reason": _describe_reason,
}
_CAP_COLUMNS: ColumnSpec[schemas.Cap] = {
    "cap": "name",
    "used": "used",
    "limit": "limit",
    "left": "left",
    "resets": make_time_column("resets_at"),
}


def submissions(
    slug: Slug,
    identifier: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="show this submission in full")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List your team's submissions, newest first, or show one with every measure."""
    with connect() as client:
        if identifier is None:
            print_entries(
                client.list_submissions(slug),
                _SUBMISSION_COLUMNS,
                as_json=as_json,
                empty_text="no submissions",
            )
            return
        submission = client.get_submission(identifier)
    if slug not in (submission.competition, submission.competition.partition(".")[0]):
        raise InvalidInput(
            "that submission belongs to {competition}",
            code="other_competition",
            competition=replace_unprintable(submission.competition),
        )
    show_submission(submission, as_json=as_json)


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
