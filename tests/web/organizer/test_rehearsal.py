"""The organizers' page of the rehearsal, and the notice on every page of a rehearsal."""

from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import func, update

from app.db.models import Competition
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from tests.support.arena import PASSWORD, build_competition_toml
from tests.support.contest import Contest
from tests.support.page_requests import assert_refused, get_page, post_form, send_form
from tests.support.rehearsal import RehearsedContest
from tests.support.setup_pages import BASIC_FIELDS
from tests.support.translations import translate

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("rehearsal_service")]

ORGANIZE_PATH = "/competitions/small/organize"
REHEARSAL_PAGES = (
    "",
    "/rules",
    "/boards/anonymization",
    "/organize",
    "/organize/phases",
    "/organize/rehearsal",
)


PUBLIC_LINKS = ("calendar.ics",)


def read_page(contest: Contest, path: str, language: str = "en") -> str:
    response = get_page(contest.arena, path, organizer=True, language=language)
    assert response.status_code == 200, response.text
    return unescape(response.text)


def test_organizer_starts_views_and_ends_a_rehearsal(contest: Contest) -> None:
    arena, path, begin = contest.arena, f"{ORGANIZE_PATH}/rehearsal", translate("Begin the rehearsal")
    assert f'href="{path}"' in read_page(contest, ORGANIZE_PATH)
    assert begin in read_page(contest, path)
    location = send_form(arena, path, organizer=True).headers["location"]
    assert location.startswith("/competitions/small-rehearsal/organize/rehearsal")
    assert post_form(arena, path, organizer=True).status_code == 409
    html = read_page(contest, path)
    assert translate("rehearsed_scores") in html
    assert 'href="/competitions/small-rehearsal"' in html
    assert post_form(arena, f"{path}/end", organizer=True).status_code == 403
    send_form(arena, f"{path}/end", {"password": PASSWORD}, organizer=True)
    assert begin in read_page(contest, path)
    assert get_page(arena, "/competitions/small-rehearsal", organizer=True).status_code == 404


@pytest.mark.parametrize("language", LANGUAGES)
def test_rehearsal_pages_name_the_competition_and_the_next_step(contest: Contest, language: str) -> None:
    RehearsedContest.begin(contest.arena)
    title = {"en": "Small cup", "ja": "小さな杯"}[language]
    for path in REHEARSAL_PAGES:
        html = read_page(contest, f"/competitions/small-rehearsal{path}", language)
        assert translate("This is a rehearsal of {title}.", language, title=title) in html, path
        assert translate("rehearsal_anonymization", language) in html, path
        assert f'href="{ORGANIZE_PATH}"' in html
        assert not any(name in html for name in PUBLIC_LINKS), path
        assert translate("This is a rehearsal of {title}.", language, title=title) not in read_page(
            contest, f"/competitions/small{path}", language
        )


def test_failed_rehearsal_step_shows_its_reason(contest: Contest) -> None:
    rehearsal = RehearsedContest.begin(contest.arena)
    (team, *_) = contest.arena.get(f"/competitions/{rehearsal.slug}/teams").json()
    path = f"/competitions/{rehearsal.slug}/teams/{team['id']}/disqualify"
    assert contest.arena.post(path, json={"reason": "to see"}).status_code == 200
    rehearsal.run_first_phase()
    html = read_page(contest, f"/competitions/{rehearsal.slug}/organize/rehearsal")
    assert translate("your team has been disqualified") in html
    assert team["name"] in html


def test_rehearsal_with_expired_tokens_says_so(contest: Contest) -> None:
    rehearsal = RehearsedContest.begin(contest.arena)
    text, path = (
        translate(
            "Sample teams make no more moves after seven days. End the rehearsal, and begin a new one."
        ),
        f"{ORGANIZE_PATH}/rehearsal",
    )
    assert not rehearsal.get_progress()["expired"]
    assert text not in read_page(contest, path)
    with transaction() as session:
        begun_at = func.clock_timestamp() - timedelta(days=7)
        own_row = update(Competition).where(Competition.slug == rehearsal.slug)
        session.execute(own_row.values(created_at=begun_at))
    assert rehearsal.get_progress()["expired"]
    assert text in read_page(contest, path)
    rehearsal.advance_time(60)  # all phases have ended
    assert not rehearsal.get_progress()["expired"]


def test_page_explains_why_no_rehearsal_is_possible(contest: Contest) -> None:
    contest.arena.post("/competitions", content=build_competition_toml("bare"))
    html = read_page(contest, "/competitions/bare/organize/rehearsal")
    assert "competition has no original data yet" in html
    assert translate("Begin the rehearsal") not in html
    fields = BASIC_FIELDS | {"slug": "my-rehearsal"}
    response = post_form(contest.arena, "/organize/new", fields, organizer=True)
    assert_refused(response, 422, translate("wrong_slug_reserved"))
