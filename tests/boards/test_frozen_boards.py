"""Frozen boards: from the freeze to the close, only organizers see later changes."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from anoncup.rules.toml_text import replace_tables
from app.core.db.models import Evaluation, Guess
from tests.support.contest import Contest, lock_evaluations
from tests.support.rescores import (
    begin_rescore,
    build_reweighted_file,
    end_rescore,
    get_competition_file,
)
from tests.support.standings import move_times_back
from tests.support.uploads import score_everything
from workers import tasks

pytestmark = pytest.mark.full

TWO_DAYS = timedelta(days=2)


def test_guess_accepted_after_midnight_is_shown_a_day_later(
    client: TestClient,
) -> None:
    """The team may have written its file after the results of that day's other guesses were published."""
    contest = Contest.create(client, extra_toml='[publication]\nfeedback = "daily"\n')
    red, _ = contest.publish_targets("red", "blue")
    identifier = contest.submit_correct_guess("blue", red, 20)

    def read_feedback() -> tuple[Any, Any]:
        (own,) = contest.arena.get(f"{contest.path}/guesses", team="blue").json()
        assert own["id"] == identifier
        board = contest.get_board("reidentification")["rows"]
        return own["correct"], [row["identified"] for row in board if row["identified"] is not None]

    move_times_back(TWO_DAYS, Guess.received_at, Guess.finished_at)
    assert read_feedback() == (None, [])
    move_times_back(TWO_DAYS, Guess.created_at)
    assert read_feedback() == (20, [20])


def test_submission_cancelled_during_a_rescore_is_on_no_board(client: TestClient) -> None:
    """The rescore has evaluated it and is applied, but the submission never counted."""
    contest = Contest.create(client)
    contest.submit("red")
    cancelled = contest.submit("blue", score=False)
    identifier = begin_rescore(contest, build_reweighted_file(contest))
    token = contest.arena.get_team_token("blue")
    score_in_rescore(cancelled)
    assert contest.arena.post(f"/submissions/{cancelled}/cancel", token=token).status_code == 200
    score_everything()
    assert end_rescore(contest, identifier, "apply").status_code == 200
    publication = f"[publication]\nfrozen_from = {datetime.now(UTC).isoformat()}\n"
    content = replace_tables(get_competition_file(contest), "publication", publication)
    assert contest.arena.put(f"{contest.path}/competition.toml", content=content).status_code == 200
    assert [row["team"] for row in contest.get_board()["rows"]] == ["red"]


def score_in_rescore(submission: str) -> None:
    """Score a submission only by the rules of the open rescore."""
    in_rescore = Evaluation.rescore_id.is_not(None) & (Evaluation.submission_id == UUID(submission))
    with lock_evaluations(~in_rescore):
        tasks.score()
