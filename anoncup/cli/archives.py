"""Unpack zip archives from a service that is not trusted; no file is written outside the folder."""

import hashlib
import re
import stat
import zipfile
from pathlib import Path

from anoncup.errors import InvalidInput

MANIFEST_NAME = "SHA256SUMS"
_WINDOWS_DEVICES = r"(?i:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)"
SAFE_NAME = re.compile(rf"(?!{_WINDOWS_DEVICES})[A-Za-z0-9_][A-Za-z0-9._-]{{0,99}}(?<!\.)")
"""Names that are legal on every system: Windows has devices of some names, and cuts a final dot."""
_MANIFEST_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
MAX_UNPACKED_BYTES = 64 << 30
"""Maximum total size of the unpacked files."""
CHUNK_BYTES = 1 << 20


def unpack(archive: Path, folder: Path) -> list[str]:
    """Unpack into an empty folder and return the names of the files.

    Files are checked against the digests in SHA256SUMS. After an error, files already written are left for
    the caller to delete.
    """
    try:
        with zipfile.ZipFile(archive) as archive_file:
            members = {_validate_member(member): member for member in archive_file.infolist()}
            if len({name.casefold() for name in members}) != len(archive_file.infolist()):
                raise InvalidInput("the archive has two files of one name", code="unsafe_archive")
            if sum(member.file_size for member in members.values()) > MAX_UNPACKED_BYTES:
                raise InvalidInput("the archive unpacks to more than 64 GB", code="unsafe_archive")
            digests = _read_manifest(archive_file, members)
            for name, member in members.items():
                _extract_member(archive_file, member, folder / name, digests.get(name))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as problem:
        raise InvalidInput(
            "the archive is damaged: {reason}", code="damaged_archive", reason=str(problem)
        ) from None
    return list(members)


def _is_safe_path(path: str) -> bool:
    """Return whether a path is at most one folder deep and has only safe characters in its names."""
    parts = path.split("/")
    return len(parts) <= 2 and all(map(SAFE_NAME.fullmatch, parts))


def _validate_member(member: zipfile.ZipInfo) -> str:
    """Return the member's path.

    Raise InvalidInput unless it is a regular file, at most one folder deep, with only safe characters in its
    name.
    """
    file_type = stat.S_IFMT(member.external_attr >> 16)
    if not _is_safe_path(member.filename) or file_type not in {0, stat.S_IFREG}:
        raise InvalidInput(
            "the archive has an unsafe member {member!r}", code="unsafe_archive", member=member.filename
        )
    return member.filename


def _read_manifest(archive_file: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> dict[str, str]:
    """Return the SHA-256 of each listed file.

    Raise InvalidInput if a listed file is missing or a file inside a folder is not listed.
    """
    if MANIFEST_NAME not in members or members[MANIFEST_NAME].file_size > CHUNK_BYTES * 16:
        raise InvalidInput("the archive has no {sums}", code="no_manifest", sums=MANIFEST_NAME)
    digests = parse_manifest(archive_file.read(MANIFEST_NAME))
    listed, present = set(digests), set(members) - {MANIFEST_NAME}
    unlisted = {name for name in present - listed if "/" in name}
    if listed - present or unlisted:
        raise _build_manifest_error()
    return digests


def parse_manifest(content: bytes) -> dict[str, str]:
    """Return the SHA-256 of each file that SHA256SUMS lists; raise InvalidInput if a line is malformed."""
    lines = content.decode("utf-8", "replace").splitlines()
    matches = [_MANIFEST_LINE.fullmatch(line) for line in lines if line]
    digests = {match[2]: match[1] for match in matches if match}
    if None in matches or not all(map(_is_safe_path, digests)):
        raise _build_manifest_error()
    return digests


def _build_manifest_error() -> InvalidInput:
    return InvalidInput("{sums} does not fit the archive's files", code="wrong_manifest", sums=MANIFEST_NAME)


def _extract_member(
    archive_file: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, expected_digest: str | None
) -> None:
    path.parent.mkdir(exist_ok=True)
    digest = hashlib.sha256()
    with archive_file.open(member) as source, path.open("xb") as file:
        while chunk := source.read(CHUNK_BYTES):
            digest.update(chunk)
            file.write(chunk)
    if expected_digest is not None and digest.hexdigest() != expected_digest:
        raise InvalidInput(
            "{member} is not what {sums} says it is",
            code="wrong_digest",
            member=member.filename,
            sums=MANIFEST_NAME,
        )


def compute_file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
