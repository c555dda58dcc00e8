"""The attack matrix page shows the numbers of the API in the requested order."""

import re

import pytest
from fastapi.testclient import TestClient

from app.charts.heatmap import format_hundredths
from tests.support.contest import Contest
from tests.support.translations import translate
from tests.support.visitor_pages import (
    IMMEDIATE_FEEDBACK,
    extract_text,
    get_board_page,
    parse_body,
    parse_ranking,
)

pytestmark = pytest.mark.full


def read_matrix_cells(html: str) -> list[list[str]]:
    """Return the texts of the cells by row, without the means."""
    return [row[2:] for row in parse_body(html, '<table class="heat')]


def read_matrix_headings(html: str) -> tuple[list[str], list[str]]:
    """Return the names of attackers and of targets in the order of the page."""
    head, _, body = html.partition('<table class="heat')[2].partition("<tbody>")
    targets = re.findall(r'<th scope="col"(?! class="(?:corner|mean))[^>]*><span>([^<]*)', head)
    return re.findall(r'<th scope="row"[^>]*><span>([^<]*)', body), [name.strip() for name in targets]


def test_matrix_can_be_sorted_by_strength_or_name(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml=IMMEDIATE_FEEDBACK)
    red, blue, green = (contest.submit(team) for team in ("red", "blue", "green"))
    contest.open_attacks()
    for team, submission, correct in (
        ("red", blue, 3),
        ("red", green, 30),
        ("green", blue, 20),
        ("blue", red, 9),
    ):
        contest.submit_correct_guess(team, submission, correct)
    target_names = {item: contest.find_target(item)["name"] for item in (red, blue, green)}
    html = get_board_page(contest.arena, "matrix", "?order=strength")
    default_html = get_board_page(contest.arena, "matrix")
    assert (read_matrix_headings(default_html), read_matrix_cells(default_html)) == (
        read_matrix_headings(html),
        read_matrix_cells(html),
    )
    attackers, targets = read_matrix_headings(html)
    assert attackers == ["red", "green", "blue"]
    assert targets == [f"{target_names[item]}" for item in (green, blue, red)]
    assert read_matrix_cells(html)[0] == [format_hundredths(30 / 40), format_hundredths(3 / 40), "—"]
    by_name = get_board_page(contest.arena, "matrix", "?order=name")
    assert read_matrix_headings(by_name) == (["blue", "green", "red"], sorted(target_names.values()))
    (entry,) = (item for item in read_matrix_list(html) if item[0].startswith(target_names[blue]))
    assert entry == [
        f"{target_names[blue]} blue mean {format_hundredths(23 / 80)} · 2 attackers",
        "green 0.50",
        "red 0.07",
    ]
    (entry,) = (
        item
        for item in read_matrix_list(get_board_page(contest.arena, "matrix", "?by=attackers"))
        if item[0][:3] == "red"
    )
    assert entry == [
        f"red mean {format_hundredths(33 / 80)} · 2 targets",
        f"{target_names[green]} green 0.75",
        f"{target_names[blue]} blue {format_hundredths(3 / 40)}",
    ]


def read_matrix_list(html: str) -> list[list[str]]:
    """Return heading and bars of each entry of the list for narrow screens."""
    (matrix_list,) = re.findall(r'<ol class="matrix_list">(.*?)</ol>', html, re.DOTALL)
    return [
        [extract_text(cell) for cell in re.findall(r"<(?:h3|tr)\b[^>]*>(.*?)</(?:h3|tr)>", entry, re.DOTALL)]
        for entry in re.findall(r"<li.*?</li>", matrix_list, re.DOTALL)
    ]


def test_reidentification_board_marks_ties_and_has_a_search(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml=IMMEDIATE_FEEDBACK)
    submissions = {team: contest.submit(team) for team in ("red", "blue", "ＧＲＥＥＮ", "last")}
    contest.open_attacks()
    for team, victim, correct in (
        ("red", "blue", 9),
        ("blue", "red", 9),
        ("ＧＲＥＥＮ", "red", 4),
        ("blue", "last", 0),
    ):
        contest.submit_correct_guess(team, submissions[victim], correct)
    html = get_board_page(contest.arena, "reidentification", team="last")
    assert [row[:2] for row in parse_ranking(html)] == [
        [translate("{rank}=", rank=1), "red"],
        [translate("{rank}=", rank=1), "blue"],
        ["3", "ＧＲＥＥＮ"],
        ["–", f"last {translate('you')}"],
    ]
    assert translate("No guess that counts yet: your team has no rank.") in html
    (explanation,) = re.findall(r'<p class="why">(.*?)</p>', html, re.DOTALL)
    assert "red" in explanation
    assert "blue" in explanation
    (summary,) = re.findall(
        r'<dl class="place own">.*?</dl>',
        get_board_page(contest.arena, "reidentification", team="blue"),
        re.DOTALL,
    )
    assert extract_text(summary).startswith(
        f"{translate('Your team')} blue {translate('Rank')} {translate('{rank}=', rank=1)} of 3"
    )
    shares = re.findall(r'<rect width="([\d.]+)%"', html)
    assert shares == [f"{100 * correct / tried:.1f}" for correct, tried in ((9, 40), (9, 80), (4, 40))]
    search_html = get_board_page(contest.arena, "reidentification", "?find=green")
    assert len(re.findall(r"<tr[^>]* hidden>", search_html)) == 3
    assert translate("Found: {found} of {all}", found=1, all=4) in search_html
