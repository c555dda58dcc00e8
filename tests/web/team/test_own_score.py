"""The ranking's formula on the page of a submission, with the numbers of the board filled in."""

import math
import re
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from anoncup.plugins import TRACKS
from app.db.models import Submission
from app.db.transaction import transaction
from app.locale.language import LANGUAGES, load_translator
from app.services.accounts import tokens
from app.services.boards import anonymization
from app.services.boards.formula_values import FilledFormula
from app.services.contests import visibility
from app.web.site.notation import format_number
from tests.support.contest import Contest
from tests.support.page_requests import extract_text, get_page
from tests.support.translations import translate

FORMULA = "min(utility, 1 - strongest()) - own_row / 7 - where(security > 0.5, penalty, 2 * penalty)"

ONLY_OWN_ROW = "".join(
    f"[attackers.{name}]\ncounts = false\n" for name in TRACKS["microdata"].attackers if name != "own_row"
)
"""With the weakest attacker alone, another team's guess sets the risk."""


def create_contest(client: TestClient, ranking: str, *, feedback: str = "immediate") -> Contest:
    return Contest.create(
        client,
        extra_toml=f'[ranking]\n{ranking}\n[publication]\nfeedback = "{feedback}"\n{ONLY_OWN_ROW}',
    )


def fill_in(contest: Contest, submission: str, team: str | None = None) -> dict[str, FilledFormula]:
    """Return the formulas of a submission as a team, or else the organizer, may see them."""
    arena = contest.arena
    token = arena.get_team_token(team) if team else arena.organizer_token
    with transaction() as session:
        access = visibility.authorize_boards(session, tokens.authenticate(session, token), arena.slug)
        return anonymization.fill_in_formulas(session, access, session.get_one(Submission, UUID(submission)))


def read_row(contest: Contest, team: str, viewer: str | None = None) -> dict[str, Any]:
    """Return the row of a team on the board of another one or else the organizer."""
    board = contest.get_board(team=viewer, organizer=viewer is None)
    row: dict[str, Any] = next(row for row in board["rows"] if row["team"] == team)
    return row


def adjust(contest: Contest, team: str, points: float) -> None:
    body = {"team_id": read_row(contest, team)["team_id"], "points": points, "reason": "late"}
    assert contest.arena.post(f"{contest.path}/adjustments", json=body).status_code == 201


def check_score(contest: Contest, submission: str, team: str, viewer: str | None) -> float:
    """Compare the value with the board, and return it."""
    formulas = fill_in(contest, submission, viewer)
    value = formulas["defence"].value
    assert value == read_row(contest, team, viewer)["score"]
    assert value is not None
    return value


def check_pages_that_tell_the_score(contest: Contest, score: float) -> None:
    """Figures name the value of the formula, not the mean of U and E."""
    arena, figure = contest.arena, f"Score{format_number(score)}Overall"
    for path in (contest.path, f"{contest.path}/boards/anonymization"):
        assert figure in re.sub(r"\s", "", extract_text(get_page(arena, path, team="red")))


@pytest.mark.full
@pytest.mark.parametrize("feedback", ["immediate", "hidden"])
def test_the_value_is_the_score_on_the_readers_board(client: TestClient, feedback: str) -> None:
    contest = create_contest(
        client,
        f'order = "descending"\nutility = "1 - max(mean_mae, cross_count / 100)"\ndefence = "{FORMULA}"\n'
        'attack = "7 * mean_per_target"',
        feedback=feedback,
    )
    red, _ = contest.publish_targets("red", "blue")
    unattacked = check_score(contest, red, "red", "red")
    adjust(contest, "red", -0.25)
    adjusted = check_score(contest, red, "red", "red")
    assert adjusted < unattacked
    contest.submit_correct_guess("blue", red, 35)
    for_organizer = check_score(contest, red, "red", None)
    for_team = check_score(contest, red, "red", "red")
    assert for_organizer < adjusted
    assert for_team == (for_organizer if feedback == "immediate" else adjusted)
    check_pages_that_tell_the_score(contest, for_team)
    assert fill_in(contest, red, "blue") == {}
    contest.close_attacks()
    assert check_score(contest, red, "red", "red") == for_organizer
    assert check_score(contest, red, "red", "blue") == for_organizer  # revealed


def test_the_page_shows_the_numbers_of_the_board(client: TestClient) -> None:
    contest = create_contest(client, 'defence = "(utility + security) / 2 + penalty"')
    red = contest.submit("red")
    adjust(contest, "red", 3)
    row = read_row(contest, "red", "red")
    assert row["score"] < 0
    html = get_page(contest.arena, f"/submissions/{red}", team="red").text
    section = html.partition('<h2 id="score">')[2].partition("</section>")[0]
    values = {"utility": row["utility"], "security": row["security"], "penalty": -3.0}
    shown_values = re.findall(r"<li><code>([^<]*)</code> = ([^<]*)</li>", section)
    assert shown_values == [(name, format_number(value)) for name, value in values.items()]
    formula = (
        f"<code>(utility + security) / 2 + penalty</code> = <strong>{format_number(row['score'])}</strong>"
    )
    assert formula in section
    assert translate("How the score is computed") in section


def test_ranks_are_filled_in_for_organizers_only(client: TestClient) -> None:
    contest = create_contest(
        client,
        "utility = \"rank('mean_mae') / 2\"\ndefence = \"utility + rank('security') + penalty + mean_mae\"",
    )
    submissions = {team: contest.submit(team) for team in ("red", "blue")}
    for team, submission in submissions.items():
        own, full = fill_in(contest, submission, team), fill_in(contest, submission)
        assert own["defence"].value == full["defence"].value == read_row(contest, team, team)["score"]
        own_parts, full_parts = (
            {name for formula in formulas.values() for name in formula.numbers} for formulas in (own, full)
        )
        assert own_parts == {"mean_mae", "penalty"}
        assert full_parts == own_parts | {"utility", "rank('mean_mae')", "rank('security')"}
        assert own["utility"].value is None
        assert full["utility"].value in (0.5, 1.0)


def test_a_missing_number_is_named(client: TestClient) -> None:
    contest = create_contest(client, 'defence = "utility / penalty"')
    red = contest.submit("red")
    value = fill_in(contest, red, "red")["defence"].value
    assert value is not None
    assert math.isnan(value)
    assert read_row(contest, "red", "red")["score"] is None
    for language in LANGUAGES:
        response = get_page(contest.arena, f"/submissions/{red}", team="red", language=language)
        assert f"= {load_translator(language).pgettext('number', 'missing')}" in extract_text(response)
