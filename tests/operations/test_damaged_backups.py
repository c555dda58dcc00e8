"""Damaged backups are refused before anything of them is restored."""

from contextlib import suppress
from pathlib import Path

import pytest

from anoncup.errors import InvalidInput
from app.operations.backup import archive
from tests.support.backups import backup_file, run_command

pytestmark = pytest.mark.full

__all__ = ["backup_file"]


def read_verified(path: Path) -> dict[str, bytes]:
    """Return the members of an archive; raises InvalidInput if it is damaged."""
    with archive.open_archive(path) as verified:
        return {name: content.read() for name, content in archive.iter_members(verified, "")}


def test_truncated_backup_is_refused(backup_file: Path, tmp_path: Path) -> None:
    content, cut_backup = backup_file.read_bytes(), tmp_path / "cut"
    for length in range(0, len(content), len(content) // 60):
        cut_backup.write_bytes(content[:length])
        with pytest.raises(InvalidInput):
            read_verified(cut_backup)
    completed = run_command("restore", cut_backup, "--data", tmp_path / "new")
    assert (completed.returncode, "nothing was written" in completed.stderr) == (2, True)
    assert not (tmp_path / "new").exists()


def test_backup_with_a_changed_byte_is_refused_or_reads_equally(backup_file: Path, tmp_path: Path) -> None:
    """The header of gzip and its padding may change without harm."""
    content = bytearray(backup_file.read_bytes())
    expected, changed_backup = read_verified(backup_file), tmp_path / "changed"
    for position in range(0, len(content), len(content) // 60):
        content[position] ^= 1
        changed_backup.write_bytes(content)
        content[position] ^= 1
        with suppress(InvalidInput):
            assert read_verified(changed_backup) == expected
