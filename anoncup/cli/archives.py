"""Archives of a service that one need not trust: nothing is written outside the folder."""

import hashlib
import re
import stat
import zipfile
from pathlib import Path

from anoncup.errors import InvalidInput

SUMS = "SHA256SUMS"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
LARGEST = 64 << 30
"""Most bytes that an archive may unpack to."""
SHORT = 1 << 20


def unpack(archive: Path, into: Path) -> list[str]:
    """Unpack into an empty folder; the files' names. Each in a folder must be what SHA256SUMS says.

    What was written before a file turned out wrong is left for the caller to throw away.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = {checked_name(member): member for member in opened.infolist()}
            if len({name.casefold() for name in members}) != len(opened.infolist()):
                raise InvalidInput("the archive has two files of one name", code="unsafe_archive")
            if sum(member.file_size for member in members.values()) > LARGEST:
                raise InvalidInput("the archive unpacks to more than 64 GB", code="unsafe_archive")
            sums = sums_of(opened, members)
            for name, member in members.items():
                write(opened, member, into / name, sums.get(name))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as problem:
        raise InvalidInput(
            "the archive is damaged: {reason}", code="damaged_archive", reason=str(problem)
        ) from None
    return list(members)


def checked_name(member: zipfile.ZipInfo) -> str:
    """The member's path: at most one folder deep, of plain letters, a plain file."""
    parts = member.filename.split("/")
    kind = stat.S_IFMT(member.external_attr >> 16)
    if len(parts) > 2 or not all(map(NAME.fullmatch, parts)) or kind not in {0, stat.S_IFREG}:
        raise InvalidInput(
            "the archive has an unsafe member {member!r}", code="unsafe_archive", member=member.filename
        )
    return member.filename


def sums_of(opened: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> dict[str, str]:
    """SHA-256 by name; every file but the list itself must be in the list, and the other way round."""
    if SUMS not in members or members[SUMS].file_size > SHORT * 16:
        raise InvalidInput("the archive has no {sums}", code="no_manifest", sums=SUMS)
    lines = opened.read(SUMS).decode("utf-8", "replace").splitlines()
    found = [LINE.fullmatch(line) for line in lines if line]
    sums = {match[2]: match[1] for match in found if match}
    listed, there = set(sums), set(members) - {SUMS}
    unlisted = {name for name in there - listed if "/" in name}
    if None in found or listed - there or unlisted:
        raise InvalidInput("{sums} does not fit the archive's files", code="wrong_manifest", sums=SUMS)
    return sums


def write(opened: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, expected: str | None) -> None:
    path.parent.mkdir(exist_ok=True)
    digest = hashlib.sha256()
    with opened.open(member) as source, path.open("xb") as file:
        while chunk := source.read(SHORT):
            digest.update(chunk)
            file.write(chunk)
    if expected is not None and digest.hexdigest() != expected:
        raise InvalidInput(
            "{member} is not what {sums} says it is",
            code="wrong_digest",
            member=member.filename,
            sums=SUMS,
        )


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
