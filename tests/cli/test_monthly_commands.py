"""Local commands on the monthly track, from the example data to guesses on a target."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.tracks.monthly.attackers import build_target
from anoncup.tracks.monthly.files import QUESTIONS
from app.storage import compute_digest
from tests.support.shell_commands import run_program

pytestmark = pytest.mark.full

TRACK = TRACKS["monthly"]
ORIGINAL_OPTIONS = tuple(
    f"--original={'' if file.required else f'{file.name}='}data/{file.name}.csv"
    for file in TRACK.original_files
)
COMPETITION_OPTIONS = ("--competition", "competition.toml")
RELEASE_OPTIONS = ("--transactions", "own/transactions.csv")
SECRET_OPTIONS = ("--secret", "own/secret.csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the template, example data of eight customers, and a release of them."""
    (tmp_path / "competition.toml").write_text(run_command(tmp_path, "template", "2017"))
    run_command(tmp_path, "generate", "data", "--track", "monthly", "--rows", "8")
    run_command(
        tmp_path,
        "anonymize",
        *COMPETITION_OPTIONS,
        *ORIGINAL_OPTIONS,
        "--method",
        "delete_purchases",
        "--into",
        "own",
    )
    return tmp_path


def run_command(folder: Path, *arguments: str, status: int = 0) -> str:
    result = run_program(*arguments, cwd=folder)
    assert result.returncode == status, result.stderr
    return result.stderr if status > 1 else result.stdout


def run_json(folder: Path, *arguments: str) -> Any:
    return json.loads(run_command(folder, *arguments, "--json"))


def test_example_data_states_its_source(tmp_path: Path) -> None:
    assert "Online Retail. UCI Machine Learning Repository, CC BY 4.0" in run_command(
        tmp_path, "generate", "data", "--track", "monthly"
    )
    files = {path.stem: compute_digest(path.read_bytes()) for path in (tmp_path / "data").iterdir()}
    assert set(files) == set(TRACK.original_file_names)
    assert TRACK.examples.identify_dataset(files) == "tc400"
    assert TRACK.examples.identify_dataset(files | {"transactions": "0" * 64}) is None
    assert "Online Retail" not in run_command(tmp_path, "generate", "table", "--rows", "9")


def test_release_is_checked_and_scored(folder: Path) -> None:
    assert (
        run_json(folder, "check", *COMPETITION_OPTIONS, *ORIGINAL_OPTIONS, *RELEASE_OPTIONS, *SECRET_OPTIONS)[
            "verdict"
        ]
        == "accepted"
    )
    verdict = run_json(
        folder, "score", *COMPETITION_OPTIONS, *ORIGINAL_OPTIONS, *RELEASE_OPTIONS, *SECRET_OPTIONS
    )
    assert verdict["utility"] == max(entry["value"] for entry in verdict["measures"].values())
    assert verdict["measures"]["deleted"]["value"] == pytest.approx(0.1, abs=0.01)
    assert all(set(entry["details"]) == set(QUESTIONS) for entry in verdict["attackers"].values())


def test_without_knowledge_tables_files_are_checked_but_not_scored(folder: Path) -> None:
    options = [option for option in ORIGINAL_OPTIONS if "knowledge_50" not in option]
    assert (
        run_json(folder, "check", *COMPETITION_OPTIONS, *options, *RELEASE_OPTIONS, *SECRET_OPTIONS)[
            "verdict"
        ]
        == "accepted"
    )
    message = run_command(
        folder, "score", *COMPETITION_OPTIONS, *options, *RELEASE_OPTIONS, *SECRET_OPTIONS, status=2
    )
    assert "knowledge_50.csv" in message
    assert "knowledge_25" not in message


def test_target_in_any_order_is_attacked_for_each_question(folder: Path) -> None:
    head, *lines = (folder / "own" / "transactions.csv").read_text().splitlines()
    kept_lines = [line for line in lines if not line.startswith("DEL,")]
    random.Random(1).shuffle(kept_lines)
    (folder / "target.csv").write_text("\n".join([head, *kept_lines, ""]))
    run_command(
        folder,
        "attack",
        *COMPETITION_OPTIONS,
        *ORIGINAL_OPTIONS,
        "--transactions",
        "target.csv",
        "--into",
        "guesses",
    )
    names = {f"{attacker}.{question}.csv" for attacker in TRACK.attackers for question in QUESTIONS}
    assert {path.name for path in (folder / "guesses").iterdir()} == names
    for path in (folder / "guesses").iterdir():
        header, *guesses = path.read_text().splitlines()
        assert (header, len(guesses)) == (read_secret(folder).splitlines()[0], 8)


def test_attack_rates_equal_those_of_a_score(folder: Path) -> None:
    rates = run_json(
        folder, "attack", *COMPETITION_OPTIONS, *ORIGINAL_OPTIONS, *RELEASE_OPTIONS, *SECRET_OPTIONS
    )
    assert (
        rates
        == run_json(
            folder, "score", *COMPETITION_OPTIONS, *ORIGINAL_OPTIONS, *RELEASE_OPTIONS, *SECRET_OPTIONS
        )["attackers"]
    )


def read_secret(folder: Path) -> str:
    return (folder / "own" / "secret.csv").read_text()


def test_release_and_target_get_the_same_guesses(folder: Path) -> None:
    rules = parse_competition(template(2017))
    files = {name: (folder / "data" / f"{name}.csv").read_bytes() for name in TRACK.original_file_names}
    original, _ = TRACK.parse_original(files, rules)
    content = {"transactions": (folder / "own" / "transactions.csv").read_bytes()}
    release, _ = TRACK.parse_release(content, original, rules, {})
    target = TRACK.parse_target(content, original, rules)
    target_of_release = build_target(original, release)
    assert target.release_rows.equals(target_of_release.release_rows)
    for attacker in TRACK.attackers.values():
        release_answers, target_answers = map(attacker.attack, (target_of_release, target))
        for question in QUESTIONS:
            assert (release_answers[question].pseudonyms == target_answers[question].pseudonyms).all()
