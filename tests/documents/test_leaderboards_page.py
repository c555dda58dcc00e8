"""The scripts of docs/leaderboards.md print its tables, and their claims hold in other computations."""

import contextlib
import io
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.markdown_blocks import ROOT, list_code_blocks

pytestmark = pytest.mark.full

PAGE = ROOT / "docs/leaderboards.md"
SCRIPTS = sorted((ROOT / "examples/leaderboards").glob("*.py"))
MAX_LINES = 60


@cache
def run_script(name: str) -> tuple[str, dict[str, Any]]:
    """Return the output of a script and its global variables."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        variables = runpy.run_path(str(ROOT / f"examples/leaderboards/{name}.py"))
    return output.getvalue(), variables


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_page_quotes_the_output_of_each_short_script(script: Path) -> None:
    text = script.read_text()
    assert len(text.splitlines()) < MAX_LINES
    imports = {line.split()[1].partition(".")[0] for line in text.splitlines() if "import " in line}
    assert imports <= {"anoncup", "io", "numpy", "pandas"}
    assert f"`examples/leaderboards/{script.name}`" in PAGE.read_text()
    assert run_script(script.stem)[0] in [block.text for block in list_code_blocks(PAGE)]
