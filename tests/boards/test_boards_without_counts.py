"""Boards of a contest that counts no individuals, as pages and CSV: no result reads "x of y"."""

import csv
import io
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.core.pages import notation
from app.core.pages.notation import format_hundredths
from tests.support.arena import ROWS
from tests.support.contest import Contest, judge_everything
from tests.support.several_questions_contest import build_claims, create_contest, installed_track
from tests.support.translations import translate
from tests.support.visitor_pages import extract_text, get_board_page, parse_ranking

__all__ = ["installed_track"]

pytestmark = pytest.mark.full

COUNT_LABELS = ("Individuals identified", "of individuals", "Share of individuals found")
CORRECT_LINKS, CORRECT_CLAIMS = 10, 35
EXPECTED_VALUE = (CORRECT_CLAIMS / ROWS - 0.5) / 0.5


@pytest.fixture
def contest(client: TestClient) -> Contest:
    """Return a contest where blue answered both questions about red's target, one better than chance."""
    contest, red = create_contest(client)
    target = contest.find_target(red)["id"]
    assert contest.submit_guess("blue", target, contest.build_guess(red, CORRECT_LINKS)).status_code == 202
    for correct in (CORRECT_CLAIMS, 5):
        claims = build_claims(contest, red, correct)
        assert contest.submit_guess("blue", target, claims, question="value").status_code == 202
    judge_everything()
    return contest


def read_csv_board(contest: Contest, board_name: str) -> list[dict[str, str]]:
    text = contest.arena.get(f"{contest.path}/boards/{board_name}.csv").text
    return list(csv.DictReader(io.StringIO(text)))


def test_teams_are_ranked_by_their_score_beyond_chance(contest: Contest) -> None:
    (blue, red) = contest.get_board("reidentification")["rows"]
    expected: dict[str, Any] = {"rank": 1, "team": "blue", "own": False, "identified": None, "tried": None}
    expected |= {"score": EXPECTED_VALUE, "rate": EXPECTED_VALUE, "targets": 1, "team_id": blue["team_id"]}
    assert blue == expected | {"by_question": {"link": CORRECT_LINKS / ROWS, "value": EXPECTED_VALUE}}
    assert (red["team"], red["rank"], red["rate"]) == ("red", None, None)
    html = get_board_page(contest.arena, "reidentification")
    numbers = [notation.format_score(value) for value in (EXPECTED_VALUE, EXPECTED_VALUE)]
    question_scores = [notation.format_score(value) for value in (CORRECT_LINKS / ROWS, EXPECTED_VALUE)]
    assert parse_ranking(html) == [
        ["1", "blue", *numbers, "1", *question_scores],
        ["–", "red", "–", "–", "–", "–", "–"],
    ]
    assert not any(translate(word) in extract_text(html) for word in COUNT_LABELS)
    first, last = read_csv_board(contest, "reidentification")
    question_values = {"link": CORRECT_LINKS / ROWS, "value": EXPECTED_VALUE}
    values = {"rank": 1, "team": "blue", "score": EXPECTED_VALUE, "rate": EXPECTED_VALUE, "targets": 1}
    assert first == {name: str(value) for name, value in (values | question_values).items()}
    assert last == dict.fromkeys(first, "") | {"team": "red"}


def test_matrix_can_be_filtered_by_question(contest: Contest) -> None:
    expected_rates = {None: EXPECTED_VALUE, "link": CORRECT_LINKS / ROWS, "value": EXPECTED_VALUE}
    for question, rate in (expected_rates | {"who": EXPECTED_VALUE}).items():
        html = get_board_page(contest.arena, "matrix", f"?question={question}" if question else "")
        assert format_hundredths(rate) in extract_text(html.partition("<tbody")[2])
        assert not any(translate(word) in extract_text(html) for word in COUNT_LABELS)
        assert ('<option value="value" selected>' in html) is (question == "value")
    built_in = [row for row in contest.get_board("matrix", organizer=True)["rows"] if row["built_in"]]
    assert all(cell["by_question"] == {"link": cell["rate"]} for row in built_in for cell in row["cells"])
    line = read_csv_board(contest, "matrix")[0]
    (target,) = (target for target in contest.list_targets("blue") if not target["own"])
    name = f"{target['name']} ({target['team']})"
    values = [line[f"{name}{part}"] for part in ("", " link", " value")]
    assert values == [str(expected_rates[question]) for question in (None, "link", "value")]
