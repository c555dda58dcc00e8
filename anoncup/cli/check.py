"""``anoncup check``: check whether a release is well-formed and within the rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from anoncup.cli.options import (
    AsJson,
    CompetitionFile,
    OptionalSecretFile,
    OriginalFiles,
    ReleasePaths,
    RoundName,
    accept_files,
)
from anoncup.cli.output import print_json
from anoncup.cli.score import ACCEPTED, REJECTED, build_notices
from anoncup.cli.terminal import show_decision

if TYPE_CHECKING:
    from anoncup.cli.local_files import LocalContest


@accept_files("release")
def check(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    round_name: RoundName = None,
    release: ReleasePaths,
    secret: OptionalSecretFile = None,
    as_json: AsJson = False,
) -> None:
    """Check whether a release is well-formed, small enough and within the rules, without measuring it.

    Without its secret only the files are checked. Exit status 1: the contest's rules reject it.
    """
    from anoncup.cli.local_files import check_sizes, load_contest

    contest = load_contest(competition, original, round_name)
    check_sizes(contest, (*release.values(), secret))
    result = _check_files(contest, release) if secret is None else _check_release(contest, release, secret)
    if as_json:
        print_json(result)
    else:
        show_decision(result["verdict"], result["violations"], result["warnings"])
    raise typer.Exit(REJECTED if result["verdict"] == "rejected" else ACCEPTED)


def _check_files(contest: LocalContest, release: ReleasePaths) -> dict[str, Any]:
    from anoncup.cli.local_files import read_release

    _, remarks = read_release(contest, release)
    warnings = build_notices([*contest.remarks, *remarks])
    return {"verdict": "well-formed", "violations": [], "warnings": warnings}


def _check_release(contest: LocalContest, release: ReleasePaths, secret: Path) -> dict[str, Any]:
    from anoncup.cli.local_files import read_upload
    from anoncup.evaluation.evaluate import check_rules

    upload = read_upload(contest, release, secret)
    violations, excessive, secret_warnings = check_rules(
        contest.rules, contest.original, upload.release, upload.answer
    )
    return {
        "verdict": "rejected" if violations else "accepted",
        "violations": build_notices(violations),
        "warnings": build_notices([*contest.remarks, *upload.remarks, *secret_warnings]),
        "excessive": excessive.to_json() if excessive else None,
    }
