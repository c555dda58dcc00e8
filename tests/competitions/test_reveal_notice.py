"""An end that moves nearer is announced, and delays the reveal until the notice has run."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, update

from anoncup.competition.parser import parse_competition
from anoncup.rules.settings import Phase
from anoncup.rules.timetable import replace_phases
from app.announcements import announcements
from app.core.db.models import Announcement, Competition, Opening, Round
from app.core.db.transaction import transaction
from tests.support.contest import Contest, load_competition, load_round, run_clock
from tests.support.database_rows import execute, load_all
from tests.support.organizer_pages import get_page_text
from tests.support.page_requests import get_page
from tests.support.phase_changes import list_audit_actions
from tests.support.translations import translate

pytestmark = pytest.mark.full

REVEAL_NOTICE = timedelta(hours=24)


def hours_from_now(hours: float) -> datetime:
    return datetime.now(UTC) + timedelta(hours=hours)


@pytest.fixture
def contest(client: TestClient) -> Contest:
    """A contest in its second phase, which ends in three hours."""
    opened_contest = Contest.create(client, notice_hours=24)
    opened_contest.move_phases(anonymization=(-3, 1), reidentification=(2, 2.5))
    opened_contest.submit("red")
    opened_contest.move_phases(anonymization=(-3, -2), reidentification=(-1, 3))
    run_clock()
    assert opened_contest.get_state() == "reidentification"
    return opened_contest


def get_last_phase() -> Phase:
    return parse_competition(load_competition().file).phases[-1]


def move_end(contest: Contest, hours: float) -> None:
    path = f"{contest.path}/phases/reidentification/extend"
    response = contest.post_as_organizer(path, end=hours_from_now(hours).isoformat())
    assert response.status_code == 200, response.text


def move_end_by_file(contest: Contest, hours: float) -> None:
    file = load_competition().file
    *earlier, last = parse_competition(file).phases
    moved = Phase(last.name, last.start, hours_from_now(hours))
    response = contest.arena.call(
        "PUT", f"{contest.path}/competition.toml", content=replace_phases(file, [*earlier, moved])
    )
    assert response.status_code == 200, response.text


def list_announcements() -> list[dict[str, str]]:
    return [announcements.translate(row) for row in load_all(select(Announcement).order_by(Announcement.at))]


def count_openings() -> int:
    with transaction() as session:
        return session.scalars(select(func.count()).select_from(Opening)).one()


def pass_end() -> None:
    """Let the last phase end, without an act of the organizers."""
    file = load_competition().file
    *earlier, last = parse_competition(file).phases
    ended = Phase(last.name, last.start, hours_from_now(-0.5))
    execute(update(Competition).values(file=replace_phases(file, [*earlier, ended])))


@pytest.mark.parametrize("move", [move_end, move_end_by_file])
def test_nearer_end_delays_the_reveal_until_the_notice_has_run(
    contest: Contest, move: Callable[[Contest, float], None]
) -> None:
    earliest = hours_from_now(0) + REVEAL_NOTICE
    move(contest, 1)
    not_before = load_round().reveal_not_before
    assert not_before is not None
    assert earliest <= not_before <= hours_from_now(0) + REVEAL_NOTICE
    pass_end()
    run_clock()
    row = load_round()
    assert (contest.get_state(), row.closed_at, count_openings()) == ("settling", None, 0)
    execute(update(Round).values(reveal_not_before=hours_from_now(-0.1)))
    run_clock()
    assert load_round().revealed_at is not None
    assert count_openings() == 1
    assert "secrets.reveal" in list_audit_actions()


def test_closed_round_keeps_its_secrets_while_the_notice_runs(contest: Contest) -> None:
    move_end(contest, 1)
    pass_end()
    execute(update(Round).values(closed_at=func.clock_timestamp()))
    run_clock()
    assert (count_openings(), load_round().revealed_at) == (0, None)


def test_later_end_needs_no_notice_and_ends_none(contest: Contest) -> None:
    move_end(contest, 100)
    assert load_round().reveal_not_before is None
    assert list_announcements() == []
    move_end(contest, 50)
    not_before = load_round().reveal_not_before
    move_end(contest, 60)
    assert load_round().reveal_not_before == not_before


def test_notice_is_not_shortened_by_another_move(contest: Contest) -> None:
    move_end(contest, 2)
    long_notice = hours_from_now(48)
    execute(update(Round).values(reveal_not_before=long_notice))
    move_end(contest, 1)
    assert load_round().reveal_not_before == long_notice


def test_contest_without_submissions_is_not_delayed_and_without_teams_nothing_is_announced(
    client: TestClient,
) -> None:
    contest = Contest.create(client, notice_hours=24)
    contest.move_phases(anonymization=(-3, 1), reidentification=(2, 10))
    move_end(contest, 5)
    assert load_round().reveal_not_before is None
    assert list_announcements() == []
    contest.arena.get_team_token("red")
    move_end(contest, 4)
    assert len(list_announcements()) == 1


def test_teams_are_told_of_a_nearer_end_in_both_languages(contest: Contest) -> None:
    before, zone = get_last_phase().end, ZoneInfo("Asia/Tokyo")
    move_end(contest, 1)
    (announcement,) = list_announcements()
    reveal = load_round().reveal_not_before
    assert reveal is not None
    times = [f"{moment.astimezone(zone):%Y-%m-%d %H:%M}" for moment in (before, get_last_phase().end, reveal)]
    for language in ("en", "ja"):
        assert all(text in announcement[language] for text in (*times, "Asia/Tokyo"))
    (entry,) = contest.arena.get(f"{contest.path}/announcements").json()
    assert (entry["code"], set(entry["values"])) == ("end_moved", {"before", "end", "reveal", "zone"})
    response = contest.arena.call("DELETE", f"/announcements/{entry['id']}")
    assert (response.status_code, response.json()["code"]) == (409, "service_announcement")
    for reader, other in (("en", "ja"), ("ja", "en")):
        html = get_page(contest.arena, contest.path, language=reader).text
        assert (announcement[reader] in html, announcement[other] in html) == (True, False)
    html = get_page_text(contest.arena, "/announcements")
    assert translate("Announced by the service itself.") in html
    assert "/withdraw" not in html


def test_each_nearer_end_is_announced(client: TestClient) -> None:
    contest = Contest.create(client, notice_hours=24)
    contest.move_phases(anonymization=(-3, 30), reidentification=(40, 50))
    contest.submit("red", score=False)
    path = f"{contest.path}/phases/anonymization/extend"
    contest.post_as_organizer(path, end=hours_from_now(20).isoformat(), move_following=True)
    first, second = list_announcements()
    assert "anonymization phase ends earlier" in first["en"]
    assert "re-identification phase ends earlier" in second["en"]


def test_ends_that_move_before_the_start_are_not_announced(client: TestClient) -> None:
    contest = Contest.create(client)
    contest.move_phases(anonymization=(1, 2), reidentification=(3, 5))
    move_end(contest, 4)
    assert list_announcements() == []


def test_answers_and_pages_tell_the_time_of_a_waiting_reveal(contest: Contest) -> None:
    def read_reveal_time() -> datetime:
        (entry,) = contest.arena.client.get("/api/v1/competitions").json()
        description = contest.arena.client.get(f"/api/v1{contest.path}").json()
        assert entry["reveal_at"] == description["reveal_at"]
        return datetime.fromisoformat(description["reveal_at"])

    assert read_reveal_time() == get_last_phase().end
    move_end(contest, 1)
    assert read_reveal_time() == load_round().reveal_not_before
    held_back = "the secrets are held back until:"
    assert held_back in get_page(contest.arena, contest.path).text
    pass_end()
    assert translate("duty_notice") in get_page_text(contest.arena)
    contest.move_phases(reidentification=(-1, 3))
    move_end(contest, 200)
    assert read_reveal_time() == get_last_phase().end
    assert held_back not in get_page(contest.arena, contest.path).text
