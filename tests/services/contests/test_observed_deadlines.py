"""No secret is revealed before its deadline was observed with notice, whatever the database says."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
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
from app.db.models import Announcement, AuditEntry, Competition, ObservedDeadline, Opening, Round, Target
from app.db.transaction import transaction
from app.services.attacks import contest_lifecycle
from app.services.contests import announcements, observed_deadlines
from app.services.contests.observed_deadlines import compute_reveal_time
from tests.support.contest import (
    Contest,
    judge_everything,
    load_competition,
    load_round,
    load_round_id,
    run_clock,
)
from tests.support.database_rows import execute, load_all
from tests.support.phase_changes import list_audit_actions, submit_with_verdict
from workers.clock import ensure_signing_key
from workers.lifecycle import run_long_work

REVEAL_NOTICE = timedelta(hours=24)
START = datetime(2027, 1, 1, tzinfo=UTC)


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
    return load_all(select(ObservedDeadline).order_by(ObservedDeadline.observed_at))


def load_expected_reveal() -> object:
    with transaction() as session:
        return observed_deadlines.load_reveal_times(session, [load_round()]).get(load_round_id())


def overwrite_round(**values: object) -> None:
    """Change the round's row as somebody with the database's credentials could."""
    execute(update(Round).values(**values))


def clock_reveals_nothing() -> bool:
    run_clock()
    with transaction() as session:
        opening_count = session.scalar(select(func.count()).select_from(Opening))
    return not opening_count and load_round().revealed_at is None


def test_each_value_of_a_deadline_is_observed_once(contest: Contest) -> None:
    first_deadlines = list_observed_deadlines()
    run_clock()
    assert [deadline.id for deadline in list_observed_deadlines()] == [
        deadline.id for deadline in first_deadlines
    ]
    assert first_deadlines[0].before_submissions
    assert not first_deadlines[-1].before_submissions
    contest.move_phases(reidentification=(-1, 5))
    run_clock()
    assert len(list_observed_deadlines()) == len(first_deadlines) + 1
    (_, second_phase) = parse_competition(load_competition().file).phases
    assert (list_observed_deadlines()[-1].ends_at, list_observed_deadlines()[-1].notice_hours) == (
        second_phase.end,
        24,
    )


@pytest.mark.full
def test_secrets_are_revealed_at_a_deadline_announced_in_time(client: TestClient) -> None:
    contest = Contest.create(client, notice_hours=24)
    contest.move_phases(anonymization=(-3, -2), reidentification=(-1, -0.5))
    run_clock()
    row = load_round()
    assert row.revealed_at is not None  # without targets the reveal waits for nothing
    assert [deadline.before_submissions for deadline in list_observed_deadlines()] == [True]


def test_earlier_deadline_takes_effect_after_the_notice(contest: Contest) -> None:
    known_end = list_observed_deadlines()[-1].ends_at
    contest.move_phases(reidentification=(-1, -0.5))
    assert clock_reveals_nothing()
    row = load_round()
    assert (contest.get_state(), row.closed_at) == ("settling", None)
    assert load_expected_reveal() == known_end  # in three hours, which is sooner than the notice from now


@pytest.mark.full
def test_notice_starts_when_the_earlier_deadline_is_observed(contest: Contest) -> None:
    contest.move_phases(reidentification=(-1, 100))
    run_clock()
    contest.move_phases(reidentification=(-1, -0.5))
    assert clock_reveals_nothing()
    assert load_expected_reveal() == list_observed_deadlines()[-1].observed_at + REVEAL_NOTICE
    # The change can be undone during the notice.
    contest.move_phases(reidentification=(-1, 100))
    assert contest.get_state() == "reidentification"


@pytest.mark.full
def test_secrets_are_revealed_after_the_notice(contest: Contest, monkeypatch: pytest.MonkeyPatch) -> None:
    contest.move_phases(reidentification=(-1, -0.5))
    assert clock_reveals_nothing()
    for module in (observed_deadlines, contest_lifecycle):
        monkeypatch.setattr(module, "read_clock", lambda session: now.read_clock(session) + REVEAL_NOTICE)
    run_clock()
    assert load_round().revealed_at is not None
    assert "secrets.reveal" in list_audit_actions()


@pytest.mark.full
def test_writing_closed_at_reveals_no_secret(contest: Contest) -> None:
    overwrite_round(closed_at=func.clock_timestamp())
    assert clock_reveals_nothing()
    assert run_long_work(load_round_id())  # the worker finds nothing to do
    assert clock_reveals_nothing()


@pytest.mark.full
def test_forged_deadlines_are_ignored_and_audited(contest: Contest) -> None:
    """The forged rows have the signature of a real row, no valid signature, or one of another key."""
    real_deadline, foreign_keys = list_observed_deadlines()[0], SigningKeys((SigningKey.generate(),))
    past = real_deadline.observed_at - timedelta(days=30)
    forged_deadlines = []
    for signature in (real_deadline.signature, b"", b"x" * 64, None):
        deadline = ObservedDeadline(
            round_id=real_deadline.round_id,
            phase=real_deadline.phase,
            ends_at=past,
            notice_hours=0,
            before_submissions=True,
            observed_at=past,
        )
        deadline.signature = (
            foreign_keys.sign(observed_deadlines.build_signed_message(deadline))
            if signature is None
            else signature
        )
        forged_deadlines.append(deadline)
    with transaction() as session:
        session.add_all(forged_deadlines)
    expected_before = load_expected_reveal()
    contest.move_phases(reidentification=(-1, -0.5))
    overwrite_round(closed_at=func.clock_timestamp())
    with capture_logs() as logs:
        assert clock_reveals_nothing()
    assert [line["event"] for line in logs].count(observed_deadlines.UNSIGNED_ACTION) == len(forged_deadlines)
    subjects = set(
        load_all(select(AuditEntry.subject).where(AuditEntry.action == observed_deadlines.UNSIGNED_ACTION))
    )
    assert subjects == {str(deadline.id) for deadline in forged_deadlines}
    assert load_expected_reveal() == expected_before
    with capture_logs() as logs:
        run_clock()
    assert list_audit_actions().count(observed_deadlines.UNSIGNED_ACTION) == len(forged_deadlines)


@pytest.mark.full
def test_signature_covers_every_column(contest: Contest) -> None:
    deadline = list_observed_deadlines()[0]
    keys = observed_deadlines.load_keys()
    assert keys.verify(observed_deadlines.build_signed_message(deadline), deadline.signature)
    changes = {
        "round_id": UUID(int=1),
        "phase": "anonymization",
        "ends_at": deadline.ends_at + timedelta(microseconds=1),
        "notice_hours": 0,
        "before_submissions": not deadline.before_submissions,
        "observed_at": deadline.observed_at - timedelta(microseconds=1),
    }
    assert set(changes) == set(ObservedDeadline.__table__.columns.keys()) - {"id", "signature"}
    for name, value in changes.items():
        with transaction() as session:
            changed_deadline = session.get_one(ObservedDeadline, deadline.id)
            session.expunge(changed_deadline)
        setattr(changed_deadline, name, value)
        assert not keys.verify(
            observed_deadlines.build_signed_message(changed_deadline), deadline.signature
        ), name


def test_target_cannot_reveal_another_competitions_secret(contest: Contest, client: TestClient) -> None:
    closed_contest = Contest.create(client, slug="own")
    closed_contest.move_phases(anonymization=(-3, -2), reidentification=(-1, -0.5))
    with transaction() as session:
        row = session.scalars(select(Round).join(Competition).where(Competition.slug == "own")).one()
        row.published_at = row.frozen_at = row.competition.created_at
        session.execute(update(Target).values(round_id=row.id))
    assert clock_reveals_nothing()


@pytest.mark.full
def test_contest_without_observed_deadlines_waits_for_the_notice(client: TestClient) -> None:
    """After an upgrade there are submissions but no row; the notice starts with the first observation."""
    contest = Contest.create(client, notice_hours=24)
    submit_with_verdict(contest, "red")
    contest.move_phases(anonymization=(-3, -2), reidentification=(-1, -0.5))
    assert clock_reveals_nothing()
    (deadline,) = list_observed_deadlines()
    assert not deadline.before_submissions
    assert load_expected_reveal() == deadline.observed_at + REVEAL_NOTICE


@pytest.mark.full
def test_notice_cannot_be_shortened_once_there_are_submissions(contest: Contest) -> None:
    files = {hours: load_competition().file.replace("_hours = 24", f"_hours = {hours}") for hours in (23, 25)}
    path = f"{contest.path}/competition.toml"
    response = contest.arena.put(path, content=files[23])
    assert (response.status_code, response.json()["code"]) == (409, "notice_fixed")
    response = contest.arena.post(f"{contest.path}/rescores", content=files[23])
    assert (response.status_code, response.json()["code"]) == (409, "notice_fixed")
    assert contest.arena.put(path, content=files[25]).status_code == 200


@pytest.mark.full
def test_pause_delays_the_reveal(contest: Contest) -> None:
    run_clock()
    overwrite_round(paused_at=func.clock_timestamp() - timedelta(hours=1))
    with transaction() as session:
        row = session.get_one(Round, load_round_id())
        signed, _ = observed_deadlines.load_records(session, [row.id], observed_deadlines.load_keys())
        signed_deadlines = signed[row.id]
        late_time = now.read_clock(session) + timedelta(days=100)
        assert not observed_deadlines.is_reveal_due(row, signed_deadlines, late_time)
        row.paused_at = None
        assert observed_deadlines.is_reveal_due(row, signed_deadlines, late_time)


@pytest.mark.full
def test_without_the_signing_key_phases_change_but_nothing_is_revealed(
    client: TestClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyless = settings.model_copy(update={"opening_keys_dir": None})
    monkeypatch.setattr(observed_deadlines, "get_settings", lambda: keyless)
    contest = Contest.create(client)
    submit_with_verdict(contest, "red")
    contest.move_phases(anonymization=(-3, -2), reidentification=(-1, -0.5))
    with capture_logs() as logs:
        assert clock_reveals_nothing()
    assert [line["event"] for line in logs].count("cannot_witness") == 1
    assert load_round().published_at is not None
    assert list_observed_deadlines() == []
    monkeypatch.undo()
    run_clock()
    assert load_round().revealed_at is not None


@pytest.mark.full
def test_deleting_observed_deadlines_only_delays_the_reveal(contest: Contest) -> None:
    execute(delete(ObservedDeadline))
    judge_everything()
    contest.move_phases(reidentification=(-1, -0.5))
    assert clock_reveals_nothing()
    assert load_expected_reveal() == list_observed_deadlines()[-1].observed_at + REVEAL_NOTICE


@pytest.mark.full
def test_clock_creates_its_key_in_the_private_folder(tmp_path: Path) -> None:
    ensure_signing_key(None)
    ensure_signing_key(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    for _ in range(2):
        ensure_signing_key(tmp_path)
    (key_file,) = tmp_path.iterdir()
    assert (key_file.suffix, key_file.stat().st_mode & 0o777) == (".signing", 0o400)
    message = b"said"
    assert deadline_signing.load_signing_keys(tmp_path).verify(
        message, deadline_signing.load_signing_keys(tmp_path).sign(message)
    )


@pytest.mark.full
def test_signing_without_a_key_is_refused_with_a_hint(tmp_path: Path) -> None:
    for keyring in (
        SigningKeys(),
        deadline_signing.load_signing_keys(None),
        deadline_signing.load_signing_keys(tmp_path),
    ):
        with pytest.raises(Unavailable, match="anoncup keys witness"):
            keyring.sign(b"")
        assert not keyring.verify(b"", b"")
    (tmp_path / "broken.signing").write_text("no key")
    with pytest.raises(InvalidInput, match="no signing key"):
        deadline_signing.load_signing_keys(tmp_path)


@pytest.mark.full
def test_signatures_of_all_available_keys_are_valid(tmp_path: Path) -> None:
    """A restored key may lie beside one that was created in the meantime."""
    first_folder, second_folder = tmp_path / "one", tmp_path / "other"
    for folder in (first_folder, second_folder):
        deadline_signing.create_key(folder)
    signature = deadline_signing.load_signing_keys(first_folder).sign(b"said")
    assert not deadline_signing.load_signing_keys(second_folder).verify(b"said", signature)
    (file,) = first_folder.iterdir()
    (second_folder / file.name).write_bytes(file.read_bytes())
    assert deadline_signing.load_signing_keys(second_folder).verify(b"said", signature)


def list_announcements() -> list[dict[str, str]]:
    rows = load_all(select(Announcement).order_by(Announcement.at))
    assert all(row.user_id is None for row in rows)
    return [announcements.translate(row) for row in rows]


@pytest.mark.full
def test_teams_are_told_of_a_moved_deadline_and_reveal_in_both_languages(
    contest: Contest,
) -> None:
    count_before = len(list_announcements())
    contest.move_phases(reidentification=(-1, 100))
    run_clock()
    contest.move_phases(reidentification=(-1, 2))
    run_clock()
    run_clock()
    later_announcement, earlier_announcement = list_announcements()[count_before:]
    zone = ZoneInfo("Asia/Tokyo")
    end_times = [
        f"{deadline.ends_at.astimezone(zone):%Y-%m-%d %H:%M}" for deadline in list_observed_deadlines()[-2:]
    ]
    reveal_time = (
        f"{(list_observed_deadlines()[-1].observed_at + REVEAL_NOTICE).astimezone(zone):%Y-%m-%d %H:%M}"
    )
    for language in ("en", "ja"):
        assert end_times[0] in later_announcement[language]
        assert all(text in earlier_announcement[language] for text in (*end_times, reveal_time, "Asia/Tokyo"))
        assert (later_announcement[language].count("\n\n"), earlier_announcement[language].count("\n\n")) == (
            0,
            1,
        )


@pytest.mark.full
def test_dates_moved_before_the_start_are_not_announced(client: TestClient) -> None:
    contest = Contest.create(client)
    contest.move_phases(anonymization=(1, 2), reidentification=(3, 4))
    run_clock()
    contest.move_phases(anonymization=(1, 2), reidentification=(3, 5))
    run_clock()
    assert (len(list_observed_deadlines()), list_announcements()) == (2, [])


@pytest.mark.full
def test_moved_deadline_is_announced_even_if_the_start_moved_too(
    contest: Contest,
) -> None:
    count_before = len(list_announcements())
    contest.move_phases(anonymization=(1, 2), reidentification=(3, 4))
    run_clock()
    assert len(list_announcements()) == count_before + 1


@pytest.mark.full
def test_organizers_cannot_withdraw_service_announcements(contest: Contest) -> None:
    contest.move_phases(reidentification=(-1, 2))
    run_clock()
    (newest, *_) = contest.arena.get(f"{contest.path}/announcements").json()
    assert (newest["code"], set(newest["values"])) == ("end_moved", {"before", "end", "reveal", "zone"})
    response = contest.arena.call("DELETE", f"/announcements/{newest['id']}")
    assert (response.status_code, response.json()["code"]) == (409, "service_announcement")
    assert newest in contest.arena.get(f"{contest.path}/announcements").json()


@pytest.mark.full
def test_competition_description_includes_the_reveal_time(contest: Contest) -> None:
    path = f"/api/v1{contest.path}"
    known_end = list_observed_deadlines()[-1].ends_at
    assert datetime.fromisoformat(contest.arena.client.get(path).json()["reveal_at"]) == known_end
    contest.move_phases(reidentification=(-1, -0.5))
    competitions = contest.arena.client.get("/api/v1/competitions").json()
    assert [datetime.fromisoformat(entry["reveal_at"]) for entry in competitions] == [known_end]
    contest.move_phases(reidentification=(-1, 200))
    description = contest.arena.client.get(path).json()  # a later end counts even before it is observed
    assert description["reveal_at"] == description["phases"][-1]["end"]
    execute(delete(ObservedDeadline))
    assert contest.arena.client.get(path).json()["reveal_at"] is None


def moment_at(hour: float) -> datetime:
    return START + timedelta(hours=hour)


def observe(observed_hour: float, end: float, *, notice: int = 24, free: bool = False) -> ObservedDeadline:
    return ObservedDeadline(
        ends_at=moment_at(end),
        notice_hours=notice,
        observed_at=moment_at(observed_hour),
        before_submissions=free,
    )


def is_foreseeable(moment: datetime, history: list[ObservedDeadline]) -> bool:
    """Return whether readers of all observed deadlines had to expect a reveal at ``moment``.

    They had to if some deadline was announced early enough and neither it nor any deadline observed since
    is after ``moment``.
    """
    for position, observation in enumerate(history):
        earlier = history[: position + 1]
        start = max((i for i, entry in enumerate(earlier) if entry.before_submissions), default=0)
        notice = max(entry.notice for entry in earlier[start:])
        known_since = (
            observation.observed_at if observation.before_submissions else observation.observed_at + notice
        )
        if known_since <= moment and all(
            later_observation.ends_at <= moment for later_observation in history[position:]
        ):
            return True
    return False


def find_first_foreseeable_moment(end: datetime, history: list[ObservedDeadline]) -> datetime:
    """Return the first possible moment by trying every whole hour, since all moments here are whole hours."""
    return next(
        moment_at(hour)
        for hour in range(400)
        if moment_at(hour) >= end and is_foreseeable(moment_at(hour), history)
    )


@pytest.mark.parametrize("seed", range(40))
def test_secrets_are_revealed_at_the_first_foreseeable_moment(seed: int) -> None:
    rng = Random(seed)
    for _ in range(50):
        hours = sorted(rng.sample(range(100), rng.randint(1, 7)))
        free_count = rng.choice([0, 1, 1, 2, 3])
        history = [
            observe(
                hour, rng.randint(0, 150), notice=rng.choice([0, 1, 5, 24, 48]), free=position < free_count
            )
            for position, hour in enumerate(hours)
        ]
        end = moment_at(rng.randint(0, 150)) if rng.random() < 0.5 else history[-1].ends_at
        shuffled_history = rng.sample(history, len(history))
        # The reader has seen the whole history, so a moment before its last entry means "at once".
        asked_at, revealed_at = history[-1].observed_at, compute_reveal_time(end, shuffled_history)
        assert revealed_at is not None
        assert max(asked_at, revealed_at) == max(asked_at, find_first_foreseeable_moment(end, history))


def test_nothing_is_revealed_without_an_observed_deadline() -> None:
    assert compute_reveal_time(moment_at(0), []) is None


FREE = observe(0, 100, free=True)


@pytest.mark.parametrize(
    ("history", "end", "reveal"),
    [
        ([FREE], 100, 100),
        # A later deadline counts at once, whether it has been observed or not.
        ([FREE, observe(99, 110)], 110, 110),
        ([FREE], 110, 110),
        # An earlier deadline counts after the notice, and never reveals later than the previous one did.
        ([FREE, observe(50, 51)], 51, 74),
        ([FREE, observe(90, 91)], 91, 100),
        ([FREE, observe(50, 80)], 80, 80),
        # An earlier deadline that has not been observed yet has no effect.
        ([FREE], 51, 100),
        # A phase that was extended and cut back to its former end counts as shortened.
        ([FREE, observe(20, 300), observe(99, 100)], 100, 123),
        # A notice period removed in the same change, or before it, still applies.
        ([FREE, observe(50, 51, notice=0)], 51, 74),
        ([FREE, observe(10, 100, notice=0), observe(50, 51, notice=0)], 51, 74),
        # Before the first submission everything may be changed freely.
        ([FREE, observe(1, 10, notice=0, free=True), observe(2, 3, notice=0)], 3, 3),
        # A contest with submissions before its first observed deadline waits for the notice.
        ([observe(50, 51)], 51, 74),
        ([observe(50, 90)], 90, 90),
        # Moving the deadline back and forth does not bring the reveal forward.
        ([FREE, observe(50, 51), observe(60, 99), observe(61, 62)], 62, 85),
    ],
)
def test_reveal_times_of_worked_examples(history: list[ObservedDeadline], end: float, reveal: float) -> None:
    assert compute_reveal_time(moment_at(end), history) == moment_at(reveal)


def test_reveal_time_is_computed_in_linear_time() -> None:
    """Linear time: an organizer who moves the deadline every second does not slow the clock down."""
    history = [observe(number / 3600, 1000 + number % 2) for number in range(20_000)]
    assert compute_reveal_time(moment_at(1000), history) == moment_at(1001)
