"""docs/reliability.md names files and tests that exist, and each promise has one."""

import re

import pytest

from tests.support.markdown_blocks import ROOT
from tests.support.named_tests import find_missing_names, read_table_rows

pytestmark = pytest.mark.full

PAGE = (ROOT / "docs" / "reliability.md").read_text()
MISSING_MARK = "**missing**"


def test_each_promise_names_a_test_or_is_marked_missing() -> None:
    rows = read_table_rows(PAGE)[1:]
    assert len(rows) > 15
    for promise, mechanism, evidence in rows:
        assert evidence == MISSING_MARK or (mechanism and "::" in evidence), promise


def test_files_and_tests_named_on_the_page_exist() -> None:
    assert find_missing_names(PAGE) == []


def test_page_reports_the_last_fault_run() -> None:
    last_run = PAGE.partition("## The last run")[2]
    for word in ("seed", "faults", "submissions", "guesses"):
        assert re.search(rf"\d.*{word}|{word}.*\d", last_run), word
