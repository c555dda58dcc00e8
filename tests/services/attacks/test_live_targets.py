"""Live targets: each accepted release becomes a target at once and replaces the one before."""

from datetime import datetime, timedelta
from io import BytesIO
from typing import Any
from uuid import UUID
from zipfile import ZipFile

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from app.config import get_settings
from app.db.models import Evaluation, Round, Target
from tests.support.arena import ROWS, build_noisy_release
from tests.support.contest import Contest, InProcessTransitions, judge_everything, lock_evaluations, run_clock
from tests.support.database_rows import execute
from tests.support.raw_asgi import open_request, start_web_process
from tests.support.two_rounds import build_round, build_two_round_toml, create_two_rounds
from tests.support.uploads import score_everything
from workers import clock

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient) -> Contest:
    """A round with live targets that began half a day ago, behind one that has not begun."""
    live_round = build_round("live", begins=-0.5, live=True)
    return create_two_rounds(client, preliminary=live_round, extra_toml=OPEN_SCORES)["live"]


OPEN_SCORES = '[publication]\nfeedback = "immediate"\ndigits = 4\n'


def submit(contest: Contest, team: str) -> str:
    """Submit a release that becomes a target."""
    submission = contest.submit(team)
    run_clock()
    return submission


def set_standing_time(contest: Contest, submission: str, *, hours: tuple[float, float | None]) -> None:
    """Set when the target was published and retired, in hours from the begin of the phases."""
    phase = contest.arena.client.get(f"/api/v1{contest.path}").json()["phases"][0]
    start = datetime.fromisoformat(phase["start"])
    moments = [None if offset is None else start + timedelta(hours=offset) for offset in hours]
    query = update(Target).where(Target.submission_id == UUID(submission))
    execute(query.values(published_at=moments[0], retired_at=moments[1]))


def get_rows(contest: Contest, board: str = "anonymization") -> dict[str, dict[str, Any]]:
    return {row["team"]: row for row in contest.get_board(board, organizer=True)["rows"]}


def test_release_becomes_a_target_and_replaces_the_one_before(contest: Contest) -> None:
    first = submit(contest, "red")
    (target,) = contest.list_targets("blue")
    assert target["retired_at"] is None
    second = submit(contest, "red")
    assert contest.get_state() == "anonymization"
    targets = {target["commitment"]: target for target in contest.list_targets("blue")}
    old, new = contest.find_target(first), contest.find_target(second)
    assert targets.keys() == {old["commitment"], new["commitment"]}
    assert old["retired_at"] == new["published_at"]
    assert new["retired_at"] is None
    assert targets[old["commitment"]]["guesses_left"] is None
    assert targets[new["commitment"]]["guesses_left"] == 5


def test_guess_counts_only_while_its_target_stood(contest: Contest) -> None:
    first = submit(contest, "red")
    contest.submit_correct_guess("blue", first, 4)
    submit(contest, "red")
    old_target = contest.find_target(first)["id"]
    refused = contest.submit_guess("blue", old_target, contest.build_guess(first, 5))
    assert (refused.status_code, refused.json()["code"]) == (409, "target_retired")
    assert get_rows(contest, "reidentification")["blue"]["identified"] == 4
    archive = contest.arena.get(f"{contest.path}/targets.zip", team="blue")
    with ZipFile(BytesIO(archive.content)) as files:
        assert [name for name in files.namelist() if "/" in name] == ["T0002/anonymized.csv"]


def test_team_is_ranked_by_the_mean_over_the_time_of_its_targets(contest: Contest) -> None:
    first, second, blue = submit(contest, "red"), submit(contest, "red"), submit(contest, "blue")
    contest.submit_correct_guess("blue", second, 9)
    set_standing_time(contest, first, hours=(-3, 6))
    set_standing_time(contest, second, hours=(6, None))
    set_standing_time(contest, blue, hours=(1, None))
    losses = [read_loss(contest, submission) for submission in (first, second, blue)]
    rows = get_rows(contest)
    # The second phase lasts 48 hours; a target that stands counts until its end.
    assert rows["red"]["score"] == pytest.approx((6 * losses[0] + 42 * losses[1]) / 48)
    assert rows["blue"]["score"] == pytest.approx(losses[2])
    assert rows["red"]["overall"] == pytest.approx(losses[1])
    ranked = sorted(("red", "blue"), key=lambda team: rows[team]["score"])
    assert [rows[team]["rank"] for team in ranked] == [1, 2]


def read_loss(contest: Contest, submission: str) -> float:
    """Compute (U + E) / 2 of a submission from its verdict and the best guess on it."""
    verdict = contest.arena.get(f"/submissions/{submission}").json()["result"]
    matrix = contest.get_board("matrix", organizer=True)
    name = contest.find_target(submission)["name"]
    index = [target["target"] for target in matrix["targets"]].index(name)
    rates = [row["cells"][index]["rate"] for row in matrix["rows"] if row["cells"][index] is not None]
    return float(verdict["utility"] + max(verdict["security"], *rates)) / 2


def test_history_ends_with_the_scores_and_ranks_of_the_board(contest: Contest) -> None:
    first, blue = submit(contest, "red"), submit(contest, "blue")
    contest.submit_correct_guess("red", blue, 8)
    newer = submit(contest, "red")
    contest.submit_correct_guess("blue", newer, 3)
    set_standing_time(contest, first, hours=(0, 3))
    rows = get_rows(contest)
    history = contest.get_board("history", organizer=True)
    for team in history["teams"]:
        last_step, row = team["steps"][-1], rows[team["team"]]
        assert (last_step["score"], last_step["rank"]) == (row["score"], row["rank"])


def test_release_that_is_scored_after_a_newer_one_never_becomes_a_target(contest: Contest) -> None:
    late, newest = contest.submit("red", score=False), contest.submit("red", score=False)
    with lock_evaluations(Evaluation.submission_id == UUID(late)):
        score_everything()
    run_clock()
    score_everything()
    run_clock()
    assert contest.arena.get(f"/submissions/{late}").json()["status"] == "SCORED"
    (target,) = contest.list_targets("blue")
    assert target["commitment"] == contest.find_target(newest)["commitment"]


def test_guess_that_entered_in_time_counts_although_its_target_is_replaced_meanwhile(
    contest: Contest,
) -> None:
    first = submit(contest, "red")
    path = f"/api/v1/targets/{contest.find_target(first)['id']}/guesses"
    token, files = contest.arena.get_team_token("blue"), {"guess": contest.build_guess(first, 5)}
    with start_web_process() as web, open_request(web, path, token=token, files=files) as upload:
        upload.wait_for_body_read()
        upload.send_part(len(upload.body) // 2)
        submit(contest, "red")
        assert contest.find_target(first)["retired_at"] is not None
        assert upload.finish().status == 202
    judge_everything()
    assert get_rows(contest, "reidentification")["blue"]["identified"] == 5


def test_nothing_is_chosen_as_a_final(contest: Contest) -> None:
    submission = submit(contest, "red")
    refusal = contest.arena.put(f"/submissions/{submission}/final", team="red", json={"final": True})
    assert (refusal.status_code, refusal.json()["code"]) == (409, "live_targets")


def test_round_settles_until_the_last_release_is_a_target(contest: Contest) -> None:
    submission = contest.submit("red")
    contest.move_phases(anonymization=(-2, -1), reidentification=(-2, 1))
    assert contest.get_state() == "settling"
    run_clock()
    assert contest.get_state() == "reidentification"
    contest.submit_correct_guess("blue", submission, 2)
    contest.move_phases(reidentification=(-2, -0.5))
    run_clock()
    assert contest.get_state() == "closed"
    assert len(contest.arena.get(f"{contest.path}/reveal").json()) == 1


def test_pause_stops_releases_and_guesses(contest: Contest) -> None:
    submission = submit(contest, "red")
    windows = [phase["end"] for phase in contest.arena.get(contest.path).json()["phases"]]
    assert contest.post_as_organizer(f"{contest.path}/phases/reidentification/pause").status_code == 200
    table, secret = build_noisy_release(99, contest.arena.table)
    release = contest.arena.submit("red", anonymized=table, secret=secret)
    guess = contest.submit_guess("blue", contest.find_target(submission)["id"], b"")
    assert {release.json()["code"], guess.json()["code"]} == {"phase_paused"}
    assert contest.post_as_organizer(f"{contest.path}/phases/anonymization/resume").status_code == 200
    moved = [phase["end"] for phase in contest.arena.get(contest.path).json()["phases"]]
    first_shift, second_shift = (
        datetime.fromisoformat(end) - datetime.fromisoformat(before)
        for before, end in zip(windows, moved, strict=True)
    )
    assert first_shift == second_shift > timedelta(0)


def test_kind_of_targets_is_fixed_once_the_round_has_begun(contest: Contest) -> None:
    file = build_two_round_toml(preliminary=build_round("live", begins=-0.5), extra_toml=OPEN_SCORES)
    refusal = contest.arena.put("/competitions/small/competition.toml", content=file)
    assert (refusal.status_code, refusal.json()["detail"]) == (
        409,
        "a round that has begun keeps its kind of targets",
    )


def test_target_added_while_files_are_written_gets_its_files_next(contest: Contest) -> None:
    """The worker that writes files knows only the targets that existed when it began."""
    phase_clock = clock.Clock(get_settings(), BusyTransitions())
    for team in ("red", "blue"):
        contest.submit(team)
        phase_clock.advance_due_rounds()
    contest.arena.get_team_token("green")
    assert contest.list_targets("green") == []
    run_clock()
    assert len(contest.list_targets("green")) == 2


class BusyTransitions(InProcessTransitions):
    """A runner whose worker is still busy with earlier targets."""

    def submit(self, round_id: UUID) -> None:
        pass


def test_pause_does_not_count_as_time_in_which_a_target_stood(contest: Contest) -> None:
    first, second = submit(contest, "red"), submit(contest, "red")
    contest.submit_correct_guess("blue", second, 9)
    set_standing_time(contest, first, hours=(0, 10))
    set_standing_time(contest, second, hours=(10, None))
    start = datetime.fromisoformat(contest.arena.get(contest.path).json()["phases"][1]["start"])
    pause = [(start + timedelta(hours=hours)).isoformat() for hours in (2, 8)]
    execute(update(Round).values(pauses=[{"start": pause[0], "end": pause[1]}]))
    losses = [read_loss(contest, submission) for submission in (first, second)]
    assert get_rows(contest)["red"]["score"] == pytest.approx((4 * losses[0] + 38 * losses[1]) / 42)


def test_target_that_nobody_could_attack_lowers_no_attack_score(client: TestClient) -> None:
    formulas = OPEN_SCORES + '[ranking]\nattack = "mean(best_per_target())"\n'
    live_round = build_round("live", begins=-0.5, live=True)
    contest = create_two_rounds(client, preliminary=live_round, extra_toml=formulas)["live"]
    first, second = submit(contest, "red"), submit(contest, "red")
    set_standing_time(contest, first, hours=(-3, -1))
    contest.submit_correct_guess("blue", second, ROWS)
    assert get_rows(contest, "reidentification")["blue"]["score"] == 1.0
