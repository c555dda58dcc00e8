"""What other teams found in a submission, on its page: no sooner than the matrix says it, and the same."""

import re

import pytest
from fastapi.testclient import TestClient

from app.locale.language import LANGUAGES
from tests.support.arena import ROWS
from tests.support.contest import Contest
from tests.web.reader import page
from tests.web.spoken import said

pytestmark = pytest.mark.full


def duel(client: TestClient, feedback: str) -> tuple[Contest, str, str]:
    """Two of red's submissions are targets; blue and green have guessed at the first."""
    contest = Contest.opened(client, more=f'[publication]\nfeedback = "{feedback}"')
    first, second = contest.submit("red"), contest.submit("red")
    for team in ("blue", "green"):
        contest.submit(team)
    contest.attack()
    contest.guessed("blue", first, 3)
    contest.guessed("blue", first, 2)
    contest.guessed("green", first, 9)
    return contest, first, second


def rows_of(contest: Contest, submission: str, **reader: object) -> list[tuple[str, str, str]]:
    """Team, found and guesses, as the table of a submission's page has them."""
    shown = page(contest.arena, f"/submissions/{submission}", **reader).text  # type: ignore[arg-type]
    if '<div class="wide rivals"' not in shown:
        return []
    table = shown.split('<div class="wide rivals"')[1].split("</table>")[0]
    cells = [re.findall(r"<t[hd][^>]*>([^<]*)</t", line) for line in table.split("<tr>")[2:]]
    return [(team, found, trials) for team, found, _, trials in cells]


EXPECTED = [("green", f"9 / {ROWS}", "1"), ("blue", f"3 / {ROWS}", "2")]


def test_while_guesses_are_hidden_their_targets_team_reads_nothing_of_them(client: TestClient) -> None:
    contest, first, second = duel(client, "hidden")
    assert rows_of(contest, first, team="red") == []
    assert rows_of(contest, first, organizer=True) == EXPECTED
    contest.close()
    assert rows_of(contest, first, team="red") == EXPECTED
    assert rows_of(contest, second, team="red") == []
    assert page(contest.arena, f"/submissions/{first}", team="blue").status_code == 404


def test_where_guesses_are_scored_at_once_the_best_of_each_team_is_there_the_most_first(
    client: TestClient,
) -> None:
    contest, first, second = duel(client, "immediate")
    assert rows_of(contest, first, team="red") == EXPECTED
    assert rows_of(contest, second, team="red") == []
    matrix = contest.board("matrix", organizer=True)
    assert sum(any(row["cells"]) for row in matrix["rows"] if not row["built_in"]) == len(EXPECTED)
    for language in LANGUAGES:
        shown = page(contest.arena, f"/submissions/{first}", team="red", language=language).text
        assert said("Found by other teams", language) in shown
    assert contest.organize(f"/submissions/{first}/disqualify").status_code == 200
    assert rows_of(contest, first, team="red") == []
