"""Pages show that a reveal waits for its notice period, and announcements by the service."""

from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from app.core.db.models import Round
from app.core.db.transaction import transaction
from tests.support.contest import Contest, run_clock
from tests.support.organizer_pages import get_page_text
from tests.support.page_requests import get_page
from tests.support.translations import translate

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient) -> Contest:
    """Return a contest in its second phase, whose end is five days ahead."""
    new_contest = Contest.create(client, notice_hours=24)
    new_contest.move_phases(anonymization=(-3, 1), reidentification=(2, 120))
    run_clock()
    new_contest.submit("red")
    new_contest.move_phases(anonymization=(-3, -2), reidentification=(-1, 120))
    run_clock()
    return new_contest


def end_earlier(contest: Contest) -> None:
    """Move the end nearer, and let it pass while the notice runs."""
    end = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    contest.post_as_organizer(f"{contest.path}/phases/reidentification/extend", end=end)
    contest.move_phases(reidentification=(-1, -0.5))
    run_clock()


@pytest.mark.parametrize("reason", ["releases", "targets", "guesses"])
def test_pages_say_what_is_waited_for(contest: Contest, reason: str) -> None:
    contest.move_phases(reidentification=(-1, -0.5))
    with transaction() as session:
        round_ = session.scalars(select(Round)).one()
        round_.published_at = None if reason == "targets" else round_.published_at
        round_.frozen_at = None if reason == "releases" else round_.frozen_at
    assert translate(f"waits_{reason}") in get_page(contest.arena, contest.path, team="red").text
    assert (translate("duty_preparing") in get_page_text(contest.arena)) is (reason == "targets")


def test_announcement_of_the_service_cannot_be_withdrawn(contest: Contest) -> None:
    end_earlier(contest)
    html = get_page_text(contest.arena, "/announcements")
    assert translate("Announced by the service itself.") in html
    assert "/withdraw" not in html


def test_waiting_reveal_is_shown_to_visitors_and_organizers(contest: Contest) -> None:
    for is_waiting in (False, True):
        overview = get_page(contest.arena, contest.path).text
        assert ("the scores and the secrets are held back until:" in overview) is is_waiting
        assert (translate("duty_notice") in get_page_text(contest.arena)) is is_waiting
        end_earlier(contest)
