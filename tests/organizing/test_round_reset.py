"""Resets of practice rounds."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.errors import Conflict
from app.competitions import competitions, revisions
from app.core.db.models import Evaluation, Guess, Round, State
from app.core.db.transaction import transaction
from app.jobs import health, leases
from app.jobs.fairness import is_in_present_round
from tests.support.accounts import read_refusal, run_in_parallel
from tests.support.arena import load_principal
from tests.support.contest import Contest, judge_everything, run_clock
from tests.support.database_rows import load_all
from tests.support.phase_changes import accept_upload, receive_upload
from tests.support.two_rounds import build_round, create_two_rounds
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


@pytest.fixture
def practice(client: TestClient) -> Contest:
    """A practice round that has begun, with a final on the same data."""
    preliminary = build_round("try", begins=-0.5, practice=True)
    feedback = '[publication]\nfeedback = "immediate"'
    return create_two_rounds(client, preliminary=preliminary, extra_toml=feedback)["try"]


def reset(contest: Contest, **body: Any) -> dict[str, Any]:
    response = contest.post_as_organizer(f"{contest.path}/reset", **body)
    assert response.status_code == 200, response.text
    description: dict[str, Any] = response.json()
    return description


def load_rounds() -> list[Round]:
    return load_all(select(Round).where(Round.name == "try").order_by(Round.removed_at))


def list_own_submissions(contest: Contest) -> list[Any]:
    submissions: list[Any] = contest.arena.get(f"{contest.path}/submissions", team="red").json()
    return submissions


def format_start(hours: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()


def test_reset_round_is_played_again(practice: Contest) -> None:
    for team in ("red", "blue"):
        submission = practice.submit(team)
    practice.open_attacks()
    target = practice.find_target(submission)
    practice.submit_correct_guess("red", submission, 7)
    practice.close_attacks()
    assert practice.get_state() == "closed"
    description = reset(practice, start=format_start(-0.5))
    assert (description["address"], description["state"]) == ("small.try", "anonymization")
    assert description["original_rows"] == 40
    assert practice.get_board()["rows"] == []
    assert read_refusal(practice.arena.get(f"{practice.path}/targets")) == (404, "no_targets_yet")
    assert list_own_submissions(practice) == []
    assert read_refusal(practice.arena.get(f"/submissions/{submission}"))[0] == 404
    assert read_refusal(practice.arena.get(f"/submissions/{submission}", team="blue"))[0] == 404
    assert read_refusal(practice.arena.get(f"/targets/{target['id']}/secret")) == (404, "no_such_target")
    again = practice.submit("red")
    assert [row["team"] for row in practice.get_board()["rows"]] == ["red"]
    practice.open_attacks()
    practice.submit_correct_guess("blue", again, 9)
    practice.close_attacks()
    (row,) = [row for row in practice.get_board("reidentification")["rows"] if row["team"] == "blue"]
    assert row["identified"] == 9


def test_phases_of_a_reset_round_can_be_moved(practice: Contest) -> None:
    practice.submit("red")
    practice.open_attacks()
    extension = {"end": format_start(50), "move_following": True}
    path = f"{practice.path}/phases/anonymization/extend"
    assert read_refusal(practice.post_as_organizer(path, **extension)) == (409, "phase_turned")
    phases = practice.arena.get(practice.path).json()["phases"]
    moved = reset(practice, start=format_start(24))
    lengths = [
        [
            datetime.fromisoformat(phase["end"]) - datetime.fromisoformat(phase["start"])
            for phase in entry["phases"]
        ]
        for entry in ({"phases": phases}, moved)
    ]
    assert lengths[0] == lengths[1]
    assert moved["state"] == "upcoming"
    assert practice.post_as_organizer(path, **extension).status_code == 200


def test_round_whose_first_phase_is_over_needs_a_new_start(practice: Contest) -> None:
    practice.start_pause()
    rounds = [round_.id for round_ in load_rounds()]
    assert read_refusal(practice.post_as_organizer(f"{practice.path}/reset")) == (422, "end_passed")
    refusal = read_refusal(practice.post_as_organizer(f"{practice.path}/reset", start=format_start(-5)))
    assert refusal == (422, "end_passed")
    assert [round_.id for round_ in load_rounds()] == rounds


def test_only_practice_rounds_are_reset(practice: Contest) -> None:
    path = "/competitions/small.final/reset"
    assert read_refusal(practice.post_as_organizer(path)) == (409, "not_practice")


def test_unfinished_evaluations_are_cancelled(practice: Contest) -> None:
    practice.submit("red", score=False)
    reset(practice)
    assert load_all(select(Evaluation.state)) == [State.CANCELLED]
    score_everything()
    run_clock()
    removed, present = load_rounds()
    assert (removed.removed_at is None, present.removed_at) == (False, None)
    assert (present.position, present.original, present.scales) == (
        removed.position,
        removed.original,
        removed.scales,
    )
    assert removed.scored_by
    assert not present.scored_by


def test_waiting_guesses_are_not_judged(practice: Contest) -> None:
    submission = practice.submit("red")
    practice.submit("blue")
    practice.open_attacks()
    target = practice.find_target(submission)["id"]
    assert practice.submit_guess("blue", target, practice.build_guess(submission, 7)).status_code == 202
    reset(practice, start=format_start(-0.5))
    with transaction() as session:
        assert leases.count_unattended(session, Guess) == 0
        assert health.count_by_state(session, Guess, is_in_present_round(Guess))[State.QUEUED] == 0
    judge_everything()
    assert load_all(select(Guess.state)) == [State.QUEUED]


def test_file_computed_before_a_reset_is_not_saved(practice: Contest) -> None:
    """The revision names the rows of the rounds, and one of them has been removed since."""
    file = practice.arena.get("/competitions/small/competition.toml").text
    with transaction() as session:
        contest = competitions.find(session, None, "small")
        principal = load_principal(session, practice.arena.organizer_token)
    revision = revisions.compute_file_revision(contest, file)
    reset(practice)
    with pytest.raises(Conflict) as error, transaction() as session:
        revisions.apply_revision(session, principal, "small", revision)
    assert error.value.code == "changed_meanwhile"


def test_simultaneous_resets_leave_one_round(practice: Contest) -> None:
    responses = run_in_parallel(lambda _: practice.post_as_organizer(f"{practice.path}/reset"))
    statuses = [response.status_code for response in responses]
    assert {200} <= set(statuses) <= {200, 404}
    assert [round_.removed_at is None for round_ in load_rounds()].count(True) == 1
    assert len(load_rounds()) == 1 + statuses.count(200)


def test_upload_that_began_before_a_reset_is_refused(practice: Contest) -> None:
    principal, upload = receive_upload(practice.arena, "red")
    reset(practice)
    with pytest.raises(Conflict) as error:
        accept_upload(principal, upload)
    assert error.value.code == "changed_meanwhile"
    assert list_own_submissions(practice) == []
    practice.submit("red")
    assert len(list_own_submissions(practice)) == 1
