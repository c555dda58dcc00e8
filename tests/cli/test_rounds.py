"""Commands on competitions with several rounds."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from anoncup.tables.csv_text import write_csv
from tests.support.arena import build_noisy_release
from tests.support.command_line import CommandRunner
from tests.support.contest import Contest
from tests.support.two_rounds import FORMULAS, create_two_rounds, play_both_rounds

pytestmark = pytest.mark.full

SignIn = Callable[[str], None]


@pytest.fixture
def rounds(client: TestClient, anoncup: CommandRunner, sign_in_as: SignIn) -> dict[str, Contest]:
    created = create_two_rounds(client, extra_toml=FORMULAS)
    sign_in_as(created["final"].arena.organizer_token)
    return created


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
