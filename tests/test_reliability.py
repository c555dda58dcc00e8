"""docs/reliability.md names files and tests that exist, and each promise has one."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "reliability.md").read_text()
MISSING_MARK = "**missing**"


def read_promise_rows() -> list[list[str]]:
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@cache
def list_function_names(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text()))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_each_promise_names_a_test_or_is_marked_missing() -> None:
    assert len(read_promise_rows()) > 15
    for promise, mechanism, evidence in read_promise_rows():
        assert evidence == MISSING_MARK or (mechanism and "::" in evidence), promise


def test_files_and_tests_named_on_the_page_exist() -> None:
    for name in re.findall(r"`([\w/]+(?:\.py)?(?:::\w+)?)`", PAGE):
        path, _, test = name.partition("::")
        assert "/" not in path or (ROOT / path).exists(), name
        assert not test or test in list_function_names(ROOT / path), name


def test_page_reports_the_last_fault_run() -> None:
    last_run = PAGE.partition("## The last run")[2]
    for word in ("seed", "faults", "submissions", "guesses"):
        assert re.search(rf"\d.*{word}|{word}.*\d", last_run), word
