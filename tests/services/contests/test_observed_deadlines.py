"""No secret is revealed before its deadline was observed with notice, whatever the database says."""

from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from fastapi.testclient import TestClient
from nacl.signing import SigningKey
from sqlalchemy import delete, func, select, update
from structlog.testing import capture_logs

from anoncup.competition.parser import parse_competition
from anoncup.errors import InvalidInput, Unavailable
from app.config import Settings
from app.crypto import deadline_signing
from app.crypto.deadline_signing import SigningKeys
from app.db import now
from app.db.models import Announcement, AuditEntry, Competition, ObservedDeadline, Opening, Target
from app.db.transaction import transaction
from app.services.attacks import contest_lifecycle
from app.services.contests import announcements, observed_deadlines
from tests.support.contest import Contest, judge_everything, load_competition, load_competition_id, run_clock
from tests.support.phase_changes import list_audit_actions, submit_with_verdict
from workers.clock import ensure_signing_key
from workers.lifecycle import run_long_work

NOTICE = timedelta(hours=24)


@pytest.fixture
def contest(client: TestClient) -> Contest:
    """A contest in its second phase; its end, in three hours, was observed before any submission."""
    opened_contest = Contest.create(client, notice_hours=24)
    opened_contest.move_phases(anonymization=(-3, 1), reidentification=(2, 2.5))
    run_clock()
    submit_with_verdict(opened_contest, "red")
    opened_contest.move_phases(anonymization=(-3, -2), reidentification=(-1, 3))
    run_clock()
    assert opened_contest.get_state() == "reidentification"
    return opened_contest


def list_observed_deadlines() -> list[ObservedDeadline]:
    with transaction() as session:
        return list(session.scalars(select(ObservedDeadline).order_by(ObservedDeadline.witnessed_at)))


def read_expected_reveal() -> object:
    with transaction() as session:
        return observed_deadlines.load_reveal_times(session, [load_competition()]).get(load_competition_id())


def overwrite_competition(**values: object) -> None:
    """Change the competition's row as somebody with the database's credentials could."""
    with transaction() as session:
        session.execute(update(Competition).values(**values))


def nothing_is_revealed() -> bool:
    run_clock()
    with transaction() as session:
        opened = session.scalar(select(func.count()).select_from(Opening))
    return not opened and load_competition().revealed_at is None


def test_a_deadline_is_observed_once_for_each_value(contest: Contest) -> None:
    first = list_observed_deadlines()
    run_clock()
    assert [deadline.id for deadline in list_observed_deadlines()] == [deadline.id for deadline in first]
    assert first[0].free
    assert not first[-1].free
    contest.move_phases(reidentification=(-1, 5))
    run_clock()
    assert len(list_observed_deadlines()) == len(first) + 1
    (_, second) = parse_competition(load_competition().file).phases
    assert (list_observed_deadlines()[-1].ends_at, list_observed_deadlines()[-1].notice_hours) == (
        second.end,
        24,
    )


@pytest.mark.full
def test_secrets_are_revealed_at_a_deadline_known_in_time(client: TestClient) -> None:
    contest = Contest.create(client, notice_hours=24)
    contest.move_phases(anonymization=(-3, -2), reidentification=(-1, -0.5))
    run_clock()
    row = load_competition()
    assert row.revealed_at is not None  # without targets the reveal waits for nothing
    assert [deadline.free for deadline in list_observed_deadlines()] == [True]


def test_a_deadline_moved_nearer_neither_closes_nor_reveals_before_its_notice(contest: Contest) -> None:
    known_end = list_observed_deadlines()[-1].ends_at
    contest.move_phases(reidentification=(-1, -0.5))
    assert nothing_is_revealed()
    row = load_competition()
    assert (contest.get_state(), row.closed_at) == ("settling", None)
    assert read_expected_reveal() == known_end  # in three hours, which is sooner than the notice from now


@pytest.mark.full
def test_a_reveal_moved_nearer_waits_for_the_notice_from_its_observation(contest: Contest) -> None:
    contest.move_phases(reidentification=(-1, 100))
    run_clock()
    contest.move_phases(reidentification=(-1, -0.5))
    assert nothing_is_revealed()
    assert read_expected_reveal() == list_observed_deadlines()[-1].witnessed_at + NOTICE
    # The change can be undone during the notice.
    contest.move_phases(reidentification=(-1, 100))
    assert contest.get_state() == "reidentification"


@pytest.mark.full
def test_everything_is_revealed_once_the_notice_has_passed(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest.move_phases(reidentification=(-1, -0.5))
    assert nothing_is_revealed()
    for module in (observed_deadlines, contest_lifecycle):
        monkeypatch.setattr(module, "read_clock", lambda session: now.read_clock(session) + NOTICE)
    run_clock()
    assert load_competition().revealed_at is not None
    assert "secrets.reveal" in list_audit_actions()


@pytest.mark.full
def test_setting_closed_at_opens_no_secret(contest: Contest) -> None:
    overwrite_competition(closed_at=func.clock_timestamp())
    assert nothing_is_revealed()
    assert run_long_work(load_competition_id())  # the worker finds nothing to do
    assert nothing_is_revealed()


@pytest.mark.full
def test_forged_rows_are_ignored_and_reported_to_the_organizers(contest: Contest) -> None:
    """The forged rows have the signature of a real row, no valid signature, or one of another key."""
    real, foreign_ring = list_observed_deadlines()[0], SigningKeys((SigningKey.generate(),))
    past = real.witnessed_at - timedelta(days=30)
    forged = []
    for signature in (real.signature, b"", b"x" * 64, None):
        deadline = ObservedDeadline(
            competition_id=real.competition_id,
            phase=real.phase,
            ends_at=past,
            notice_hours=0,
            free=True,
            witnessed_at=past,
        )
        deadline.signature = (
            foreign_ring.sign(observed_deadlines.build_signed_message(deadline))
            if signature is None
            else signature
        )
        forged.append(deadline)
    with transaction() as session:
        session.add_all(forged)
    expected_before = read_expected_reveal()
    contest.move_phases(reidentification=(-1, -0.5))
    overwrite_competition(closed_at=func.clock_timestamp())
    with capture_logs() as logs:
        assert nothing_is_revealed()
    assert [line["event"] for line in logs].count(observed_deadlines.UNSIGNED_ACTION) == len(forged)
    with transaction() as session:
        subjects = set(
            session.scalars(
                select(AuditEntry.subject).where(AuditEntry.action == observed_deadlines.UNSIGNED_ACTION)
            )
        )
    assert subjects == {str(deadline.id) for deadline in forged}
    assert read_expected_reveal() == expected_before
    with capture_logs() as logs:
        run_clock()
    assert list_audit_actions().count(observed_deadlines.UNSIGNED_ACTION) == len(forged)


@pytest.mark.full
def test_a_signature_covers_every_value(contest: Contest) -> None:
    deadline = list_observed_deadlines()[0]
    keys = observed_deadlines.load_keys()
    assert keys.verify(observed_deadlines.build_signed_message(deadline), deadline.signature)
    changes = {
        "competition_id": UUID(int=1),
        "phase": "anonymization",
        "ends_at": deadline.ends_at + timedelta(microseconds=1),
        "notice_hours": 0,
        "free": not deadline.free,
        "witnessed_at": deadline.witnessed_at - timedelta(microseconds=1),
    }
    assert set(changes) == set(ObservedDeadline.__table__.columns.keys()) - {"id", "signature"}
    for name, value in changes.items():
        with transaction() as session:
            changed = session.get_one(ObservedDeadline, deadline.id)
            session.expunge(changed)
        setattr(changed, name, value)
        assert not keys.verify(observed_deadlines.build_signed_message(changed), deadline.signature), name


def test_a_secret_of_another_competition_is_not_opened_by_a_target_that_claims_it(
    contest: Contest, client: TestClient
) -> None:
    own = Contest.create(client, slug="own")
    own.move_phases(anonymization=(-3, -2), reidentification=(-1, -0.5))
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == "own")).one()
        row.published_at = row.frozen_at = row.created_at
        session.execute(update(Target).values(competition_id=row.id))
    assert nothing_is_revealed()


@pytest.mark.full
def test_a_contest_without_observed_deadlines_waits_for_its_notice(client: TestClient) -> None:
    """After an upgrade there are submissions but no row; the notice starts with the first observation."""
    contest = Contest.create(client, notice_hours=24)
    submit_with_verdict(contest, "red")
    contest.move_phases(anonymization=(-3, -2), reidentification=(-1, -0.5))
    assert nothing_is_revealed()
    (deadline,) = list_observed_deadlines()
    assert not deadline.free
    assert read_expected_reveal() == deadline.witnessed_at + NOTICE


@pytest.mark.full
def test_a_shorter_notice_is_refused_once_there_are_submissions(contest: Contest) -> None:
    files = {hours: load_competition().file.replace("_hours = 24", f"_hours = {hours}") for hours in (23, 25)}
    path = f"{contest.path}/competition.toml"
    refused = contest.arena.put(path, content=files[23])
    assert (refused.status_code, refused.json()["code"]) == (409, "notice_fixed")
    refused = contest.arena.post(f"{contest.path}/rescores", content=files[23])
    assert (refused.status_code, refused.json()["code"]) == (409, "notice_fixed")
    assert contest.arena.put(path, content=files[25]).status_code == 200


@pytest.mark.full
def test_a_pause_holds_the_reveal_back(contest: Contest) -> None:
    run_clock()
    overwrite_competition(paused_at=func.clock_timestamp() - timedelta(hours=1))
    with transaction() as session:
        row = session.get_one(Competition, load_competition_id())
        observed = observed_deadlines.load_records(
            session, [row.id], observed_deadlines.load_keys()
        ).get_signed(row.id)
        later = now.read_clock(session) + timedelta(days=100)
        assert not observed_deadlines.is_reveal_due(row, observed, later)
        row.paused_at = None
        assert observed_deadlines.is_reveal_due(row, observed, later)


@pytest.mark.full
def test_without_the_key_phases_change_and_nothing_is_revealed(
    client: TestClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyless = settings.model_copy(update={"opening_keys_dir": None})
    monkeypatch.setattr(observed_deadlines, "get_settings", lambda: keyless)
    contest = Contest.create(client)
    submit_with_verdict(contest, "red")
    contest.move_phases(anonymization=(-3, -2), reidentification=(-1, -0.5))
    with capture_logs() as logs:
        assert nothing_is_revealed()
    assert [line["event"] for line in logs].count("cannot_witness") == 1
    assert load_competition().published_at is not None
    assert list_observed_deadlines() == []
    monkeypatch.undo()
    run_clock()
    assert load_competition().revealed_at is not None


@pytest.mark.full
def test_deleted_rows_only_delay_the_reveal(contest: Contest) -> None:
    with transaction() as session:
        session.execute(delete(ObservedDeadline))
    judge_everything()
    contest.move_phases(reidentification=(-1, -0.5))
    assert nothing_is_revealed()
    assert read_expected_reveal() == list_observed_deadlines()[-1].witnessed_at + NOTICE


@pytest.mark.full
def test_the_clock_makes_its_key_where_the_private_keys_are(tmp_path: Path) -> None:
    ensure_signing_key(None)
    ensure_signing_key(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    for _ in range(2):
        ensure_signing_key(tmp_path)
    (key_file,) = tmp_path.iterdir()
    assert (key_file.suffix, key_file.stat().st_mode & 0o777) == (".signing", 0o400)
    message = b"said"
    assert deadline_signing.load_keyring(tmp_path).verify(
        message, deadline_signing.load_keyring(tmp_path).sign(message)
    )


@pytest.mark.full
def test_a_process_without_a_key_cannot_sign_and_says_how(tmp_path: Path) -> None:
    for ring in (SigningKeys(), deadline_signing.load_keyring(None), deadline_signing.load_keyring(tmp_path)):
        with pytest.raises(Unavailable, match="anoncup keys witness"):
            ring.sign(b"")
        assert not ring.verify(b"", b"")
    (tmp_path / "broken.signing").write_text("no key")
    with pytest.raises(InvalidInput, match="no signing key"):
        deadline_signing.load_keyring(tmp_path)


@pytest.mark.full
def test_signatures_of_every_available_key_count(tmp_path: Path) -> None:
    """A restored key may lie beside one that was created in the meantime."""
    first_folder, second_folder = tmp_path / "one", tmp_path / "other"
    for folder in (first_folder, second_folder):
        deadline_signing.create_key(folder)
    signature = deadline_signing.load_keyring(first_folder).sign(b"said")
    assert not deadline_signing.load_keyring(second_folder).verify(b"said", signature)
    (file,) = first_folder.iterdir()
    (second_folder / file.name).write_bytes(file.read_bytes())
    assert deadline_signing.load_keyring(second_folder).verify(b"said", signature)


def list_announcements() -> list[dict[str, str]]:
    with transaction() as session:
        rows = session.scalars(select(Announcement).order_by(Announcement.at)).all()
    assert all(row.user_id is None for row in rows)
    return [announcements.translate(row) for row in rows]


@pytest.mark.full
def test_the_teams_are_told_of_an_end_that_moved_in_both_languages_and_when_secrets_are_revealed(
    contest: Contest,
) -> None:
    count_before = len(list_announcements())
    contest.move_phases(reidentification=(-1, 100))
    run_clock()
    contest.move_phases(reidentification=(-1, 2))
    run_clock()
    run_clock()
    later, nearer = list_announcements()[count_before:]
    zone = ZoneInfo("Asia/Tokyo")
    ends = [
        f"{deadline.ends_at.astimezone(zone):%Y-%m-%d %H:%M}" for deadline in list_observed_deadlines()[-2:]
    ]
    reveal = f"{(list_observed_deadlines()[-1].witnessed_at + NOTICE).astimezone(zone):%Y-%m-%d %H:%M}"
    for language in ("en", "ja"):
        assert ends[0] in later[language]
        assert all(part in nearer[language] for part in (*ends, reveal, "Asia/Tokyo"))
        assert (later[language].count("\n\n"), nearer[language].count("\n\n")) == (0, 1)


@pytest.mark.full
def test_before_a_contest_begins_nobody_is_told_of_its_dates(client: TestClient) -> None:
    contest = Contest.create(client)
    contest.move_phases(anonymization=(1, 2), reidentification=(3, 4))
    run_clock()
    contest.move_phases(anonymization=(1, 2), reidentification=(3, 5))
    run_clock()
    assert (len(list_observed_deadlines()), list_announcements()) == (2, [])


@pytest.mark.full
def test_the_teams_are_told_even_if_the_start_was_moved_into_the_future(
    contest: Contest,
) -> None:
    count_before = len(list_announcements())
    contest.move_phases(anonymization=(1, 2), reidentification=(3, 4))
    run_clock()
    assert len(list_announcements()) == count_before + 1


@pytest.mark.full
def test_an_organizer_cannot_withdraw_an_announcement_of_the_service(contest: Contest) -> None:
    contest.move_phases(reidentification=(-1, 2))
    run_clock()
    (newest, *_) = contest.arena.get(f"{contest.path}/announcements").json()
    assert (newest["code"], set(newest["values"])) == ("end_moved", {"before", "end", "reveal", "zone"})
    response = contest.arena.call("DELETE", f"/announcements/{newest['id']}")
    assert (response.status_code, response.json()["code"]) == (409, "service_announcement")
    assert newest in contest.arena.get(f"{contest.path}/announcements").json()


@pytest.mark.full
def test_the_description_of_a_competition_says_when_secrets_are_revealed(contest: Contest) -> None:
    path = f"/api/v1{contest.path}"
    known_end = list_observed_deadlines()[-1].ends_at
    assert datetime.fromisoformat(contest.arena.client.get(path).json()["reveal_at"]) == known_end
    contest.move_phases(reidentification=(-1, -0.5))
    listed = contest.arena.client.get("/api/v1/competitions").json()
    assert [datetime.fromisoformat(entry["reveal_at"]) for entry in listed] == [known_end]
    contest.move_phases(reidentification=(-1, 200))
    description = contest.arena.client.get(path).json()  # a later end counts even before it is observed
    assert description["reveal_at"] == description["phases"][-1]["end"]
    with transaction() as session:
        session.execute(delete(ObservedDeadline))
    assert contest.arena.client.get(path).json()["reveal_at"] is None
