"""``anoncup score``: score a release locally with the same code as the server.

The command imports slow modules only when it runs, so that other commands start quickly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from anoncup.cli.options import (
    AsJson,
    CompetitionFile,
    OriginalFiles,
    ReleasePaths,
    RoundName,
    SecretFile,
    accept_files,
)
from anoncup.cli.output import print_json
from anoncup.cli.terminal import progress_bar, show_formula_score, show_verdict

if TYPE_CHECKING:
    from anoncup import schemas
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
