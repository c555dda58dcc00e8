"""``anoncup download``: a competition's files, and its targets."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.archives import unpack
from anoncup.cli.connection import connected, transfer_bar
from anoncup.cli.options import AsJson, Slug
from anoncup.cli.output import plain, print_json
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.client import Client


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
    with connected(anybody=not (targets or own)) as client:
        wanted = client.competition(slug)  # before a folder is made of a mistaken name
        folder.mkdir(parents=True, exist_ok=True)
        fetch = fetch_targets if targets else fetch_kit if kit else fetch_own if own else fetch_competition
        with staging(folder) as aside:
            names = fetch(client, wanted, aside)
            moved = [move(aside / name, folder / name, replace=replace) for name in names]
    files = [{"file": str(folder / name), "new": new} for name, new in zip(names, moved, strict=True)]
    if as_json:
        print_json(files)
        return
    for each in files:
        print(f"{each['file']}" + ("" if each["new"] else " (unchanged)"))


@contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """A folder beside the files' last place, on the same disk, gone with the context."""
    aside = Path(tempfile.mkdtemp(prefix=".anoncup-", dir=folder))
    try:
        yield aside
    finally:
        shutil.rmtree(aside)


def fetch_competition(client: Client, wanted: schemas.Competition, aside: Path) -> list[str]:
    from anoncup.client import at

    slug = wanted.slug
    if wanted.original_rows is None:
        raise InvalidInput("{slug} has no original data yet", code="no_original", slug=slug)
    client.save(at(slug, "competition.toml"), aside / "competition.toml")
    files = [safe(name) for name in wanted.original_files if name in wanted.original_sha256]
    for name in files:
        fetch_file(client, at(slug, "original", name), aside / name, wanted.original_sha256[name])
    return ["competition.toml", *files]


def fetch_file(client: Client, path: str, into: Path, wanted: str) -> None:
    with transfer_bar(into.name) as progress:
        digest = client.save(path, into, progress=progress)
    if digest != wanted:
        raise InvalidInput(
            "{name} arrived with another SHA-256 than it has", code="wrong_digest", name=into.name
        )


def fetch_own(client: Client, wanted: schemas.Competition, aside: Path) -> list[str]:
    """The team's own files, in a folder beside the original's, which may be called the same."""
    from anoncup.client import at

    (aside / "own").mkdir()
    found = client.own(wanted.slug).files
    for name, digest in found.items():
        fetch_file(client, at(wanted.slug, "own", safe(name)), aside / "own" / name, digest)
    return [f"own/{name}" for name in found]


def fetch_kit(client: Client, wanted: schemas.Competition, aside: Path) -> list[str]:
    from anoncup.client import at

    with transfer_bar("kit.zip") as progress:
        client.save(at(wanted.slug, "kit.zip"), aside / "kit.zip", progress=progress)
    return ["kit.zip"]


def fetch_targets(client: Client, wanted: schemas.Competition, aside: Path) -> list[str]:
    """The targets' files by ``targets/NAME/FILE``, as both the archive and the service list them."""
    from anoncup.client import at

    slug = wanted.slug
    listed = client.targets(slug)
    with transfer_bar("targets.zip") as progress:
        client.save(at(slug, "targets.zip"), aside / "targets.zip", progress=progress)
    unpacked = aside / "targets"
    unpacked.mkdir()
    names = unpack(aside / "targets.zip", unpacked)
    compare(listed, unpacked, names)
    return [f"targets/{name}" for name in names]


def compare(listed: list[schemas.Target], unpacked: Path, names: list[str]) -> None:
    """What was unpacked against the digests that the service's own list gives."""
    from anoncup.cli.archives import digest_of

    known = {f"{one.name}/{file}": digest for one in listed for file, digest in one.files.items()}
    for name in names:
        if "/" in name and known.get(name) != digest_of(unpacked / name):
            raise InvalidInput(
                "targets/{name} is not what the list of targets says", code="wrong_digest", name=name
            )


def safe(name: str) -> str:
    """A file's name that stays in its folder."""
    from anoncup.cli.archives import NAME

    if not NAME.fullmatch(name):
        raise InvalidInput("the service names a file {name!r}", code="unsafe_name", name=plain(name))
    return name


def move(source: Path, place: Path, *, replace: bool) -> bool:
    """Put a file in its place; whether anything changed. Another one that is there already stays."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists() and not replace:
        if place.read_bytes() == source.read_bytes():
            return False
        raise InvalidInput(
            "{place} exists already and differs; --replace overwrites it", code="files", place=str(place)
        )
    source.replace(place)
    return True
