"""The attack matrix page shows the numbers of the API in the requested order."""

import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from app.charts.heatmap import format_hundredths
from app.db.models import Target
from app.db.transaction import transaction
from tests.support.arena import ROWS
from tests.support.contest import Contest
from tests.support.visitor_pages import (
    IMMEDIATE_FEEDBACK,
    extract_text,
    get_board_page,
    parse_body,
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
    guesses = ("red", blue, 3), ("red", green, 30), ("green", blue, 20), ("blue", red, 9)
    for team, submission, correct in guesses:
        contest.submit_correct_guess(team, submission, correct)
    with transaction() as session:  # targets of unlike sizes
        session.execute(update(Target).where(Target.submission_id == blue).values(rows=2 * ROWS))
    target_names = {item: contest.find_target(item)["name"] for item in (red, blue, green)}
    html = get_board_page(contest.arena, "matrix", "?order=strength")
    default_html = get_board_page(contest.arena, "matrix")
    for read in (read_matrix_headings, read_matrix_cells):
        assert read(default_html) == read(html)
    attackers, targets = read_matrix_headings(html)
    assert attackers == ["red", "green", "blue"]
    assert targets == [f"{target_names[item]}" for item in (green, blue, red)]
    assert read_matrix_cells(html)[0] == [format_hundredths(30 / 40), format_hundredths(3 / 80), "—"]
    by_name = get_board_page(contest.arena, "matrix", "?order=name")
    assert read_matrix_headings(by_name) == (["blue", "green", "red"], sorted(target_names.values()))
    rate = next(row["rate"] for row in contest.get_board("reidentification")["rows"] if row["team"] == "red")
    assert rate == 33 / 120
    means = [f"mean {format_hundredths(mean)}" for mean in (23 / 160, rate)]
    blue_target = f"{target_names[blue]} blue"
    by_target = [f"{blue_target} {means[0]} · 2 attackers", "green 0.25", "red 0.04"]
    assert by_target in read_matrix_list(html)
    shares = [f"{target_names[green]} green 0.75", f"{blue_target} {format_hundredths(3 / 80)}"]
    by_attacker = read_matrix_list(get_board_page(contest.arena, "matrix", "?by=attackers"))
    assert [f"red {means[1]} · 2 targets", *shares] in by_attacker


def read_matrix_list(html: str) -> list[list[str]]:
    """Return heading and bars of each entry of the list for narrow screens."""
    (matrix_list,) = re.findall(r'<ol class="matrix_list">(.*?)</ol>', html, re.DOTALL)
    return [
        [extract_text(cell) for cell in re.findall(r"<(?:h3|tr)\b[^>]*>(.*?)</(?:h3|tr)>", entry, re.DOTALL)]
        for entry in re.findall(r"<li.*?</li>", matrix_list, re.DOTALL)
    ]
