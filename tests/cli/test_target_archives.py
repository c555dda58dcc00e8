"""Targets are unpacked only as the service's list has them."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from anoncup.cli.download import unpack_targets
from anoncup.errors import InvalidInput

FILES = {"T01/anonymized.csv": b"a\n1\n", "T02/anonymized.csv": b"a\n2\n"}
DIGESTS = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}


def write_archive(folder: Path, files: dict[str, bytes]) -> Path:
    path = folder / "targets.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as zip_file:
        for name, content in files.items():
            zip_file.writestr(zipfile.ZipInfo(name), content)
    return path


def test_listed_files_and_those_outside_of_folders_are_unpacked(tmp_path: Path) -> None:
    files = {"commitments.csv": b"target\n", **FILES}
    paths = unpack_targets(write_archive(tmp_path, files), tmp_path, DIGESTS)
    assert paths == [f"targets/{name}" for name in files]
    assert [(tmp_path / path).read_bytes() for path in paths] == list(files.values())


@pytest.mark.parametrize(
    "name",
    [
        "../evil.csv", "/tmp/evil.csv", "T01/../../evil.csv", "T01\\..\\evil.csv", "C:evil.csv", "T01/", "..",
        "T01/.hidden", "a/b/c.csv", "T01/evil\x1b.csv", "T01//x.csv", "~/x.csv", "T03/anonymized.csv",
    ],
)  # fmt: skip
def test_file_that_is_not_listed_is_refused(tmp_path: Path, name: str) -> None:
    path = write_archive(tmp_path, {name: b"evil"})
    with pytest.raises(InvalidInput) as excinfo:
        unpack_targets(path, tmp_path, DIGESTS)
    assert excinfo.value.code == "wrong_digest"
    assert list(tmp_path.rglob("*")) == [path]


def test_file_with_another_content_than_listed_is_refused(tmp_path: Path) -> None:
    path = write_archive(tmp_path, FILES | {"T02/anonymized.csv": b"other"})
    with pytest.raises(InvalidInput, match=r"targets/T02/anonymized\.csv"):
        unpack_targets(path, tmp_path, DIGESTS)


@pytest.mark.parametrize("is_damaged", [True, False])
def test_damaged_archive_is_refused(tmp_path: Path, is_damaged: bool) -> None:
    path = write_archive(tmp_path, FILES)
    path.write_bytes(path.read_bytes().replace(b"a\n1\n", b"a\n7\n") if is_damaged else b"plain text")
    with pytest.raises(InvalidInput) as excinfo:
        unpack_targets(path, tmp_path, DIGESTS)
    assert excinfo.value.code == "damaged_archive"
