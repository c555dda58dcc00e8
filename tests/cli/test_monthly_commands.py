"""Local commands on the monthly track, from the example data to guesses on a target."""

import random
from pathlib import Path

import pytest

from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.tracks.monthly.files import QUESTIONS
from app.core.storage import compute_digest
from tests.support.shell_commands import run_line

pytestmark = pytest.mark.full

TRACK = TRACKS["monthly"]
ORIGINAL = " ".join(
    f"--original {'' if file.required else f'{file.name}='}data/{file.name}.csv"
    for file in TRACK.original_files
)
CONTEST = f"--competition competition.toml {ORIGINAL}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the template, example data of eight customers, and a release of them."""
    (tmp_path / "competition.toml").write_text(template(2017))
    run_line(tmp_path, "generate data --track monthly --rows 8")
    run_line(tmp_path, f"anonymize {CONTEST} --method delete_purchases --into own")
    return tmp_path


def test_example_data_states_its_source(tmp_path: Path) -> None:
    source = "Online Retail. UCI Machine Learning Repository, CC BY 4.0"
    assert source in run_line(tmp_path, "generate data --track monthly")
    files = {path.stem: compute_digest(path.read_bytes()) for path in (tmp_path / "data").iterdir()}
    assert set(files) == set(TRACK.original_file_names)
    assert TRACK.examples.identify_dataset(files) == "tc400"
    assert TRACK.examples.identify_dataset(files | {"transactions": "0" * 64}) is None
    assert "Online Retail" not in run_line(tmp_path, "generate table --rows 9")


def test_target_in_any_order_is_attacked_for_each_question(folder: Path) -> None:
    head, *lines = (folder / "own" / "transactions.csv").read_text().splitlines()
    kept_lines = [line for line in lines if not line.startswith("DEL,")]
    random.Random(1).shuffle(kept_lines)
    (folder / "target.csv").write_text("\n".join([head, *kept_lines, ""]))
    run_line(folder, f"attack {CONTEST} --transactions target.csv --into guesses")
    names = {f"{attacker}.{question}.csv" for attacker in TRACK.attackers for question in QUESTIONS}
    assert {path.name for path in (folder / "guesses").iterdir()} == names
    secret_header, *_ = (folder / "own" / "secret.csv").read_text().splitlines()
    for path in (folder / "guesses").iterdir():
        header, *guesses = path.read_text().splitlines()
        assert (header, len(guesses)) == (secret_header, 8)
