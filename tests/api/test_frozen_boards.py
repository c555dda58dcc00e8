"""Frozen boards: from the freeze to the close, only organizers see later changes."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update
from sqlalchemy.orm import InstrumentedAttribute

from anoncup.rules.toml_text import replace_tables
from app.db.models import Competition, Evaluation, Guess, Rescore, Submission
from app.db.transaction import transaction
from tests.support.board_facts import create_contest, freeze
from tests.support.contest import Contest, hold_evaluations, judge_everything
from tests.support.database_rows import load_team_id
from tests.support.rejudgings import (
    apply_rejudging,
    begin_rejudging,
    build_reweighted_file,
    build_strict_file,
    end_rejudging,
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
def test_a_rejudging_applied_after_the_freeze_moves_the_organizers_boards_only(
    client: TestClient, rule: str
) -> None:
    contest = create_contest(client, rule=rule)
    submissions = {team: contest.submit(team) for team in ("red", "blue", "green")}
    apply_rejudging(contest, build_reweighted_file(contest))
    contest.open_attacks()
    contest.submit_correct_guess("blue", submissions["red"], 30)
    boards_before, organizer_rows = read_boards(contest), read_organizer_rows(contest)
    freeze(contest)
    assert read_boards(contest) == boards_before
    equal_weights = "".join(f"[measures.{name}]\nweight = 1.0\n" for name in ("cross_count", "mean_mae"))
    for text in (
        replace_tables(get_competition_file(contest), "measures", equal_weights),
        build_strict_file(contest),
    ):
        apply_rejudging(contest, replace_tables(text, "scales", ""))
        assert read_boards(contest) == boards_before
        assert read_organizer_rows(contest) != organizer_rows
        organizer_rows = read_organizer_rows(contest)
    contest.close_attacks()
    assert contest.get_board()["rows"] == organizer_rows


def test_an_evaluation_after_the_freeze_is_not_on_the_frozen_boards(
    client: TestClient,
) -> None:
    contest = create_contest(client)
    contest.submit("red")
    contest.submit("blue", score=False)
    failed = contest.submit("green", score=False)
    fail_evaluation(failed, current=True)
    boards_before = read_boards(contest)
    freeze(contest)
    score_everything()
    assert contest.post_as_organizer(f"/submissions/{failed}/rescore").status_code == 202
    contest.submit("late")
    score_everything()
    assert read_boards(contest)["anonymization"] == boards_before["anonymization"]
    assert {row["team"] for row in read_organizer_rows(contest)} == {"red", "blue", "green", "late"}


def test_a_guess_counts_on_frozen_boards_if_it_was_judged_before_the_freeze(client: TestClient) -> None:
    contest = create_contest(client)
    submissions = {team: contest.submit(team) for team in ("red", "blue")}
    contest.open_attacks()
    contest.submit_correct_guess("blue", submissions["red"], 20)
    queued_guess = contest.submit_guess(
        "red", contest.find_target(submissions["blue"])["id"], contest.build_guess(submissions["blue"], 9)
    )
    assert queued_guess.status_code == 202
    boards_before = read_boards(contest)
    freeze(contest)
    judge_everything()
    contest.submit_correct_guess("blue", submissions["red"], 40)
    assert read_boards(contest) == boards_before
    assert read_boards(contest, team="red")["matrix"][0] != []
    assert contest.get_board("reidentification", organizer=True)["rows"][0]["identified"] == 40
    contest.close_attacks()
    assert contest.get_board("reidentification")["rows"][0]["identified"] == 40


def test_with_daily_feedback_the_frozen_boards_do_not_move_at_midnight_either(client: TestClient) -> None:
    """They show the guesses that were visible at the freeze: those of the days before."""
    contest = create_contest(client, feedback="daily")
    red = contest.submit("red")
    contest.submit("blue")
    contest.open_attacks()
    contest.submit_correct_guess("blue", red, 20)
    moment = datetime.now(UTC)
    freeze(contest, feedback="daily", start=moment)
    boards_before = read_boards(contest)
    age_by_two_days(Submission.received_at, Evaluation.created_at, Evaluation.finished_at)
    age_by_two_days(Guess.received_at, Guess.created_at, Guess.finished_at, Competition.published_at)
    freeze(contest, feedback="daily", start=moment - TWO_DAYS)
    assert read_boards(contest)["reidentification"] == boards_before["reidentification"]
    assert (
        read_boards(contest)["anonymization"][0][0]["security"]
        == boards_before["anonymization"][0][0]["security"]
    )


def test_with_daily_feedback_a_guess_that_enters_before_midnight_and_is_accepted_after_it_waits_a_day(
    client: TestClient,
) -> None:
    """Its file may have been written after the results of the day's other guesses were published."""
    contest = create_contest(client, feedback="daily")
    red = contest.submit("red")
    contest.submit("blue")
    contest.open_attacks()
    identifier = contest.submit_correct_guess("blue", red, 20)

    def read_feedback() -> tuple[Any, Any]:
        (own,) = contest.arena.get(
            f"{contest.path}/guesses", token=contest.arena.get_team_token("blue")
        ).json()
        assert own["id"] == identifier
        board = contest.get_board("reidentification")["rows"]
        return own["correct"], [row["identified"] for row in board if row["identified"] is not None]

    age_by_two_days(Guess.received_at, Guess.finished_at)
    assert read_feedback() == (None, [])
    age_by_two_days(Guess.created_at)
    assert read_feedback() == (20, [20])


def age_by_two_days(*columns: InstrumentedAttribute[Any]) -> None:
    with transaction() as session:
        for column in columns:
            session.execute(update(column.class_).values({column.key: column - TWO_DAYS}))


def test_a_team_disqualified_after_the_freeze_leaves_the_frozen_boards_until_reinstated(
    client: TestClient,
) -> None:
    contest = create_contest(client)
    submissions = {team: contest.submit(team) for team in ("red", "blue")}
    contest.open_attacks()
    contest.submit_correct_guess("blue", submissions["red"], 20)
    freeze(contest)
    boards_before = read_boards(contest)
    for path in (f"{contest.path}/teams/{load_team_id('red')}", f"/submissions/{submissions['red']}"):
        assert contest.post_as_organizer(f"{path}/disqualify").status_code == 200
        assert [row["team"] for row in contest.get_board()["rows"]] == ["blue"]
        assert contest.post_as_organizer(f"{path}/reinstate").status_code == 200
        assert read_boards(contest) == boards_before


def test_a_submission_cancelled_while_a_rejudging_scored_it_is_on_no_board(client: TestClient) -> None:
    """The rejudging has evaluated it and is applied, but the submission never counted."""
    contest = create_contest(client)
    contest.submit("red")
    cancelled = contest.submit("blue", score=False)
    identifier = begin_rejudging(contest, build_reweighted_file(contest))
    token = contest.arena.get_team_token("blue")
    score_in_rejudging(cancelled)
    assert contest.arena.post(f"/submissions/{cancelled}/cancel", token=token).status_code == 200
    score_everything()
    assert end_rejudging(contest, identifier, "apply").status_code == 200
    freeze(contest)
    assert [row["team"] for row in contest.get_board()["rows"]] == ["red"]


def score_in_rejudging(submission: str) -> None:
    """Score a submission only by the rules of the open rejudging."""
    in_rejudging = Evaluation.rescore_id.is_not(None) & (Evaluation.submission_id == UUID(submission))
    with hold_evaluations(~in_rejudging):
        score.score()


def test_a_frozen_board_without_the_replaced_file_ranks_by_the_current_file(
    client: TestClient,
) -> None:
    contest = create_contest(client, rule="rank_sum")
    contest.submit("red")
    freeze(contest)
    apply_rejudging(contest, build_reweighted_file(contest))
    boards_before = read_boards(contest, team="red")
    with transaction() as session:
        session.execute(update(Rescore).values(replaced_file=None))
    assert read_boards(contest)["anonymization"][0][0]["team"] == "red"
    ranked = [
        boards["anonymization"][0][0]["rank_sum"]
        for boards in (read_boards(contest, team="red"), boards_before)
    ]
    assert ranked[0] < ranked[1]
