"""Archives from a service: only what they should hold comes out, and only where it should."""

import hashlib
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from anoncup.cli.archives import SUMS, unpack
from anoncup.errors import InvalidInput

GOOD = {"T01/anonymized.csv": b"a\n1\n", "T02/anonymized.csv": b"a\n2\n"}


def sums(files: Mapping[str, bytes]) -> bytes:
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()]
    return "".join(lines).encode()


def archive(folder: Path, files: Mapping[str, bytes], *, listed: bytes | None = None) -> Path:
    path = folder / "targets.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(SUMS, sums(files) if listed is None else listed)
        for name, content in files.items():
            packed.writestr(zipfile.ZipInfo(name), content)
    return path


@pytest.fixture
def into(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def test_what_the_list_names_is_unpacked(tmp_path: Path, into: Path) -> None:
    names = unpack(archive(tmp_path, GOOD), into)
    assert set(names) == {SUMS, *GOOD}
    assert {name: (into / name).read_bytes() for name in GOOD} == GOOD


@pytest.mark.parametrize(
    "name",
    [
        "../evil.csv", "/tmp/evil.csv", "T01/../../evil.csv", "T01\\..\\evil.csv", "C:evil.csv", "T01/", "..",
        "T01/.hidden", "a/b/c.csv", "T01/evil\x1b.csv", "T01//x.csv", "~/x.csv", "T01/日.csv",
    ],
)  # fmt: skip
def test_an_unsafe_name_is_refused_and_nothing_is_written(tmp_path: Path, into: Path, name: str) -> None:
    path = archive(tmp_path, GOOD | {name: b"evil"})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidInput) as refused:
        unpack(path, into)
    assert refused.value.code == "unsafe_archive"
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_is_refused(tmp_path: Path, into: Path) -> None:
    path = archive(tmp_path, GOOD)
    link = zipfile.ZipInfo("T03")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as packed:
        packed.writestr(link, "/etc/passwd")
    with pytest.raises(InvalidInput, match="unsafe member"):
        unpack(path, into)


def test_two_names_that_some_disks_take_for_one_are_refused(tmp_path: Path, into: Path) -> None:
    path = archive(tmp_path, GOOD | {"t01/ANONYMIZED.csv": b"x"})
    with pytest.raises(InvalidInput, match="two files of one name"):
        unpack(path, into)


def test_a_file_that_is_not_what_the_list_says_is_refused(tmp_path: Path, into: Path) -> None:
    path = archive(tmp_path, GOOD, listed=sums(GOOD | {"T02/anonymized.csv": b"other"}))
    with pytest.raises(InvalidInput, match=r"T02/anonymized\.csv is not what"):
        unpack(path, into)


@pytest.mark.parametrize(
    "listed",
    [
        sums({"T01/anonymized.csv": b"a\n1\n"}),
        sums(GOOD | {"T03/anonymized.csv": b""}),
        b"nonsense\n",
        b"\xff\xfe",
        b"",
    ],
    ids=["one unlisted", "one missing", "nonsense", "no text", "empty"],
)
def test_a_list_that_does_not_fit_is_refused(tmp_path: Path, into: Path, listed: bytes) -> None:
    with pytest.raises(InvalidInput) as refused:
        unpack(archive(tmp_path, GOOD, listed=listed), into)
    assert refused.value.code == "wrong_manifest"


def test_an_archive_without_a_list_is_refused(tmp_path: Path, into: Path) -> None:
    path = tmp_path / "targets.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("T01/anonymized.csv", "a")
    with pytest.raises(InvalidInput, match="no SHA256SUMS"):
        unpack(path, into)


@pytest.mark.parametrize("broken", [b"", b"PK\x03\x04 not really", b"plain text"])
def test_what_is_no_archive_is_refused(tmp_path: Path, into: Path, broken: bytes) -> None:
    path = tmp_path / "targets.zip"
    path.write_bytes(broken)
    with pytest.raises(InvalidInput) as refused:
        unpack(path, into)
    assert refused.value.code == "damaged_archive"


def test_a_damaged_member_is_refused(tmp_path: Path, into: Path) -> None:
    path = tmp_path / "targets.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as packed:
        packed.writestr(SUMS, sums({"T01/a.csv": b"UNTOUCHED"}))
        packed.writestr("T01/a.csv", b"UNTOUCHED")
    path.write_bytes(path.read_bytes().replace(b"UNTOUCHED", b"DAMAGED!!"))
    with pytest.raises(InvalidInput) as refused:
        unpack(path, into)
    assert refused.value.code == "damaged_archive"


def test_more_than_a_disk_should_take_is_refused_before_anything_is_written(
    tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anoncup.cli.archives.LARGEST", 1000)
    path = archive(tmp_path, {"T01/a.csv": b"0" * 2000})
    with pytest.raises(InvalidInput, match="unpacks to more"):
        unpack(path, into)
    assert list(into.iterdir()) == []
