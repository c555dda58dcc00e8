"""What entered in time counts, however long its body takes within the grace; what settles waits for it."""

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
from tests.support.arena import noisy_release
from tests.support.contest import Contest, competition_row, judge_everything, turn
from tests.support.phase_changes import accept, acts, member, score, targets
from tests.support.raw_asgi import Sending, process, sending
from tests.support.uploads_in_flight import end_the_first_phase, received, under_way, uploading

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient) -> Contest:
    return Contest.opened(client)


@contextmanager
def guessing(contest: Contest, team: str, target: str, content: bytes) -> Iterator[Sending]:
    path, token = f"/api/v1/targets/{target}/guesses", contest.arena.team(team)
    with process() as web, sending(web, path, token=token, files={"guess": content}) as sent:
        sent.entered()
        yield sent


def test_an_upload_that_entered_in_time_is_a_final_though_its_body_ends_after_the_deadline(
    contest: Contest,
) -> None:
    with uploading(contest, "red") as sent:
        end_the_first_phase(contest)
        (attempt,) = under_way()
        turn()
        assert (contest.state(), competition_row().frozen_at) == ("settling", None)
        assert contest.arena.submit("blue").json()["code"] == "phase_closed"
        receipt = sent.finish().json()
    assert sent.status == 202
    assert datetime.fromisoformat(receipt["received_at"]) == attempt.at
    turn()
    assert competition_row().frozen_at is None
    score(receipt["id"])
    turn()
    assert [str(target.submission_id) for target in targets()] == [receipt["id"]]
    assert acts().count("finals.freeze") == 1


def test_an_upload_that_takes_longer_than_the_grace_is_refused_and_not_waited_for(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with uploading(contest, "red") as sent:
        end_the_first_phase(contest)
        turn()
        assert competition_row().frozen_at is None
        monkeypatch.setattr(attempts, "grace", lambda: timedelta(0))
        turn()
        assert competition_row().frozen_at is not None
        monkeypatch.undo()
        assert sent.finish().told == (409, "too_late")
    assert (received(), targets(), under_way()) == ([], [], [])


def test_a_slow_upload_in_the_middle_of_a_phase_is_taken_in_beyond_the_grace(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "grace", lambda: timedelta(0))
    with uploading(contest, "red") as sent:
        assert sent.finish().status == 202


def test_a_pause_lets_in_what_had_entered_and_nothing_else(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    pause = f"{contest.path}/phases/anonymization/pause"
    with uploading(contest, "red") as sent, uploading(contest, "blue") as slow:
        assert contest.organize(pause).status_code == 200
        assert contest.arena.submit("green").json()["code"] == "phase_paused"
        assert sent.finish().status == 202
        monkeypatch.setattr(attempts, "grace", lambda: timedelta(0))
        assert slow.finish().told == (409, "too_late")


def test_a_guess_that_entered_in_time_is_judged_before_the_contest_closes(contest: Contest) -> None:
    red = contest.submit("red")
    contest.arena.team("blue")
    contest.attack()
    target = contest.target_of(red)["id"]
    with guessing(contest, "blue", target, contest.right_on(red, 3)) as sent:
        contest.move(reidentification=(-1, 0))
        turn()
        assert contest.state() == "settling"
        assert contest.guess("blue", target, contest.right_on(red, 4)).json()["code"] == "phase_closed"
        assert sent.finish().status == 202
    turn()
    assert competition_row().closed_at is None
    judge_everything()
    turn()
    with transaction() as session:
        assert session.scalars(select(Guess)).one().correct == 3
    assert contest.state() == "closed"


def test_a_guess_beyond_the_grace_does_not_hold_the_close(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    red = contest.submit("red")
    contest.arena.team("blue")
    contest.attack()
    with guessing(contest, "blue", contest.target_of(red)["id"], contest.right_on(red, 3)) as sent:
        contest.move(reidentification=(-1, 0))
        monkeypatch.setattr(attempts, "grace", lambda: timedelta(0))
        turn()
        assert contest.state() == "closed"
        assert sent.finish().told == (409, "too_late")


def test_an_upload_of_the_first_phase_does_not_hold_the_second(contest: Contest) -> None:
    """It is beyond its grace and still being sent when the second phase opens, and when that closes."""
    with uploading(contest, "red") as sent:
        with transaction() as session:
            session.execute(update(Attempt).values(at=Attempt.at - attempts.grace()))
        contest.attack()
        assert contest.state() == "reidentification"
        contest.close()
        assert contest.state() == "closed"
        assert sent.finish().told == (409, "too_late")


def test_a_web_process_killed_in_between_holds_the_deadline_for_the_grace_only(contest: Contest) -> None:
    person = member(contest.arena, "red")
    with transaction() as session:
        uploads.entrance(session, person, contest.arena.slug, key=None)  # and nothing ever after
    end_the_first_phase(contest)
    turn()
    assert competition_row().frozen_at is None
    with transaction() as session:
        session.execute(update(Attempt).values(at=Attempt.at - attempts.grace()))
    turn()
    assert competition_row().frozen_at is not None


@pytest.mark.parametrize("ending", ["malformed", "broken off", "too large"])
def test_an_upload_that_comes_to_nothing_is_not_waited_for(client: TestClient, ending: str) -> None:
    contest = Contest.opened(client, more="[limits]\nfile_mb = 1")
    with uploading(contest, "red") as sent:
        end_the_first_phase(contest)
        if ending == "broken off":
            sent.break_off()
        else:
            size = 100 if ending == "malformed" else 2**20 + 1
            head, end = sent.body.split(b"\r\n--", maxsplit=1)
            sent.body = head + b"?" * size + b"\r\n--" + end
            assert sent.finish().status == (422 if ending == "malformed" else 413)
        assert under_way() == []
        turn()
        assert competition_row().frozen_at is not None
    with transaction() as session:
        (attempt,) = session.scalars(select(Attempt))
        assert attempt.ended_at is not None


def test_after_the_freeze_nothing_is_added_even_if_the_clock_knew_another_grace(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as open_ones:
        sent = [open_ones.enter_context(uploading(contest, team)) for team in ("red", "blue")]
        end_the_first_phase(contest)
        with monkeypatch.context() as clock:
            clock.setattr(attempts, "grace", lambda: timedelta(0))
            turn()
        assert [one.finish().told for one in sent] == [(409, "too_late")] * 2
    assert (received(), targets()) == ([], [])


def test_an_upload_counts_for_the_day_on_which_it_entered(contest: Contest, settings: Settings) -> None:
    """Two that entered on either side of midnight, accepted in the other order."""
    person = member(contest.arena, "red")
    made = []
    for seed in (1, 2):
        with transaction() as session:
            at = uploads.entrance(session, person, contest.arena.slug, key=None)
        table, secret = noisy_release(seed, contest.arena.table)
        files = {"anonymized": table}
        made.append(uploads.read_upload(at, files=files, secret=secret, comment=""))
    yesterday, today = made
    attempt = yesterday.entrance.attempt
    assert attempt is not None
    entered = attempt.at = attempt.at - timedelta(days=1)
    with transaction() as session:
        session.execute(update(Attempt).where(Attempt.id == attempt.id).values(at=entered))
    for upload in (today, yesterday):
        accept(person, upload, settings)
    assert received()[0][0] == entered
    caps = contest.arena.get(f"{contest.path}/quota", token=contest.arena.team("red")).json()["caps"]
    used = {cap["name"]: cap["used"] for cap in caps}
    assert (used["valid_per_day"], used["valid_total"]) == (1, 2)
    assert (used["attempts_per_day"], used["attempts_total"]) == (1, 2)
