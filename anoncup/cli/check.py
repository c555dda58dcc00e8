"""``anoncup check``: whether a release is well-formed and within the rules."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anoncup.cli.options import (
    AsJson,
    MaybeOriginalFiles,
    MaybeSecretFile,
    Release,
    existing,
    read_text,
    takes_release,
)
from anoncup.cli.output import print_json
from anoncup.cli.score import ACCEPTED, REJECTED, said
from anoncup.cli.terminal import console, show_decision
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup import schemas


VIOLATIONS = {"too_few_rows"}
"""Warnings of a dry run that scoring turns into a rejection."""


@takes_release
def check(
    competition: Annotated[
        str,
        typer.Option(
            "--competition", help="the competition file, competition.toml; with --service also the slug"
        ),
    ],
    original: MaybeOriginalFiles = None,
    *,
    release: Release,
    secret: MaybeSecretFile = None,
    service: Annotated[
        bool,
        typer.Option(
            "--service", help="have the service check the files; needs no --original and costs no attempt"
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say whether a release is well-formed, small enough and within the rules, without measuring it.

    Without its secret only the files are checked. Exit status 1: the contest's rules reject it.
    """
    if service:
        decision, violations, warnings = checked_by_service(competition, release, secret)
        measured: dict[str, Any] = {}
    else:
        decision, violations, warnings, measured = checked_here(
            existing(Path(competition)), original or [], release, secret
        )
    if as_json:
        print_json({"verdict": decision, "violations": violations, "warnings": warnings} | measured)
    else:
        show_decision(console(), decision, violations, warnings)
    raise typer.Exit(REJECTED if decision == "rejected" else ACCEPTED)


def checked_here(
    competition: Path, original: list[str], release: Release, secret: Path | None
) -> tuple[str, list[schemas.Said], list[schemas.Said], dict[str, Any]]:
    """Return the decision, violations, warnings and distances of a release."""
    from anoncup.cli.local_files import check_sizes, contest_of, release_in, upload_in
    from anoncup.evaluation.evaluate import doubts_about_secret, judge

    contest = contest_of(competition, original)
    check_sizes(contest, (*release.values(), secret))
    if secret is None:
        return "well-formed", [], said([*contest.remarks, *release_in(contest, release)[1]]), {}
    parsed = upload_in(contest, release, secret)
    found, excessive = judge(contest.rules, contest.prepared, parsed.release, parsed.answer)
    doubts = doubts_about_secret(contest.rules, contest.prepared, parsed.release, parsed.answer)
    measured = {"excessive": excessive.to_json() if excessive else None}
    warnings = said([*contest.remarks, *parsed.remarks, *doubts])
    return "rejected" if found else "accepted", said(found), warnings, measured


def checked_by_service(
    competition: str, release: Release, secret: Path | None
) -> tuple[str, list[schemas.Said], list[schemas.Said]]:
    """Return the decision, violations and warnings of the service's dry run."""
    from anoncup.cli.connection import connected, transfer_bar
    from anoncup.cli.submit import called_by_path, paths_of

    contents = {name: path.read_bytes() for name, path in release.items()}
    answer = secret.read_bytes() if secret else None
    with called_by_path(paths_of(release, secret)), connected() as client, transfer_bar("checking") as bar:
        checked = client.check(slug_of(competition), contents, secret=answer, progress=bar)
    violations = [each for each in checked.warnings if each.code in VIOLATIONS]
    warnings = [each for each in checked.warnings if each.code not in VIOLATIONS]
    return "rejected" if violations else "well-formed", violations, warnings


def slug_of(competition: str) -> str:
    """Return the slug that a competition file names, or that is given instead of a file."""
    path = Path(competition)
    if not path.is_file():
        return competition
    try:
        slug = tomllib.loads(read_text(path)).get("slug")
    except tomllib.TOMLDecodeError as problem:
        raise InvalidInput("{name} is not TOML", code="not_toml", name=path.name) from problem
    if not isinstance(slug, str):
        raise InvalidInput("{name} names no slug", code="missing_key", name=path.name)
    return slug
