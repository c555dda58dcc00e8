"""The local commands on contests by month, from the example data to guesses on a target."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.tracks.monthly.files import QUESTIONS
from app.storage import digest_of
from tests.support.shell_commands import run

pytestmark = pytest.mark.full

TRACK = TRACKS["monthly"]
ALL = tuple(
    f"--original={'' if file.required else f'{file.name}='}data/{file.name}.csv" for file in TRACK.original
)
COMPETITION = ("--competition", "competition.toml")
OWN = ("--transactions", "own/transactions.csv")
SECRET = ("--secret", "own/secret.csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The template, the example data of eight customers, and a release of them."""
    (tmp_path / "competition.toml").write_text(said(tmp_path, "template", "2017"))
    said(tmp_path, "generate", "data", "--track", "monthly", "--rows", "8")
    said(tmp_path, "anonymize", *COMPETITION, *ALL, "--method", "delete_purchases", "--into", "own")
    return tmp_path


def said(folder: Path, *words: str, status: int = 0) -> str:
    done = run(*words, cwd=folder)
    assert done.returncode == status, done.stderr
    return done.stderr if status > 1 else done.stdout


def printed(folder: Path, *words: str) -> Any:
    return json.loads(said(folder, *words, "--json"))


def test_the_example_data_name_their_source(tmp_path: Path) -> None:
    assert "Online Retail. UCI Machine Learning Repository, CC BY 4.0" in said(
        tmp_path, "generate", "data", "--track", "monthly"
    )
    files = {path.stem: digest_of(path.read_bytes()) for path in (tmp_path / "data").iterdir()}
    assert set(files) == set(TRACK.original_files)
    assert TRACK.shipped_as(files) == "tc400"
    assert TRACK.shipped_as(files | {"transactions": "0" * 64}) is None
    assert "Online Retail" not in said(tmp_path, "generate", "table", "--rows", "9")


def test_a_release_is_checked_and_scored(folder: Path) -> None:
    assert printed(folder, "check", *COMPETITION, *ALL, *OWN, *SECRET)["verdict"] == "accepted"
    found = printed(folder, "score", *COMPETITION, *ALL, *OWN, *SECRET)
    assert found["utility"] == max(one["value"] for one in found["measures"].values())
    assert found["measures"]["deleted"]["value"] == pytest.approx(0.1, abs=0.01)
    assert all(set(one["details"]) == set(QUESTIONS) for one in found["attackers"].values())


def test_without_a_table_of_knowledge_the_files_are_checked_and_nothing_is_scored(folder: Path) -> None:
    some = [each for each in ALL if "knowledge_50" not in each]
    assert printed(folder, "check", *COMPETITION, *some, *OWN, *SECRET)["verdict"] == "accepted"
    told = said(folder, "score", *COMPETITION, *some, *OWN, *SECRET, status=2)
    assert "knowledge_50.csv" in told
    assert "knowledge_25" not in told


def test_a_target_in_any_order_is_attacked_with_a_guess_for_each_question(folder: Path) -> None:
    head, *lines = (folder / "own" / "transactions.csv").read_text().splitlines()
    kept = [line for line in lines if not line.startswith("DEL,")]
    random.Random(1).shuffle(kept)
    (folder / "target.csv").write_text("\n".join([head, *kept, ""]))
    said(folder, "attack", *COMPETITION, *ALL, "--transactions", "target.csv", "--into", "guesses")
    names = {f"{attacker}.{question}.csv" for attacker in TRACK.attackers for question in QUESTIONS}
    assert {path.name for path in (folder / "guesses").iterdir()} == names
    for path in (folder / "guesses").iterdir():
        named, *guesses = path.read_text().splitlines()
        assert (named, len(guesses)) == (secret(folder).splitlines()[0], 8)


def test_the_attackers_rates_are_those_of_a_score(folder: Path) -> None:
    rates = printed(folder, "attack", *COMPETITION, *ALL, *OWN, *SECRET)
    assert rates == printed(folder, "score", *COMPETITION, *ALL, *OWN, *SECRET)["attackers"]


def secret(folder: Path) -> str:
    return (folder / "own" / "secret.csv").read_text()


def test_a_release_in_the_place_of_a_target_has_the_same_guesses_whatever_is_deleted(folder: Path) -> None:
    rules = parse_competition(template(2017))
    files = {name: (folder / "data" / f"{name}.csv").read_bytes() for name in TRACK.original_files}
    original, _ = TRACK.parse_original(files, rules)
    content = {"transactions": (folder / "own" / "transactions.csv").read_bytes()}
    release, _ = TRACK.parse_release(content, original, rules)
    target = TRACK.read_target(content, original, rules)
    assert target.kept_rows.equals(release.kept_rows)
    for attacker in TRACK.attackers.values():
        ours, theirs = (attacker.attack(TRACK.target_of(original, one)) for one in (release, target))
        for question in QUESTIONS:
            assert (ours[question].names == theirs[question].names).all()
