"""What a team asks the service: competitions, its submissions and guesses, quota, targets, boards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.connection import connected
from anoncup.cli.options import AsJson, Identifier, Slug
from anoncup.cli.output import Columns, done, plain, print_fields, print_json, print_table, show, time_of
from anoncup.cli.terminal import show_verdict
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup import schemas

SUBMISSION: Columns[schemas.Submission] = {
    "no.": "number",
    "id": "id",
    "status": "status",
    "received": time_of("received_at"),
    "overall": lambda entry: entry.result and entry.result.overall if entry.status == "SCORED" else None,
    "utility loss": "result.utility",
    "risk": "result.security",
    "final": "final",
    "comment": "comment",
}
STANDING: Columns[schemas.Submission] = {
    "no.": "number",
    "submission": "id",
    "competition": "competition",
    "team": "team",
    "status": "status",
    "step": lambda entry: f"{entry.step} of {entry.steps} {entry.step_name}".rstrip(),
    "before it": "queue_position",
    "received": time_of("received_at"),
    "finished": time_of("finished_at"),
    "final": "final",
    "comment": "comment",
    "failure": "failure",
}


def submissions(
    slug: Slug,
    identifier: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="show this submission in full")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List your team's submissions, newest first, or show one with every measure."""
    with connected() as client:
        if identifier is None:
            show(client.submissions(slug), SUBMISSION, as_json=as_json, empty="no submissions")
            return
        found = client.submission(identifier)
    if found.competition != slug:
        raise InvalidInput(
            "that submission belongs to {competition}",
            code="other_competition",
            competition=plain(found.competition),
        )
    show_submission(found, as_json=as_json)


def show_submission(found: schemas.Submission, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    print_fields(found, STANDING)
    for name, digest in found.sha256.items():
        print(f"SHA-256 of {plain(name)}: {digest}")
    if found.result is not None:
        show_verdict(found.result, [*found.warnings, *(found.result.warnings or ())])


def cancel(identifier: Identifier, as_json: AsJson = False) -> None:
    """Withdraw a submission that is not scored yet."""
    with connected() as client:
        found = client.cancel(identifier)
    done(found, f"{found.id} is {found.status}", as_json=as_json)


def final(
    identifier: Identifier,
    off: Annotated[bool, typer.Option("--off", help="remove the mark")] = False,
    as_json: AsJson = False,
) -> None:
    """Mark a submission as one of your team's finals, which stand for it in the second phase."""
    with connected() as client:
        found = client.mark_final(identifier, final=not off)
    said = f"{found.id} is {'' if found.final else 'not '}one of your finals"
    done(found, said, as_json=as_json)


def quota(slug: Slug, as_json: AsJson = False) -> None:
    """Show what your team may still send, and when there will be more."""
    with connected() as client:
        found = client.quota(slug)
    if as_json:
        print_json(found)
        return
    print(f"phase: {plain(found.phase)}")
    columns: Columns[schemas.Cap] = {
        "cap": "name",
        "used": "used",
        "limit": "limit",
        "left": "left",
        "resets": time_of("resets_at"),
    }
    print_table(found.caps, columns)
