"""Boards and rankings are plain data, and what a ranking function returns is checked."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from anoncup.errors import InvalidResult
from anoncup.tracks.ranking_board import (
    MAX_TEXT,
    BoardAttack,
    BoardSubmission,
    Ranked,
    RankingBoard,
    check_ranked,
)

BOARD = RankingBoard(
    teams=("red", "blue"),
    submissions=(
        BoardSubmission("s1", "red", 0, 0.25, 0.5, 0.375, {"mean_mae": 18.25}, rows=50),
        BoardSubmission("s2", "blue", 1, 0.5, 0.0, 0.25, is_target=False),
    ),
    attacks=(
        BoardAttack("s1", "link", "blue", 0.5, 25, trials=3),
        BoardAttack("s1", "link", "id_rand", 0.18, 9.5, is_built_in=True, counts=False),
    ),
    penalties={"red": -2.0},
    earlier_rounds={"preliminary": {"red": 0.132}},
)


def test_board_and_ranking_survive_json() -> None:
    board_type, ranking_type = TypeAdapter(RankingBoard), TypeAdapter(tuple[Ranked, ...])
    assert board_type.validate_json(board_type.dump_json(BOARD)) == BOARD
    ranking = (Ranked("red", 0.5, "½", "s1"), Ranked("blue", None))
    assert ranking_type.validate_json(ranking_type.dump_json(ranking)) == ranking


def test_checked_ranking_has_the_order_of_the_teams_and_finite_floats() -> None:
    ranking = check_ranked(BOARD, [Ranked("blue", np.float64(math.nan)), Ranked("red", 3)], package="cup")
    assert ranking == (Ranked("red", 3.0), Ranked("blue", None))
    assert type(ranking[0].score) is float
    for score in (math.inf, -math.inf, 10**400):
        ranking = check_ranked(BOARD, [Ranked("blue", score), Ranked("red", None)], package="cup")
        assert ranking == (Ranked("red", None), Ranked("blue", None))


INVALID_RANKINGS: dict[str, Any] = {
    "nothing": None,
    "other entries": [("red", 1.0), ("blue", 2.0)],
    "a missing team": [Ranked("red", 1.0)],
    "a team twice": [Ranked("red", 1.0), Ranked("red", 2.0), Ranked("blue", 2.0)],
    "an unknown team": [Ranked("red", 1.0), Ranked("green", 2.0)],
    "no name": [Ranked("red", 1.0), Ranked(7, 2.0)],  # type: ignore[arg-type]
    "a name that is no text": [Ranked("red", 1.0), Ranked(Path("blue"), 2.0)],  # type: ignore[arg-type]
    "a text as score": [Ranked("red", "1"), Ranked("blue", 2.0)],  # type: ignore[arg-type]
    "a flag as score": [Ranked("red", True), Ranked("blue", 2.0)],
    "a long text": [Ranked("red", 1.0, "x" * (MAX_TEXT + 1)), Ranked("blue", 2.0)],
    "two lines": [Ranked("red", 1.0, "1\n2"), Ranked("blue", 2.0)],
    "no text": [Ranked("red", 1.0, None), Ranked("blue", 2.0)],  # type: ignore[arg-type]
    "a submission of another team": [Ranked("red", 1.0, submission="s2"), Ranked("blue", 2.0)],
}


@pytest.mark.parametrize("ranking", INVALID_RANKINGS.values(), ids=INVALID_RANKINGS)
def test_invalid_ranking_is_refused_with_the_name_of_the_package(ranking: object) -> None:
    with pytest.raises(InvalidResult, match="package cup returned") as raised:
        check_ranked(BOARD, ranking, package="cup")
    assert raised.value.message.values["package"] == "cup"
