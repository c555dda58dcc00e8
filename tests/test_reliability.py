"""The page of promises names files and tests that exist, and no promise without either."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "reliability.md").read_text()
MISSING = "**missing**"


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@cache
def names_in(path: Path) -> set[str]:
    found = ast.walk(ast.parse(path.read_text()))
    return {node.name for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_promise_is_kept_somewhere_and_tried_by_a_test_or_said_to_be_missing() -> None:
    assert len(rows()) > 15
    for promise, kept, tried in rows():
        assert tried == MISSING or (kept and "::" in tried), promise


def test_every_file_and_test_that_the_page_names_exists() -> None:
    for name in re.findall(r"`([\w/]+(?:\.py)?(?:::\w+)?)`", PAGE):
        path, _, test = name.partition("::")
        assert "/" not in path or (ROOT / path).exists(), name
        assert not test or test in names_in(ROOT / path), name


def test_the_last_run_of_the_faults_is_told() -> None:
    told = PAGE.partition("## The last run")[2]
    for word in ("seed", "faults", "submissions", "guesses"):
        assert re.search(rf"\d.*{word}|{word}.*\d", told), word
