"""The clock against uploads, against itself, against kill: what turns, turns once and loses nothing."""

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, text, update

from anoncup.competition.parser import parse_competition
from anoncup.errors import Conflict, Unavailable
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import guess_csv, secret_csv, source_from_secret
from app.config import Settings
from app.crypto import sealing
from app.db import engine
from app.db.models import Competition, Evaluation, Guess, Opening, Secret, Submission
from app.db.transaction import transaction
from app.services.accounts.accounts import Principal
from app.services.attacks import contest_lifecycle
from app.services.submissions import submissions, uploads
from app.services.submissions.uploads import Upload
from tests.support.arena import ROWS, Arena, noisy_release
from tests.support.contest import Contest, competition_id, competition_row, judge_everything, turn
from tests.support.phase_changes import accept, acts, member, quick, score, targets
from tests.support.stored_files import file_of
from tests.support.wait import PATIENCE_S, eventually
from workers import score as scoring


@pytest.fixture
def contest(client: TestClient) -> Contest:
    return Contest.opened(client)


def read(arena: Arena, team: str, settings: Settings, *, seed: int = 1) -> tuple[Principal, Upload]:
    """An upload that is through the entrance and read, and has still to be accepted."""
    principal = member(arena, team)
    with transaction() as session:
        at = uploads.entrance(session, principal, arena.slug, key=None)
    table, secret = noisy_release(seed, arena.table)
    return principal, uploads.read_upload(at, files={"anonymized": table}, secret=secret, comment="")


def end_in(contest: Contest, seconds: float) -> datetime:
    """Let the first phase end so soon; the file stays the upload's own, so only the clock can refuse it."""
    contest.move(anonymization=(-3, seconds / 3600), reidentification=(1, 2))
    (first, _) = parse_competition(competition_row().file).phases
    return first.end


def openings() -> list[UUID]:
    with transaction() as session:
        return list(session.scalars(select(Opening.target_id)))


def wait_until(moment: datetime) -> None:
    threading.Event().wait(max(0.0, (moment - datetime.now(UTC)).total_seconds()))


def somebody_waits_for_a_lock() -> bool:
    with engine.get_engine().connect() as connection:
        waiting = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock')"
        return bool(connection.scalar(text(waiting)))


def test_what_is_accepted_around_the_deadline_was_received_before_it_and_is_scored(
    contest: Contest, settings: Settings
) -> None:
    """Uploads that enter one after the other across the end, the clock racing with them: each is in time and
    a final, or refused; none is lost between."""
    teams = [f"team {number}" for number in range(8)]
    for team in teams:
        contest.arena.team(team)
    end = end_in(contest, 1.0)
    stopped = threading.Event()

    def tick() -> None:
        while not stopped.is_set():
            turn()

    def hand_in(number: int) -> str | None:
        wait_until(end + timedelta(milliseconds=8 * (number - len(teams) / 2)))
        try:
            return accept(*read(contest.arena, teams[number], settings, seed=number), settings)
        except Conflict as refused:
            assert refused.code == "phase_closed"  # noqa: PT017
            return None

    ticking = threading.Thread(target=tick)
    ticking.start()
    with ThreadPoolExecutor(len(teams)) as pool:
        taken = {one for one in pool.map(hand_in, range(len(teams))) if one is not None}
    with transaction() as session:
        stored = {str(one.id): one.received_at for one in session.scalars(select(Submission))}
    assert set(stored) == taken
    assert all(at < end for at in stored.values())
    for identifier in taken:
        score(identifier)
    stopped.set()
    ticking.join()
    turn()
    assert {str(target.submission_id) for target in targets()} == taken
    assert acts().count("finals.freeze") == 1


@pytest.mark.full
def test_the_clock_waits_for_an_upload_that_holds_the_lock(contest: Contest, settings: Settings) -> None:
    """Entered before the end, being committed after it: the freeze waits, then settles until it is scored."""
    principal, upload = read(contest.arena, "red", settings)
    contest.move(anonymization=(-3, 0), reidentification=(1, 2))
    turned = threading.Thread(target=turn)
    with transaction() as session:
        made = submissions.accept(session, principal, upload, sealing_key=settings.sealing_key_file)
        identifier = str(made.submission.id)
        turned.start()
        assert eventually(somebody_waits_for_a_lock)
        assert turned.is_alive()
    turned.join(PATIENCE_S)
    assert competition_row().frozen_at is None
    score(identifier)
    turn()
    assert [str(target.submission_id) for target in targets()] == [identifier]


@pytest.mark.full
def test_an_upload_knocks_while_the_clock_holds_the_lock_and_is_refused(
    contest: Contest, settings: Settings
) -> None:
    contest.arena.team("red")
    contest.move(anonymization=(-3, 0), reidentification=(1, 2))
    answers: list[str] = []

    def knock() -> None:
        try:
            read(contest.arena, "red", settings)
        except Conflict as refused:
            answers.append(refused.code)

    with transaction() as session:
        assert contest_lifecycle.freeze(session, competition_id())
        knocking = threading.Thread(target=knock)
        knocking.start()
        assert eventually(somebody_waits_for_a_lock)
        assert knocking.is_alive()
    knocking.join(PATIENCE_S)
    assert answers == ["phase_closed"]
    assert targets() == []


def finished_contest(contest: Contest) -> list[str]:
    """Four finals, all scored, past the deadline, nothing turned yet."""
    sent = [contest.submit(team) for team in ("red", "blue", "red", "blue")]
    contest.move(anonymization=(-3, -2), reidentification=(-1, 1))
    return sent


@pytest.mark.full
def test_many_clocks_at_once_turn_once(contest: Contest) -> None:
    sent = finished_contest(contest)
    for hours in ((-1, 1), (-1, -0.5)):
        contest.move(reidentification=hours)
        with ThreadPoolExecutor(6) as pool:
            for done in [pool.submit(turn) for _ in range(18)]:
                done.result()
    assert sorted(str(target.submission_id) for target in targets()) == sorted(sent)
    assert [target.name for target in targets()] == ["T01", "T02", "T03", "T04"]
    for action in ("finals.freeze", "targets.publish", "competition.close", "secrets.reveal"):
        assert acts().count(action) == 1


@pytest.mark.full
def test_a_contest_that_cannot_be_turned_does_not_hold_up_the_next(
    client: TestClient, settings: Settings
) -> None:
    stuck, free = Contest.opened(client, slug="stuck"), Contest.opened(client, slug="free")
    for one in (stuck, free):
        one.seeds = len(one.arena.slug)  # two releases that differ
        quick(one, "red")
        one.move(anonymization=(-3, -2), reidentification=(-1, 1))
    with transaction() as session:
        rows = session.execute(select(Competition.slug, Submission.files).join(Submission)).all()
    files = {slug: found["anonymized"] for slug, found in rows}
    blob = file_of(settings.data, files["stuck"])
    kept = blob.read_bytes()
    blob.unlink()
    turn()
    assert (stuck.state(), free.state()) == ("settling", "reidentification")
    blob.write_bytes(kept)
    turn()
    assert stuck.state() == "reidentification"


def test_without_the_key_nothing_is_revealed_and_with_it_everything(
    contest: Contest, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    red = quick(contest, "red")
    contest.move(anonymization=(-3, -2), reidentification=(-1, -0.5))
    keyless = settings.model_copy(update={"opening_keys_dir": None})
    monkeypatch.setattr("workers.lifecycle.get_settings", lambda: keyless)
    turn()
    assert (competition_row().closed_at is not None, competition_row().revealed_at) == (True, None)
    monkeypatch.undo()
    turn()
    (target,) = targets()
    assert str(target.submission_id) == red
    assert openings() == [target.id]
    assert competition_row().revealed_at is not None


@pytest.mark.full
def test_a_box_that_is_not_what_was_committed_to_is_never_revealed(contest: Contest) -> None:
    quick(contest, "red")
    contest.move(anonymization=(-3, -2), reidentification=(-1, -0.5))
    with transaction() as session:
        session.execute(update(Secret).values(commitment="0" * 64))
    turn()
    assert competition_row().revealed_at is None
    assert openings() == []


@pytest.mark.full
def test_the_clock_says_that_the_database_is_away(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    from sqlalchemy import create_engine
    from sqlalchemy.orm import sessionmaker

    from app.db import engine

    nowhere = create_engine("postgresql+psycopg://nobody@/none?host=/nonexistent")
    monkeypatch.setattr(engine, "session_factory", lambda: sessionmaker(nowhere))
    with pytest.raises(Unavailable):
        turn()


@pytest.mark.full
def test_a_deadline_moved_while_the_contest_settles_opens_it_again(contest: Contest) -> None:
    red = contest.submit("red", scored=False)
    contest.move(anonymization=(-3, -1), reidentification=(1, 2))
    turn()
    assert contest.state() == "settling"
    end = (datetime.now(UTC) + timedelta(minutes=30)).isoformat()
    answer = contest.organize(f"{contest.path}/phases/anonymization/extend", end=end)
    assert answer.status_code == 200
    assert contest.state() == "anonymization"
    turn()  # the clock notes the new end
    second = contest.submit("red")
    turn()
    assert targets() == []
    contest.attack()
    assert {str(target.submission_id) for target in targets()} == {red, second}


@pytest.mark.parametrize("deleting", [False, True])
def test_a_shuffled_release_is_the_very_table_that_is_scored_attacked_and_revealed(
    client: TestClient, settings: Settings, deleting: bool
) -> None:
    contest = Contest.opened(client, more="[publication]\nshuffle_targets = true")
    source = np.arange(ROWS)[: ROWS - 5 if deleting else ROWS]
    table = contest.arena.table.iloc[source].assign(rent=lambda one: one["rent"] + 0.25)
    sent = table_csv(table)
    answer = contest.arena.submit("red", anonymized=sent, secret=secret_csv(source))
    receipt = answer.json()
    assert receipt["sha256"] == {"anonymized.csv": hashlib.sha256(sent).hexdigest()}
    assert receipt["warnings"] == []
    score(receipt["id"])
    contest.arena.team("blue")
    contest.attack()
    target = contest.target_of(receipt["id"])
    published = contest.arena.get(f"/targets/{target['id']}/data/anonymized.csv").content
    own = contest.arena.get(f"/submissions/{receipt['id']}/data/anonymized.csv").content
    assert own == published
    assert published != sent
    assert sorted(published.splitlines()) == sorted(sent.splitlines())
    with transaction() as session:
        (box,) = session.scalars(select(Secret)).all()
    opened = sealing.open_with_salt(
        settings.opening_keys_dir, key_id=box.key_id, box=box.sealed, submission_id=box.submission_id
    )
    truth = source_from_secret(opened.secret, originals=ROWS, anonymized=len(source))
    assert not np.array_equal(truth, source)
    lines, sent_lines = published.decode().splitlines()[1:], sent.decode().splitlines()[1:]
    assert lines == [sent_lines[row] for row in truth]
    for guess, expected in ((truth, len(source)), (source, int((truth == source).sum()))):
        assert contest.guess("blue", target["id"], guess_csv(guess)).status_code == 202
        judge_everything()
        with transaction() as session:
            newest = select(Guess).order_by(Guess.received_at.desc()).limit(1)
            assert session.scalars(newest).one().correct == expected
    contest.close()
    (revealed,) = client.get(f"/api/v1{contest.path}/reveal").json()
    secret = client.get(f"/api/v1/targets/{target['id']}/secret").content
    assert secret == opened.secret
    assert hashlib.sha256(bytes.fromhex(revealed["salt"]) + secret).hexdigest() == receipt["commitment"]


def test_a_contest_without_anything_valid_goes_through_all_its_states(contest: Contest) -> None:
    contest.attack()
    assert contest.targets("blue") == []
    contest.close()
    assert contest.state() == "closed"
    assert contest.arena.get(f"{contest.path}/reveal").json() == []


@pytest.mark.full
def test_a_failed_submission_scored_again_while_it_settles_is_a_final(contest: Contest) -> None:
    """After the freeze it is scored as well, and no final any more."""
    waiting, failed = contest.submit("red", scored=False), contest.submit("red", scored=False)
    with transaction() as session:
        session.execute(
            update(Evaluation).where(Evaluation.submission_id == UUID(failed)).values(state="ERROR")
        )
    contest.move(anonymization=(-3, -2), reidentification=(-1, 1))
    assert contest.organize(f"/submissions/{failed}/rescore").status_code == 202
    with transaction() as session:
        newest = select(Evaluation.id).where(Evaluation.submission_id == UUID(failed), Evaluation.current)
        again = session.scalars(newest).one()
    score(waiting)
    turn()
    assert targets() == []
    scoring.score(str(again))
    turn()
    assert {str(target.submission_id) for target in targets()} == {waiting, failed}
    with transaction() as session:
        kept = session.scalar(
            select(func.count()).where(Evaluation.submission_id == UUID(failed), ~Evaluation.current)
        )
    assert kept == 1
