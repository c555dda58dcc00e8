"""``anoncup competitions`` and ``anoncup download``: list competitions, and fetch the files of one."""

from __future__ import annotations

import re
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.connection import connect
from anoncup.cli.options import AsJson, Slug
from anoncup.cli.output import ColumnSpec, print_entries, print_json, replace_unprintable
from anoncup.cli.terminal import progress_bar
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anoncup import schemas
    from anoncup.client import Client

_WINDOWS_DEVICES = r"(?i:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)"
SAFE_NAME = re.compile(rf"(?!{_WINDOWS_DEVICES})[A-Za-z0-9_][A-Za-z0-9._-]{{0,99}}(?<!\.)")
"""Names that are legal on every system: Windows has devices of some names, and cuts a final dot."""


def competitions(as_json: AsJson = False) -> None:
    """List the competitions of the service."""
    columns: ColumnSpec[schemas.ListedCompetition] = {
        "slug": "slug",
        "title": lambda entry: next(iter(entry.title.values()), None),
        "track": "track",
        "state": "state",
        "rows": "original_rows",
        "until": lambda entry: next((phase.end for phase in entry.phases if phase.name == entry.state), None),
    }
    with connect(anonymous=True) as client:
        print_entries(client.list_competitions(), columns, as_json=as_json, empty_text="no competitions")


def download(
    slug: Slug,
    *,
    into: Annotated[Path | None, typer.Option(help="the folder to write into; default: SLUG")] = None,
    targets: Annotated[bool, typer.Option("--targets", help="the targets, into the folder targets")] = False,
    kit: Annotated[bool, typer.Option("--kit", help="kit.zip: rules, original and an example")] = False,
    own: Annotated[
        bool, typer.Option("--own", help="the data drawn for your team, into the folder own")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="replace files that differ")] = False,
    as_json: AsJson = False,
) -> None:
    """Fetch competition.toml and the original data, the targets, or your team's own data.

    Each file is checked by its SHA-256.
    """
    if targets + kit + own > 1:
        raise InvalidInput("one of --targets, --kit and --own")
    folder = Path(slug) if into is None else into
    with connect(anonymous=not (targets or own)) as client:
        # Before the folder is created, so that a wrong slug leaves none behind.
        competition = client.get_competition(slug)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".anoncup-", dir=folder) as staging:  # on the same disk
            staging_folder = Path(staging)
            if targets:
                names = _fetch_targets(client, competition, staging_folder)
            elif kit:
                names = [_fetch_file(client, staging_folder, slug, "kit.zip")]
            elif own:
                names = _fetch_own_data(client, competition, staging_folder)
            else:
                names = _fetch_competition(client, competition, staging_folder)
            is_new = [_install_file(staging_folder / name, folder / name, replace=replace) for name in names]
    files = [{"file": str(folder / name), "new": new} for name, new in zip(names, is_new, strict=True)]
    if as_json:
        print_json(files)
        return
    for entry in files:
        print(f"{entry['file']}" + ("" if entry["new"] else " (unchanged)"))


def _fetch_competition(client: Client, competition: schemas.Competition, staging_folder: Path) -> list[str]:
    """Fetch the competition file and the original data, and return their names."""
    slug, digests = competition.address, competition.original_sha256
    if competition.original_rows is None:
        raise InvalidInput("{slug} has no original data yet", code="no_original", slug=slug)
    names = [_validate_file_name(name) for name in competition.original_files if name in digests]
    _fetch_file(client, staging_folder, slug, "competition.toml")
    for name in names:
        _fetch_file(client, staging_folder, slug, "original", name, expected_digest=digests[name])
    return ["competition.toml", *names]


def _fetch_file(
    client: Client, folder: Path, slug: str, *parts: str, expected_digest: str | None = None
) -> str:
    """Download a file of a competition into the folder, check its SHA-256 if known, and return its name."""
    from anoncup.client import competition_path

    name = parts[-1]
    with progress_bar(name):
        digest = client.download(competition_path(slug, *parts), folder / name)
    if expected_digest not in {None, digest}:
        raise InvalidInput(
            "the SHA-256 of {name} is not the one that the service states", code="wrong_digest", name=name
        )
    return name


def _fetch_own_data(client: Client, competition: schemas.Competition, staging_folder: Path) -> list[str]:
    """Fetch the team's own files into a separate folder, since they may have the names of original files."""
    own_folder, slug = staging_folder / "own", competition.address
    own_folder.mkdir()
    digests = client.get_own_data(slug).files
    for name, digest in digests.items():
        _fetch_file(client, own_folder, slug, "own", _validate_file_name(name), expected_digest=digest)
    return [f"own/{name}" for name in digests]


def _fetch_targets(client: Client, competition: schemas.Competition, staging_folder: Path) -> list[str]:
    """Fetch the targets as ``targets/NAME/FILE``, check them against the list, and return their names."""
    targets = client.list_targets(competition.address)
    _fetch_file(client, staging_folder, competition.address, "targets.zip")
    digests = {
        f"{_validate_file_name(target.name)}/{_validate_file_name(file)}": digest
        for target in targets
        for file, digest in target.files.items()
    }
    return unpack_targets(staging_folder / "targets.zip", staging_folder, digests)


def unpack_targets(archive: Path, folder: Path, digests: Mapping[str, str]) -> list[str]:
    """Unpack the files with these digests, and those outside of folders; return their paths."""
    paths = []
    try:
        with zipfile.ZipFile(archive) as archive_file:
            for name in archive_file.namelist():
                content = archive_file.read(name)
                if not SAFE_NAME.fullmatch(name) and digests.get(name) != sha256(content).hexdigest():
                    raise InvalidInput(
                        "the SHA-256 of targets/{name} is not the one in the list of targets",
                        code="wrong_digest",
                        name=replace_unprintable(name),
                    )
                paths.append(f"targets/{name}")
                (folder / paths[-1]).parent.mkdir(parents=True, exist_ok=True)
                (folder / paths[-1]).write_bytes(content)
    except zipfile.BadZipFile as problem:
        raise InvalidInput(
            "the archive is damaged: {reason}", code="damaged_archive", reason=str(problem)
        ) from None
    return paths


def _validate_file_name(name: str) -> str:
    """Return the name if it is safe as a file name inside a folder; raise InvalidInput otherwise."""
    if not SAFE_NAME.fullmatch(name):
        raise InvalidInput(
            "the service names a file {name!r}", code="unsafe_name", name=replace_unprintable(name)
        )
    return name


def _install_file(source: Path, destination: Path, *, replace: bool) -> bool:
    """Move a file to its destination and return whether anything changed.

    Raise InvalidInput if a different file exists there and ``replace`` is False.
    """
    destination.parent.mkdir(parents=True, exist_ok=True)
    if destination.exists() and not replace:
        if destination.read_bytes() == source.read_bytes():
            return False
        raise InvalidInput(
            "{place} exists already and differs; --replace overwrites it",
            code="files",
            place=str(destination),
        )
    source.replace(destination)
    return True
