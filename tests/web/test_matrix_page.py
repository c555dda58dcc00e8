"""The attack matrix as a page: the numbers of the interface, in the order that is asked for."""

import re

import pytest
from fastapi.testclient import TestClient

from app.charts.heatmap import hundredths
from tests.support.board_pages import IMMEDIATE, READERS, board_page, lines, text_of
from tests.support.contest import Contest
from tests.web.spoken import said

pytestmark = pytest.mark.full


def test_the_matrix_holds_the_rates_of_the_interface(client: TestClient) -> None:
    contest = Contest.opened(client, more=IMMEDIATE)
    red, blue = contest.submit("red"), contest.submit("blue")
    contest.attack()
    contest.guessed("blue", red, 30)
    contest.guessed("red", blue, 0)
    assert "0.75" in board_page(contest.arena, "matrix")
    hidden = said("What the built-in attackers find is shown after the reveal.")
    assert hidden in board_page(contest.arena, "matrix", team="red")
    organizers = board_page(contest.arena, "matrix", organizer=True)
    assert said("built-in") in organizers
    assert hidden not in organizers
    for reader in READERS:
        html = board_page(contest.arena, "matrix", "?order=name", **reader)
        assert matrix_cells(html) == [
            [hundredths(cell["rate"]) if cell else "—" for cell in row["cells"]]
            for row in contest.board("matrix", **reader)["rows"]
        ]


def matrix_cells(html: str) -> list[list[str]]:
    """The texts of its cells, row by row, without the means."""
    (body,) = re.findall(r'<table class="heat.*?<tbody>(.*?)</tbody>', html, re.DOTALL)
    return [
        [text_of(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)][1:]
        for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    ]


def matrix_heads(html: str) -> tuple[list[str], list[str]]:
    """The names of attackers and of targets, in the page's order."""
    head, _, body = html.partition('<table class="heat')[2].partition("<tbody>")
    targets = re.findall(r'<th scope="col"(?! class="(?:corner|mean))[^>]*><span>([^<]*)', head)
    return re.findall(r'<th scope="row"[^>]*><span>([^<]*)', body), [name.strip() for name in targets]


def test_the_matrix_stands_in_the_order_of_what_was_found_or_of_names(client: TestClient) -> None:
    contest = Contest.opened(client, more=IMMEDIATE)
    red, blue, green = (contest.submit(team) for team in ("red", "blue", "green"))
    contest.attack()
    for team, submission, found in (
        ("red", blue, 3),
        ("red", green, 30),
        ("green", blue, 20),
        ("blue", red, 9),
    ):
        contest.guessed(team, submission, found)
    name = {one: contest.target_of(one)["name"] for one in (red, blue, green)}
    html = board_page(contest.arena, "matrix", "?order=strength")
    unasked = board_page(contest.arena, "matrix")
    assert (matrix_heads(unasked), matrix_cells(unasked)) == (matrix_heads(html), matrix_cells(html))
    attackers, targets = matrix_heads(html)
    assert attackers == ["red", "green", "blue"]
    assert targets == [f"{name[one]}" for one in (green, blue, red)]
    assert matrix_cells(html)[0] == [hundredths(30 / 40), hundredths(3 / 40), "—"]
    by_name = board_page(contest.arena, "matrix", "?order=name")
    assert matrix_heads(by_name) == (["blue", "green", "red"], sorted(name.values()))
    (entry,) = (one for one in entries_of(html) if one[0].startswith(name[blue]))
    assert entry == [f"{name[blue]} blue mean {hundredths(23 / 80)} · 2 attackers", "green 0.50", "red 0.07"]
    (entry,) = (
        one for one in entries_of(board_page(contest.arena, "matrix", "?by=attackers")) if one[0][:3] == "red"
    )
    assert entry == [
        f"red mean {hundredths(33 / 80)} · 2 targets",
        f"{name[green]} green 0.75",
        f"{name[blue]} blue {hundredths(3 / 40)}",
    ]


def entries_of(html: str) -> list[list[str]]:
    """The list for narrow screens: each entry's heading and bars."""
    (found,) = re.findall(r'<ol class="matrix_list">(.*?)</ol>', html, re.DOTALL)
    return [
        [text_of(one) for one in re.findall(r"<(?:h3|tr)\b[^>]*>(.*?)</(?:h3|tr)>", entry, re.DOTALL)]
        for entry in re.findall(r"<li.*?</li>", found, re.DOTALL)
    ]


def test_the_board_of_attacks_tells_shared_ranks_and_finds_teams(client: TestClient) -> None:
    contest = Contest.opened(client, more=IMMEDIATE)
    sent = {team: contest.submit(team) for team in ("red", "blue", "ＧＲＥＥＮ", "last")}
    contest.attack()
    for team, victim, found in (
        ("red", "blue", 9),
        ("blue", "red", 9),
        ("ＧＲＥＥＮ", "red", 4),
        ("blue", "last", 0),
    ):
        contest.guessed(team, sent[victim], found)
    html = board_page(contest.arena, "reidentification", team="last")
    assert [row[:2] for row in lines(html)] == [
        [said("{rank}=", rank=1), "red"],
        [said("{rank}=", rank=1), "blue"],
        ["3", "ＧＲＥＥＮ"],
        ["–", f"last {said('you')}"],
    ]
    assert said("No guess that counts yet: your team has no rank.") in html
    (why,) = re.findall(r'<p class="why">(.*?)</p>', html, re.DOTALL)
    assert "red" in why
    assert "blue" in why
    (place,) = re.findall(
        r'<dl class="place own">.*?</dl>',
        board_page(contest.arena, "reidentification", team="blue"),
        re.DOTALL,
    )
    assert text_of(place).startswith(
        f"{said('Your team')} blue {said('Rank')} {said('{rank}=', rank=1)} of 3"
    )
    shares = re.findall(r'<rect width="([\d.]+)%"', html)
    assert shares == [f"{100 * found / tried:.1f}" for found, tried in ((9, 40), (9, 80), (4, 40))]
    sought = board_page(contest.arena, "reidentification", "?find=green")
    assert len(re.findall(r"<tr[^>]* hidden>", sought)) == 3
    assert said("Found: {found} of {all}", found=1, all=4) in sought
