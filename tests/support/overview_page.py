"""Boards for tests of the overview page."""

from datetime import UTC, datetime
from typing import Any

from anoncup.competition.parser import parse_competition
from anoncup.schemas import Board, BoardRow
from tests.support.arena import build_competition_toml


def build_row(rank: int | None, **changes: Any) -> BoardRow:
    row = BoardRow(
        rank=rank,
        team=f"team {rank}",
        own=False,
        baseline=False,
        entries=1,
        overall=0.15,
        utility=0.1,
        security=0.2,
        rivals=None,
        rank_sum=None,
        on_front=True,
        received_at=datetime.now(UTC),
        measures={},
        attackers={"id_rand": 0.1, "euc1": 0.2, "gower": 0.2},
    )
    return row.model_copy(update=changes)


def build_board_from_rows(*rows: BoardRow, digits: int | None = None) -> Board:
    return Board(
        competition="small",
        title={},
        frozen_from=None,
        finals=False,
        digits=digits,
        measures=(),
        attackers=(),
        rows=rows,
    )


RULES = parse_competition(build_competition_toml())
