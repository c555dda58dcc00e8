"""Nothing is revealed before it was witnessed early enough, whatever is written into the database."""

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
from app.crypto.deadline_signing import Ring
from app.db import now
from app.db.models import Announcement, AuditEntry, Competition, Opening, Target, WitnessedEnd
from app.db.transaction import transaction
from app.services.attacks import contest_lifecycle
from app.services.contests import announcements, observed_deadlines
from tests.support.contest import Contest, competition_id, competition_row, judge_everything, turn
from tests.support.phase_changes import acts, quick
from workers.clock import ready_to_witness
from workers.lifecycle import work

NOTICE = timedelta(hours=24)


@pytest.fixture
def contest(client: TestClient) -> Contest:
    """In its second phase, whose end is three hours ahead and was witnessed before anything was submitted."""
    made = Contest.opened(client, notice=24)
    made.move(anonymization=(-3, 1), reidentification=(2, 2.5))
    turn()
    quick(made, "red")
    made.move(anonymization=(-3, -2), reidentification=(-1, 3))
    turn()
    assert made.state() == "reidentification"
    return made


def noted() -> list[WitnessedEnd]:
    with transaction() as session:
        return list(session.scalars(select(WitnessedEnd).order_by(WitnessedEnd.witnessed_at)))


def expected() -> object:
    with transaction() as session:
        return observed_deadlines.expected(session, [competition_row()]).get(competition_id())


def written(**values: object) -> None:
    """What somebody with the database's credentials writes into the competition's row."""
    with transaction() as session:
        session.execute(update(Competition).values(**values))


def nothing_is_revealed() -> bool:
    turn()
    with transaction() as session:
        opened = session.scalar(select(func.count()).select_from(Opening))
    return not opened and competition_row().revealed_at is None


def test_an_end_is_witnessed_once_for_each_value(contest: Contest) -> None:
    first = noted()
    turn()
    assert [one.id for one in noted()] == [one.id for one in first]
    assert first[0].free
    assert not first[-1].free
    contest.move(reidentification=(-1, 5))
    turn()
    assert len(noted()) == len(first) + 1
    (_, second) = parse_competition(competition_row().file).phases
    assert (noted()[-1].ends_at, noted()[-1].notice_hours) == (second.end, 24)


@pytest.mark.full
def test_an_end_that_was_long_known_is_revealed_at(client: TestClient) -> None:
    contest = Contest.opened(client, notice=24)
    contest.move(anonymization=(-3, -2), reidentification=(-1, -0.5))
    turn()
    quick_contest = competition_row()
    assert quick_contest.revealed_at is not None  # without targets there is nothing to wait for
    assert [one.free for one in noted()] == [True]


def test_an_end_moved_nearer_closes_nothing_and_reveals_nothing_before_its_notice(contest: Contest) -> None:
    known = noted()[-1].ends_at
    contest.move(reidentification=(-1, -0.5))
    assert nothing_is_revealed()
    row = competition_row()
    assert (contest.state(), row.closed_at) == ("settling", None)
    assert expected() == known  # three hours ahead: nearer than the notice from now


@pytest.mark.full
def test_a_reveal_moved_nearer_waits_for_the_notice_from_when_it_was_witnessed(contest: Contest) -> None:
    contest.move(reidentification=(-1, 100))
    turn()
    contest.move(reidentification=(-1, -0.5))
    assert nothing_is_revealed()
    assert expected() == noted()[-1].witnessed_at + NOTICE
    # While it waits, it can be undone.
    contest.move(reidentification=(-1, 100))
    assert contest.state() == "reidentification"


@pytest.mark.full
def test_once_the_notice_has_run_everything_is_revealed(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest.move(reidentification=(-1, -0.5))
    assert nothing_is_revealed()
    for module in (observed_deadlines, contest_lifecycle):
        monkeypatch.setattr(module, "clock", lambda session: now.clock(session) + NOTICE)
    turn()
    assert competition_row().revealed_at is not None
    assert "secrets.reveal" in acts()


@pytest.mark.full
def test_setting_closed_at_opens_no_secret(contest: Contest) -> None:
    written(closed_at=func.clock_timestamp())
    assert nothing_is_revealed()
    assert work(competition_id())  # the worker by itself finds nothing to do
    assert nothing_is_revealed()


@pytest.mark.full
def test_forged_rows_count_for_nothing_and_are_told_to_the_organizers(contest: Contest) -> None:
    """With the signature of a real row, with none, and signed by another key."""
    real, stranger = noted()[0], Ring((SigningKey.generate(),))
    past = real.witnessed_at - timedelta(days=30)
    forged = []
    for signature in (real.signature, b"", b"x" * 64, None):
        one = WitnessedEnd(
            competition_id=real.competition_id,
            phase=real.phase,
            ends_at=past,
            notice_hours=0,
            free=True,
            witnessed_at=past,
        )
        one.signature = stranger.sign(observed_deadlines.message_of(one)) if signature is None else signature
        forged.append(one)
    with transaction() as session:
        session.add_all(forged)
    before = expected()
    contest.move(reidentification=(-1, -0.5))
    written(closed_at=func.clock_timestamp())
    with capture_logs() as said:
        assert nothing_is_revealed()
    assert [line["event"] for line in said].count(observed_deadlines.UNSIGNED) == len(forged)
    with transaction() as session:
        told = set(
            session.scalars(
                select(AuditEntry.subject).where(AuditEntry.action == observed_deadlines.UNSIGNED)
            )
        )
    assert told == {str(one.id) for one in forged}
    assert expected() == before
    with capture_logs() as said:
        turn()
    assert acts().count(observed_deadlines.UNSIGNED) == len(forged)


@pytest.mark.full
def test_a_signature_is_of_every_value(contest: Contest) -> None:
    one = noted()[0]
    keys = observed_deadlines.ring()
    assert keys.verifies(observed_deadlines.message_of(one), one.signature)
    changes = {
        "competition_id": UUID(int=1),
        "phase": "anonymization",
        "ends_at": one.ends_at + timedelta(microseconds=1),
        "notice_hours": 0,
        "free": not one.free,
        "witnessed_at": one.witnessed_at - timedelta(microseconds=1),
    }
    assert set(changes) == set(WitnessedEnd.__table__.columns.keys()) - {"id", "signature"}
    for name, value in changes.items():
        with transaction() as session:
            changed = session.get_one(WitnessedEnd, one.id)
            session.expunge(changed)
        setattr(changed, name, value)
        assert not keys.verifies(observed_deadlines.message_of(changed), one.signature), name


def test_a_secret_of_another_competition_is_not_opened_by_a_target_that_claims_it(
    contest: Contest, client: TestClient
) -> None:
    own = Contest.opened(client, slug="own")
    own.move(anonymization=(-3, -2), reidentification=(-1, -0.5))
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == "own")).one()
        row.published_at = row.frozen_at = row.created_at
        session.execute(update(Target).values(competition_id=row.id))
    assert nothing_is_revealed()


@pytest.mark.full
def test_a_contest_that_was_there_before_witnesses_waits_for_its_notice(client: TestClient) -> None:
    """As after an upgrade: submissions, and no row. Its end counts from when it is first seen."""
    contest = Contest.opened(client, notice=24)
    quick(contest, "red")
    contest.move(anonymization=(-3, -2), reidentification=(-1, -0.5))
    assert nothing_is_revealed()
    (one,) = noted()
    assert not one.free
    assert expected() == one.witnessed_at + NOTICE


@pytest.mark.full
def test_a_shorter_notice_is_refused_once_there_are_submissions(contest: Contest) -> None:
    put = {hours: competition_row().file.replace("_hours = 24", f"_hours = {hours}") for hours in (23, 25)}
    path = f"{contest.path}/competition.toml"
    refused = contest.arena.put(path, content=put[23])
    assert (refused.status_code, refused.json()["code"]) == (409, "notice_fixed")
    refused = contest.arena.post(f"{contest.path}/rescores", content=put[23])
    assert (refused.status_code, refused.json()["code"]) == (409, "notice_fixed")
    assert contest.arena.put(path, content=put[25]).status_code == 200


@pytest.mark.full
def test_a_pause_holds_the_reveal_back(contest: Contest) -> None:
    turn()
    written(paused_at=func.clock_timestamp() - timedelta(hours=1))
    with transaction() as session:
        row = session.get_one(Competition, competition_id())
        seen = observed_deadlines.book(session, [row.id], observed_deadlines.ring()).of(row.id)
        later = now.clock(session) + timedelta(days=100)
        assert not observed_deadlines.is_time(row, seen, later)
        row.paused_at = None
        assert observed_deadlines.is_time(row, seen, later)


@pytest.mark.full
def test_without_the_key_phases_turn_and_nothing_is_revealed(
    client: TestClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyless = settings.model_copy(update={"opening_keys_dir": None})
    monkeypatch.setattr(observed_deadlines, "get_settings", lambda: keyless)
    contest = Contest.opened(client)
    quick(contest, "red")
    contest.move(anonymization=(-3, -2), reidentification=(-1, -0.5))
    with capture_logs() as said:
        assert nothing_is_revealed()
    assert [line["event"] for line in said].count("cannot_witness") == 1
    assert competition_row().published_at is not None
    assert noted() == []
    monkeypatch.undo()
    turn()
    assert competition_row().revealed_at is not None


@pytest.mark.full
def test_rows_that_are_deleted_give_nothing_but_delay(contest: Contest) -> None:
    with transaction() as session:
        session.execute(delete(WitnessedEnd))
    judge_everything()
    contest.move(reidentification=(-1, -0.5))
    assert nothing_is_revealed()
    assert expected() == noted()[-1].witnessed_at + NOTICE


@pytest.mark.full
def test_the_clock_makes_its_key_where_the_private_keys_are(tmp_path: Path) -> None:
    ready_to_witness(None)
    ready_to_witness(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    for _ in range(2):
        ready_to_witness(tmp_path)
    (made,) = tmp_path.iterdir()
    assert (made.suffix, made.stat().st_mode & 0o777) == (".signing", 0o400)
    message = b"said"
    assert deadline_signing.held(tmp_path).verifies(message, deadline_signing.held(tmp_path).sign(message))


@pytest.mark.full
def test_a_process_without_a_key_cannot_sign_and_says_how(tmp_path: Path) -> None:
    for ring in (Ring(), deadline_signing.held(None), deadline_signing.held(tmp_path)):
        with pytest.raises(Unavailable, match="anoncup keys witness"):
            ring.sign(b"")
        assert not ring.verifies(b"", b"")
    (tmp_path / "broken.signing").write_text("no key")
    with pytest.raises(InvalidInput, match="no signing key"):
        deadline_signing.held(tmp_path)


@pytest.mark.full
def test_what_any_held_key_has_signed_counts(tmp_path: Path) -> None:
    """After a key was brought back beside one that had been made meanwhile."""
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        deadline_signing.create_key(folder)
    signature = deadline_signing.held(one).sign(b"said")
    assert not deadline_signing.held(other).verifies(b"said", signature)
    (file,) = one.iterdir()
    (other / file.name).write_bytes(file.read_bytes())
    assert deadline_signing.held(other).verifies(b"said", signature)


def told() -> list[dict[str, str]]:
    with transaction() as session:
        said = session.scalars(select(Announcement).order_by(Announcement.at)).all()
    assert all(one.user_id is None for one in said)
    return [announcements.texts(one) for one in said]


@pytest.mark.full
def test_the_teams_are_told_of_an_end_that_moved_in_both_languages_and_when_secrets_are_revealed(
    contest: Contest,
) -> None:
    before = len(told())
    contest.move(reidentification=(-1, 100))
    turn()
    contest.move(reidentification=(-1, 2))
    turn()
    turn()
    later, nearer = told()[before:]
    zone = ZoneInfo("Asia/Tokyo")
    ends = [f"{one.ends_at.astimezone(zone):%Y-%m-%d %H:%M}" for one in noted()[-2:]]
    reveal = f"{(noted()[-1].witnessed_at + NOTICE).astimezone(zone):%Y-%m-%d %H:%M}"
    for language in ("en", "ja"):
        assert ends[0] in later[language]
        assert all(part in nearer[language] for part in (*ends, reveal, "Asia/Tokyo"))
        assert (later[language].count("\n\n"), nearer[language].count("\n\n")) == (0, 1)


@pytest.mark.full
def test_before_a_contest_begins_nobody_is_told_of_its_dates(client: TestClient) -> None:
    contest = Contest.opened(client)
    contest.move(anonymization=(1, 2), reidentification=(3, 4))
    turn()
    contest.move(anonymization=(1, 2), reidentification=(3, 5))
    turn()
    assert (len(noted()), told()) == (2, [])


@pytest.mark.full
def test_the_teams_are_told_though_the_start_was_moved_ahead_as_if_nothing_had_begun(
    contest: Contest,
) -> None:
    before = len(told())
    contest.move(anonymization=(1, 2), reidentification=(3, 4))
    turn()
    assert len(told()) == before + 1


@pytest.mark.full
def test_what_the_service_announced_is_not_withdrawn_by_an_organizer(contest: Contest) -> None:
    contest.move(reidentification=(-1, 2))
    turn()
    (newest, *_) = contest.arena.get(f"{contest.path}/announcements").json()
    assert (newest["code"], set(newest["values"])) == ("end_moved", {"before", "end", "reveal", "zone"})
    answer = contest.arena.call("DELETE", f"/announcements/{newest['id']}")
    assert (answer.status_code, answer.json()["code"]) == (409, "service_announcement")
    assert newest in contest.arena.get(f"{contest.path}/announcements").json()


@pytest.mark.full
def test_the_description_of_a_competition_says_when_secrets_are_revealed(contest: Contest) -> None:
    path = f"/api/v1{contest.path}"
    known = noted()[-1].ends_at
    assert datetime.fromisoformat(contest.arena.client.get(path).json()["reveal_at"]) == known
    contest.move(reidentification=(-1, -0.5))
    listed = contest.arena.client.get("/api/v1/competitions").json()
    assert [datetime.fromisoformat(one["reveal_at"]) for one in listed] == [known]
    contest.move(reidentification=(-1, 200))
    found = contest.arena.client.get(path).json()  # later counts before it is witnessed
    assert found["reveal_at"] == found["phases"][-1]["end"]
    with transaction() as session:
        session.execute(delete(WitnessedEnd))
    assert contest.arena.client.get(path).json()["reveal_at"] is None
