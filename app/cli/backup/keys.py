"""Copies of the keys that seal secrets and sign ends: the one part of a service that no other backup has."""

import io
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from anoncup.errors import Conflict, InvalidInput, Unavailable
from app.cli.backup import archive
from app.cli.backup.archive import Archive, Writer
from app.crypto import deadline_signing, sealing

KIND = "keys"
PUBLIC = "sealing.pub"


@dataclass(frozen=True, slots=True)
class Places:
    """Where a service has its keys. ``public`` may be elsewhere, and then is not copied."""

    public: Path | None
    private: Path


def backup(places: Places, into: Path, *, replace: bool = False) -> list[str]:
    """Write all private keys, and the public one if it is here, to ``into``; returns their ids."""
    with archive.written(into, replace=replace) as writer:
        ids = add(writer, places)
        writer.finish(KIND, {"key_ids": ids})
    return ids


def restore(path: Path, places: Places) -> list[str]:
    """Put back the keys that are missing; all of them are looked at before the first is written."""
    with archive.opened(path, kind=KIND) as found:
        return put_back(found, places, ExitStack())


def add(writer: Writer, places: Places) -> list[str]:
    files = sorted(places.private.glob("*.key"))
    if not files:
        raise Unavailable(
            "there are no private keys in {private}", code="opening_key_missing", private=str(places.private)
        )
    for file in files:
        sealing.read_private_key(places.private, file.stem)
        writer.add(f"keys/{file.name}", io.BytesIO(file.read_bytes()))
    for file in deadline_signing.files(places.private):
        writer.add(f"keys/{file.name}", io.BytesIO(file.read_bytes()))
    if places.public is not None and places.public.exists():
        writer.add(f"keys/{PUBLIC}", io.BytesIO(places.public.read_bytes()))
    return [file.stem for file in files]


def put_back(found: Archive, places: Places, undo: ExitStack) -> list[str]:
    """Write the archive's keys where they are missing; ``undo`` gets what removes each new file."""
    contents = {name: content.read() for name, content in found.members("keys")}
    public = contents.pop(PUBLIC, None)
    private = dict(checked(contents, places))
    if private:
        places.private.mkdir(parents=True, exist_ok=True, mode=0o700)
    for path, content in private.items():
        if not path.exists():
            undo.callback(path.unlink, missing_ok=True)
            sealing.write_new(path, content, mode=0o400)
    if public is not None and places.public is not None and not places.public.exists():
        places.public.parent.mkdir(parents=True, exist_ok=True)
        undo.callback(places.public.unlink, missing_ok=True)
        sealing.write_new(places.public, public.strip(), mode=0o444)
    return [path.stem for path in private if path.suffix != deadline_signing.SUFFIX]


def checked(contents: dict[str, bytes], places: Places) -> Iterator[tuple[Path, bytes]]:
    """Path and text of each private key; refused if one is not what its name says."""
    for name, content in contents.items():
        path, text = places.private / name, content.strip()
        if name != name_of(text, signing=path.suffix == deadline_signing.SUFFIX):
            raise InvalidInput("{name} is not the private key of that name; nothing was written", name=name)
        if path.exists() and path.read_bytes().strip() != text:
            raise Conflict("{path} is there already and differs; nothing was written", path=str(path))
        yield path, text


def name_of(text: bytes, *, signing: bool) -> str:
    """What the file of a private key is called."""
    if signing:
        return f"{deadline_signing.id_of(deadline_signing.key_of(text))}{deadline_signing.SUFFIX}"
    return f"{sealing.id_of_private(text)}.key"


def rotate(places: Places) -> str:
    """A new pair for the secrets from now on; the older private keys stay, for theirs."""
    if places.public is None or not places.public.exists() or not any(places.private.glob("*.key")):
        raise InvalidInput(
            "there is no pair of keys to replace ({public}, {private}); give --public and "
            "--private-dir, or make the first pair with anoncup keys create",
            public=str(places.public),
            private=str(places.private),
        )
    return sealing.create_keys(places.public, places.private)
