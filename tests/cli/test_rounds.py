"""Commands on competitions with several rounds."""

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

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


def test_slug_alone_names_the_round_that_is_shown(rounds: dict[str, Contest], anoncup: CommandRunner) -> None:
    rounds["preliminary"].submit("red")
    rounds["preliminary"].open_attacks()
    for command in ("board", "targets"):
        assert anoncup(command, "small").stdout.startswith("round: preliminary\n")
        assert "round:" not in anoncup(command, "small.preliminary").stdout
        assert "round:" not in anoncup(command, "small", "--json").stdout
