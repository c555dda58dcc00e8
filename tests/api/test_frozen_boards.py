"""Frozen boards: from the freeze to the close, only organizers see later changes."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update
from sqlalchemy.orm import InstrumentedAttribute

from anoncup.rules.toml_text import replace_tables
from app.db.models import Evaluation, Guess, Rescore, Round, Submission, Target
from app.db.transaction import transaction
from tests.support.board_facts import create_contest, freeze_boards
from tests.support.contest import Contest, judge_everything, lock_evaluations
from tests.support.database_rows import load_team_id
from tests.support.rescores import (
    apply_rescore,
    begin_rescore,
    build_reweighted_file,
    build_strict_file,
    end_rescore,
    fail_evaluation,
    get_competition_file,
)
from tests.support.uploads import score_everything
from workers import score

pytestmark = pytest.mark.full

TWO_DAYS = timedelta(days=2)


def read_boards(contest: Contest, *, team: str | None = None) -> dict[str, Any]:
    """Return rows, targets and finals of all three boards."""
    boards = {
        board_name: contest.get_board(board_name, team=team)
        for board_name in ("anonymization", "reidentification", "matrix")
    }
    return {
        name: [board["rows"], board.get("targets"), board.get("finals")] for name, board in boards.items()
    }


def read_organizer_rows(contest: Contest) -> Any:
    return contest.get_board(organizer=True)["rows"]


@pytest.mark.parametrize("rule", ["score", "rank_sum"])
def test_rescore_after_the_freeze_changes_only_the_organizers_boards(client: TestClient, rule: str) -> None:
    contest = create_contest(client, rule=rule)
    submissions = {team: contest.submit(team) for team in ("red", "blue", "green")}
    apply_rescore(contest, build_reweighted_file(contest))
    contest.open_attacks()
    contest.submit_correct_guess("blue", submissions["red"], 30)
    boards_before, organizer_rows = read_boards(contest), read_organizer_rows(contest)
    freeze_boards(contest)
    assert read_boards(contest) == boards_before
    equal_weights = "".join(f"[measures.{name}]\nweight = 1.0\n" for name in ("cross_count", "mean_mae"))
    for text in (
        replace_tables(get_competition_file(contest), "measures", equal_weights),
        build_strict_file(contest),
    ):
        apply_rescore(contest, replace_tables(text, "scales", ""))
        assert read_boards(contest) == boards_before
        assert read_organizer_rows(contest) != organizer_rows
        organizer_rows = read_organizer_rows(contest)
    contest.close_attacks()
    assert contest.get_board()["rows"] == organizer_rows


def test_evaluation_after_the_freeze_is_not_on_frozen_boards(
    client: TestClient,
) -> None:
    contest = create_contest(client)
    contest.submit("red")
    contest.submit("blue", score=False)
    failed = contest.submit("green", score=False)
    fail_evaluation(failed, is_current=True)
    boards_before = read_boards(contest)
    freeze_boards(contest)
    score_everything()
    assert contest.post_as_organizer(f"/submissions/{failed}/rescore").status_code == 202
    contest.submit("late")
    score_everything()
    assert read_boards(contest)["anonymization"] == boards_before["anonymization"]
    assert {row["team"] for row in read_organizer_rows(contest)} == {"red", "blue", "green", "late"}


def test_frozen_boards_count_guesses_judged_before_the_freeze(client: TestClient) -> None:
    contest = create_contest(client)
    submissions = {team: contest.submit(team) for team in ("red", "blue")}
    contest.open_attacks()
    contest.submit_correct_guess("blue", submissions["red"], 20)
    queued_guess = contest.submit_guess(
        "red", contest.find_target(submissions["blue"])["id"], contest.build_guess(submissions["blue"], 9)
    )
    assert queued_guess.status_code == 202
    boards_before = read_boards(contest)
    freeze_boards(contest)
    judge_everything()
    contest.submit_correct_guess("blue", submissions["red"], 40)
    assert read_boards(contest) == boards_before
    assert read_boards(contest, team="red")["matrix"][0] != []
    assert contest.get_board("reidentification", organizer=True)["rows"][0]["identified"] == 40
    contest.close_attacks()
    assert contest.get_board("reidentification")["rows"][0]["identified"] == 40


def test_frozen_boards_with_daily_feedback_do_not_change_at_midnight(client: TestClient) -> None:
    """Frozen boards show the guesses that were visible at the freeze, which are those of earlier days."""
    contest = create_contest(client, feedback="daily")
    red, _ = contest.publish_targets("red", "blue")
    contest.submit_correct_guess("blue", red, 20)
    moment = datetime.now(UTC)
    freeze_boards(contest, feedback="daily", start=moment)
    boards_before = read_boards(contest)
    move_times_back(Submission.received_at, Evaluation.created_at, Evaluation.finished_at)
    move_times_back(Guess.received_at, Guess.created_at, Guess.finished_at)
    move_times_back(Round.published_at, Target.published_at)
    freeze_boards(contest, feedback="daily", start=moment - TWO_DAYS)
    assert read_boards(contest)["reidentification"] == boards_before["reidentification"]
    assert (
        read_boards(contest)["anonymization"][0][0]["security"]
        == boards_before["anonymization"][0][0]["security"]
    )


def test_guess_accepted_after_midnight_is_shown_a_day_later(
    client: TestClient,
) -> None:
    """The team may have written its file after the results of that day's other guesses were published."""
    contest = create_contest(client, feedback="daily")
    red, _ = contest.publish_targets("red", "blue")
    identifier = contest.submit_correct_guess("blue", red, 20)

    def read_feedback() -> tuple[Any, Any]:
        (own,) = contest.arena.get(f"{contest.path}/guesses", team="blue").json()
        assert own["id"] == identifier
        board = contest.get_board("reidentification")["rows"]
        return own["correct"], [row["identified"] for row in board if row["identified"] is not None]

    move_times_back(Guess.received_at, Guess.finished_at)
    assert read_feedback() == (None, [])
    move_times_back(Guess.created_at)
    assert read_feedback() == (20, [20])


def move_times_back(*columns: InstrumentedAttribute[Any]) -> None:
    with transaction() as session:
        for column in columns:
            session.execute(update(column.class_).values({column.key: column - TWO_DAYS}))


def test_disqualification_after_the_freeze_changes_frozen_boards(
    client: TestClient,
) -> None:
    contest = create_contest(client)
    submissions = {team: contest.submit(team) for team in ("red", "blue")}
    contest.open_attacks()
    contest.submit_correct_guess("blue", submissions["red"], 20)
    freeze_boards(contest)
    boards_before = read_boards(contest)
    for path in (f"{contest.path}/teams/{load_team_id('red')}", f"/submissions/{submissions['red']}"):
        assert contest.post_as_organizer(f"{path}/disqualify").status_code == 200
        assert [row["team"] for row in contest.get_board()["rows"]] == ["blue"]
        assert contest.post_as_organizer(f"{path}/reinstate").status_code == 200
        assert read_boards(contest) == boards_before


def test_submission_cancelled_during_a_rescore_is_on_no_board(client: TestClient) -> None:
    """The rescore has evaluated it and is applied, but the submission never counted."""
    contest = create_contest(client)
    contest.submit("red")
    cancelled = contest.submit("blue", score=False)
    identifier = begin_rescore(contest, build_reweighted_file(contest))
    token = contest.arena.get_team_token("blue")
    score_in_rescore(cancelled)
    assert contest.arena.post(f"/submissions/{cancelled}/cancel", token=token).status_code == 200
    score_everything()
    assert end_rescore(contest, identifier, "apply").status_code == 200
    freeze_boards(contest)
    assert [row["team"] for row in contest.get_board()["rows"]] == ["red"]


def score_in_rescore(submission: str) -> None:
    """Score a submission only by the rules of the open rescore."""
    in_rescore = Evaluation.rescore_id.is_not(None) & (Evaluation.submission_id == UUID(submission))
    with lock_evaluations(~in_rescore):
        score.score()


def test_frozen_board_falls_back_to_the_current_file(
    client: TestClient,
) -> None:
    contest = create_contest(client, rule="rank_sum")
    contest.submit("red")
    freeze_boards(contest)
    apply_rescore(contest, build_reweighted_file(contest))
    boards_before = read_boards(contest, team="red")
    with transaction() as session:
        session.execute(update(Rescore).values(replaced_file=None))
    assert read_boards(contest)["anonymization"][0][0]["team"] == "red"
    ranked = [
        boards["anonymization"][0][0]["score"] for boards in (read_boards(contest, team="red"), boards_before)
    ]
    assert ranked[0] < ranked[1]
