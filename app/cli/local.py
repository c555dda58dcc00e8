"""Commands on local files: the very code the server runs, no server needed.

Each command imports what it needs when it runs: the others should not wait for the scoring's modules.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anoncup.errors import InvalidInput
from app.cli.listing import print_json
from app.cli.options import (
    EXAMPLES,
    TEMPLATES_SAID,
    AsJson,
    CompetitionFile,
    MaybeOriginalFiles,
    MaybeSecretFile,
    OriginalFiles,
    Release,
    SecretFile,
    existing,
    read_text,
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

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.evaluation.evaluate import Violation
    from anoncup.tables.files import Remark

ACCEPTED, REJECTED = 0, 1
VIOLATIONS = {"too_few_rows"}
"""Warnings of a dry run that scoring turns into a rejection."""
CREDIT = """Data: Chen, D. (2015). Online Retail. UCI Machine Learning Repository, CC BY 4.0;
a selection, with invented sex and birthday."""


def template(
    name: Annotated[str, typer.Argument(help=f"the template; {TEMPLATES_SAID}")],
) -> None:
    """Print a complete competition file to start from."""
    from anoncup.competition.templates import template as template_text

    print(template_text(name), end="")


def generate(
    folder: Annotated[
        Path | None, typer.Argument(help="the folder to write into; a single file is printed without it")
    ] = None,
    *,
    rows: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="number of rows; default: as in the contest of the track"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    track: Annotated[str, typer.Option(help=f"the track: {', '.join(EXAMPLES)}")] = EXAMPLES[0],
) -> None:
    """Print a generated table of the 2015 contest's shape, or write the example data of a track."""
    from anoncup.plugins import TRACKS

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


def tc400(folder: Annotated[Path, typer.Argument(help="the folder to write into")] = Path()) -> None:
    """Write the 2016 contest's data, customers.csv and transactions.csv, into a folder."""
    from anoncup.tracks.transactions.example import tc400 as tc400_tables
    from anoncup.tracks.transactions.tables import files_of

    written(files_of(tc400_tables()), folder)
    print(CREDIT)


def written(files: Mapping[str, bytes], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.csv").write_bytes(content)
    print(f"wrote {' and '.join(f'{name}.csv' for name in files)} into {folder}")


def scales(competition: CompetitionFile, original: OriginalFiles) -> None:
    """Print the competition file with the scales of its utility scores computed from the original."""
    from anoncup.evaluation.scales import scales as scales_of
    from anoncup.rules.toml_text import with_scales
    from app.cli.files import contest_of

    contest = contest_of(competition, original)
    found = scales_of(contest.track, contest.prepared, contest.rules.measures)
    print(with_scales(contest.text, found), end="")


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
    from anoncup.evaluation.evaluate import doubts_about_secret, judge
    from app.cli.files import check_sizes, contest_of, release_in, upload_in

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
    from app.cli.connection import connected, transfer_bar
    from app.cli.sending import called_by_path, paths_of

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
    from anoncup.evaluation.evaluate import evaluate
    from anoncup.evaluation.fingerprint import fingerprint
    from app.cli.files import check_sizes, contest_of, fallen_in, upload_in

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
