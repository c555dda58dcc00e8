"""Who leads in sentences: one, two, three or many on the first rank, and who follows by its true rank."""

from itertools import groupby
from typing import Any
from uuid import UUID

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.evaluation.ranking import ranks
from anoncup.schemas import AttackersBoard, AttackersRow, Board, BoardRow
from app.web.site.language import words_in
from app.web.site.names import listed
from app.web.visitor import leader_text
from app.web.visitor.winners import winners
from tests.support.arena import competition_file
from tests.support.overview_page import RULES, board_of, line

pytestmark = pytest.mark.full

EN, JA = words_in("en"), words_in("ja")
BY_SUM = parse_competition(competition_file(more='[ranking]\nrule = "rank_sum"\n'))


def board_with(*scores: float, digits: int | None = 2, own: int | None = None) -> Board:
    """Teams ``T0``, ``T1``, … with these overall scores, lowest first."""
    rows = [
        line(rank, team=f"T{i}", overall=score, utility=score, security=score, own=i == own)
        for i, (rank, score) in enumerate(zip(ranks(scores), scores, strict=True))
    ]
    return board_of(*rows, digits=digits)


def said(board: Board, t: Any = EN, rules: Any = RULES) -> str:
    return leader_text.told(board, rules, t)


def test_one_leads_and_the_second_is_compared_with_it() -> None:
    text = said(board_with(0.1, 0.2))
    assert text.startswith("T0 leads with the lowest overall score, 0.1000")
    assert "T1 in second place" in text


def test_two_share_first_place_and_the_next_is_third() -> None:
    text = said(board_with(0.1, 0.1, 0.3))
    assert "2 teams share first place with the lowest overall score, 0.1000: T0 and T1." in text
    assert "All have a utility loss of about 0.10 and a risk of about 0.10." in text
    assert "T2 follows at rank 3." in text
    assert "second" not in text


def test_after_three_on_the_first_rank_the_fourth_follows() -> None:
    text = said(board_with(0.1, 0.1, 0.1, 0.2))
    assert "3 teams share first place with the lowest overall score, 0.1000: T0, T1 and T2." in text
    assert text.endswith("T3 follows at rank 4.")


def test_of_many_three_are_named_the_readers_own_first() -> None:
    text = said(board_with(*[0.1] * 12, own=7))
    assert "12 teams share first place with the lowest overall score, 0.1000: T7, T0, T1 and 9 more." in text
    assert "follow" not in text


def test_several_that_follow_share_their_rank() -> None:
    assert said(board_with(0.1, 0.2, 0.2)).endswith("T1 and T2 follow, sharing rank 2.")
    assert said(board_with(0.1, 0.1, 0.2, 0.2)).endswith("T2 and T3 follow, sharing rank 3.")


@pytest.mark.parametrize("first", range(1, 7))
@pytest.mark.parametrize("second", range(5))
def test_every_rank_said_is_that_of_the_table(first: int, second: int) -> None:
    board = board_with(*[0.1] * first, *[0.2] * second, 0.3)
    by_rank = [list(rows) for _, rows in groupby(board.rows, key=lambda row: row.rank)]
    text = said(board)
    if first > 1:
        assert f"{len(by_rank[0])} teams share first place" in text
    if first > 1 or len(by_rank[1]) > 1:
        assert f"rank {by_rank[1][0].rank}." in text
    else:
        assert "in second place" in text
        assert by_rank[1][0].rank == 2


def test_what_differs_among_those_on_the_first_rank_is_not_said_of_all() -> None:
    rows = (line(1, team="a", utility=0.1, security=0.3), line(1, team="b", utility=0.3, security=0.1))
    assert "All have" not in said(board_of(*rows, digits=2))


def test_sums_of_ranks_are_shared_without_their_number() -> None:
    text = said(board_with(0.1, 0.1, 0.3), rules=BY_SUM)
    assert "2 teams share first place with the lowest sum of ranks: T0 and T1." in text
    assert "T2 follows at rank 3." in text


def test_in_japanese_names_stand_in_brackets() -> None:
    text = said(board_with(*[0.1] * 5, 0.2), JA)
    assert "5 チーム（「T0」「T1」「T2」ほか 2 チーム）が同率首位" in text
    assert "同じです。6 位に「T5」が続きます。" in text
    assert "2 チーム（「T0」「T1」）が同率首位" in said(board_with(0.1, 0.1), JA)


@pytest.mark.parametrize(
    ("names", "text"),
    [("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("abcd", "a, b, c and 1 more")],
)
def test_names_are_listed(names: str, text: str) -> None:
    assert listed(list(names), EN) == text


def test_a_name_with_braces_stays_as_it_is() -> None:
    rows: tuple[BoardRow, ...] = (line(1, team="{n}"), line(1, team="{team} {0}"))
    assert "{n} and {team} {0}" in said(board_of(*rows, digits=2))


def test_nothing_is_said_while_nobody_has_a_rank() -> None:
    assert said(board_of(line(None, overall=None))) == ""


def attacker(team: str, **found: Any) -> AttackersRow:
    given = {"rank": 1, "identified": 31, "tried": 80, "rate": 0.3, "targets": 2, **found}
    return AttackersRow(team=team, own=False, **given)


def test_the_attacks_are_led_by_one_or_shared() -> None:
    one = leader_text.attacks([attacker("a")], EN, over=False)
    assert "a leads the re-identification board: 31 of 80 individuals identified (targets: 2)." in one
    shared = leader_text.attacks([attacker(name) for name in "abcde"], EN, over=True)
    assert "5 teams share first place with 31 individuals identified each: a, b, c and 2 more." in shared
    uncounted = {"identified": None, "tried": None, "score": 1.5}
    found = leader_text.attacks([attacker(name, **uncounted) for name in "ab"], JA, over=False)
    assert "2 チーム（「a」「b」）が、得点 1.5000 で同率首位です" in found


def test_the_attacks_of_a_closed_contest_are_won() -> None:
    text = leader_text.attacks([attacker("{a}", identified=1031, tried=8000)], EN, over=True)
    assert text.startswith("{a} wins the re-identification board: 1,031 of 8,000 individuals identified")
    assert "優勝は「{a}」です" in leader_text.attacks([attacker("{a}")], JA, over=True)


@pytest.mark.parametrize(
    ("second", "text"),
    [
        (
            (0.2, 0.3),
            "It is both more useful and safer than T1 in second place (utility loss 0.20, risk 0.30).",
        ),
        ((0.2, 0.2), "T1 in second place is about as safe (risk about 0.20) but loses more utility (0.20)."),
        ((0.2, 0.1), "T1 in second place is safer (risk 0.10) but loses more utility (0.20)."),
        (
            (0.1, 0.3),
            "T1 in second place is about as useful (utility loss about 0.10) but easier to attack (risk 0.30).",
        ),
        (
            (0.05, 0.3),
            "T1 in second place is more useful (utility loss 0.05) but easier to attack (risk 0.30).",
        ),
    ],
)
def test_the_second_is_told_by_what_it_does_better_alike_and_worse(
    second: tuple[float, float], text: str
) -> None:
    first = line(1, team="T0", utility=0.1, security=0.2)
    other = line(2, team="T1", utility=second[0], security=second[1])
    assert said(board_of(first, other, digits=2)).endswith(text)


@pytest.mark.parametrize(
    ("other", "digits", "text"),
    [
        (0.0320, 2, "about as useful (utility loss about 0.03)"),
        (0.0264, 2, "about as useful (utility loss about 0.03)"),
        (0.02644, None, "about as useful (utility loss about 0.0264)"),
        (0.0264, None, "T1 in second place is as useful (utility loss 0.0264)"),
    ],
)
def test_two_losses_are_called_equal_only_where_they_are(other: float, digits: int | None, text: str) -> None:
    first = line(1, team="T0", utility=0.0264, security=0.2)
    second = line(2, team="T1", utility=other, security=0.3)
    assert text in said(board_of(first, second, digits=digits))


def test_those_who_won_a_board_are_named_with_what_and_led_to_where_they_are_alone() -> None:
    page = UUID(int=7)
    rows = line(1, team="a", overall=0.25, team_id=page), line(2, team="b"), line(2, team="c")
    found = AttackersBoard(
        competition="small", title={}, hidden=False, counted=True, questions=("link",),
        rows=(attacker("b", tried=8000), attacker("c", tried=8000), attacker("a", rank=3)),
    )  # fmt: skip
    won = [(one.board, one.teams, one.team_id, one.reached) for one in winners(board_of(*rows), found, EN)]
    assert won == [
        ("anonymization", "a", page, "overall score 0.2500"),
        ("reidentification", "b and c", None, "31 of 8,000 individuals identified"),
    ]


def test_nobody_has_won_what_is_hidden_or_where_nobody_found_anything() -> None:
    rows = (attacker("a", identified=0),)
    nothing = AttackersBoard(
        competition="small", title={}, hidden=False, counted=True, questions=("link",), rows=rows
    )
    assert [one.board for one in winners(board_of(line(1)), nothing, EN)] == ["anonymization"]
    assert list(winners(board_of(line(None, overall=None)), None, EN)) == []


def test_who_led_a_day_ago_is_named_where_others_lead_now() -> None:
    before = [
        line(1, team="a", rank_before=3),
        line(2, team="b", rank_before=1),
        line(3, team="c", rank_before=1),
    ]
    board = board_of(*before, digits=2)
    assert said(board).endswith(" A day ago b and c led.")
    assert said(board, JA).endswith("1 日前の首位は「b」「c」でした。")
    assert "A day ago" not in leader_text.told(board, RULES, EN, over=True)


@pytest.mark.parametrize("before", [(1, 2), (1, None), (None, None), (2, 3)])
def test_nothing_is_said_of_a_day_ago_where_the_same_led_or_nobody_of_now(before: tuple[Any, Any]) -> None:
    rows = [line(rank, team=str(rank), rank_before=was) for rank, was in zip((1, 2), before, strict=True)]
    assert "A day ago" not in said(board_of(*rows, digits=2))
