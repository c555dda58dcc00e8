"""Commands on competitions with several rounds."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.parser import parse_rounds
from anoncup.tables.csv_text import write_csv
from tests.support.arena import PASSWORD, build_noisy_release
from tests.support.command_line import CommandRunner
from tests.support.contest import Contest
from tests.support.two_rounds import FORMULAS, build_round, create_two_rounds, play_both_rounds

pytestmark = pytest.mark.full

SignIn = Callable[[str], None]


@pytest.fixture
def rounds(client: TestClient, anoncup: CommandRunner, sign_in_as: SignIn) -> dict[str, Contest]:
    created = create_two_rounds(client, extra_toml=FORMULAS)
    sign_in_as(created["final"].arena.organizer_token)
    return created


def test_rounds_are_listed_with_their_addresses(rounds: dict[str, Contest], anoncup: CommandRunner) -> None:
    result = anoncup("organize", "rounds", "small", "--json")
    assert result.status == 0, result
    entries = result.json
    assert [(entry["address"], entry["state"]) for entry in entries] == [
        ("small.preliminary", "anonymization"),
        ("small.final", "draft"),
    ]
    assert "small.final" in anoncup("organize", "rounds", "small").stdout


def test_file_is_printed_with_all_rounds_and_replaced(
    rounds: dict[str, Contest], anoncup: CommandRunner, folder: Path
) -> None:
    file = anoncup("organize", "file", "small").stdout
    assert list(parse_rounds(file)) == ["preliminary", "final"]
    (folder / "competition.toml").write_text(file.replace("weight = 0.9", "weight = 0.8"), "utf-8")
    assert anoncup("organize", "file", "small", "competition.toml").status == 0
    entries = anoncup("organize", "rounds", "small", "--json").json
    assert [entry["weight"] for entry in entries] == [0.1, 0.8]


def test_release_is_submitted_to_the_round_of_the_address(
    rounds: dict[str, Contest], anoncup: CommandRunner, sign_in_as: SignIn, folder: Path
) -> None:
    preliminary = rounds["preliminary"]
    sign_in_as(preliminary.arena.get_team_token("red"))
    for name, content in zip(
        ("a.csv", "s.csv"), build_noisy_release(1, preliminary.arena.table), strict=True
    ):
        (folder / name).write_bytes(content)
    files = ["--anonymized", "a.csv", "--secret", "s.csv"]
    assert "phase_closed" in anoncup("submit", "small.final", *files, "--json").stdout
    submission = anoncup("submit", "small.preliminary", *files, "--json").json
    assert submission["status"] == "QUEUED"
    for address, status in (("small", 0), ("small.preliminary", 0), ("small.final", 2)):
        assert anoncup("submissions", address, submission["id"]).status == status
    assert anoncup("download", "small.final").status == 0
    assert 'round = "final"' in (folder / "small.final" / "competition.toml").read_text("utf-8")
    assert (folder / "small.final" / "original.csv").read_bytes() == write_csv(preliminary.arena.table)


def test_total_boards_have_a_column_for_each_round(
    rounds: dict[str, Contest], anoncup: CommandRunner
) -> None:
    play_both_rounds(rounds)
    for board in ("total", "attack-total"):
        table = anoncup("board", "small", "--which", board).stdout
        assert "preliminary" in table
        assert "late" in table
        rows = anoncup("board", "small", "--which", board, "--json").json["rows"]
        assert rows == rounds["final"].get_board(board, organizer=True)["rows"]


def test_board_that_a_formula_ranks_shows_the_score(
    rounds: dict[str, Contest], anoncup: CommandRunner
) -> None:
    rounds["preliminary"].submit("red")
    (row,) = rounds["preliminary"].get_board(organizer=True)["rows"]
    words = anoncup("board", "small.preliminary").stdout.split()
    assert words[:4] == ["rank", "team", "score", "overall"]
    assert f"{row['score']:.3f}" in " ".join(words)


def test_practice_round_is_reset(rounds: dict[str, Contest], anoncup: CommandRunner) -> None:
    arena = rounds["final"].arena
    file = arena.get("/competitions/small/competition.toml").text
    practice = build_round("practice", begins=-0.5, practice=True)
    assert arena.put("/competitions/small/competition.toml", content=file + practice).status_code == 200
    result = anoncup("organize", "reset", "small.practice", "--password-stdin", typed=f"{PASSWORD}\n")
    assert result.status == 0, result.stderr
    refused = anoncup("organize", "reset", "small.final", "--password-stdin", typed=f"{PASSWORD}\n")
    assert (refused.status, "practice" in refused.stderr) == (2, True)
