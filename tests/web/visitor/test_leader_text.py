"""The sentence about the leaders, for one or several teams on the first rank, and the winners."""

from itertools import groupby
from typing import Any
from uuid import UUID

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.formulas.ranks import compute_ranks
from anoncup.schemas import AttackersBoard, AttackersRow, Board, BoardRow
from app.locale.language import load_translator
from app.web.site.sentences import join_names
from app.web.visitor import leader_text
from app.web.visitor.overview import iter_winners
from tests.support.arena import build_competition_toml
from tests.support.visitor_pages import RULES, build_board_from_rows, build_row

pytestmark = pytest.mark.full

EN, JA = load_translator("en"), load_translator("ja")
SHARE = "share first place with the lowest overall score, 0.1000"
ABOUT = "All have a utility loss of about 0.10 and a risk of about 0.10."
RANK_SUM_RULES = parse_competition(build_competition_toml(extra_toml='[ranking]\nrule = "rank_sum"\n'))


def build_board(*scores: float, digits: int | None = 2, own: int | None = None) -> Board:
    """Build a board of the teams ``T0``, ``T1``, … with these overall scores, lowest first."""
    rows = [
        build_row(rank, team=f"T{i}", overall=score, utility=score, security=score, own=i == own)
        for i, (rank, score) in enumerate(zip(compute_ranks(scores), scores, strict=True))
    ]
    return build_board_from_rows(*rows, digits=digits)


def describe_leader(board: Board, t: Any = EN, rules: Any = RULES) -> str:
    return leader_text.describe_leader(board, rules, t)


@pytest.mark.parametrize(
    ("scores", "own", "texts"),
    [
        ((0.1, 0.2), None, ("T0 leads with the lowest overall score, 0.1000", "T1 in second place")),
        ((0.1, 0.1, 0.3), None, (f"2 teams {SHARE}: T0 and T1.", ABOUT, "T2 follows at rank 3.")),
        ((0.1, 0.1, 0.1, 0.2), None, (f"3 teams {SHARE}: T0, T1 and T2.", "T3 follows at rank 4.")),
        ((0.1,) * 12, 7, (f"12 teams {SHARE}: T7, T0, T1 and 9 more.",)),
        ((0.1, 0.2, 0.2), None, ("T1 and T2 follow, sharing rank 2.",)),
        ((0.1, 0.1, 0.2, 0.2), None, ("T2 and T3 follow, sharing rank 3.",)),
    ],
)
def test_leaders_and_followers_are_named(
    scores: tuple[float, ...], own: int | None, texts: tuple[str, ...]
) -> None:
    text = describe_leader(build_board(*scores, own=own))
    assert all(part in text for part in texts)
    assert ("second" in text) == (len(scores) == 2)
    assert ("follow" in text) == ("follow" in texts[-1])
    assert text.endswith(texts[-1]) or "follow" not in text


@pytest.mark.parametrize("first", range(1, 7))
@pytest.mark.parametrize("second", range(5))
def test_every_mentioned_rank_matches_the_table(first: int, second: int) -> None:
    board = build_board(*[0.1] * first, *[0.2] * second, 0.3)
    by_rank = [list(rows) for _, rows in groupby(board.rows, key=lambda row: row.rank)]
    text = describe_leader(board)
    if first > 1:
        assert f"{len(by_rank[0])} teams share first place" in text
    if first > 1 or len(by_rank[1]) > 1:
        assert f"rank {by_rank[1][0].rank}." in text
    else:
        assert "in second place" in text
        assert by_rank[1][0].rank == 2


def test_differing_scores_of_tied_leaders_are_not_mentioned() -> None:
    rows = (
        build_row(1, team="a", utility=0.1, security=0.3),
        build_row(1, team="b", utility=0.3, security=0.1),
    )
    assert "All have" not in describe_leader(build_board_from_rows(*rows, digits=2))


def test_tie_in_rank_sums_is_described_without_the_sum() -> None:
    text = describe_leader(build_board(0.1, 0.1, 0.3), rules=RANK_SUM_RULES)
    assert "2 teams share first place with the lowest sum of ranks: T0 and T1." in text
    assert "T2 follows at rank 3." in text


def test_names_are_bracketed_in_japanese() -> None:
    text = describe_leader(build_board(*[0.1] * 5, 0.2), JA)
    assert "5 チーム（「T0」「T1」「T2」ほか 2 チーム）が同率首位" in text
    assert "同じです。6 位に「T5」が続きます。" in text
    assert "2 チーム（「T0」「T1」）が同率首位" in describe_leader(build_board(0.1, 0.1), JA)


def test_names_are_joined_by_language() -> None:
    texts = [join_names(list("abcd"[:count]), EN) for count in (1, 2, 3, 4)]
    assert texts == ["a", "a and b", "a, b and c", "a, b, c and 1 more"]


def test_braces_in_a_name_are_kept() -> None:
    rows: tuple[BoardRow, ...] = (build_row(1, team="{n}"), build_row(1, team="{team} {0}"))
    assert "{n} and {team} {0}" in describe_leader(build_board_from_rows(*rows, digits=2))
    assert describe_leader(build_board_from_rows(build_row(None, overall=None))) == ""


def build_attacker(team: str, **overrides: Any) -> AttackersRow:
    values = {"rank": 1, "identified": 31, "tried": 80, "rate": 0.3, "targets": 2, **overrides}
    return AttackersRow(team=team, own=False, **values)


def describe_attackers(*rows: AttackersRow, t: Any = EN, is_over: bool = False) -> str:
    return leader_text.describe_attack_leaders(rows, t, by_formula=False, is_over=is_over)


def test_reidentification_board_names_one_or_several_leaders() -> None:
    single = describe_attackers(build_attacker("a"))
    assert "a leads the re-identification board: 31 of 80 individuals identified (targets: 2)." in single
    shared = describe_attackers(*map(build_attacker, "abcde"), is_over=True)
    assert "5 teams share first place with 31 individuals identified each: a, b, c and 2 more." in shared
    uncounted = [build_attacker(name, identified=None, tried=None, score=1.5) for name in "ab"]
    assert "2 チーム（「a」「b」）が、得点 1.5000 で同率首位です" in describe_attackers(*uncounted, t=JA)
    winner = describe_attackers(build_attacker("{a}", identified=1031, tried=8000), is_over=True)
    assert winner.startswith("{a} wins the re-identification board: 1,031 of 8,000 individuals identified")
    assert "優勝は「{a}」です" in describe_attackers(build_attacker("{a}"), t=JA, is_over=True)


COMPARISONS = {
    (0.2, 0.3): "It is both more useful and safer than T1 in second place (utility loss 0.20, risk 0.30).",
    (0.2, 0.2): "T1 in second place is about as safe (risk about 0.20) but loses more utility (0.20).",
    (0.2, 0.1): "T1 in second place is safer (risk 0.10) but loses more utility (0.20).",
    (
        0.1,
        0.3,
    ): "T1 in second place is about as useful (utility loss about 0.10) but easier to attack (risk 0.30).",
    (0.05, 0.3): "T1 in second place is more useful (utility loss 0.05) but easier to attack (risk 0.30).",
}


@pytest.mark.parametrize(("second", "text"), COMPARISONS.items())
def test_runner_up_is_compared_by_utility_and_risk(second: tuple[float, float], text: str) -> None:
    first = build_row(1, team="T0", utility=0.1, security=0.2)
    runner_up = build_row(2, team="T1", utility=second[0], security=second[1])
    assert describe_leader(build_board_from_rows(first, runner_up, digits=2)).endswith(text)


@pytest.mark.parametrize(
    ("second_loss", "digits", "text"),
    [
        (0.0320, 2, "about as useful (utility loss about 0.03)"),
        (0.0264, 2, "about as useful (utility loss about 0.03)"),
        (0.02644, None, "about as useful (utility loss about 0.0264)"),
        (0.0264, None, "T1 in second place is as useful (utility loss 0.0264)"),
    ],
)
def test_losses_are_called_equal_only_if_they_are(second_loss: float, digits: int | None, text: str) -> None:
    first = build_row(1, team="T0", utility=0.0264, security=0.2)
    second = build_row(2, team="T1", utility=second_loss, security=0.3)
    assert text in describe_leader(build_board_from_rows(first, second, digits=digits))


def test_winners_are_named_and_a_single_one_is_linked() -> None:
    team_id = UUID(int=7)
    rows = (
        build_row(1, team="a", overall=0.25, team_id=team_id),
        build_row(2, team="b"),
        build_row(2, team="c"),
    )
    attackers_board = AttackersBoard(
        competition="small", title={}, hidden=False, counted=True, questions=("link",),
        rows=(build_attacker("b", tried=8000), build_attacker("c", tried=8000), build_attacker("a", rank=3)),
    )  # fmt: skip
    results = [
        (winner.board, winner.teams, winner.team_id, winner.result)
        for winner in iter_winners(build_board_from_rows(*rows), attackers_board, EN)
    ]
    assert results == [
        ("anonymization", "a", team_id, "overall score 0.2500"),
        ("reidentification", "b and c", None, "31 of 8,000 individuals identified"),
    ]


def test_boards_without_scores_have_no_winner() -> None:
    attackers_board = AttackersBoard(
        competition="small", title={}, hidden=False, counted=True, questions=("link",),
        rows=(build_attacker("a", identified=0),),
    )  # fmt: skip
    (winner,) = iter_winners(build_board_from_rows(build_row(1)), attackers_board, EN)
    assert winner.board == "anonymization"
    assert list(iter_winners(build_board_from_rows(build_row(None, overall=None)), None, EN)) == []


def build_board_of_ranks(*ranks: tuple[int, int | None]) -> Board:
    """Build a board of the teams a, b, … with these ranks now and a day ago."""
    rows = [
        build_row(rank, team=t, rank_before=before) for t, (rank, before) in zip("abc", ranks, strict=False)
    ]
    return build_board_from_rows(*rows, digits=2)


def test_previous_leaders_are_named_if_they_changed() -> None:
    board = build_board_of_ranks((1, 3), (2, 1), (3, 1))
    assert describe_leader(board).endswith(" A day ago b and c led.")
    assert describe_leader(board, JA).endswith("1 日前の首位は「b」「c」でした。")
    assert "A day ago" not in leader_text.describe_leader(board, RULES, EN, is_over=True)
    for before in ((1, 2), (1, None), (None, None), (2, 3)):  # unchanged or unknown
        assert "A day ago" not in describe_leader(build_board_of_ranks((1, before[0]), (2, before[1])))
