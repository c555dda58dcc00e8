"""Phase transitions under concurrent uploads, clocks and faults: each happens once and loses nothing."""

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, text, update

from anoncup.competition.parser import parse_competition
from anoncup.errors import Conflict
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.permutation import parse_secret, write_guess, write_secret
from app.config import Settings
from app.core import sealing
from app.core.db import engine
from app.core.db.models import Competition, Guess, Opening, Round, Secret, Submission
from app.core.db.transaction import transaction
from tests.support.arena import ROWS
from tests.support.contest import (
    Contest,
    judge_everything,
    load_competition,
    load_round,
    run_clock,
)
from tests.support.database_rows import execute, load_all, load_one
from tests.support.phase_changes import (
    accept_upload,
    list_audit_actions,
    list_targets,
    receive_upload,
    score_submission,
    submit_with_verdict,
)
from tests.support.stored_files import build_blob_path
from tests.support.wait import TIMEOUT_S, poll_until
from workers import tasks


def end_first_phase_in(contest: Contest, seconds: float) -> datetime:
    """Let the first phase end in ``seconds``. Return its end."""
    contest.move_phases(anonymization=(-3, seconds / 3600), reidentification=(1, 2))
    (first_phase, _) = parse_competition(load_competition().file).phases
    return first_phase.end


def list_openings() -> list[UUID]:
    return load_all(select(Opening.target_id))


def wait_until(moment: datetime) -> None:
    threading.Event().wait(max(0.0, (moment - datetime.now(UTC)).total_seconds()))


def is_lock_awaited() -> bool:
    with engine.get_engine().connect() as connection:
        waiting = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock')"
        return bool(connection.scalar(text(waiting)))


def test_uploads_around_the_deadline_are_scored_or_refused(contest: Contest) -> None:
    """Uploads start around the deadline while the clock runs. Each is in time and becomes a final, or it is
    refused."""
    teams = [f"team {number}" for number in range(8)]
    for team in teams:
        contest.arena.get_team_token(team)
    end = end_first_phase_in(contest, 1.0)
    stop_event = threading.Event()

    def run_clock_repeatedly() -> None:
        while not stop_event.is_set():
            run_clock()

    def submit_at_deadline(number: int) -> str | None:
        wait_until(end + timedelta(milliseconds=8 * (number - len(teams) / 2)))
        try:
            return accept_upload(*receive_upload(contest.arena, teams[number], seed=number))
        except Conflict as conflict:
            assert conflict.code == "phase_closed"  # noqa: PT017
            return None

    clock_thread = threading.Thread(target=run_clock_repeatedly)
    clock_thread.start()
    with ThreadPoolExecutor(len(teams)) as pool:
        accepted_ids = {item for item in pool.map(submit_at_deadline, range(len(teams))) if item is not None}
    received_times = {str(item.id): item.received_at for item in load_all(select(Submission))}
    assert set(received_times) == accepted_ids
    assert all(received_at < end for received_at in received_times.values())
    for _ in accepted_ids:
        tasks.score()
    stop_event.set()
    clock_thread.join()
    run_clock()
    assert {str(target.submission_id) for target in list_targets()} == accepted_ids
    assert list_audit_actions().count("finals.freeze") == 1


@pytest.mark.full
def test_freeze_waits_for_an_upload_that_holds_the_lock(contest: Contest) -> None:
    """The upload starts before the deadline and commits after it. The freeze waits until it is scored."""
    principal, upload = receive_upload(contest.arena, "red")
    contest.move_phases(anonymization=(-3, 0), reidentification=(1, 2))
    clock_thread = threading.Thread(target=run_clock)
    with transaction() as session:
        identifier = str(upload.accept(session, principal).id)
        clock_thread.start()
        assert poll_until(is_lock_awaited)
        assert clock_thread.is_alive()
    clock_thread.join(TIMEOUT_S)
    assert load_round().frozen_at is None
    score_submission(identifier)
    run_clock()
    assert [str(target.submission_id) for target in list_targets()] == [identifier]


def submit_finals(contest: Contest) -> list[str]:
    """Submit four scored finals and move the deadline into the past; the clock has not run yet."""
    submission_ids = [contest.submit(team) for team in ("red", "blue", "red", "blue")]
    contest.move_phases(anonymization=(-3, -2), reidentification=(-1, 1))
    return submission_ids


@pytest.mark.full
def test_concurrent_clocks_make_each_transition_once(contest: Contest) -> None:
    submission_ids = submit_finals(contest)
    for hours in ((-1, 1), (-1, -0.5)):
        contest.move_phases(reidentification=hours)
        with ThreadPoolExecutor(6) as pool:
            for future in [pool.submit(run_clock) for _ in range(18)]:
                future.result()
    assert sorted(str(target.submission_id) for target in list_targets()) == sorted(submission_ids)
    assert [target.name for target in list_targets()] == ["T01", "T02", "T03", "T04"]
    for action in ("finals.freeze", "targets.publish", "competition.close", "secrets.reveal"):
        assert list_audit_actions().count(action) == 1


@pytest.mark.full
def test_failed_transition_does_not_delay_other_contests(client: TestClient, settings: Settings) -> None:
    stuck_contest, free_contest = Contest.create(client, slug="stuck"), Contest.create(client, slug="free")
    for contest in (stuck_contest, free_contest):
        contest.last_seed = len(contest.arena.slug)  # two different releases
        submit_with_verdict(contest, "red")
        contest.move_phases(anonymization=(-3, -2), reidentification=(-1, 1))
    with transaction() as session:
        query = (
            select(Competition.slug, Submission.files)
            .join_from(Competition, Round)
            .join(Submission, Submission.round_id == Round.id)
        )
        rows = session.execute(query).all()
    files = {slug: submission_files["anonymized"] for slug, submission_files in rows}
    blob = build_blob_path(settings.data, files["stuck"])
    content = blob.read_bytes()
    blob.unlink()
    run_clock()
    assert (stuck_contest.get_state(), free_contest.get_state()) == ("settling", "reidentification")
    blob.write_bytes(content)
    run_clock()
    assert stuck_contest.get_state() == "reidentification"


def test_secrets_are_revealed_once_the_key_is_available(
    contest: Contest, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    red_submission = submit_with_verdict(contest, "red")
    contest.move_phases(anonymization=(-3, -2), reidentification=(-1, -0.5))
    keyless = settings.model_copy(update={"opening_keys_dir": None})
    monkeypatch.setattr("workers.lifecycle.get_settings", lambda: keyless)
    run_clock()
    assert (load_round().closed_at is not None, load_round().revealed_at) == (True, None)
    monkeypatch.undo()
    run_clock()
    (target,) = list_targets()
    assert str(target.submission_id) == red_submission
    assert list_openings() == [target.id]
    assert load_round().revealed_at is not None


@pytest.mark.full
def test_secret_that_differs_from_its_commitment_is_not_revealed(contest: Contest) -> None:
    submit_with_verdict(contest, "red")
    contest.move_phases(anonymization=(-3, -2), reidentification=(-1, -0.5))
    execute(update(Submission).values(commitment="0" * 64))
    run_clock()
    assert load_round().revealed_at is None
    assert list_openings() == []


@pytest.mark.parametrize("deletes_rows", [False, True])
def test_shuffled_release_is_scored_attacked_and_revealed_consistently(
    client: TestClient, settings: Settings, deletes_rows: bool
) -> None:
    contest = Contest.create(client, extra_toml="[publication]\nshuffle_targets = true")
    source = np.arange(ROWS)[: ROWS - 5 if deletes_rows else ROWS]
    table = contest.arena.table.iloc[source].assign(rent=lambda frame: frame["rent"] + 0.25)
    sent_file = write_csv(table)
    response = contest.arena.submit("red", anonymized=sent_file, secret=write_secret(source))
    receipt = response.json()
    assert receipt["sha256"] == {"anonymized.csv": hashlib.sha256(sent_file).hexdigest()}
    assert receipt["warnings"] == []
    score_submission(receipt["id"])
    contest.arena.get_team_token("blue")
    contest.open_attacks()
    target = contest.find_target(receipt["id"])
    published_file = contest.arena.get(f"/targets/{target['id']}/data/anonymized.csv").content
    own_file = contest.arena.get(f"/submissions/{receipt['id']}/data/anonymized.csv").content
    assert own_file == published_file
    assert published_file != sent_file
    assert sorted(published_file.splitlines()) == sorted(sent_file.splitlines())
    (box,) = load_all(select(Secret))
    opened_box = sealing.open_with_salt(
        settings.opening_keys_dir, key_id=box.key_id, box=box.sealed, bound_to=box.submission_id
    )
    truth = parse_secret(opened_box.secret, original_count=ROWS, anonymized_count=len(source))
    assert not np.array_equal(truth, source)
    lines, sent_lines = published_file.decode().splitlines()[1:], sent_file.decode().splitlines()[1:]
    assert lines == [sent_lines[row] for row in truth]
    for guess, expected in ((truth, len(source)), (source, int((truth == source).sum()))):
        assert contest.submit_guess("blue", target["id"], write_guess(guess)).status_code == 202
        judge_everything()
        newest = select(Guess).order_by(Guess.received_at.desc()).limit(1)
        assert load_one(newest).correct == expected
    contest.close_attacks()
    (revealed_target,) = client.get(f"/api/v1{contest.path}/reveal").json()
    secret = client.get(f"/api/v1/targets/{target['id']}/secret").content
    assert secret == opened_box.secret
    assert (
        hashlib.sha256(bytes.fromhex(revealed_target["salt"]) + secret).hexdigest() == receipt["commitment"]
    )


def test_contest_without_valid_submissions_reaches_its_end(contest: Contest) -> None:
    contest.open_attacks()
    assert contest.list_targets("blue") == []
    contest.close_attacks()
    assert contest.get_state() == "closed"
    assert contest.arena.get(f"{contest.path}/reveal").json() == []
