"""Damaged backups are refused before anything of them is restored."""

import gzip
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from anoncup.errors import InvalidInput
from app.cli.backup import backup_and_restore
from tests.support.backups import backup_file, read_backup_files, run_command

pytestmark = pytest.mark.full

__all__ = ["backup_file"]


def test_truncated_backup_is_refused(backup_file: Path, tmp_path: Path) -> None:
    """A tar ends with zeros after the last member, which may be cut off without loss."""
    content, expected, cut_backup = backup_file.read_bytes(), read_backup_files(backup_file), tmp_path / "cut"
    end = content.rindex(b"manifest.sha256")
    for length in range(0, end, end // 60):
        cut_backup.write_bytes(content[:length])
        with pytest.raises(InvalidInput), backup_and_restore.open_backup(cut_backup):
            pass
    compressed, refusals = gzip.compress(content), 0
    for length in range(0, len(compressed), len(compressed) // 40):
        cut_backup.write_bytes(compressed[:length])
        try:
            assert read_backup_files(cut_backup) == expected
        except InvalidInput:
            refusals += 1
    assert refusals >= 38


def test_backup_with_a_changed_byte_is_refused_or_restores_equally(backup_file: Path, tmp_path: Path) -> None:
    """The padding of a tar may change without harm."""
    content = bytearray(backup_file.read_bytes())
    expected, refusals = read_backup_files(backup_file), 0
    changed_backup = tmp_path / "changed"
    for position in range(0, len(content), len(content) // 150):
        content[position] ^= 1
        changed_backup.write_bytes(content)
        content[position] ^= 1
        try:
            assert read_backup_files(changed_backup) == expected
        except InvalidInput:
            refusals += 1
    assert refusals > 75


def drop_member(member: str) -> Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]]:
    return lambda members: [entry for entry in members if not entry[0].startswith(member)]


@pytest.mark.parametrize(
    "change",
    [
        drop_member("manifest.json"),
        drop_member("manifest.sha256"),
        drop_member("tables/users"),
        drop_member("blobs/"),
        lambda members: [*members, members[0]],
        lambda members: [("../../etc/passwd", b"root"), *members],
        lambda members: [("blobs/" + "0" * 64, b"more"), *members],
        lambda members: [
            (name, re.sub(rb'"revision": "[0-9]+"', b'"revision": "0000"', content))
            for name, content in members
        ],
    ],
)
def test_repacked_backup_is_refused_before_anything_is_written(
    backup_file: Path, tmp_path: Path, change: Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]]
) -> None:
    with tarfile.open(backup_file) as tar:
        members = [(member.name, tar.extractfile(member).read()) for member in tar]  # type: ignore[union-attr]
    with tarfile.open(tmp_path / "other.tar", "w") as tar:
        for name, content in change(members):
            (tmp_path / "member").write_bytes(content)
            tar.add(tmp_path / "member", arcname=name)
    completed = run_command("restore", tmp_path / "other.tar", "--data", tmp_path / "new")
    assert completed.returncode == 2
    assert "Traceback" not in completed.stderr
    assert not (tmp_path / "new").exists()
