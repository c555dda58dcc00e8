"""``anoncup organize``: competitions as files. Everything else is on the organizers' pages and in the API."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.connection import connect, make_password_prompt, translate_api_errors
from anoncup.cli.options import (
    AsJson,
    OptionalOriginalFiles,
    PasswordStdin,
    RoundName,
    Slug,
    TomlFile,
    assign_originals,
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
from anoncup.errors import InvalidInput
from anoncup.plugins import TRACKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anoncup import schemas
    from anoncup.client import Client
    from anoncup.competition.drafts import Change

app = typer.Typer(no_args_is_help=True, help="Organize a competition at a service by its file.")

_COMPETITION_COLUMNS: ColumnSpec[schemas.Competition] = {
    "slug": "slug",
    "track": "track",
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
    password_stdin: PasswordStdin = False,
    as_json: AsJson = False,
) -> None:
    """Create the competition of a file, or change it to what the file says.

    Whoever creates it is its organizer. It is a draft, of which nobody else knows, until it is published with
    your password. To apply the same file and data again changes nothing. Once somebody
    has submitted, what is measured cannot change, and any other change needs your password, as an earlier end
    of a phase does once the contest has begun.
    """
    from anoncup.rules.toml_text import parse_toml

    text = read_text(file)
    tables = parse_toml(text)
    originals = original or []
    if originals and (track := TRACKS.get(str(tables.get("track")))) is not None:
        assign_originals(track, originals)  # before anything is sent
    with connect(password=make_password_prompt(from_stdin=password_stdin)) as client:
        stored = _load_stored_tables(client, tables)
        changes = _send_file(client, text, tables, stored)
        if stored is None and not as_json:  # also if the data are refused
            print(f"created {replace_unprintable(str(tables['slug']))}")
        address = ".".join(filter(None, (str(tables["slug"]), round_name)))
        uploads = _upload_originals(client, address, originals)
        competition = client.get_competition(address)
        warnings: list[schemas.Notice] = []
        is_draft = competition.published_at is None
        if publish and is_draft:
            competition = published = client.publish_competition(address)
            warnings = published.warnings
    if as_json:
        print_json(
            {
                "created": stored is None,
                "changes": [asdict(change) for change in changes],
                "uploaded": {name: upload.remarks for name, upload in uploads.items()},
                "competition": competition,
            }
        )
        return
    _print_changes(changes)
    _print_uploads(uploads)
    if publish and is_draft:
        print(f"published {replace_unprintable(address)}")
    elif stored is not None and not changes and not uploads:
        print("nothing changed")
    _print_notices(warnings)
    print_fields(competition, _COMPETITION_COLUMNS)


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
    client: Client, text: str, tables: Mapping[str, object], stored: Mapping[str, object] | None
) -> Sequence[Change]:
    """Create the competition, or replace its file if it differs; return the changes of an existing one."""
    from anoncup.competition.drafts import list_changes

    if stored is None:
        client.create_competition(text)
        return []
    changes = list_changes(stored, tables)
    if changes:
        client.put_competition_file(str(tables["slug"]), text)
    return changes


def _upload_originals(client: Client, address: str, originals: Sequence[str]) -> dict[str, schemas.Original]:
    """Upload the original data unless the service has them; return the answers by file.

    The first file is uploaded first, because the service checks the others against it and drops them with it.
    """
    if not originals:
        return {}
    competition = client.get_competition(address)
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
                uploads[name] = client.put_original(address, content, filename=name)
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


@app.command()
def show(slug: Slug, as_json: AsJson = False) -> None:
    """Show the state, data, phases and rounds of a competition."""
    with connect() as client:
        competition = client.get_competition(slug)
    if as_json:
        print_json(competition)
        return
    print_fields(competition, _COMPETITION_COLUMNS)
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
