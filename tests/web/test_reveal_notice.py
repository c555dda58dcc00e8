"""Pages say when a reveal waits for its notice, and what the service has announced itself."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete

from app.db.models import WitnessedEnd
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from app.web.site.language import words_in
from tests.support.contest import Contest, competition_id, competition_row, turn
from tests.support.organizer_pages import extension, read
from tests.web.reader import page
from tests.web.spoken import said

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient) -> Contest:
    """In its second phase, whose end is five days ahead and has been witnessed."""
    made = Contest.opened(client, notice=24)
    made.move(anonymization=(-3, 1), reidentification=(2, 120))
    turn()
    made.submit("red")
    made.move(anonymization=(-3, -2), reidentification=(-1, 120))
    turn()
    return made


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_reveal_that_waits_is_on_the_first_page_and_on_the_organizers(
    contest: Contest, language: str
) -> None:
    waits, of_organizers = (
        said(
            "The end was brought forward. So that nobody is taken by surprise, the scores and the secrets are held back until:",
            language,
        ),
        said(
            "The end was brought forward: this waits until the notice period is over. Until then the end can still be moved.",
            language,
        ),
    )
    assert waits not in page(contest.arena, contest.path, language=language).text
    assert of_organizers not in read(contest.arena, "/phases", language=language)
    contest.move(reidentification=(-1, -0.5))
    turn()
    assert waits in page(contest.arena, contest.path, language=language).text
    assert of_organizers in read(contest.arena, "/phases", language=language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_preview_of_a_nearer_end_says_what_waits(contest: Contest, language: str) -> None:
    waits, told = (
        said(
            "The secrets and the hidden scores stay hidden until {hours} h after this change was announced, or until the present end if that is earlier.",
            language,
            hours=24,
        ),
        said("The new end of the last phase is announced to the teams at once.", language),
    )
    nearer = read(contest.arena, extension(1).replace("anonymization", "reidentification"), language=language)
    assert (waits in nearer, told in nearer) == (True, True)
    later = read(contest.arena, extension(9).replace("anonymization", "reidentification"), language=language)
    assert (waits in later, told in later) == (False, True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_end_that_nobody_has_signed_and_rows_without_a_signature_are_told_to_organizers(
    contest: Contest, language: str
) -> None:
    assert said(
        "The clock process has not signed this end yet; nothing is revealed until it has. If this does not change, see the log of the clock process.",
        language,
    ) not in read(contest.arena, "/phases", language=language)
    with transaction() as session:
        session.execute(delete(WitnessedEnd))
    assert said(
        "The clock process has not signed this end yet; nothing is revealed until it has. If this does not change, see the log of the clock process.",
        language,
    ) in read(contest.arena, "/phases", language=language)
    forged = WitnessedEnd(competition_id=competition_id(), phase="reidentification", notice_hours=0)
    forged.free, forged.signature = True, b""
    forged.ends_at = forged.witnessed_at = competition_row().created_at
    with transaction() as session:
        session.add(forged)
    turn()
    assert words_in(language).ngettext(
        "{n} recorded end was not signed with the service’s key and is ignored. See end.unsigned in the audit log, and tell the administrator.",
        "{n} recorded ends were not signed with the service’s key and are ignored. See end.unsigned in the audit log, and tell the administrator.",
        1,
    ) in read(contest.arena, "/phases", language=language)


def test_what_the_service_announced_has_no_button_to_withdraw_it(contest: Contest) -> None:
    contest.move(reidentification=(-1, 100))
    turn()
    shown = read(contest.arena, "/announcements")
    assert said("Announced by the service itself.") in shown
    assert "/withdraw" not in shown
