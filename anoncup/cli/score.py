"""Commands on local files: the very code the server runs, no server needed.

Each command imports what it needs when it runs: the others should not wait for the scoring's modules.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anoncup.cli.options import AsJson, CompetitionFile, OriginalFiles, Release, SecretFile, takes_release
from anoncup.cli.output import print_json
from anoncup.cli.terminal import progress_bar, show_fallen, show_fingerprint, show_verdict
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.evaluation.evaluate import Violation
    from anoncup.tables.files import Remark

ACCEPTED, REJECTED = 0, 1


@takes_release
def score(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    secret: SecretFile,
    release: Release,
    as_json: AsJson = False,
    methods: Annotated[
        bool, typer.Option("--methods", help="also say which sample methods the release resembles")
    ] = False,
    fallen: Annotated[
        Path | None,
        typer.Option(
            "--fallen",
            metavar="FILE",
            dir_okay=False,
            help="also write to FILE who was found and by which attacker; FILE reveals your secret",
        ),
    ] = None,
) -> None:
    """Score a release as the server does. Exit status 1: the contest's rules reject it."""
    from anoncup import schemas
    from anoncup.cli.local_files import check_sizes, contest_of, fallen_in, upload_in
    from anoncup.evaluation.evaluate import evaluate
    from anoncup.evaluation.fingerprint import fingerprint

    contest = contest_of(competition, original)
    if fallen is not None and contest.track.right(contest.rules) is None:
        raise InvalidInput("this contest does not ask who the individuals are", code="no_individuals")
    check_sizes(contest, (*release.values(), secret))
    parsed = upload_in(contest, release, secret)
    answers: dict[str, Any] = {}
    with progress_bar("scoring") as progress:
        verdict = evaluate(
            contest.rules,
            contest.prepared,
            parsed.release,
            parsed.answer,
            progress=progress,
            heard=answers.__setitem__,
        )
    who, what = fallen_in(contest, answers, parsed.answer, fallen) if fallen else (None, ())
    alike = fingerprint(contest.rules, contest.prepared, verdict) if methods else ()
    resembled = {"resembles": [each.to_json() for each in alike]} if methods else {}
    fell = {"fallen": who.to_json(what)} if who else {}
    warnings = said([*contest.remarks, *parsed.remarks, *verdict.warnings])
    found = schemas.read(verdict.to_json() | {"warnings": warnings} | resembled | fell)
    if as_json:
        print_json(found)
    else:
        show_verdict(found, warnings)
        show_fingerprint(alike)
        show_fallen(who, what)
    raise typer.Exit(ACCEPTED if found.verdict == "accepted" else REJECTED)


def said(remarks: Iterable[Remark | Violation]) -> list[schemas.Said]:
    from anoncup import schemas

    return [schemas.Said.of(each.code, each.message) for each in remarks]
