"""Files that the documents and builds name, and the version of the command."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    "NOTICE",
    "Dockerfile",
    "Makefile",
    *(str(path.relative_to(ROOT)) for folder in ("", "docs") for path in (ROOT / folder).glob("*.md")),
]
PATH_PATTERN = re.compile(
    r"(?<![\w/….])((?:app|anoncup|workers|migrations|tests|docs|deploy|examples)/[\w./*-]*\w)(?:::(test_\w+))?"
)


def test_notice_names_every_licence_of_a_vendored_file() -> None:
    licence_files = {str(path.relative_to(ROOT)) for path in (ROOT / "app").rglob("*LICENSE.txt")}
    assert licence_files
    assert all(path in (ROOT / "NOTICE").read_text("utf-8") for path in licence_files)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_and_tests_named_in_documents_exist(document: str) -> None:
    names = set(PATH_PATTERN.findall((ROOT / document).read_text("utf-8")))
    assert {name for name in names if not exists(*name)} == set()


def exists(path: str, test: str) -> bool:
    files = [*ROOT.glob(path), *ROOT.glob(f"{path}-*")]
    return bool(files) and (not test or f"def {test}(" in files[0].read_text("utf-8"))


def test_command_prints_its_version() -> None:
    command = [str(Path(sys.executable).parent / "anoncup"), "--version"]
    output = subprocess.run(command, env={}, check=True, capture_output=True, encoding="utf-8").stdout
    assert output == f"anoncup {version('anoncup')}\n"
