"""``anoncup score`` and ``anoncup check``: score or check a release locally with the same code as the server.

The commands import slow modules only when they run, so that others start quickly.
"""

from __future__ import annotations

from collections.abc import Iterable
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
    SecretFile,
    accept_files,
)
from anoncup.cli.output import print_json
from anoncup.cli.terminal import progress_bar, show_decision, show_formula_score, show_verdict

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.cli.local_files import LocalContest
    from anoncup.evaluation.evaluate import Violation
    from anoncup.tables.files import Remark

ACCEPTED, REJECTED = 0, 1


@accept_files("release")
def score(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    round_name: RoundName = None,
    secret: SecretFile,
    release: ReleasePaths,
    as_json: AsJson = False,
) -> None:
    """Score a release as the server does. Exit status 1: the contest's rules reject it."""
    from anoncup import schemas
    from anoncup.cli.local_files import check_sizes, load_contest, read_upload
    from anoncup.evaluation.evaluate import evaluate
    from anoncup.evaluation.formula_score import compute_formula_score
    from anoncup.evaluation.scales import require_scales

    contest = load_contest(competition, original, round_name)
    check_sizes(contest, (*release.values(), secret))
    rules = require_scales(contest.rules, contest.track, contest.original)
    upload = read_upload(contest, release, secret)
    with progress_bar("scoring") as progress:
        verdict = evaluate(rules, contest.original, upload.release, upload.answer, progress=progress)
    warnings = build_notices([*contest.remarks, *upload.remarks, *verdict.warnings])
    score_json = (
        {"score": compute_formula_score(contest.rules, verdict)}
        if not contest.rules.ranking.is_by_overall
        else {}
    )
    result = schemas.parse_verdict(verdict.to_json() | score_json | {"warnings": warnings})
    if as_json:
        print_json(result)
    else:
        show_verdict(result, warnings)
        show_formula_score(contest.rules, score_json)
    raise typer.Exit(ACCEPTED if result.verdict == "accepted" else REJECTED)


def build_notices(remarks: Iterable[Remark | Violation]) -> list[schemas.Notice]:
    from anoncup import schemas

    return [schemas.Notice.create(remark.code, remark.message) for remark in remarks]


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
