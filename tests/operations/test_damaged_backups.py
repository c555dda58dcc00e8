"""Damaged backups are refused before anything of them is restored."""

import gzip
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from anoncup.errors import InvalidInput
from app.operations.backup import archive
from tests.support.backups import backup_file, read_members, run_command

pytestmark = pytest.mark.full

__all__ = ["backup_file"]


def read_verified(path: Path) -> dict[str, bytes]:
    """Return the members of an archive; raises InvalidInput if it is damaged."""
    with archive.open_archive(path) as verified:
        return {name: content.read() for name, content in verified.iter_members("")}


def test_truncated_backup_is_refused(backup_file: Path, tmp_path: Path) -> None:
    """A tar ends with zeros after the last member, which may be cut off without loss."""
    content, expected, cut_backup = backup_file.read_bytes(), read_verified(backup_file), tmp_path / "cut"
    end = content.rindex(b"SHA256SUMS")
    for length in range(0, end, end // 60):
        cut_backup.write_bytes(content[:length])
        with pytest.raises(InvalidInput):
            read_verified(cut_backup)
    compressed, refusals = gzip.compress(content), 0
    for length in range(0, len(compressed), len(compressed) // 40):
        cut_backup.write_bytes(compressed[:length])
        try:
            assert read_verified(cut_backup) == expected
        except InvalidInput:
            refusals += 1
    assert refusals >= 38


def test_backup_with_a_changed_byte_is_refused_or_reads_equally(backup_file: Path, tmp_path: Path) -> None:
    """The padding of a tar may change without harm."""
    content = bytearray(backup_file.read_bytes())
    expected, refusals = read_verified(backup_file), 0
    changed_backup = tmp_path / "changed"
    for position in range(0, len(content), len(content) // 150):
        content[position] ^= 1
        changed_backup.write_bytes(content)
        content[position] ^= 1
        try:
            assert read_verified(changed_backup) == expected
        except InvalidInput:
            refusals += 1
    assert refusals > 75


def drop_member(member: str) -> Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]]:
    return lambda members: [entry for entry in members if not entry[0].startswith(member)]


@pytest.mark.parametrize(
    "change",
    [
        drop_member("SHA256SUMS"),
        drop_member("database.dump"),
        drop_member("revision"),
        drop_member("blobs/"),
        lambda members: [*members, members[0]],
        lambda members: [members[0], *members],
        lambda members: [("../../etc/passwd", b"root"), *members],
        lambda members: [("blobs/" + "0" * 64, b"more"), *members],
        lambda members: [(name, b"0000" if name == "revision" else content) for name, content in members],
    ],
)
def test_repacked_backup_is_refused_before_anything_is_written(
    backup_file: Path, tmp_path: Path, change: Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]]
) -> None:
    write_tar(tmp_path / "other.tar", change(list(read_members(backup_file).items())))
    completed = run_command("restore", tmp_path / "other.tar", "--data", tmp_path / "new")
    assert completed.returncode == 2
    assert "Traceback" not in completed.stderr
    assert not (tmp_path / "new").exists()


def write_tar(path: Path, members: list[tuple[str, bytes]]) -> None:
    member_file = path.with_name("member")
    with tarfile.open(path, "w") as tar:
        for name, content in members:
            member_file.write_bytes(content)
            tar.add(member_file, arcname=name)


def test_sums_can_be_checked_with_common_programs(backup_file: Path, tmp_path: Path) -> None:
    subprocess.run(["tar", "-xf", backup_file, "-C", tmp_path], check=True)
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True)
