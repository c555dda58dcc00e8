"""The programs of docs/library.md."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.markdown_blocks import CodeBlock, read_guide

pytestmark = pytest.mark.full


@pytest.mark.parametrize(("program", "k"), [*zip(read_guide("docs/library.md"), (1, 5), strict=True)])
def test_programs_score_an_accepted_release(program: CodeBlock, k: int, tmp_path: Path) -> None:
    completed = subprocess.run(
        [sys.executable, "-c", program.text], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.startswith("accepted. U ")
    assert re.search(rf"^ +k_min +{k}\.000000$", completed.stdout, re.MULTILINE)
