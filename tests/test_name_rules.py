"""The check of names in ``make check``."""

from pathlib import Path

import pytest

from tests.support.name_rules import find_faults

FAULTY_CODE = {
    "a participle": ("app/a.py", "def told(): ...", "app/a.py: told"),
    "a regular participle": ("app/a.py", "class Attacked: ...", "app/a.py: Attacked"),
    "a preposition": ("app/a.py", "def of(): ...", "app/a.py: of"),
    "a method": ("tests/a.py", "class Board:\n    def kept(self): ...", "tests/a.py: kept"),
    "a local": ("app/a.py", "def load():\n    found = 1", "app/a.py: found"),
    "a comprehension": ("app/a.py", "NAMES = [each for each in ()]", "app/a.py: each"),
    "a parameter": ("app/a.py", "def load(one): ...", "app/a.py: one"),
    "a module": ("app/beside.py", "", "app/beside.py: beside"),
    "a private import": ("app/a.py", "from app.b import _load", "app/a.py: _load"),
    "an import from a test": ("tests/a.py", "from tests.api.test_b import load", "tests/a.py: imports"),
    "a test as a module": ("tests/a.py", "from tests.api import test_b", "tests/a.py: imports"),
    "an import from conftest": ("tests/a.py", "from tests.conftest import load", "tests/a.py: imports"),
    "a helper": ("app/a.py", "def load(): ...\nROWS = load()", "app/a.py: load"),
}
ALLOWED_CODE = {
    "a seed": ("app/a.py", "def seed(): ..."),
    "a longer name": ("app/a.py", "def is_told(): ..."),
    "a private helper": ("app/a.py", "def _load(): ...\nROWS = _load()"),
    "a test": ("tests/a.py", "def load(): ...\nROWS = load()"),
    "a decorated function": ("app/a.py", "@route\ndef load(): ...\nROWS = load()"),
}


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


@pytest.mark.parametrize(("path", "text", "fault"), FAULTY_CODE.values(), ids=FAULTY_CODE)
def test_name_that_breaks_a_rule_is_reported(tmp_path: Path, path: str, text: str, fault: str) -> None:
    write(tmp_path, path, text)
    assert list(find_faults(tmp_path)) == [fault]


@pytest.mark.parametrize(("path", "text"), ALLOWED_CODE.values(), ids=ALLOWED_CODE)
def test_name_that_keeps_the_rules_is_not_reported(tmp_path: Path, path: str, text: str) -> None:
    write(tmp_path, path, text)
    assert find_faults(tmp_path) == {}


def test_functions_used_by_other_files_need_no_underscore(tmp_path: Path) -> None:
    write(tmp_path, "app/a.py", "def load(): ...\nROWS = load()")
    write(tmp_path, "workers/b.py", "from app.a import load")
    assert find_faults(tmp_path) == {}


def test_duplicate_class_names_in_the_code_are_reported(tmp_path: Path) -> None:
    write(tmp_path, "app/a.py", "class Board: ...")
    write(tmp_path, "workers/b.py", "class Board: ...")
    write(tmp_path, "anoncup/schemas/c.py", "class Board: ...")  # the API type of the same thing
    write(tmp_path, "tests/d.py", "class Board: ...")
    assert list(find_faults(tmp_path)) == ["workers/b.py: Board"]
