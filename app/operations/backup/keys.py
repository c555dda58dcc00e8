"""Back up, restore and rotate the keys that seal secrets. A backup of the service has none of them."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anoncup.errors import Conflict, InvalidInput, Unavailable
from app.core import sealing
from app.operations.backup import archive

_PUBLIC_NAME = "sealing.pub"


@dataclass(frozen=True, slots=True)
class KeyPaths:
    """Paths of a service's keys. If the public key is on another machine, it is not copied."""

    public: Path | None
    private: Path


def backup(paths: KeyPaths, output: Path, *, replace: bool = False) -> list[str]:
    """Write all private keys, and the public one if present, to ``output``; return the ids of the keys."""
    files = sorted(paths.private.glob("*.key"))
    if not files:
        raise Unavailable(
            "there are no private keys in {private}", code="opening_key_missing", private=str(paths.private)
        )
    with archive.create_archive(output, replace=replace) as tar:
        for file in files:
            sealing.read_private_key(paths.private, file.stem)
            archive.add(tar, f"keys/{file.name}", io.BytesIO(file.read_bytes()))
        if paths.public is not None and paths.public.exists():
            archive.add(tar, f"keys/{_PUBLIC_NAME}", io.BytesIO(paths.public.read_bytes()))
    return [file.stem for file in files]


def restore(path: Path, paths: KeyPaths) -> list[str]:
    """Restore the keys that are missing and return the ids of all. All are checked before one is written."""
    with archive.open_archive(path) as tar:
        contents = {name: content.read() for name, content in archive.iter_members(tar, "keys/")}
    public = contents.pop(_PUBLIC_NAME, None)
    private = dict(_check_keys(contents, paths))
    if not private:
        raise InvalidInput("there are no private keys in {path}", path=str(path))
    paths.private.mkdir(parents=True, exist_ok=True, mode=0o700)
    for key_path, content in private.items():
        if not key_path.exists():
            sealing.write_new_file(key_path, content, mode=0o400)
    if public is not None and paths.public is not None and not paths.public.exists():
        paths.public.parent.mkdir(parents=True, exist_ok=True)
        sealing.write_new_file(paths.public, public.strip(), mode=0o444)
    return [key_path.stem for key_path in private]


def _check_keys(contents: dict[str, bytes], paths: KeyPaths) -> Iterator[tuple[Path, bytes]]:
    """Yield the path and text of each private key.

    Raise InvalidInput if a key does not match its name, and Conflict if a different one exists at its path.
    """
    for name, content in contents.items():
        path, text = paths.private / name, content.strip()
        if name != f"{sealing.compute_private_key_id(text)}.key":
            raise InvalidInput("{name} is not the private key of that name; nothing was written", name=name)
        if path.exists() and path.read_bytes().strip() != text:
            raise Conflict("{path} is there already and differs; nothing was written", path=str(path))
        yield path, text


def rotate(paths: KeyPaths) -> str:
    """Create a key pair for new secrets and return its id. Private keys of older secrets are kept."""
    if paths.public is None or not paths.public.exists() or not any(paths.private.glob("*.key")):
        raise InvalidInput(
            "there is no pair of keys to replace ({public}, {private}); give --public and "
            "--private-dir, or make the first pair with anoncup keys create",
            public=str(paths.public),
            private=str(paths.private),
        )
    return sealing.create_keys(paths.public, paths.private)
