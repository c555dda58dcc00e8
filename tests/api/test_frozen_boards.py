"""Freeze and reveal: from the freeze to the close everybody but organizers sees the boards of that moment."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update
from sqlalchemy.orm import InstrumentedAttribute

from anoncup.rules.toml_text import with_tables
from app.db.models import Competition, Evaluation, Guess, Rescore, Submission
from app.db.transaction import transaction
from tests.support.contest import Contest, held, judge_everything
from tests.support.frozen_boards import freeze, opened
from tests.support.rejudgings import applied, begun, end, end_set_evaluation, file_of, reweighed, strict
from tests.support.team_rows import team_id
from tests.support.uploads import score_everything
from workers import score

pytestmark = pytest.mark.full

TWO_DAYS = timedelta(days=2)


def shown(contest: Contest, *, team: str | None = None) -> dict[str, Any]:
    """The rows of all three boards, and the targets."""
    boards = {
        which: contest.board(which, team=team) for which in ("anonymization", "reidentification", "matrix")
    }
    return {name: [one["rows"], one.get("targets"), one.get("finals")] for name, one in boards.items()}


def everything(contest: Contest) -> Any:
    return contest.board(organizer=True)["rows"]


@pytest.mark.parametrize("rule", ["score", "rank_sum"])
def test_a_set_applied_after_the_freeze_moves_the_boards_of_organizers_only(
    client: TestClient, rule: str
) -> None:
    contest = opened(client, rule=rule)
    sent = {team: contest.submit(team) for team in ("red", "blue", "green")}
    applied(contest, reweighed(contest))
    contest.attack()
    contest.guessed("blue", sent["red"], 30)
    before, organizers = shown(contest), everything(contest)
    freeze(contest)
    assert shown(contest) == before
    even = "".join(f"[measures.{name}]\nweight = 1.0\n" for name in ("cross_count", "mean_mae"))
    for text in (with_tables(file_of(contest), "measures", even), strict(contest)):
        applied(contest, with_tables(text, "scales", ""))
        assert shown(contest) == before
        assert everything(contest) != organizers
        organizers = everything(contest)
    contest.close()
    assert contest.board()["rows"] == organizers


def test_what_is_scored_after_the_freeze_is_not_on_the_frozen_boards_whenever_it_came(
    client: TestClient,
) -> None:
    contest = opened(client)
    contest.submit("red")
    contest.submit("blue", scored=False)
    failed = contest.submit("green", scored=False)
    end_set_evaluation(failed, current=True)
    before = shown(contest)
    freeze(contest)
    score_everything()
    assert contest.organize(f"/submissions/{failed}/rescore").status_code == 202
    contest.submit("late")
    score_everything()
    assert shown(contest)["anonymization"] == before["anonymization"]
    assert {row["team"] for row in everything(contest)} == {"red", "blue", "green", "late"}


def test_a_guess_counts_on_frozen_boards_if_it_was_judged_before_the_freeze(client: TestClient) -> None:
    contest = opened(client)
    sent = {team: contest.submit(team) for team in ("red", "blue")}
    contest.attack()
    contest.guessed("blue", sent["red"], 20)
    waiting = contest.guess("red", contest.target_of(sent["blue"])["id"], contest.right_on(sent["blue"], 9))
    assert waiting.status_code == 202
    before = shown(contest)
    freeze(contest)
    judge_everything()
    contest.guessed("blue", sent["red"], 40)
    assert shown(contest) == before
    assert shown(contest, team="red")["matrix"][0] != []
    assert contest.board("reidentification", organizer=True)["rows"][0]["identified"] == 40
    contest.close()
    assert contest.board("reidentification")["rows"][0]["identified"] == 40


def test_with_daily_feedback_the_frozen_boards_do_not_move_at_midnight_either(client: TestClient) -> None:
    """They show the guesses that were shown at the freeze: those of the days before it."""
    contest = opened(client, feedback="daily")
    red = contest.submit("red")
    contest.submit("blue")
    contest.attack()
    contest.guessed("blue", red, 20)
    moment = datetime.now(UTC)
    freeze(contest, feedback="daily", at=moment)
    before = shown(contest)
    two_days_later(Submission.received_at, Evaluation.created_at, Evaluation.finished_at)
    two_days_later(Guess.received_at, Guess.created_at, Guess.finished_at, Competition.published_at)
    freeze(contest, feedback="daily", at=moment - TWO_DAYS)
    assert shown(contest)["reidentification"] == before["reidentification"]
    assert shown(contest)["anonymization"][0][0]["security"] == before["anonymization"][0][0]["security"]


def test_with_daily_feedback_a_guess_that_enters_before_midnight_and_is_accepted_after_it_waits_a_day(
    client: TestClient,
) -> None:
    """Its file may still have been written when the answers to the day's others were there."""
    contest = opened(client, feedback="daily")
    red = contest.submit("red")
    contest.submit("blue")
    contest.attack()
    identifier = contest.guessed("blue", red, 20)

    def told() -> tuple[Any, Any]:
        (own,) = contest.arena.get(f"{contest.path}/guesses", token=contest.arena.team("blue")).json()
        assert own["id"] == identifier
        board = contest.board("reidentification")["rows"]
        return own["correct"], [row["identified"] for row in board if row["identified"] is not None]

    two_days_later(Guess.received_at, Guess.finished_at)
    assert told() == (None, [])
    two_days_later(Guess.created_at)
    assert told() == (20, [20])


def two_days_later(*columns: InstrumentedAttribute[Any]) -> None:
    with transaction() as session:
        for column in columns:
            session.execute(update(column.class_).values({column.key: column - TWO_DAYS}))


def test_who_is_disqualified_after_the_freeze_leaves_the_frozen_boards_and_comes_back(
    client: TestClient,
) -> None:
    contest = opened(client)
    sent = {team: contest.submit(team) for team in ("red", "blue")}
    contest.attack()
    contest.guessed("blue", sent["red"], 20)
    freeze(contest)
    before = shown(contest)
    for path in (f"{contest.path}/teams/{team_id('red')}", f"/submissions/{sent['red']}"):
        assert contest.organize(f"{path}/disqualify").status_code == 200
        assert [row["team"] for row in contest.board()["rows"]] == ["blue"]
        assert contest.organize(f"{path}/reinstate").status_code == 200
        assert shown(contest) == before


def test_a_submission_cancelled_while_a_set_scored_it_is_on_no_board(client: TestClient) -> None:
    """The set's evaluation of it has ended and the set is applied, but it never counted."""
    contest = opened(client)
    contest.submit("red")
    gone = contest.submit("blue", scored=False)
    identifier = begun(contest, reweighed(contest))
    token = contest.arena.team("blue")
    score_set(gone)
    assert contest.arena.post(f"/submissions/{gone}/cancel", token=token).status_code == 200
    score_everything()
    assert end(contest, identifier, "apply").status_code == 200
    freeze(contest)
    assert [row["team"] for row in contest.board()["rows"]] == ["red"]


def score_set(submission: str) -> None:
    """Score a submission by the open set's rules only."""
    of_set = Evaluation.rescore_id.is_not(None) & (Evaluation.submission_id == UUID(submission))
    with held(~of_set):
        score.score()


def test_a_frozen_board_of_a_set_whose_file_was_not_kept_ranks_by_the_file_of_now(
    client: TestClient,
) -> None:
    contest = opened(client, rule="rank_sum")
    contest.submit("red")
    freeze(contest)
    applied(contest, reweighed(contest))
    before = shown(contest, team="red")
    with transaction() as session:
        session.execute(update(Rescore).values(replaced_file=None))
    assert shown(contest)["anonymization"][0][0]["team"] == "red"
    ranked = [one["anonymization"][0][0]["rank_sum"] for one in (shown(contest, team="red"), before)]
    assert ranked[0] < ranked[1]
