"""Files and tests that a page of the documentation names, as ``path`` or ``path::function``."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.support.markdown_blocks import ROOT


def find_missing_names(page: str) -> list[str]:
    """Return the paths and functions named on a page that do not exist."""
    names = re.findall(r"`([\w/]+(?:\.py)?(?:::\w+)?)`", page)
    return [name for name in names if not _exists(*name.partition("::")[::2])]


def read_table_rows(page: str) -> list[list[str]]:
    """Return the cells of every line of a table, headers included."""
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def _exists(path: str, function: str) -> bool:
    if "/" not in path:  # code, not a file
        return not function
    file = ROOT / path
    return file.exists() and (not function or function in _list_function_names(file))


@cache
def _list_function_names(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text()))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
