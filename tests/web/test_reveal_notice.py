"""Pages show that a reveal waits for its notice period, and announcements by the service."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete

from app.db.models import ObservedDeadline
from app.db.transaction import transaction
from app.locale.language import LANGUAGES, load_translator
from tests.support.contest import Contest, load_competition, load_round_id, run_clock
from tests.support.organizer_pages import build_extension_path, get_page_text
from tests.support.page_requests import get_page
from tests.support.translations import translate

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient) -> Contest:
    """Return a contest in its second phase, whose signed end is five days ahead."""
    new_contest = Contest.create(client, notice_hours=24)
    new_contest.move_phases(anonymization=(-3, 1), reidentification=(2, 120))
    run_clock()
    new_contest.submit("red")
    new_contest.move_phases(anonymization=(-3, -2), reidentification=(-1, 120))
    run_clock()
    return new_contest


@pytest.mark.parametrize("language", LANGUAGES)
def test_waiting_reveal_is_shown_to_visitors_and_organizers(contest: Contest, language: str) -> None:
    visitor_note = translate(
        "The end was brought forward. So that nobody is taken by surprise, the scores and the secrets are held back until:",
        language,
    )
    organizer_note = translate(
        "The end was brought forward: this waits until the notice period is over. Until then the end can still be moved.",
        language,
    )
    assert visitor_note not in get_page(contest.arena, contest.path, language=language).text
    assert organizer_note not in get_page_text(contest.arena, "/phases", language=language)
    contest.move_phases(reidentification=(-1, -0.5))
    run_clock()
    assert visitor_note in get_page(contest.arena, contest.path, language=language).text
    assert organizer_note in get_page_text(contest.arena, "/phases", language=language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_preview_of_an_earlier_end_shows_the_notice(contest: Contest, language: str) -> None:
    waiting_note = translate(
        "The secrets and the hidden scores stay hidden until {hours} h after this change was announced, or until the present end if that is earlier.",
        language,
        hours=24,
    )
    announcement_note = translate(
        "The new end of the last phase is announced to the teams at once.", language
    )
    earlier_end = get_page_text(
        contest.arena, build_extension_path(1).replace("anonymization", "reidentification"), language=language
    )
    assert (waiting_note in earlier_end, announcement_note in earlier_end) == (True, True)
    later_end = get_page_text(
        contest.arena, build_extension_path(9).replace("anonymization", "reidentification"), language=language
    )
    assert (waiting_note in later_end, announcement_note in later_end) == (False, True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_organizers_are_warned_of_unsigned_ends(contest: Contest, language: str) -> None:
    assert translate(
        "The clock process has not signed this end yet; nothing is revealed until it has. If this does not change, see the log of the clock process.",
        language,
    ) not in get_page_text(contest.arena, "/phases", language=language)
    with transaction() as session:
        session.execute(delete(ObservedDeadline))
    assert translate(
        "The clock process has not signed this end yet; nothing is revealed until it has. If this does not change, see the log of the clock process.",
        language,
    ) in get_page_text(contest.arena, "/phases", language=language)
    forged = ObservedDeadline(round_id=load_round_id(), phase="reidentification", notice_hours=0)
    forged.before_submissions, forged.signature = True, b""
    forged.ends_at = forged.observed_at = load_competition().created_at
    with transaction() as session:
        session.add(forged)
    run_clock()
    assert load_translator(language).ngettext(
        "{n} recorded end was not signed with the service’s key and is ignored. See end.unsigned in the audit log, and tell the administrator.",
        "{n} recorded ends were not signed with the service’s key and are ignored. See end.unsigned in the audit log, and tell the administrator.",
        1,
    ) in get_page_text(contest.arena, "/phases", language=language)


def test_announcement_of_the_service_cannot_be_withdrawn(contest: Contest) -> None:
    contest.move_phases(reidentification=(-1, 100))
    run_clock()
    html = get_page_text(contest.arena, "/announcements")
    assert translate("Announced by the service itself.") in html
    assert "/withdraw" not in html
