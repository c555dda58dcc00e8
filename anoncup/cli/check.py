"""``anoncup check``: check whether a release is well-formed and within the rules."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anoncup.cli.options import (
    AsJson,
    OptionalOriginalFiles,
    OptionalSecretFile,
    ReleasePaths,
    RoundName,
    accept_release_files,
    read_text,
    require_file,
    use_local_names,
)
from anoncup.cli.output import make_console, print_json
from anoncup.cli.score import ACCEPTED, REJECTED, build_notices
from anoncup.cli.terminal import progress_bar, show_decision
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup import schemas


_REJECTING_WARNINGS = {"too_few_rows"}
"""Warnings of a dry run that become rejections when the release is scored."""


@accept_release_files
def check(
    competition: Annotated[
        str,
        typer.Option(
            "--competition", help="the competition file, competition.toml; with --service also the slug"
        ),
    ],
    original: OptionalOriginalFiles = None,
    *,
    round_name: RoundName = None,
    release: ReleasePaths,
    secret: OptionalSecretFile = None,
    service: Annotated[
        bool,
        typer.Option(
            "--service", help="have the service check the files; needs no --original and costs no attempt"
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check whether a release is well-formed, small enough and within the rules, without measuring it.

    Without its secret only the files are checked. Exit status 1: the contest's rules reject it.
    """
    result = (
        _check_at_service(_read_address(competition, round_name), release, secret)
        if service
        else _check_locally(require_file(Path(competition)), original or [], round_name, release, secret)
    )
    if as_json:
        print_json(result)
    else:
        show_decision(make_console(), result["verdict"], result["violations"], result["warnings"])
    raise typer.Exit(REJECTED if result["verdict"] == "rejected" else ACCEPTED)


def _check_locally(
    competition: Path,
    original: list[str],
    round_name: str | None,
    release: ReleasePaths,
    secret: Path | None,
) -> dict[str, Any]:
    """Check a release on this machine; only its files without the secret."""
    from anoncup.cli.local_files import check_sizes, load_contest, read_release, read_upload
    from anoncup.evaluation.evaluate import check_rules

    contest = load_contest(competition, original, round_name)
    check_sizes(contest, (*release.values(), secret))
    if secret is None:
        _, remarks = read_release(contest, release)
        return _build_result("well-formed", [], build_notices([*contest.remarks, *remarks]))
    upload = read_upload(contest, release, secret)
    violations, excessive, secret_warnings = check_rules(
        contest.rules, contest.original, upload.release, upload.answer
    )
    warnings = build_notices([*contest.remarks, *upload.remarks, *secret_warnings])
    verdict = "rejected" if violations else "accepted"
    distances = excessive.to_json() if excessive else None
    return _build_result(verdict, build_notices(violations), warnings) | {"excessive": distances}


def _check_at_service(address: str, release: ReleasePaths, secret: Path | None) -> dict[str, Any]:
    """Let the service check a release in a dry run."""
    from anoncup.cli.connection import connect
    from anoncup.cli.submit import collect_paths

    contents = {name: path.read_bytes() for name, path in release.items()}
    secret_content = secret.read_bytes() if secret else None
    with (
        use_local_names(collect_paths(release, secret)),
        connect() as client,
        progress_bar("checking"),
    ):
        check_result = client.check_release(address, contents, secret=secret_content)
    violations = [warning for warning in check_result.warnings if warning.code in _REJECTING_WARNINGS]
    warnings = [warning for warning in check_result.warnings if warning.code not in _REJECTING_WARNINGS]
    return _build_result("rejected" if violations else "well-formed", violations, warnings)


def _build_result(
    verdict: str, violations: list[schemas.Notice], warnings: list[schemas.Notice]
) -> dict[str, Any]:
    return {"verdict": verdict, "violations": violations, "warnings": warnings}


def _read_address(competition: str, round_name: str | None) -> str:
    """Return the address of a round, from a competition file or from the slug that is given in its place."""
    path = Path(competition)
    if not path.is_file():
        return f"{competition}.{round_name}" if round_name else competition
    try:
        content = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as problem:
        raise InvalidInput("{name} is not TOML", code="not_toml", name=path.name) from problem
    if not isinstance(content.get("slug"), str):
        raise InvalidInput("{name} names no slug", code="missing_key", name=path.name)
    return ".".join(filter(None, (content["slug"], round_name or str(content.get("round", "")))))
