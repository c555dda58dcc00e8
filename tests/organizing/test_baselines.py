"""Baselines: sample releases on the board without rank, final or target."""

import pytest
from sqlalchemy import update

from app.core.db.models import Round
from tests.support.contest import Contest
from tests.support.database_rows import execute
from tests.support.organizer_uploads import add_baseline
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


def test_baseline_is_listed_last_without_a_rank(contest: Contest) -> None:
    contest.submit("red")
    contest.submit("blue")
    rows_before = contest.get_board()["rows"]
    assert add_baseline(contest).status_code == 202
    score_everything()
    rows = contest.get_board()["rows"]
    assert rows[:2] == rows_before
    (baseline,) = rows[2:]
    assert (baseline["team"], baseline["baseline"], baseline["rank"]) == ("add_noise", True, None)
    assert baseline["overall"] is not None
    assert not any(row["baseline"] for row in rows_before)


def test_baseline_is_no_target_and_stays_on_the_board_of_finals(contest: Contest) -> None:
    contest.submit("red")
    add_baseline(contest)
    score_everything()
    contest.open_attacks()
    assert [target["team"] for target in contest.arena.get(f"{contest.path}/targets").json()] == ["red"]
    assert [row["baseline"] for row in contest.get_board()["rows"]] == [False, True]
    assert contest.get_board()["rows"][1]["overall"] is not None
    assert "add_noise" not in {row["team"] for row in contest.get_board("reidentification")["rows"]}


def test_removed_baseline_frees_its_name(contest: Contest) -> None:
    contest.submit("red")
    team = add_baseline(contest).json()["team_id"]
    score_everything()
    assert add_baseline(contest).json()["code"] == "team_name_taken"
    assert contest.arena.call("DELETE", f"{contest.path}/baselines/{team}").status_code == 204
    assert [row["team"] for row in contest.get_board()["rows"]] == ["red"]
    assert add_baseline(contest).status_code == 202


def test_malformed_baseline_changes_nothing(contest: Contest) -> None:
    files = {"anonymized": ("a.csv", b"x\n1\n"), "secret": ("s.csv", b"original_row\n1\n")}
    for data, code in (({"name": "a"}, "malformed_upload"), ({}, "name_length")):
        refusal = contest.arena.post(f"{contest.path}/baselines", files=files, data=data)
        assert (refusal.status_code, refusal.json()["code"]) == (422, code)
    assert contest.arena.get(f"{contest.path}/teams").json() == []


def test_baseline_requires_data_and_an_unclosed_competition(contest: Contest) -> None:
    contest.publish_targets("red")
    contest.close_attacks()
    assert (add_baseline(contest).status_code, add_baseline(contest).json()["code"]) == (409, "phase_closed")
    execute(update(Round).values(original_rows=None, original={}))
    assert (add_baseline(contest).status_code, add_baseline(contest).json()["code"]) == (409, "no_original")
