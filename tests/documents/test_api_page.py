"""The commands and programs of docs/api.md, run in document order against a real service."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from anoncup.client import Client
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.microdata.example import generate_households
from app.config import Settings
from tests.support.markdown_blocks import ROOT, CodeBlock, list_code_blocks, read_guide
from tests.support.service_processes import build_household_file, create_invite, open_contest, run_worker

pytestmark = pytest.mark.full

PAGE_URL = "http://127.0.0.1:8000"
PAGE = ROOT / "docs/api.md"
END_OF_BLOCK = "end of block"
PASSWORD = "seven quiet foxes"


@pytest.fixture
def url(settings: Settings, server: str, tmp_path: Path) -> Iterator[str]:
    """A service with the open contest of the page, in which Bob has a team."""
    original = {"original": write_csv(generate_households(200))}
    open_contest(server, file=build_household_file("cup-2015"), original=original, slug="cup-2015")
    with Client(server) as client:
        client.sign_up(invite=create_invite(server, "cup-2015"), team="Blue", name="Bob", password=PASSWORD)
    with run_worker(tmp_path):
        yield server


def run_blocks(blocks: list[CodeBlock], folder: Path, url: str) -> list[str]:
    """Run the blocks as one script, in which each program is a command, and return the output of each."""
    texts = [
        block.text if block.language == "sh" else f"python - <<'PROGRAM'\n{block.text}PROGRAM\n"
        for block in blocks
    ]
    completed = subprocess.run(
        ["bash", "-eu", "-o", "pipefail"],
        input=f"echo {END_OF_BLOCK}\n".join(texts).replace(PAGE_URL, url),
        cwd=folder,
        env={"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout.split(f"{END_OF_BLOCK}\n")


def test_page_makes_two_submissions_and_quotes_a_problem(url: str, tmp_path: Path) -> None:
    folder = tmp_path / "page"
    folder.mkdir()
    blocks = read_guide("docs/api.md")
    me, _, check, receipt, scores, program, problem, again, pages, status = run_blocks(blocks, folder, url)
    assert json.loads(me)["name"] == "Bob"
    assert json.loads(check)["rows"] == 200
    assert receipt == ""
    with Client(url) as client:
        token = client.create_token("Bob", PASSWORD)
    with Client(url, token) as client:
        later, first = client.list_submissions("cup-2015")
    assert first.result is not None
    assert json.loads(scores) == {
        "status": "SCORED",
        **{name: getattr(first.result, name) for name in ("utility", "security", "overall")},
    }
    assert program == f"SCORED {first.result.overall}\n[(2, 'SCORED'), (1, 'SCORED')]\n"
    (quoted_problem,) = (block.text for block in list_code_blocks(PAGE) if block.language == "json")
    assert json.loads(problem) == json.loads(quoted_problem)
    assert again == "true\n"
    assert pages.split() == [str(later.id), str(first.id)]
    assert status == "304\n"
