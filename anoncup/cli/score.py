"""``anoncup score``: score a release locally with the same code as the server.

The command imports slow modules only when it runs, so that other commands start quickly.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anoncup.cli.options import (
    AsJson,
    CompetitionFile,
    OriginalFiles,
    ReleasePaths,
    RoundName,
    SecretFile,
    accept_release_files,
)
from anoncup.cli.output import print_json
from anoncup.cli.terminal import (
    progress_bar,
    show_fingerprint,
    show_formula_score,
    show_reidentified,
    show_verdict,
)
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.evaluation.evaluate import Violation
    from anoncup.tables.files import Remark

ACCEPTED, REJECTED = 0, 1


@accept_release_files
def score(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    round_name: RoundName = None,
    secret: SecretFile,
    release: ReleasePaths,
    as_json: AsJson = False,
    methods: Annotated[
        bool, typer.Option("--methods", help="also say which sample methods the release resembles")
    ] = False,
    reidentified_file: Annotated[
        Path | None,
        typer.Option(
            "--reidentified",
            metavar="FILE",
            dir_okay=False,
            help="also write to FILE who was found and by which attacker; FILE reveals your secret",
        ),
    ] = None,
) -> None:
    """Score a release as the server does. Exit status 1: the contest's rules reject it."""
    from anoncup import schemas
    from anoncup.cli.local_files import check_sizes, load_contest, read_upload, write_reidentified
    from anoncup.evaluation.evaluate import evaluate
    from anoncup.evaluation.fingerprint import fingerprint
    from anoncup.evaluation.formula_score import compute_formula_score
    from anoncup.evaluation.scales import require_scales

    contest = load_contest(competition, original, round_name)
    if reidentified_file is not None and contest.track.select_hit_probabilities(contest.rules) is None:
        raise InvalidInput("this contest does not ask who the individuals are", code="no_individuals")
    check_sizes(contest, (*release.values(), secret))
    rules = require_scales(contest.rules, contest.track, contest.original)
    upload = read_upload(contest, release, secret)
    answers: dict[str, Any] = {}
    with progress_bar("scoring") as progress:
        verdict = evaluate(
            rules,
            contest.original,
            upload.release,
            upload.answer,
            progress=progress,
            on_answer=answers.__setitem__,
        )
    reidentified, shared_traits = (
        write_reidentified(contest, answers, upload.answer, reidentified_file)
        if reidentified_file
        else (None, ())
    )
    resemblances = fingerprint(contest.rules, contest.original, verdict) if methods else ()
    resemblance_json = (
        {"resembles": [resemblance.to_json() for resemblance in resemblances]} if methods else {}
    )
    reidentified_json = {"reidentified": reidentified.to_json(shared_traits)} if reidentified else {}
    warnings = build_notices([*contest.remarks, *upload.remarks, *verdict.warnings])
    score_json = (
        {"score": compute_formula_score(contest.rules, verdict)}
        if contest.rules.ranking.rule != "score"
        else {}
    )
    result = schemas.parse_verdict(
        verdict.to_json() | score_json | {"warnings": warnings} | resemblance_json | reidentified_json
    )
    if as_json:
        print_json(result)
    else:
        show_verdict(result, warnings)
        show_formula_score(contest.rules, score_json)
        show_fingerprint(resemblances)
        show_reidentified(reidentified, shared_traits)
    raise typer.Exit(ACCEPTED if result.verdict == "accepted" else REJECTED)


def build_notices(remarks: Iterable[Remark | Violation]) -> list[schemas.Notice]:
    from anoncup import schemas

    return [schemas.Notice.create(remark.code, remark.message) for remark in remarks]
