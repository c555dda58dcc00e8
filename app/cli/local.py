"""Commands on local files: the very code the server runs, no server needed.

Each command imports what it needs when it runs: the others should not wait for the scoring's modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.listing import print_json
from app.cli.options import (
    EXAMPLES,
    TEMPLATES_SAID,
    AsJson,
    CompetitionFile,
    MaybeSecretFile,
    OriginalFiles,
    Release,
    SecretFile,
    takes_release,
)
from app.cli.terminal import (
    console,
    progress_bar,
    show_decision,
    show_fallen,
    show_fingerprint,
    show_verdict,
)
from app.errors import InvalidInput

if TYPE_CHECKING:
    from app import wire
    from app.scoring.evaluate import Violation
    from app.scoring.files import Remark

ACCEPTED, REJECTED = 0, 1
CREDIT = """Data: Chen, D. (2015). Online Retail. UCI Machine Learning Repository, CC BY 4.0;
a selection, with invented sex and birthday."""


def template(
    name: Annotated[str, typer.Argument(help=TEMPLATES_SAID)],
) -> None:
    """Print a complete competition file to start from."""
    from app.scoring.templates import template as template_text

    print(template_text(name), end="")


def generate(
    folder: Annotated[
        Path | None, typer.Argument(help="where to write the files; without it one is printed")
    ] = None,
    *,
    rows: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, help="default: as many as the contest's kind has")
    ] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    track: Annotated[str, typer.Option(help="; ".join(EXAMPLES))] = EXAMPLES[0],
) -> None:
    """Print a generated table of the 2015 contest's shape, or write the example data of a track."""
    from app.scoring.tracks import TRACKS

    if track not in EXAMPLES:
        raise InvalidInput("tracks with generated data: {names}", code="unknown_track", names=EXAMPLES)
    made = TRACKS[track].example_data
    assert made is not None  # noqa: S101  # EXAMPLES has those that do
    files = made(rows, seed)
    if folder is not None:
        written(files, folder)
        if TRACKS[track].shipped:
            print(CREDIT)
    elif len(files) == 1:
        print(*(content.decode() for content in files.values()), end="")
    else:
        names = tuple(f"{name}.csv" for name in files)
        raise InvalidInput("name a folder for {names}", code="folder_missing", names=names)


def tc400(folder: Annotated[Path, typer.Argument(help="where to write them")] = Path()) -> None:
    """Write the 2016 contest's data, customers.csv and transactions.csv, into a folder."""
    from app.scoring.data import tc400 as tc400_tables
    from app.scoring.transaction_tables import files_of

    written(files_of(tc400_tables()), folder)
    print(CREDIT)


def written(files: Mapping[str, bytes], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.csv").write_bytes(content)
    print(f"wrote {' and '.join(f'{name}.csv' for name in files)} into {folder}")


def scales(competition: CompetitionFile, original: OriginalFiles) -> None:
    """Print the competition file with the scales of its utility scores computed from the original."""
    from app.cli.files import contest_of
    from app.scoring.scales import scales as scales_of
    from app.scoring.toml_text import with_scales

    contest = contest_of(competition, original)
    found = scales_of(contest.track, contest.prepared, contest.rules.measures)
    print(with_scales(contest.text, found), end="")


@takes_release
def check(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    release: Release,
    secret: MaybeSecretFile = None,
    as_json: AsJson = False,
) -> None:
    """Say whether a release is well-formed, small enough and within the rules, without measuring it.

    Without its secret only the files are checked. Exit status 1: the contest's rules reject it.
    """
    from app.cli.files import check_sizes, contest_of, release_in, secret_in
    from app.scoring.evaluate import judge

    contest = contest_of(competition, original)
    check_sizes(contest, (*release.values(), secret))
    table, remarks = release_in(contest, release)
    remarks = [*contest.remarks, *remarks]
    if secret is None:
        decision, violations, measured = "well-formed", [], {}
    else:
        source, ordered = secret_in(secret, contest, table)
        found, excessive = judge(contest.rules, contest.prepared, table, source)
        decision, violations = "rejected" if found else "accepted", said(found)
        remarks, measured = remarks + ordered, {"excessive": excessive.to_json() if excessive else None}
    if as_json:
        listed = {"violations": violations, "warnings": said(remarks)}
        print_json({"verdict": decision} | listed | measured)
    else:
        show_decision(console(), decision, violations, said(remarks))
    raise typer.Exit(REJECTED if decision == "rejected" else ACCEPTED)


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
            help="also write who was found, by whom, and say what they share; it tells of your secret",
        ),
    ] = None,
) -> None:
    """Score a release as the server does. Exit status 1: the contest's rules reject it."""
    from app import wire
    from app.cli.files import check_sizes, contest_of, fallen_in, release_in, secret_in
    from app.scoring.evaluate import evaluate
    from app.scoring.fingerprint import fingerprint

    contest = contest_of(competition, original)
    if fallen is not None and contest.track.right(contest.rules) is None:
        raise InvalidInput("this contest does not ask who the individuals are", code="no_individuals")
    check_sizes(contest, (*release.values(), secret))
    table, remarks = release_in(contest, release)
    source, ordered = secret_in(secret, contest, table)
    answers: dict[str, Any] = {}
    with progress_bar("scoring") as progress:
        verdict = evaluate(
            contest.rules,
            contest.prepared,
            table,
            source,
            progress=progress,
            heard=answers.__setitem__,
        )
    who, what = fallen_in(contest, answers, source, fallen) if fallen else (None, ())
    alike = fingerprint(contest.rules, contest.prepared, verdict) if methods else ()
    resembled = {"resembles": [each.to_json() for each in alike]} if methods else {}
    fell = {"fallen": who.to_json(what)} if who else {}
    warnings = said([*contest.remarks, *remarks, *ordered])
    found = wire.read(verdict.to_json() | {"warnings": warnings} | resembled | fell)
    if as_json:
        print_json(found)
    else:
        show_verdict(found, warnings)
        show_fingerprint(alike)
        show_fallen(who, what)
    raise typer.Exit(ACCEPTED if found.verdict == "accepted" else REJECTED)


def said(remarks: Iterable[Remark | Violation]) -> list[wire.Said]:
    from app import wire

    return [wire.Said.of(each.code, each.message) for each in remarks]
