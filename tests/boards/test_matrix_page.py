"""The attack matrix page shows the numbers of the API in the requested order."""

import re
from fractions import Fraction

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import update

from app.boards.pages import compute_mean_rate
from app.core.db.models import Target
from app.core.db.transaction import transaction
from app.core.pages.notation import format_hundredths
from tests.support.arena import ROWS
from tests.support.contest import Contest
from tests.support.standings import rebuild_standings
from tests.support.visitor_pages import (
    IMMEDIATE_FEEDBACK,
    extract_text,
    get_board_page,
    parse_body,
)

pytestmark = pytest.mark.full


def read_matrix_means(html: str) -> tuple[list[str], list[str]]:
    """Return the row and the column of the means."""
    table = html.partition('<table id="matrix" class="heat')[2]
    (means,) = re.findall(r'<tr class="means">(.*?)</tr>', table, re.DOTALL)
    cells = [extract_text(cell) for cell in re.findall("<td.*?</td>", means)]
    return cells, [row[1] for row in parse_body(html, '<table id="matrix"')]


def read_matrix_headings(html: str) -> tuple[list[str], list[str]]:
    """Return the names of attackers and of targets in the order of the page."""
    head, _, body = html.partition('<table id="matrix"')[2].partition("<tbody>")
    targets = re.findall(r'<th scope="col"(?! class="(?:corner|mean))[^>]*><span><bdi>([^<]*)', head)
    return re.findall(r'<th scope="row"[^>]*><span><bdi>([^<]*)', body), [name.strip() for name in targets]


def test_matrix_can_be_sorted_by_strength_or_name(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml=IMMEDIATE_FEEDBACK)
    red, blue, green = (contest.submit(team) for team in ("red", "blue", "green"))
    contest.open_attacks()
    guesses = ("red", blue, 3), ("red", green, 30), ("green", blue, 20), ("blue", red, 9)
    for team, submission, correct in guesses:
        contest.submit_correct_guess(team, submission, correct)
    with transaction() as session:  # targets of unlike sizes
        session.execute(update(Target).where(Target.submission_id == blue).values(rows=2 * ROWS))
    rebuild_standings()
    target_names = {item: contest.find_target(item)["name"] for item in (red, blue, green)}
    html = get_board_page(contest.arena, "matrix", "?order=strength")
    default_html = get_board_page(contest.arena, "matrix")
    assert read_matrix_headings(default_html) == read_matrix_headings(html)
    attackers, targets = read_matrix_headings(html)
    assert attackers == ["red", "green", "blue"]
    assert targets == [f"{target_names[item]}" for item in (green, blue, red)]
    by_name = get_board_page(contest.arena, "matrix", "?order=name")
    assert read_matrix_headings(by_name) == (["blue", "green", "red"], sorted(target_names.values()))
    rate = next(row["rate"] for row in contest.get_board("reidentification")["rows"] if row["team"] == "red")
    assert rate == 33 / 120
    assert read_matrix_means(html) == (
        ["0.26", "0.75", format_hundredths(23 / 160), format_hundredths(9 / 40)],
        [format_hundredths(mean) for mean in (rate, 20 / 80, 9 / 40)],
    )


@given(st.lists(st.tuples(st.none() | st.floats(0, 1), st.sampled_from([1, 3, 400])), max_size=6))
def test_mean_ignores_empty_cells_and_weights_targets(cells: list[tuple[float | None, int]]) -> None:
    known = [(Fraction(rate), weight) for rate, weight in cells if rate is not None]
    total_weight = sum(weight for _, weight in known)
    expected = sum(rate * weight for rate, weight in known) / total_weight if known else None
    rates, weights = [rate for rate, _ in cells], [weight for _, weight in cells]
    mean = compute_mean_rate(rates, weights)
    assert mean == (None if expected is None else pytest.approx(float(expected)))
    assert mean == compute_mean_rate(rates[::-1], weights[::-1])
