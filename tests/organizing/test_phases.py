"""Acts of organizers on phases, finals, teams and submissions, and their effects."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select, update

from anoncup.competition.parser import parse_competition
from app.core.db.models import Round, Team
from app.core.db.transaction import transaction
from tests.support.accounts import list_audit_entries, read_refusal
from tests.support.contest import Contest, load_competition, load_round, run_clock, set_berlin_windows
from tests.support.database_rows import execute
from tests.support.uploads import score_everything
from tests.support.wait import start_stopwatch

pytestmark = pytest.mark.full


def hours_from_now(hours: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()


def extend_phase(contest: Contest, name: str, end: str, **more: Any) -> Response:
    return contest.post_as_organizer(f"{contest.path}/phases/{name}/extend", end=end, **more)


def read_windows() -> dict[str, tuple[datetime, datetime]]:
    return {
        phase.name: (phase.start, phase.end) for phase in parse_competition(load_competition().file).phases
    }


def put_file(contest: Contest, text: str) -> Response:
    return contest.arena.put(f"{contest.path}/competition.toml", content=text)


def test_phase_can_overlap_the_next_only_if_that_moves_too(contest: Contest) -> None:
    windows_before = read_windows()
    later_end = windows_before["reidentification"][0] + timedelta(hours=1)
    assert read_refusal(extend_phase(contest, "anonymization", later_end.isoformat())) == (
        409,
        "phases_overlap",
    )
    assert read_windows() == windows_before
    assert (
        extend_phase(contest, "anonymization", later_end.isoformat(), move_following=True).status_code == 200
    )
    shift = later_end - windows_before["anonymization"][1]
    assert read_windows()["anonymization"] == (windows_before["anonymization"][0], later_end)
    assert read_windows()["reidentification"] == tuple(
        moment + shift for moment in windows_before["reidentification"]
    )
    touching_end = read_windows()["reidentification"][0].isoformat()
    assert extend_phase(contest, "anonymization", touching_end).status_code == 200


def test_phases_move_by_the_asked_time_across_a_change_of_the_clocks(contest: Contest) -> None:
    set_berlin_windows(
        anonymization=("2026-01-01 09:00", "2031-10-25 12:00"),
        reidentification=("2031-10-26 02:30", "2031-10-27 12:00"),
    )
    response = extend_phase(contest, "anonymization", "2031-10-26T10:00:00Z", move_following=True)
    assert [datetime.fromisoformat(phase["end"]) for phase in response.json()["phases"]] == [
        datetime(2031, 10, 26, 10, tzinfo=UTC),
        datetime(2031, 10, 28, 11, tzinfo=UTC),
    ]
    assert read_windows()["reidentification"][0] == datetime(2031, 10, 27, 0, 30, tzinfo=UTC)


def test_end_must_be_in_the_future_after_the_start_and_have_an_offset(contest: Contest) -> None:
    assert read_refusal(extend_phase(contest, "anonymization", hours_from_now(-0.01))) == (422, "end_passed")
    assert read_refusal(extend_phase(contest, "reidentification", hours_from_now(1))) == (422, "end_passed")
    for wrong in ("2027-01-24T09:00:00", "tomorrow", 17, None, "9999-12-31T23:59:59-23:59"):
        response = contest.post_as_organizer(f"{contest.path}/phases/anonymization/extend", end=wrong)
        assert response.status_code == 422, wrong
    contest.move_phases(reidentification=(48, 24 * 365 * 7950))
    assert read_refusal(
        extend_phase(contest, "anonymization", "2999-12-31T00:00:00Z", move_following=True)
    ) == (422, "end_too_far")
    assert read_refusal(extend_phase(contest, "closed", hours_from_now(1))) == (404, "no_such_phase")
    assert "phase.extend" not in {action for _, action, _ in list_audit_entries()}


def test_finished_phase_cannot_be_changed(contest: Contest) -> None:
    contest.publish_targets("red")
    assert read_refusal(extend_phase(contest, "anonymization", hours_from_now(0.5))) == (409, "phase_turned")
    file = contest.arena.get(f"{contest.path}/competition.toml").text
    start = read_windows()["anonymization"][0]
    moved_file = file.replace(start.isoformat(), (start - timedelta(hours=1)).isoformat())
    assert moved_file != file
    assert read_refusal(put_file(contest, moved_file)) == (409, "phase_turned")
    assert extend_phase(contest, "reidentification", hours_from_now(2)).status_code == 200
    contest.close_attacks()
    assert read_refusal(extend_phase(contest, "reidentification", hours_from_now(2))) == (409, "phase_turned")


def test_phase_whose_results_are_fixed_accepts_nothing_even_if_the_clock_was_ahead(contest: Contest) -> None:
    release = contest.submit("red")
    contest.open_attacks()
    target = contest.find_target(release)["id"]
    contest.close_attacks()
    contest.move_phases(anonymization=(-3, 1), reidentification=(1, 2))
    assert read_refusal(contest.arena.submit("blue")) == (409, "phase_closed")
    contest.move_phases(anonymization=(-3, -2), reidentification=(-1, 1))
    guess = contest.submit_guess("blue", target, contest.build_guess(release, 3))
    assert read_refusal(guess) == (409, "phase_closed")


def test_pause_moves_all_later_phases_by_its_length(contest: Contest) -> None:
    pause, resume = (f"{contest.path}/phases/anonymization/{word}" for word in ("pause", "resume"))
    assert read_refusal(contest.post_as_organizer(resume)) == (409, "phase_not_paused")
    assert read_refusal(contest.post_as_organizer(f"{contest.path}/phases/reidentification/pause")) == (
        409,
        "phase_closed",
    )
    contest.move_phases(anonymization=(-2, 0.5))
    set_berlin_windows(reidentification=("2031-10-26 02:30", "2031-10-26 12:00"))
    windows_before, elapsed = read_windows(), start_stopwatch()
    assert contest.post_as_organizer(pause).status_code == 200
    assert read_refusal(contest.post_as_organizer(pause)) == (409, "phase_paused")
    refusal = contest.arena.submit("red")
    assert read_refusal(refusal) == (409, "phase_paused")
    with transaction() as session:
        # Paused for an hour, beyond the end of the phase.
        session.execute(update(Round).values(paused_at=Round.paused_at - timedelta(hours=1)))
    run_clock()
    assert contest.get_state() == "anonymization"
    assert load_round().frozen_at is None
    assert read_refusal(contest.post_as_organizer(f"{contest.path}/phases/reidentification/resume")) == (
        409,
        "phase_not_paused",
    )
    assert contest.post_as_organizer(resume).status_code == 200
    tolerance = timedelta(seconds=elapsed())
    (new_start, *new_moments), (old_start, *old_moments) = (
        [moment for window in phase_windows.values() for moment in window]
        for phase_windows in (read_windows(), windows_before)
    )
    (length,) = {new - old for new, old in zip(new_moments, old_moments, strict=True)}
    assert new_start == old_start
    assert timedelta(hours=1) < length <= timedelta(hours=1) + tolerance
    assert contest.arena.submit("red").status_code == 202
    actions = [action for _, action, _ in list_audit_entries() if action.startswith("phase.")]
    assert actions == ["phase.pause", "phase.resume"]


def test_pause_over_a_deadline_delays_targets_and_reveal(contest: Contest) -> None:
    contest.arena.get_team_token("blue")
    (red,) = contest.publish_targets("red")
    assert contest.post_as_organizer(f"{contest.path}/phases/reidentification/pause").status_code == 200
    target = contest.find_target(red)["id"]
    assert read_refusal(contest.submit_guess("blue", target, contest.build_guess(red, 1))) == (
        409,
        "phase_paused",
    )
    execute(update(Round).values(paused_at=Round.paused_at - timedelta(minutes=30)))
    contest.move_phases(reidentification=(-1, -0.1))
    run_clock()
    assert load_round().closed_at is None
    assert contest.post_as_organizer(f"{contest.path}/phases/reidentification/resume").status_code == 200
    run_clock()  # the database refuses guesses until the clock has recorded the later end
    assert contest.submit_guess("blue", target, contest.build_guess(red, 1)).status_code == 202


def test_file_cannot_change_windows_during_a_pause(contest: Contest) -> None:
    assert contest.post_as_organizer(f"{contest.path}/phases/anonymization/pause").status_code == 200
    text = contest.arena.get(f"{contest.path}/competition.toml").text
    start = read_windows()["anonymization"][0]
    moved_file = text.replace(start.isoformat(), (start + timedelta(hours=1)).isoformat())
    assert moved_file != text
    assert read_refusal(put_file(contest, moved_file)) == (409, "phase_paused")
    assert put_file(contest, text.replace("Small cup", "Little cup")).status_code == 200
    assert contest.post_as_organizer(f"{contest.path}/phases/anonymization/resume").status_code == 200


def mark_final(contest: Contest, team: str, submission: str, *, is_final: bool = True) -> Response:
    path = f"/submissions/{submission}/final"
    return contest.arena.put(path, team=team, json={"final": is_final})


def list_target_submissions(contest: Contest) -> set[str]:
    """Return the ids of the submissions that are targets."""
    commitments = {target["commitment"] for target in contest.arena.get(f"{contest.path}/targets").json()}
    submissions = contest.arena.get(f"{contest.path}/submissions/all").json()
    return {submission["id"] for submission in submissions if submission["commitment"] in commitments}


def test_only_valid_submissions_up_to_the_limit_become_finals(contest: Contest) -> None:
    submissions = [contest.submit("red") for _ in range(3)]
    assert [mark_final(contest, "red", submission).status_code for submission in submissions] == [
        200,
        200,
        409,
    ]
    assert mark_final(contest, "red", submissions[0]).status_code == 200
    assert read_refusal(mark_final(contest, "red", submissions[2])) == (409, "too_many_finals")
    assert mark_final(contest, "red", submissions[0], is_final=False).json()["final"] is False
    assert mark_final(contest, "red", submissions[2]).status_code == 200
    rejected = contest.arena.submit_excessive("red").json()["id"]
    score_everything()
    mark_final(contest, "red", submissions[2], is_final=False)
    assert read_refusal(mark_final(contest, "red", rejected)) == (409, "not_valid")
    assert mark_final(contest, "blue", submissions[2]).status_code == 404
    contest.open_attacks()
    assert read_refusal(mark_final(contest, "red", submissions[0])) == (409, "phase_closed")
    assert list_target_submissions(contest) == {submissions[1]}


def test_lowered_limit_keeps_only_the_best_marked_finals(contest: Contest) -> None:
    submissions = [contest.submit("red") for _ in range(3)]
    scores = {
        submission: contest.arena.get_submission(submission, "red")["result"]["overall"]
        for submission in submissions
    }
    marked_submissions = sorted(submissions, key=lambda submission: scores[submission])[1:]
    assert {mark_final(contest, "red", submission).status_code for submission in marked_submissions} == {200}
    text = contest.arena.get(f"{contest.path}/competition.toml").text
    fewer = text.replace("[[phases]]", "[ranking]\nfinals = 1\n[[phases]]", 1)
    assert put_file(contest, fewer).status_code == 200
    contest.open_attacks()
    assert list_target_submissions(contest) == {marked_submissions[0]}


def change_disqualification(contest: Contest, subject: str, action: str) -> Response:
    """Disqualify or reinstate a submission by id or a team by name."""
    with transaction() as session:
        team = session.scalar(select(Team.id).where(Team.name == subject))
    path = f"{contest.path}/teams/{team}" if team else f"/submissions/{subject}"
    return contest.post_as_organizer(f"{path}/{action}")


def test_disqualified_submission_becomes_no_final_unless_marked(contest: Contest) -> None:
    best, marked_submission, green = contest.submit("red"), contest.submit("blue"), contest.submit("green")
    worse = contest.submit("red")
    mark_final(contest, "blue", marked_submission)
    for subject in (best, marked_submission, "green"):
        assert change_disqualification(contest, subject, "disqualify").status_code == 200
        assert read_refusal(change_disqualification(contest, subject, "disqualify")) == (
            409,
            "nothing_to_change",
        )
    contest.open_attacks()
    assert list_target_submissions(contest) == {worse, marked_submission, green}
    assert [target["withdrawn"] for target in contest.list_targets("red")] == [False]
    assert contest.list_targets("green")[0]["own"] is not contest.list_targets("green")[1]["own"]
    for subject in (marked_submission, "green"):
        assert change_disqualification(contest, subject, "reinstate").status_code == 200
        assert read_refusal(change_disqualification(contest, subject, "reinstate")) == (
            409,
            "nothing_to_change",
        )
    assert len(contest.list_targets("red")) == 3


def test_disqualification_withdraws_the_target_and_reinstating_restores_it(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml='[publication]\nfeedback = "immediate"')
    red, second_red, _ = contest.publish_targets("red", "red", "blue")
    contest.submit_correct_guess("blue", red, 20)
    contest.submit_correct_guess("blue", second_red, 5)
    boards_before = contest.get_boards()
    target = contest.find_target(red)["id"]
    assert change_disqualification(contest, red, "disqualify").json()["disqualified"] is True
    attackers = {row["team"]: row for row in contest.get_board("reidentification")["rows"]}
    assert (attackers["blue"]["identified"], attackers["blue"]["targets"]) == (5, 1)
    assert target not in {target_row["id"] for target_row in contest.list_targets("blue")}
    data = f"/targets/{target}/data/anonymized.csv"
    assert contest.arena.get(data, team="blue").status_code == 404
    assert contest.arena.get(data, team="red").status_code == 200
    assert len(contest.arena.client.get(f"/api/v1{contest.path}/manifest").json()["targets"]) == 3
    assert change_disqualification(contest, red, "reinstate").status_code == 200
    assert contest.get_boards() == boards_before
