"""The scripts of docs/leaderboards.md print its tables."""

import contextlib
import io
import runpy
from pathlib import Path

import pytest

from tests.support.markdown_blocks import ROOT, list_code_blocks

pytestmark = pytest.mark.full

PAGE = ROOT / "docs/leaderboards.md"
SCRIPTS = sorted((ROOT / "examples/leaderboards").glob("*.py"))
MAX_LINES = 60


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_page_quotes_the_output_of_each_short_script(script: Path) -> None:
    text = script.read_text()
    assert len(text.splitlines()) < MAX_LINES
    imports = {line.split()[1].partition(".")[0] for line in text.splitlines() if "import " in line}
    assert imports <= {"anoncup", "io", "numpy", "pandas"}
    assert f"`examples/leaderboards/{script.name}`" in PAGE.read_text()
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        runpy.run_path(str(script))
    assert output.getvalue() in [block.text for block in list_code_blocks(PAGE)]
