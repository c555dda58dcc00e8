"""A backup that is not what was written is refused before anything of it is used."""

import gzip
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from anoncup.errors import InvalidInput
from app.cli.backup import service
from tests.support.backups import command, made, read

pytestmark = pytest.mark.full

__all__ = ["made"]


def test_a_backup_that_was_cut_off_is_refused_wherever_it_lacks_something(made: Path, tmp_path: Path) -> None:
    """Behind the last member a tar has only zeros; whoever lost some of those has lost nothing."""
    content, wanted, cut = made.read_bytes(), read(made), tmp_path / "cut"
    end = content.rindex(b"manifest.sha256")
    for length in range(0, end, end // 60):
        cut.write_bytes(content[:length])
        with pytest.raises(InvalidInput), service.opened(cut):
            pass
    zipped, refused = gzip.compress(content), 0
    for length in range(0, len(zipped), len(zipped) // 40):
        cut.write_bytes(zipped[:length])
        try:
            assert read(cut) == wanted
        except InvalidInput:
            refused += 1
    assert refused >= 38


def test_a_backup_with_a_changed_byte_is_refused_or_is_the_same_to_the_byte(
    made: Path, tmp_path: Path
) -> None:
    """The padding of a tar may change without harm; nothing that is read may."""
    content = bytearray(made.read_bytes())
    wanted, refused = read(made), 0
    changed = tmp_path / "changed"
    for place in range(0, len(content), len(content) // 150):
        content[place] ^= 1
        changed.write_bytes(content)
        content[place] ^= 1
        try:
            assert read(changed) == wanted
        except InvalidInput:
            refused += 1
    assert refused > 75


def without(member: str) -> Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]]:
    return lambda members: [entry for entry in members if not entry[0].startswith(member)]


@pytest.mark.parametrize(
    "change",
    [
        without("manifest.json"),
        without("manifest.sha256"),
        without("tables/users"),
        without("blobs/"),
        lambda members: [*members, members[0]],
        lambda members: [("../../etc/passwd", b"root"), *members],
        lambda members: [("blobs/" + "0" * 64, b"more"), *members],
        lambda members: [
            (name, re.sub(rb'"revision": "[0-9]+"', b'"revision": "0000"', content))
            for name, content in members
        ],
    ],
)
def test_a_backup_that_was_packed_anew_is_refused_before_anything_is_written(
    made: Path, tmp_path: Path, change: Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]]
) -> None:
    with tarfile.open(made) as tar:
        members = [(member.name, tar.extractfile(member).read()) for member in tar]  # type: ignore[union-attr]
    with tarfile.open(tmp_path / "other.tar", "w") as tar:
        for name, content in change(members):
            (tmp_path / "member").write_bytes(content)
            tar.add(tmp_path / "member", arcname=name)
    answer = command("restore", tmp_path / "other.tar", "--data", tmp_path / "new")
    assert answer.returncode == 2
    assert "Traceback" not in answer.stderr
    assert not (tmp_path / "new").exists()
