"""An upload that starts in time counts if its body ends within the grace period; the freeze waits for it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from app.config import Settings
from app.db.models import Attempt, Guess
from app.db.transaction import transaction
from app.services.submissions import attempts, uploads
from tests.support.arena import build_noisy_release
from tests.support.contest import Contest, judge_everything, load_competition, run_clock
from tests.support.phase_changes import (
    accept_upload,
    get_principal,
    list_audit_actions,
    list_targets,
    score_submission,
)
from tests.support.raw_asgi import StreamedRequest, open_request, start_web_process
from tests.support.uploads_in_flight import (
    end_the_first_phase,
    list_open_attempts,
    list_received,
    start_upload,
)

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient) -> Contest:
    return Contest.create(client)


@contextmanager
def send_guess(contest: Contest, team: str, target: str, content: bytes) -> Iterator[StreamedRequest]:
    path, token = f"/api/v1/targets/{target}/guesses", contest.arena.get_team_token(team)
    with start_web_process() as web, open_request(web, path, token=token, files={"guess": content}) as upload:
        upload.wait_for_body_read()
        yield upload


def test_an_upload_that_entered_in_time_is_a_final_though_its_body_ends_after_the_deadline(
    contest: Contest,
) -> None:
    with start_upload(contest, "red") as upload:
        end_the_first_phase(contest)
        (attempt,) = list_open_attempts()
        run_clock()
        assert (contest.get_state(), load_competition().frozen_at) == ("settling", None)
        assert contest.arena.submit("blue").json()["code"] == "phase_closed"
        receipt = upload.finish().json()
    assert upload.status == 202
    assert datetime.fromisoformat(receipt["received_at"]) == attempt.at
    run_clock()
    assert load_competition().frozen_at is None
    score_submission(receipt["id"])
    run_clock()
    assert [str(target.submission_id) for target in list_targets()] == [receipt["id"]]
    assert list_audit_actions().count("finals.freeze") == 1


def test_an_upload_that_takes_longer_than_the_grace_is_refused_and_not_waited_for(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_upload(contest, "red") as upload:
        end_the_first_phase(contest)
        run_clock()
        assert load_competition().frozen_at is None
        monkeypatch.setattr(attempts, "grace_period", lambda: timedelta(0))
        run_clock()
        assert load_competition().frozen_at is not None
        monkeypatch.undo()
        assert upload.finish().status_and_code == (409, "too_late")
    assert (list_received(), list_targets(), list_open_attempts()) == ([], [], [])


def test_a_slow_upload_in_the_middle_of_a_phase_is_taken_in_beyond_the_grace(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "grace_period", lambda: timedelta(0))
    with start_upload(contest, "red") as upload:
        assert upload.finish().status == 202


def test_a_pause_lets_in_what_had_entered_and_nothing_else(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    pause = f"{contest.path}/phases/anonymization/pause"
    with start_upload(contest, "red") as upload, start_upload(contest, "blue") as slow:
        assert contest.post_as_organizer(pause).status_code == 200
        assert contest.arena.submit("green").json()["code"] == "phase_paused"
        assert upload.finish().status == 202
        monkeypatch.setattr(attempts, "grace_period", lambda: timedelta(0))
        assert slow.finish().status_and_code == (409, "too_late")


def test_a_guess_that_entered_in_time_is_judged_before_the_contest_closes(contest: Contest) -> None:
    red = contest.submit("red")
    contest.arena.get_team_token("blue")
    contest.open_attacks()
    target = contest.find_target(red)["id"]
    with send_guess(contest, "blue", target, contest.build_guess(red, 3)) as upload:
        contest.move_phases(reidentification=(-1, 0))
        run_clock()
        assert contest.get_state() == "settling"
        assert (
            contest.submit_guess("blue", target, contest.build_guess(red, 4)).json()["code"] == "phase_closed"
        )
        assert upload.finish().status == 202
    run_clock()
    assert load_competition().closed_at is None
    judge_everything()
    run_clock()
    with transaction() as session:
        assert session.scalars(select(Guess)).one().correct == 3
    assert contest.get_state() == "closed"


def test_a_guess_beyond_the_grace_does_not_hold_the_close(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    red = contest.submit("red")
    contest.arena.get_team_token("blue")
    contest.open_attacks()
    with send_guess(contest, "blue", contest.find_target(red)["id"], contest.build_guess(red, 3)) as upload:
        contest.move_phases(reidentification=(-1, 0))
        monkeypatch.setattr(attempts, "grace_period", lambda: timedelta(0))
        run_clock()
        assert contest.get_state() == "closed"
        assert upload.finish().status_and_code == (409, "too_late")


def test_an_upload_of_the_first_phase_does_not_hold_the_second(contest: Contest) -> None:
    """The upload exceeds its grace period and is still being sent when the second phase opens and closes."""
    with start_upload(contest, "red") as upload:
        with transaction() as session:
            session.execute(update(Attempt).values(at=Attempt.at - attempts.grace_period()))
        contest.open_attacks()
        assert contest.get_state() == "reidentification"
        contest.close_attacks()
        assert contest.get_state() == "closed"
        assert upload.finish().status_and_code == (409, "too_late")


def test_a_web_process_killed_in_between_holds_the_deadline_for_the_grace_only(contest: Contest) -> None:
    person = get_principal(contest.arena, "red")
    with transaction() as session:
        uploads.enter(session, person, contest.arena.slug, key=None)  # the process ends here
    end_the_first_phase(contest)
    run_clock()
    assert load_competition().frozen_at is None
    with transaction() as session:
        session.execute(update(Attempt).values(at=Attempt.at - attempts.grace_period()))
    run_clock()
    assert load_competition().frozen_at is not None


@pytest.mark.parametrize("ending", ["malformed", "broken off", "too large"])
def test_an_upload_that_comes_to_nothing_is_not_waited_for(client: TestClient, ending: str) -> None:
    contest = Contest.create(client, extra_toml="[limits]\nfile_mb = 1")
    with start_upload(contest, "red") as upload:
        end_the_first_phase(contest)
        if ending == "broken off":
            upload.disconnect()
        else:
            size = 100 if ending == "malformed" else 2**20 + 1
            head, end = upload.body.split(b"\r\n--", maxsplit=1)
            upload.body = head + b"?" * size + b"\r\n--" + end
            assert upload.finish().status == (422 if ending == "malformed" else 413)
        assert list_open_attempts() == []
        run_clock()
        assert load_competition().frozen_at is not None
    with transaction() as session:
        (attempt,) = session.scalars(select(Attempt))
        assert attempt.ended_at is not None


def test_after_the_freeze_nothing_is_added_even_if_the_clock_knew_another_grace(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:
        pending_uploads = [stack.enter_context(start_upload(contest, team)) for team in ("red", "blue")]
        end_the_first_phase(contest)
        with monkeypatch.context() as patch:
            patch.setattr(attempts, "grace_period", lambda: timedelta(0))
            run_clock()
        assert [upload.finish().status_and_code for upload in pending_uploads] == [(409, "too_late")] * 2
    assert (list_received(), list_targets()) == ([], [])


def test_an_upload_counts_for_the_day_on_which_it_entered(contest: Contest, settings: Settings) -> None:
    """Two uploads start on either side of midnight and are accepted in reverse order."""
    person = get_principal(contest.arena, "red")
    parsed_uploads = []
    for seed in (1, 2):
        with transaction() as session:
            entrance = uploads.enter(session, person, contest.arena.slug, key=None)
        table, secret = build_noisy_release(seed, contest.arena.table)
        files = {"anonymized": table}
        parsed_uploads.append(uploads.read_upload(entrance, files=files, secret=secret, comment=""))
    yesterday, today = parsed_uploads
    attempt = yesterday.context.attempt
    assert attempt is not None
    entered = attempt.at = attempt.at - timedelta(days=1)
    with transaction() as session:
        session.execute(update(Attempt).where(Attempt.id == attempt.id).values(at=entered))
    for upload in (today, yesterday):
        accept_upload(person, upload, settings)
    assert list_received()[0][0] == entered
    caps = contest.arena.get(f"{contest.path}/quota", token=contest.arena.get_team_token("red")).json()[
        "caps"
    ]
    used = {cap["name"]: cap["used"] for cap in caps}
    assert (used["valid_per_day"], used["valid_total"]) == (1, 2)
    assert (used["attempts_per_day"], used["attempts_total"]) == (1, 2)
