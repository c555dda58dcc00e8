"""What a team hands in: releases and guesses."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.connection import connected, transfer_bar
from anoncup.cli.options import AsJson, Release, SentSecret, Slug, takes_release
from anoncup.cli.output import cell, plain, print_json
from anoncup.cli.submissions import show_submission
from anoncup.cli.terminal import progress_bar
from anoncup.errors import InvalidInput, InvalidUpload, Unavailable
from anoncup.plugins import TRACKS

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.client import Client

EXITS = {"SCORED": 0, "REJECTED": 1, "CANCELLED": 2, "ERROR": 70}
"""By how a submission ends; ERROR is the service's fault and must not look like a rejection."""
LONGEST_WAIT_S = 24 * 3600.0
PATIENCE_S = 60.0
"""How long the service may be away while somebody waits for it."""
NAMES = {name for track in TRACKS.values() for name in track.files}
"""Of the files of the tracks that are installed here; of others the service knows what belongs together."""


Checks = Annotated[
    bool, typer.Option("--check/--no-check", help="check the files first: malformed ones cost no attempt")
]


@takes_release
def submit(
    slug: Slug,
    *,
    secret: SentSecret = None,
    release: Release,
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
    contents, answer = release_of(release, secret)
    with called_by_path(paths_of(release, secret)), connected() as client:
        warnings: list[schemas.Said] = []
        if checks:
            with taking_refusals(), transfer_bar("checking") as progress:
                checked = client.check(slug, contents, secret=answer, comment=comment, progress=progress)
                warnings = checked.warnings
        with transfer_bar("sending") as progress:
            receipt = client.submit(slug, contents, secret=answer, comment=comment, progress=progress)
        known = {each.code for each in receipt.warnings}
        show_warnings(each for each in warnings if each.code not in known)
        if not as_json:
            show_receipt(receipt)  # at once: whoever stops waiting must know the id
        elif not wait:
            print_json(receipt)
        if not wait:
            return
        found = awaited(client, receipt)
    show_submission(found, as_json=as_json)
    raise typer.Exit(EXITS[found.status])


@contextmanager
def taking_refusals() -> Iterator[None]:
    """A service that refuses a dry run for another reason than faults still takes the upload."""
    from anoncup.client import Refused

    try:
        yield
    except Refused as refusal:
        if refusal.problem.errors:
            raise


def show_warnings(warnings: Iterable[schemas.Said], about: str = "") -> None:
    """What a dry run warns of; nothing else says it."""
    for each in warnings:
        print(f"anoncup: {plain(about)}{plain(each.code)}: {plain(each.message)}", file=sys.stderr)


def release_of(given: Release, secret: Path | None) -> tuple[dict[str, bytes], bytes | None]:
    """The files of a release, and its secret where one is sent; InvalidInput if no track has these."""
    known = [track for track in TRACKS.values() if set(given) == set(track.files)]
    if not known and (not given or set(given) <= NAMES):
        files = dict.fromkeys(track.files for track in TRACKS.values())
        options = ", or ".join(" and ".join(f"--{name}" for name in each) for each in files)
        raise InvalidInput("give {options}", code="files", options=options)
    if known and all(track.draws_answer is (secret is not None) for track in known):
        said = "the service draws the answer: no --secret is sent" if secret else "give --secret too"
        raise InvalidInput(said, code="files")
    contents = {name: path.read_bytes() for name, path in given.items()}
    return contents, secret.read_bytes() if secret else None


def paths_of(release: Release, secret: Path | None) -> dict[str, Path]:
    return {**release, "secret": secret} if secret else {**release}


@contextmanager
def called_by_path(paths: Mapping[str, Path]) -> Iterator[None]:
    """What is wrong with an uploaded file is said under the name that it has here."""
    names = {name: path.name for name, path in paths.items()}
    try:
        yield
    except InvalidUpload as problem:
        renamed = [replace(each, file=names.get(each.file, each.file)) for each in problem.problems]
        raise InvalidUpload(renamed, total=problem.total) from problem


def awaited(client: Client, receipt: schemas.Receipt) -> schemas.Submission:
    """The submission once it has ended, with a bar of its steps meanwhile."""
    identifier = str(receipt.id)
    with progress_bar("scoring") as progress, mentioning(identifier):

        def watch(found: schemas.Submission) -> None:
            before = found.queue_position
            waiting = "" if before is None else f"queued, {before} before it"
            progress(found.step, found.steps, plain(waiting or found.step_name))

        return client.wait(identifier, timeout_s=LONGEST_WAIT_S, patience_s=PATIENCE_S, watch=watch)


@contextmanager
def mentioning(identifier: str) -> Iterator[None]:
    """Whoever no longer waits must know that the submission is in, and which it is."""
    try:
        yield
    except Unavailable as problem:
        raise Unavailable(
            "submission {id} was received, but its result is not known yet: {reason}",
            code=problem.code,
            id=identifier,
            reason=problem.message,
        ) from problem


def show_receipt(receipt: schemas.Receipt) -> None:
    print(f"received {cell(receipt.received_at)} as no. {receipt.number}, {receipt.id}")
    for name, digest in receipt.sha256.items():
        print(f"  SHA-256 of {plain(name)}: {digest}")
    print(f"  commitment of the secret: {receipt.commitment}")
    for note in receipt.warnings:
        print(f"  {plain(note.code)}: {plain(note.message)}")
    if receipt.quota_left:
        print(f"  left: {cell(receipt.quota_left)}")
