"""The contract tests for ranking functions find functions that break a law."""

from collections.abc import Callable, Sequence

import pytest

from anoncup.testing.parts import BrokenLaw
from anoncup.testing.rankings import check_ranking
from anoncup.tracks.ranking_board import Ranked, RankingBoard, RankingFunction

Rank = Callable[[RankingBoard], Sequence[Ranked]]


def rank_by_overall(board: RankingBoard) -> Sequence[Ranked]:
    """Return the lowest overall score of each team, plus its penalties."""
    best = {
        entry.team: entry
        for entry in sorted(board.submissions, key=lambda entry: (-entry.overall, -entry.received))
    }
    return [
        Ranked(team, best[team].overall + board.penalties.get(team, 0.0), "one", best[team].id)
        if team in best
        else Ranked(team, None)
        for team in board.teams
    ]


def rank_by_position(board: RankingBoard) -> Sequence[Ranked]:
    return [Ranked(team, float(index)) for index, team in enumerate(board.teams)]


def rank_by_name(board: RankingBoard) -> Sequence[Ranked]:
    return [Ranked(team, float(index)) for index, team in enumerate(sorted(board.teams))]


def rank_infinitely(board: RankingBoard) -> Sequence[Ranked]:
    return [Ranked(team, float("inf")) for team in board.teams]


def rank_once() -> Rank:
    """Return a function that ranks differently in each call."""
    calls = list[RankingBoard]()

    def rank(board: RankingBoard) -> Sequence[Ranked]:
        calls.append(board)
        return [Ranked(team, float(len(calls))) for team in board.teams]

    return rank


def rank_and_forgive(board: RankingBoard) -> Sequence[Ranked]:
    board.penalties.clear()  # type: ignore[attr-defined]
    return rank_by_overall(board)


def rank_nobody(board: RankingBoard) -> Sequence[Ranked]:
    return []


BROKEN: list[tuple[Rank, str]] = [
    (rank_by_position, "the order of rows does not matter"),
    (rank_by_name, "identifiers do not matter"),
    (rank_infinitely, "a score is a finite number or None, not inf"),
    (rank_once(), "the same board has the same ranking"),
    (rank_and_forgive, "the board stays as it is"),
    (rank_nobody, "returned 0 instead of each team of the board once"),
]


def test_lawful_function_is_accepted() -> None:
    check_ranking(RankingFunction("lawful", 1, rank_by_overall), measures=["a"], questions=["x", "y"])


@pytest.mark.parametrize(("rank", "reason"), BROKEN, ids=[reason for _, reason in BROKEN])
def test_broken_law_is_named(rank: Rank, reason: str) -> None:
    with pytest.raises(BrokenLaw, match=reason):
        check_ranking(RankingFunction("broken", 1, rank))
