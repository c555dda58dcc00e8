"""``anoncup organize``: competitions as files. Everything else is on the organizers' pages and in the API."""

from __future__ import annotations

import sys
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anoncup.cli.connection import connect, make_password_prompt, translate_api_errors
from anoncup.cli.options import (
    AsJson,
    OptionalOriginalFiles,
    PasswordStdin,
    RoundName,
    Slug,
    TomlFile,
    read_text,
    resolve_original_paths,
    use_local_names,
)
from anoncup.cli.output import (
    ColumnSpec,
    format_cell,
    make_time_column,
    print_fields,
    print_json,
    print_table,
    replace_unprintable,
)
from anoncup.cli.terminal import progress_bar
from anoncup.errors import InvalidCompetition, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anoncup import schemas
    from anoncup.client import Client
    from anoncup.competition.drafts import Change

app = typer.Typer(no_args_is_help=True, help="Organize a competition at a service by its file.")

_COMPETITION_COLUMNS: ColumnSpec[schemas.Competition] = {
    "slug": "slug",
    "title": "title",
    "track": "track",
    "time zone": "timezone",
    "state": "state",
    "published": "published_at",
    "paused": "paused",
    "rows": "original_rows",
    "files": lambda competition: list(competition.original_sha256) or None,
}
_PHASE_COLUMNS: ColumnSpec[schemas.Phase] = {
    "phase": "name",
    "start": make_time_column("start"),
    "end": make_time_column("end"),
}
_ROUND_COLUMNS: ColumnSpec[schemas.Round] = {
    "address": "address",
    "state": "state",
    "weight": "weight",
    "practice": "practice",
}


@app.command()
def apply(
    file: TomlFile,
    original: OptionalOriginalFiles = None,
    round_name: RoundName = None,
    *,
    publish: Annotated[bool, typer.Option("--publish", help="then make it public, for good")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="publish in spite of warnings")] = False,
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Create the competition of a file, or change it to what the file says.

    Whoever creates it is its organizer. It is a draft, of which nobody else knows, until it is published with
    your password. Before that, what is missing and warnings are printed; publishing in spite of warnings
    needs your consent. To apply the same file and data again changes nothing. A file that the data at the
    service do not fit is refused without new data. Once somebody has submitted, what is measured cannot
    change, and any other change needs your password, as an earlier end of a phase does once the contest has
    begun.
    """
    from anoncup.rules.toml_text import parse_toml

    text = read_text(file)
    tables = parse_toml(text)
    originals = original or []
    if originals:
        _check_originals(file, originals, round_name)
    with connect(password=make_password_prompt(from_stdin=password_stdin)) as client:
        stored = _load_stored_tables(client, tables)
        changes = _send_file(client, text, tables, stored, keep_original=not originals)
        if stored is None and not as_json:  # also if the data are refused
            print(f"created {replace_unprintable(str(tables['slug']))}")
        address = ".".join(filter(None, (str(tables["slug"]), round_name)))
        earlier = client.get_competition(address)
        uploads = _upload_originals(client, earlier, originals)
        competition = client.get_competition(address) if uploads else earlier
        review = _review_draft(client, competition)
        if not as_json:
            _print_changes(changes)
            _print_uploads(uploads)
            if uploads and earlier.original_sha256 and earlier.published_at:
                print("warning: teams may have the earlier data: announce the new ones", file=sys.stderr)
            if stored is not None and not changes and not uploads:
                print("nothing changed")
            _print_competition(client, competition, review)
        if publish and review is not None:
            _require_consent(review, yes=yes)
            competition = client.publish_competition(address)
            if not as_json:
                print(f"published {_build_link(client, competition)}")
    if as_json:
        print_json(
            {
                "created": stored is None,
                "changes": [asdict(change) for change in changes],
                "uploaded": {name: upload.remarks for name, upload in uploads.items()},
                "review": review,
                "competition": competition,
            }
        )


def _check_originals(file: Path, originals: list[str], round_name: str | None) -> None:
    """Raise the error with which the service would refuse the data, before the file is sent.

    Only the service can check them if the file needs packages that are not installed here.
    """
    from anoncup.cli.local_files import load_contest
    from anoncup.competition.parser import parse_rounds
    from anoncup.evaluation.scales import compute_usable_scales

    try:
        rounds = parse_rounds(read_text(file))
    except InvalidCompetition:
        return
    contest = load_contest(file, originals, round_name or next(iter(rounds)) or None)
    compute_usable_scales(contest.rules, contest.track, contest.original)


def _review_draft(client: Client, competition: schemas.Competition) -> schemas.PublishReview | None:
    return client.review_draft(competition.address) if competition.published_at is None else None


def _require_consent(review: schemas.PublishReview, *, yes: bool) -> None:
    """Ask whether to publish in spite of warnings. If something is missing, the service says so."""
    if not review.warnings or review.missing or yes:
        return
    if not (sys.stdin.isatty() and typer.confirm("Publish all the same?", err=True)):
        raise InvalidInput(
            "not published, because of warnings: {warnings}. --yes publishes all the same",
            code="consent_needed",
            warnings=tuple(warning.message for warning in review.warnings),
        )


def _load_stored_tables(client: Client, tables: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the file of the competition at the service; None if there is none."""
    from anoncup.client import ApiError
    from anoncup.rules.toml_text import parse_toml

    try:
        return parse_toml(client.get_competition_file(str(tables.get("slug"))))
    except ApiError as error:
        if error.status != 404:
            raise
        return None


def _send_file(
    client: Client,
    text: str,
    tables: Mapping[str, object],
    stored: Mapping[str, object] | None,
    *,
    keep_original: bool,
) -> Sequence[Change]:
    """Create the competition, or replace its file if it differs; return the changes of an existing one."""
    from anoncup.competition.drafts import list_changes

    if stored is None:
        client.create_competition(text)
        return []
    changes = list_changes(stored, tables)
    if changes:
        client.put_competition_file(str(tables["slug"]), text, keep_original=keep_original)
    return changes


def _upload_originals(
    client: Client, competition: schemas.Competition, originals: Sequence[str]
) -> dict[str, schemas.Original]:
    """Upload the original data unless the service has them; return the answers by file.

    The first file is uploaded first, because the service checks the others against it and drops them with it.
    """
    if not originals:
        return {}
    paths = resolve_original_paths(competition, originals)
    contents = {name: path.read_bytes() for name, path in paths.items()}
    digests = {name: sha256(content).hexdigest() for name, content in contents.items()}
    if digests.items() <= competition.original_sha256.items():
        return {}
    uploads = {}
    local_names = {name.removesuffix(".csv"): path for name, path in paths.items()}
    with use_local_names(local_names), translate_api_errors():
        for name, content in contents.items():
            with progress_bar(replace_unprintable(name)):
                uploads[name] = client.put_original(competition.address, content, filename=name)
    # The service may have cleaned the files, so that only now it is known whether it had them.
    return uploads if uploads[name].original_sha256 != competition.original_sha256 else {}


def _print_changes(changes: Sequence[Change]) -> None:
    for change in changes:
        values = (_shorten(value) for value in (change.old, change.new))
        print(f"{replace_unprintable(change.key)}: {' → '.join(values)}")


def _shorten(value: object) -> str:
    text = format_cell(value if value is None or isinstance(value, bool | float) else str(value))
    return text if len(text) <= 60 else f"{text[:59]}…"


def _print_uploads(uploads: Mapping[str, schemas.Original]) -> None:
    for name, upload in uploads.items():
        print(f"uploaded {replace_unprintable(name)}")
        _print_notices(upload.remarks)


def _print_notices(notices: Sequence[schemas.Notice]) -> None:
    for notice in notices:
        print(f"  {replace_unprintable(notice.code)}: {replace_unprintable(notice.message)}")


def _build_link(client: Client, competition: schemas.Competition) -> str:
    return f"{client.url}/competitions/{replace_unprintable(competition.address)}"


def _print_competition(
    client: Client, competition: schemas.Competition, review: schemas.PublishReview | None
) -> None:
    """Print a competition with the addresses of its pages and, of a draft, what is missing."""
    from anoncup.rules.toml_text import parse_toml

    tables: Any = parse_toml(client.get_competition_file(competition.address))
    link = _build_link(client, competition)
    columns: ColumnSpec[schemas.Competition] = {
        "threshold": lambda _: tables.get("excessive", {}).get("threshold"),
        "page": lambda _: link,
        "report": lambda _: f"{link}/organize/threshold" if "excessive" in tables else None,
        "invites": lambda _: f"{link}/organize/teams",
    }
    print_fields(competition, {**_COMPETITION_COLUMNS, **columns})
    if review is not None:
        for heading, notices in (("missing", review.missing), ("think of this first", review.warnings)):
            if notices:
                print(f"{heading}:")
                _print_notices(notices)
        print(f"draft at {link}, for organizers only; --publish makes it public once nothing is missing")


@app.command()
def show(slug: Slug, as_json: AsJson = False) -> None:
    """Show the state, data, phases and rounds of a competition, and what a draft lacks."""
    with connect() as client:
        competition = client.get_competition(slug)
        if as_json:
            print_json(competition)
            return
        _print_competition(client, competition, _review_draft(client, competition))
    print_table(competition.phases, _PHASE_COLUMNS)
    if competition.rounds:
        print_table(competition.rounds, _ROUND_COLUMNS)


@app.command()
def export(
    slug: Slug,
    into: Annotated[Path | None, typer.Option(help="the file to write; default: SLUG.zip")] = None,
    force: Annotated[bool, typer.Option("--replace", help="replace an existing file")] = False,
) -> None:
    """Download everything about the competition that an organizer may have, as one archive."""
    path = Path(f"{slug}.zip") if into is None else into
    if path.exists() and not force:
        raise InvalidInput("{into} exists already; --replace overwrites it", code="files", into=str(path))
    with connect() as client, progress_bar(path.name):
        digest = client.download_export(slug, path)
    print(f"{path}  SHA-256 {digest}")
