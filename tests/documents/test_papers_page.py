"""Functions and tests named in docs/papers.md exist, and what comes out has a test."""

import re
from pydoc import locate

import pytest

from tests.support.markdown_blocks import ROOT
from tests.support.named_tests import find_missing_names, read_table_rows

pytestmark = pytest.mark.full

PAGE = (ROOT / "docs" / "papers.md").read_text()


def test_named_tests_exist() -> None:
    assert find_missing_names(PAGE) == []


def test_linked_functions_exist_under_the_names_shown() -> None:
    links = re.findall(r"\[`(\w+)`\]\[([\w.]+)\]", PAGE)
    assert len(links) > 50
    assert [path for name, path in links if not path.endswith(f".{name}") or locate(path) is None] == []


def test_what_comes_out_has_a_test() -> None:
    rows = [cells for cells in read_table_rows(PAGE) if len(cells) == 4 and cells[2] != "test"]
    assert len(rows) > 40
    without_test = {place: outcome for place, _, test, outcome in rows if "::test_" not in test}
    assert {place: outcome for place, outcome in without_test.items() if not outcome.startswith("no:")} == {}


def test_missing_names_are_detected() -> None:
    page = "`tests/nothing.py`, `tests/test_reliability.py::test_nothing`, `tests/test_reliability.py`, `a`"
    assert find_missing_names(page) == ["tests/nothing.py", "tests/test_reliability.py::test_nothing"]
