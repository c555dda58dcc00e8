"""The program of docs/library.md."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.markdown_blocks import read_guide

pytestmark = pytest.mark.full


def test_first_program_scores_an_accepted_release(tmp_path: Path) -> None:
    (program,) = read_guide("docs/library.md")
    completed = subprocess.run(
        [sys.executable, "-c", program.text], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.startswith("accepted. U ")
    assert re.search(r"^ +k_min +5\.000000$", completed.stdout, re.MULTILINE)
