"""Archives from a service are unpacked only with safe names and matching checksums."""

import hashlib
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from anoncup.cli.archives import MANIFEST_NAME, unpack
from anoncup.errors import InvalidInput

VALID_FILES = {"T01/anonymized.csv": b"a\n1\n", "T02/anonymized.csv": b"a\n2\n"}


def build_sums(files: Mapping[str, bytes]) -> bytes:
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()]
    return "".join(lines).encode()


def write_archive(folder: Path, files: Mapping[str, bytes], *, sums_file: bytes | None = None) -> Path:
    path = folder / "targets.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zip_file:
        zip_file.writestr(MANIFEST_NAME, build_sums(files) if sums_file is None else sums_file)
        for name, content in files.items():
            zip_file.writestr(zipfile.ZipInfo(name), content)
    return path


@pytest.fixture
def target_folder(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def test_archive_is_unpacked_by_its_checksum_list(tmp_path: Path, target_folder: Path) -> None:
    names = unpack(write_archive(tmp_path, VALID_FILES), target_folder)
    assert set(names) == {MANIFEST_NAME, *VALID_FILES}
    assert {name: (target_folder / name).read_bytes() for name in VALID_FILES} == VALID_FILES


@pytest.mark.parametrize(
    "name",
    [
        "../evil.csv", "/tmp/evil.csv", "T01/../../evil.csv", "T01\\..\\evil.csv", "C:evil.csv", "T01/", "..",
        "T01/.hidden", "a/b/c.csv", "T01/evil\x1b.csv", "T01//x.csv", "~/x.csv", "T01/日.csv",
    ],
)  # fmt: skip
def test_unsafe_name_is_refused_and_nothing_is_written(
    tmp_path: Path, target_folder: Path, name: str
) -> None:
    path = write_archive(tmp_path, VALID_FILES | {name: b"evil"})
    files_before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidInput) as excinfo:
        unpack(path, target_folder)
    assert excinfo.value.code == "unsafe_archive"
    assert sorted(tmp_path.rglob("*")) == files_before


def test_link_in_an_archive_is_refused(tmp_path: Path, target_folder: Path) -> None:
    path = write_archive(tmp_path, VALID_FILES)
    link = zipfile.ZipInfo("T03")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as zip_file:
        zip_file.writestr(link, "/etc/passwd")
    with pytest.raises(InvalidInput, match="unsafe member"):
        unpack(path, target_folder)


def test_names_that_differ_only_by_case_are_refused(tmp_path: Path, target_folder: Path) -> None:
    path = write_archive(tmp_path, VALID_FILES | {"t01/ANONYMIZED.csv": b"x"})
    with pytest.raises(InvalidInput, match="two files of one name"):
        unpack(path, target_folder)


def test_file_with_a_wrong_checksum_is_refused(tmp_path: Path, target_folder: Path) -> None:
    path = write_archive(
        tmp_path, VALID_FILES, sums_file=build_sums(VALID_FILES | {"T02/anonymized.csv": b"other"})
    )
    with pytest.raises(InvalidInput, match=r"T02/anonymized\.csv is not what"):
        unpack(path, target_folder)


@pytest.mark.parametrize(
    "sums_file",
    [
        build_sums({"T01/anonymized.csv": b"a\n1\n"}),
        build_sums(VALID_FILES | {"T03/anonymized.csv": b""}),
        b"nonsense\n",
        b"\xff\xfe",
        b"",
    ],
    ids=["one unlisted", "one missing", "nonsense", "no text", "empty"],
)
def test_invalid_checksum_list_is_refused(tmp_path: Path, target_folder: Path, sums_file: bytes) -> None:
    with pytest.raises(InvalidInput) as excinfo:
        unpack(write_archive(tmp_path, VALID_FILES, sums_file=sums_file), target_folder)
    assert excinfo.value.code == "wrong_manifest"


def test_archive_without_a_checksum_list_is_refused(tmp_path: Path, target_folder: Path) -> None:
    path = tmp_path / "targets.zip"
    with zipfile.ZipFile(path, "w") as zip_file:
        zip_file.writestr("T01/anonymized.csv", "a")
    with pytest.raises(InvalidInput, match="no SHA256SUMS"):
        unpack(path, target_folder)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really", b"plain text"])
def test_file_that_is_not_an_archive_is_refused(tmp_path: Path, target_folder: Path, content: bytes) -> None:
    path = tmp_path / "targets.zip"
    path.write_bytes(content)
    with pytest.raises(InvalidInput) as excinfo:
        unpack(path, target_folder)
    assert excinfo.value.code == "damaged_archive"


def test_damaged_member_is_refused(tmp_path: Path, target_folder: Path) -> None:
    path = tmp_path / "targets.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as zip_file:
        zip_file.writestr(MANIFEST_NAME, build_sums({"T01/a.csv": b"UNTOUCHED"}))
        zip_file.writestr("T01/a.csv", b"UNTOUCHED")
    path.write_bytes(path.read_bytes().replace(b"UNTOUCHED", b"DAMAGED!!"))
    with pytest.raises(InvalidInput) as excinfo:
        unpack(path, target_folder)
    assert excinfo.value.code == "damaged_archive"


def test_oversized_archive_is_refused_before_anything_is_written(
    tmp_path: Path, target_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anoncup.cli.archives.MAX_UNPACKED_BYTES", 1000)
    path = write_archive(tmp_path, {"T01/a.csv": b"0" * 2000})
    with pytest.raises(InvalidInput, match="unpacks to more"):
        unpack(path, target_folder)
    assert list(target_folder.iterdir()) == []
