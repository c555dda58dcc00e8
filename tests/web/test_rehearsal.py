"""The rehearsal's page, and what every page of a rehearsal says of itself."""

from html import unescape

import pytest
from fastapi.testclient import TestClient

from app.locale.language import LANGUAGES
from tests.support.arena import PASSWORD, competition_file
from tests.support.contest import Contest
from tests.support.rehearsal import Rehearsed
from tests.support.setup_pages import BASICS
from tests.web.reader import page, send
from tests.web.spoken import said

pytestmark = pytest.mark.full

DESK = "/competitions/small/organize"
OF_IT = ("", "/rules", "/boards/anonymization", "/organize", "/organize/phases", "/organize/rehearsal")


FOR_STRANGERS = ("announcements.atom", "calendar.ics", "/embed", "picture.png")


@pytest.fixture
def contest(client: TestClient) -> Contest:
    return Contest.opened(client)


def read(contest: Contest, path: str, language: str = "en") -> str:
    answer = page(contest.arena, path, organizer=True, language=language)
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_organizer_begins_a_rehearsal_looks_at_it_and_ends_it(contest: Contest, language: str) -> None:
    arena = contest.arena
    assert f'href="{DESK}/rehearsal"' in read(contest, DESK)
    assert said("Begin the rehearsal", language) in read(contest, f"{DESK}/rehearsal", language)
    begun = send(arena, f"{DESK}/rehearsal", organizer=True)
    assert begun.status_code == 303
    assert begun.headers["location"].startswith("/competitions/small-rehearsal/organize/rehearsal")
    again = send(arena, f"{DESK}/rehearsal", organizer=True)
    assert again.status_code == 409
    shown = read(contest, f"{DESK}/rehearsal", language)
    assert said("rehearsed_scores", language) in shown
    assert 'href="/competitions/small-rehearsal"' in shown
    assert send(arena, f"{DESK}/rehearsal/end", organizer=True).status_code == 403
    ended = send(arena, f"{DESK}/rehearsal/end", {"password": PASSWORD}, organizer=True)
    assert ended.status_code == 303
    assert said("Begin the rehearsal", language) in read(contest, f"{DESK}/rehearsal", language)
    assert page(arena, "/competitions/small-rehearsal", organizer=True).status_code == 404


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_of_a_rehearsal_says_whose_it_is_and_what_comes_next(
    contest: Contest, language: str
) -> None:
    Rehearsed.begun(contest.arena)
    title = {"en": "Small cup", "ja": "小さな杯"}[language]
    for path in OF_IT:
        shown = read(contest, f"/competitions/small-rehearsal{path}", language)
        assert said("This is a rehearsal of {title}.", language, title=title) in shown, path
        assert said("rehearsal_anonymization", language) in shown, path
        assert f'href="{DESK}"' in shown
        assert not any(name in shown for name in FOR_STRANGERS), path
        assert said("This is a rehearsal of {title}.", language, title=title) not in read(
            contest, f"/competitions/small{path}", language
        )


def test_what_could_not_be_done_is_told_with_its_reason(contest: Contest) -> None:
    cup = Rehearsed.begun(contest.arena)
    (team, *_) = contest.arena.get(f"/competitions/{cup.slug}/teams").json()
    first = f"/competitions/{cup.slug}/teams/{team['id']}/disqualify"
    assert contest.arena.post(first, json={"reason": "to see"}).status_code == 200
    cup.release()
    shown = read(contest, f"/competitions/{cup.slug}/organize/rehearsal")
    assert said("your team has been disqualified") in shown
    assert team["name"] in shown


def test_where_a_rehearsal_cannot_be_the_page_says_why(contest: Contest) -> None:
    contest.arena.post("/competitions", content=competition_file("bare"))
    shown = read(contest, "/competitions/bare/organize/rehearsal")
    assert "competition has no original data yet" in shown
    assert said("Begin the rehearsal") not in shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_makes_a_competition_of_a_name_for_rehearsals_is_told_which_these_are(
    contest: Contest, language: str
) -> None:
    fields = BASICS | {"slug": "my-rehearsal"}
    answer = send(contest.arena, "/organize/new", fields, organizer=True, language=language)
    assert answer.status_code == 422
    assert said("wrong_slug_reserved", language) in unescape(answer.text)
