"""Rescores: previewed, applied or cancelled while the contest goes on."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.errors import FileProblem, InvalidUpload
from anoncup.messages import Message
from anoncup.tracks.microdata import MICRODATA
from app.core.db.models import Evaluation, Rejudgement, State
from app.core.db.transaction import transaction
from app.jobs import leases
from app.targets import guesses
from tests.support.accounts import list_audit_entries, read_refusal
from tests.support.contest import (
    Contest,
    build_outcome,
    judge_everything,
    lock_evaluations,
    run_clock,
)
from tests.support.database_rows import load_all
from tests.support.job_claims import FAILURE, claim_guess, record_guess
from tests.support.rescores import (
    apply_rescore,
    begin_rescore,
    build_lenient_file,
    build_reweighted_file,
    build_strict_file,
    end_rescore,
    fail_evaluation,
    get_competition_file,
    get_preview,
    post_rescore,
)
from tests.support.uploads import score_everything
from workers import tasks

pytestmark = pytest.mark.full


def list_evaluations(submission: str) -> list[tuple[bool, str]]:
    """Return (is current, state) of all evaluations of a submission, oldest first."""
    query = select(Evaluation).where(Evaluation.submission_id == UUID(submission))
    return [
        (evaluation.current, evaluation.state)
        for evaluation in load_all(query.order_by(Evaluation.created_at))
    ]


def test_rescore_takes_effect_only_when_applied(
    contest: Contest,
) -> None:
    submissions = [contest.submit(team) for team in ("red", "blue", "red")]
    boards_before = contest.get_boards()
    submissions_before = [
        contest.arena.get(f"/submissions/{submission}").json() for submission in submissions
    ]
    identifier = begin_rescore(contest, build_strict_file(contest))
    assert get_preview(contest, identifier)["state"] == "scoring"
    assert read_refusal(end_rescore(contest, identifier, "apply")) == (409, "rescore_scoring")
    score_everything()
    assert get_preview(contest, identifier)["state"] == "ready"
    assert contest.get_boards() == boards_before
    assert [
        contest.arena.get(f"/submissions/{submission}").json() for submission in submissions
    ] == submissions_before
    rows = get_preview(contest, identifier)["rows"]
    assert [row["submission_id"] for row in rows] == submissions
    assert {(row["before"]["status"], row["after"]["status"]) for row in rows} == {("SCORED", "REJECTED")}
    assert {tuple(row["after"]["violations"]) for row in rows} == {("excessive_anonymization",)}
    assert {row["after"]["rank"] for row in rows} == {None}
    assert end_rescore(contest, identifier, "apply").json()["state"] == "applied"
    assert {row["rank"] for row in contest.get_board()["rows"]} == {None}
    assert contest.arena.get(f"/submissions/{submissions[0]}").json()["status"] == "REJECTED"
    for action in ("apply", "cancel"):
        assert read_refusal(end_rescore(contest, identifier, action)) == (409, "rescore_ended")
    assert all(
        list_evaluations(submission) == [(False, "SCORED"), (True, "REJECTED")] for submission in submissions
    )
    assert "1e-07" in get_competition_file(contest) or "0.0000001" in get_competition_file(contest)


def test_preview_shows_ranks_and_scores_before_and_after(client: TestClient) -> None:
    uncounted_attackers = "".join(f"[attackers.{name}]\ncounts = false\n" for name in MICRODATA.attackers)
    extra_toml = f'[publication]\nfeedback = "immediate"\n{uncounted_attackers}'
    contest = Contest.create(client, extra_toml=extra_toml)
    submissions = {team: contest.submit(team) for team in ("red", "blue", "green")}
    contest.open_attacks()
    contest.submit_correct_guess("blue", submissions["red"], 40)
    formula = "[ranking]\ndefence = \"5 * max(utility, strongest('link'))\"\n"
    reweighted, strict = build_reweighted_file(contest), build_strict_file(contest)
    for text in (reweighted, strict, build_lenient_file(contest) + formula):
        standings_before = read_standings(contest)
        rescore = apply_rescore(contest, text)
        assert get_standings(rescore, "before") == standings_before
        assert get_standings(rescore, "after") == read_standings(contest)
    assert read_standings(contest)["red"] == (3, 5.0)


def get_standings(preview: dict[str, Any], rules: str) -> dict[str, tuple[int | None, float | None]]:
    """Return rank and score by team, ``before`` or ``after`` the change of rules."""
    return {row["team"]: (row[rules]["rank"], row[rules]["score"]) for row in preview["rows"]}


def read_standings(contest: Contest) -> dict[str, tuple[int | None, float | None]]:
    """Return rank by team, and the value of the formula or, without one, the overall score."""
    return {
        row["team"]: (row["rank"], row["overall"] if row["score"] is None else row["score"])
        for row in contest.get_board(organizer=True)["rows"]
    }


def test_rejected_target_counts_again_after_an_accepting_rescore(
    client: TestClient,
) -> None:
    contest = Contest.create(client, extra_toml='[publication]\nfeedback = "immediate"')
    red, _ = contest.publish_targets("red", "blue")
    contest.submit_correct_guess("blue", red, 12)
    boards_before = contest.get_boards()
    target, right_guess = contest.find_target(red)["id"], contest.build_guess(red, 1)
    apply_rescore(contest, build_strict_file(contest))
    assert contest.list_targets("blue") == [
        target_row | {"withdrawn": True} for target_row in contest.list_targets("blue") if target_row["own"]
    ]
    assert contest.submit_guess("blue", target, right_guess).status_code == 404
    assert all(row["identified"] is None for row in contest.get_board("reidentification")["rows"])
    assert contest.get_board("matrix")["targets"] == []
    apply_rescore(contest, build_lenient_file(contest))
    assert contest.get_boards() == boards_before
    assert contest.submit_guess("blue", target, right_guess).status_code == 202
    assert list_evaluations(red) == [(False, "SCORED"), (False, "REJECTED"), (True, "SCORED")]


def test_cancelled_rescore_changes_nothing(contest: Contest) -> None:
    red = contest.submit("red")
    boards_before, file = contest.get_boards(), get_competition_file(contest)
    identifier = begin_rescore(contest, build_strict_file(contest))
    assert end_rescore(contest, identifier, "cancel").json()["state"] == "cancelled"
    score_everything()
    assert list_evaluations(red) == [(True, "SCORED"), (False, "CANCELLED")]
    assert (contest.get_boards(), get_competition_file(contest)) == (boards_before, file)
    for action_name in ("apply", "cancel"):
        assert read_refusal(end_rescore(contest, identifier, action_name)) == (409, "rescore_ended")
    assert [rescore["state"] for rescore in contest.arena.get(f"{contest.path}/rescores").json()] == [
        "cancelled"
    ]
    assert [action for _, action, _ in list_audit_entries()][-2:] == ["rescore.begin", "rescore.cancel"]


def test_submission_during_a_rescore_is_scored_by_both_rules(contest: Contest) -> None:
    contest.submit("red")
    identifier = begin_rescore(contest, build_strict_file(contest))
    score_everything()
    new_submission = contest.submit("blue", score=False)
    assert read_refusal(end_rescore(contest, identifier, "apply")) == (409, "rescore_scoring")
    score_everything()
    assert contest.arena.get(f"/submissions/{new_submission}").json()["status"] == "SCORED"
    assert end_rescore(contest, identifier, "apply").status_code == 200
    assert list_evaluations(new_submission) == [(False, "SCORED"), (True, "REJECTED")]
    later_submission = contest.submit("blue")
    assert list_evaluations(later_submission) == [(True, "REJECTED")]


@pytest.mark.parametrize("is_scored", [True, False])
def test_rescore_with_a_failed_evaluation_cannot_be_applied(contest: Contest, is_scored: bool) -> None:
    contest.submit("blue")
    red = contest.submit("red", score=is_scored)
    identifier = begin_rescore(contest, build_strict_file(contest))
    fail_evaluation(red, is_current=False)
    # Scores the rest of the rescore, but nothing by the current rules.
    with lock_evaluations(Evaluation.rescore_id.is_distinct_from(UUID(identifier))):
        tasks.score()
    assert read_refusal(end_rescore(contest, identifier, "apply")) == (409, "rescore_failed")
    assert end_rescore(contest, identifier, "cancel").status_code == 200


def test_open_rescore_blocks_other_rescores_and_files(contest: Contest) -> None:
    contest.submit("red")
    contest.arena.get_team_token("blue")
    with ThreadPoolExecutor(4) as pool:
        responses = list(pool.map(lambda _: post_rescore(contest, build_strict_file(contest)), range(4)))
    assert sorted(response.status_code for response in responses) == [202, 409, 409, 409]
    assert {read_refusal(result)[1] for result in responses if result.status_code == 409} == {"rescore_open"}
    renamed_file = get_competition_file(contest).replace("Small cup", "Little cup")
    refusal = contest.arena.put(f"{contest.path}/competition.toml", content=renamed_file)
    assert read_refusal(refusal) == (409, "rescore_open")
    (identifier,) = [result.json()["id"] for result in responses if result.status_code == 202]
    assert end_rescore(contest, identifier, "cancel").status_code == 200
    assert contest.arena.put(f"{contest.path}/competition.toml", content=renamed_file).status_code == 200


def test_rescore_cannot_change_columns_or_names(contest: Contest) -> None:
    contest.submit("red")
    text = get_competition_file(contest)
    for old, new in (('"small"', '"other"'), ('["income", "rent"]', '["rent", "income"]')):
        changed_file = text.replace(old, new)
        assert changed_file != text
        assert post_rescore(contest, changed_file).status_code == 409
    for invalid_file in ("", "\x00", "format = 2"):
        assert post_rescore(contest, invalid_file).status_code == 422
    assert contest.arena.get(f"{contest.path}/rescores").json() == []


def test_deadline_moved_during_a_rescore_is_kept(contest: Contest) -> None:
    contest.submit("red")
    text = build_strict_file(contest)
    identifier = begin_rescore(contest, text)
    new_end = (datetime.now(UTC) + timedelta(hours=5)).replace(microsecond=0)
    path = f"{contest.path}/phases/anonymization/extend"
    assert contest.post_as_organizer(path, end=new_end.isoformat()).status_code == 200
    score_everything()
    assert end_rescore(contest, identifier, "apply").status_code == 200
    assert new_end.isoformat() in get_competition_file(contest)


REFUSAL = InvalidUpload([FileProblem("guess", None, None, "header", Message("no header"))]).to_json()


def judge_by_hand(guess: str, correct: int | None, *, rescore: str | None = None) -> None:
    """Record an outcome of a guess, or of its rejudgement; without one, the worker fails."""
    with transaction() as session:
        claim = claim_guess(session, UUID(guess), rescore=UUID(rescore) if rescore else None)
        if correct is None:
            leases.fail(session, claim.lease, FAILURE)
        else:
            assert record_guess(session, claim, outcome=build_outcome(correct))


def send_guesses(contest: Contest, submission: str, count: int) -> list[str]:
    target, content = contest.find_target(submission)["id"], contest.build_guess(submission, 1)
    responses = [contest.submit_guess("blue", target, content) for _ in range(count)]
    return [response.json()["id"] for response in responses]


def read_guesses(contest: Contest) -> dict[str, Any]:
    """Return state and right rows of blue's guesses, as the team sees them."""
    rows = contest.arena.get(f"{contest.path}/guesses", team="blue").json()
    return {row["id"]: (row["status"], row["correct"]) for row in rows}


def find_identified(contest: Contest) -> int:
    board = contest.get_board("reidentification", organizer=True)
    (identified,) = [int(row["identified"]) for row in board["rows"] if row["team"] == "blue"]
    return identified


def test_guesses_get_the_results_of_an_applied_rescore(contest: Contest) -> None:
    """Also a guess that a worker judges by the old rules meanwhile. A refused guess stays refused."""
    contest.arena.get_team_token("blue")
    (red,) = contest.publish_targets("red")
    judged, running, refused = send_guesses(contest, red, 3)
    judge_by_hand(judged, 12)
    with transaction() as session:
        refused_claim = claim_guess(session, UUID(refused))
        record_guess(session, refused_claim, refused=REFUSAL)
        running_claim = claim_guess(session, UUID(running))
    identifier = begin_rescore(contest, build_reweighted_file(contest))
    (posted,) = send_guesses(contest, red, 1)
    assert get_preview(contest, identifier)["guesses"] == 3
    score_everything()
    for guess, correct in ((judged, 30), (running, 5), (posted, 12)):
        assert read_refusal(end_rescore(contest, identifier, "apply")) == (409, "rescore_scoring")
        judge_by_hand(guess, correct, rescore=identifier)
    assert find_identified(contest) == 12
    rows = get_preview(contest, identifier)["guess_rows"]
    assert {row["guess_id"]: (row["before"]["correct"], row["after"]["correct"]) for row in rows} == {
        judged: (12, 30),
        running: (None, 5),
        posted: (None, 12),
    }
    hidden = {judged: ("SCORED", None), running: ("SCORING", None)} | {refused: ("REFUSED", None)}
    assert read_guesses(contest) == hidden | {posted: ("QUEUED", None)}
    assert end_rescore(contest, identifier, "apply").status_code == 200
    with transaction() as session:
        assert not guesses.record(session, running_claim, outcome=build_outcome(40))
    assert find_identified(contest) == 30
    scored = dict.fromkeys((judged, running, posted), ("SCORED", None))
    assert read_guesses(contest) == hidden | scored
    contest.close_attacks()
    run_clock()
    assert read_guesses(contest) == {
        judged: ("SCORED", 30),
        running: ("SCORED", 5),
        posted: ("SCORED", 12),
        refused: ("REFUSED", None),
    }


def test_cancelled_rescore_leaves_guesses_alone(contest: Contest) -> None:
    contest.arena.get_team_token("blue")
    (red,) = contest.publish_targets("red")
    first, second = send_guesses(contest, red, 2)
    judge_everything()
    identifier = begin_rescore(contest, build_reweighted_file(contest))
    judge_by_hand(first, None, rescore=identifier)
    with transaction() as session:
        running_claim = claim_guess(session, UUID(second), rescore=UUID(identifier))
    score_everything()
    assert get_preview(contest, identifier)["judged"] == 1
    assert end_rescore(contest, identifier, "cancel").status_code == 200
    with transaction() as session:
        assert not guesses.record(session, running_claim, outcome=build_outcome(40))
    assert find_identified(contest) == 1
    states = load_all(select(Rejudgement.state).order_by(Rejudgement.state))
    assert states == [State.CANCELLED, State.ERROR]


def test_rescore_with_a_failed_rejudgement_cannot_be_applied(contest: Contest) -> None:
    contest.arena.get_team_token("blue")
    (red,) = contest.publish_targets("red")
    guess, failed_before = send_guesses(contest, red, 2)
    judge_by_hand(failed_before, None)
    judge_everything()
    identifier = begin_rescore(contest, build_reweighted_file(contest))
    score_everything()
    judge_by_hand(guess, None, rescore=identifier)
    judge_by_hand(failed_before, None, rescore=identifier)
    (row,) = get_preview(contest, identifier)["guess_rows"]
    assert (row["after"]["status"], row["after"]["failure_code"]) == ("ERROR", FAILURE.code)
    refusal = end_rescore(contest, identifier, "apply")
    assert read_refusal(refusal) == (409, "rescore_failed")
    assert refusal.json()["detail"].startswith("1 guess ")
    assert find_identified(contest) == 1
