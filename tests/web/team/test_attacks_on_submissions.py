"""Attacks by other teams on a submission's page: they equal the matrix and appear no earlier."""

import re

import pytest
from fastapi.testclient import TestClient

from app.locale.language import LANGUAGES
from tests.support.arena import ROWS
from tests.support.contest import Contest
from tests.support.page_requests import get_page
from tests.support.translations import translate

pytestmark = pytest.mark.full


def start_attacks(client: TestClient, feedback: str) -> tuple[Contest, str, str]:
    """Open a contest with two targets of red, where blue and green have attacked the first."""
    contest = Contest.create(client, extra_toml=f'[publication]\nfeedback = "{feedback}"')
    first, second = contest.submit("red"), contest.submit("red")
    for team in ("blue", "green"):
        contest.submit(team)
    contest.open_attacks()
    contest.submit_correct_guess("blue", first, 3)
    contest.submit_correct_guess("blue", first, 2)
    contest.submit_correct_guess("green", first, 9)
    return contest, first, second


def read_attack_rows(contest: Contest, submission: str, **viewer: object) -> list[tuple[str, str, str]]:
    """Return team, identified individuals and number of guesses from the table of a submission's page."""
    html = get_page(contest.arena, f"/submissions/{submission}", **viewer).text  # type: ignore[arg-type]
    if '<div class="wide rivals"' not in html:
        return []
    table = html.split('<div class="wide rivals"')[1].split("</table>")[0]
    cells = [re.findall(r"<t[hd][^>]*>([^<]*)</t", line) for line in table.split("<tr>")[2:]]
    return [(team, identified, trials) for team, identified, _, trials in cells]


EXPECTED_ROWS = [("green", f"9 / {ROWS}", "1"), ("blue", f"3 / {ROWS}", "2")]


def test_hidden_attacks_are_shown_to_the_team_after_the_close(client: TestClient) -> None:
    contest, first, second = start_attacks(client, "hidden")
    assert read_attack_rows(contest, first, team="red") == []
    assert read_attack_rows(contest, first, organizer=True) == EXPECTED_ROWS
    contest.close_attacks()
    assert read_attack_rows(contest, first, team="red") == EXPECTED_ROWS
    assert read_attack_rows(contest, second, team="red") == []
    assert get_page(contest.arena, f"/submissions/{first}", team="blue").status_code == 404


def test_attacks_are_listed_by_the_best_guess_of_each_team(
    client: TestClient,
) -> None:
    contest, first, second = start_attacks(client, "immediate")
    assert read_attack_rows(contest, first, team="red") == EXPECTED_ROWS
    assert read_attack_rows(contest, second, team="red") == []
    matrix = contest.get_board("matrix", organizer=True)
    assert sum(any(row["cells"]) for row in matrix["rows"] if not row["built_in"]) == len(EXPECTED_ROWS)
    for language in LANGUAGES:
        html = get_page(contest.arena, f"/submissions/{first}", team="red", language=language).text
        assert translate("Found by other teams", language) in html
    assert contest.post_as_organizer(f"/submissions/{first}/disqualify").status_code == 200
    assert read_attack_rows(contest, first, team="red") == []
