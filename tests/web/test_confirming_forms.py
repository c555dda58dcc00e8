"""The pages' forms of what a session alone must not do ask for the password."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select

from anoncup.competition.parser import parse_competition
from anoncup.competition.writer import with_publication
from app.db.models import Competition, Team
from app.db.transaction import transaction
from app.http.authentication import COOKIE
from tests.support.arena import API
from tests.support.confirmation_forms import refusals
from tests.support.contest import Contest, competition_row
from tests.support.step_up import (
    SAID,
    Act,
    Form,
    back,
    contest,
    organizer_in,
    organizer_out,
    other_rules,
    state,
    team_out,
)
from tests.web.reader import SAME_ORIGIN, page, send
from tests.web.spoken import refused as refused_in_words

pytestmark = pytest.mark.full

__all__ = ["contest"]


def test_the_forms_of_the_organizers_ask_for_it(contest: Contest) -> None:
    with transaction() as session:
        team = session.scalars(select(Team.id)).one()
    path = f"{contest.path}/organize/teams/{team}/disqualify"
    form = page(contest.arena, path, organizer=True).text
    assert 'name="password" type="password" required' in form
    before = state()
    for password, status in (("", 403), ("wrong", 422)):
        answer = send(contest.arena, path, {"reason": "x", "password": password}, organizer=True)
        assert answer.status_code == status
        assert 'name="password" type="password" required' in answer.text
    assert state() == before
    assert send(contest.arena, path, {"reason": "x"}, organizer=True).status_code == 303
    assert state() != before


@pytest.mark.parametrize("made", [organizer_out, other_rules], ids=lambda one: one.__name__)
def test_so_do_the_forms_of_a_re_score_set_and_of_the_organizers(
    contest: Contest, made: Callable[[Contest], Act]
) -> None:
    _, path, _ = made(contest)
    if made is other_rules:
        path = f"{contest.path}/organize{path}"
        shown = page(contest.arena, path.removesuffix("/apply"), organizer=True).text
    else:
        path = path.replace("/organizers/", "/organize/teams/organizers/") + "/remove"
        shown = page(contest.arena, f"{contest.path}/organize/teams", organizer=True).text
    form = shown.split(f'action="{path}"')[1].split("</form>")[0]
    assert 'name="password" type="password" required' in form
    before = state()
    for password, status, language in (("", 403, "en"), ("wrong", 422, "ja")):
        sent = {"password": password}
        answer = send(contest.arena, path, sent, organizer=True, language=language)
        assert answer.status_code == status
        assert refused_in_words(SAID[status], language) in unescape(answer.text)
        assert state() == before
    assert send(contest.arena, path, organizer=True).status_code == 303
    assert state() != before


def organizer_form(contest: Contest) -> Form:
    _, _, content = organizer_in(contest)
    shown = f"{contest.path}/organize/teams"
    return shown, f"{shown}/organizers", content["json"]


def link_form(contest: Contest) -> Form:
    person = contest.arena.get("/me", token=contest.arena.team("red")).json()["user_id"]
    with transaction() as session:
        shown = f"{contest.path}/organize/teams/{session.scalars(select(Team.id)).one()}"
    return shown, f"{shown}/members/{person}/password-link", {}


def token_form(_: Contest) -> Form:
    return "/account", "/account/tokens", {"name": "mine", "scopes": "organize", "days": "365"}


def back_form(contest: Contest) -> Form:
    """Of a team that was disqualified, once there are targets."""
    back(contest, team_out(contest))
    contest.attack()
    with transaction() as session:
        path = f"{contest.path}/organize/teams/{session.scalars(select(Team.id)).one()}/reinstate"
    return path, path, {"reason": "cousins"}


@pytest.mark.parametrize(
    "made", [organizer_form, link_form, token_form, back_form], ids=lambda one: one.__name__
)
def test_so_do_the_forms_that_open_a_way_in_or_tell_owners(
    contest: Contest, made: Callable[[Contest], Form]
) -> None:
    form = made(contest)
    for told, text in refusals(contest, form, field='name="password" type="password" required'):
        assert told in unescape(text)
        assert all(f'value="{typed}"' in text for typed in form[2].values())


def test_a_token_alone_makes_no_further_token_anywhere(contest: Contest) -> None:
    """It opens pages, too, where the form asks for the password; as a cookie it opens nothing."""
    token = contest.arena.organizer
    before = state()
    bearer, cookie = {"Authorization": f"Bearer {token}"}, {"Cookie": f"{COOKIE}={token}"}
    for headers, status in ((bearer, 403), (cookie, 303)):
        sent = headers | SAME_ORIGIN
        fields = {"name": "mine", "scopes": "read"}
        answer = contest.arena.client.post(
            "/account/tokens", data=fields, headers=sent, follow_redirects=False
        )
        assert answer.status_code == status
    assert contest.arena.client.post(f"{API}/tokens", headers=bearer, json={"name": "x"}).status_code == 422
    assert state() == before


def sooner_ends() -> dict[str, str]:
    return dates("UTC", timedelta(hours=-1))


def other_midnight() -> dict[str, str]:
    with transaction() as session:
        row = session.scalars(select(Competition)).one()
        found = parse_competition(row.file)
        daily = replace(found.publication, feedback="daily")
        row.file = with_publication(row.file, daily, found.ranking, found.limits)
    return dates("Pacific/Kiritimati", timedelta())


def dates(zone: str, later: timedelta) -> dict[str, str]:
    """What the form of the dates sends for the present ones in ``zone``, the ends moved."""
    windows = {
        f"{phase.name}_{which}": f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%dT%H:%M}"
        for phase in parse_competition(competition_row().file).phases
        for which, moment in (("start", phase.start), ("end", phase.end + later))
    }
    return {"title_en": "Small cup", "zone": zone, **windows}


@pytest.mark.parametrize("made", [sooner_ends, other_midnight], ids=lambda one: one.__name__)
@pytest.mark.parametrize("password", ["", "wrong"])
def test_the_form_of_the_dates_asks_for_it_once_the_contest_has_begun(
    contest: Contest, password: str, made: Callable[[], dict[str, str]]
) -> None:
    path = f"{contest.path}/organize/basics"
    fields = made()
    assert 'name="password"' in page(contest.arena, path, organizer=True).text
    before = state()
    answer = send(contest.arena, path, fields | {"password": password}, organizer=True)
    assert (answer.status_code, state()) == (422 if password else 403, before)
    assert send(contest.arena, path, fields, organizer=True).status_code == 303


def test_the_form_of_a_nearer_end_asks_for_it_and_that_of_a_later_one_does_not(contest: Contest) -> None:
    path = f"{contest.path}/organize/phases/anonymization/extend"
    for days, asks in ((0.5, True), (1.5, False)):
        moment = (datetime.now(UTC) + timedelta(days=days, hours=9)).strftime("%Y-%m-%dT%H:%M")
        shown = page(contest.arena, f"{path}?end={moment}", organizer=True).text
        assert ('name="password"' in shown) is asks


def test_the_forms_ask_for_it_though_a_passed_start_was_moved_ahead(contest: Contest) -> None:
    contest.move(anonymization=(1, 48), reidentification=(50, 60))
    assert contest.state() == "draft"
    moment = (datetime.now(UTC) + timedelta(hours=9 + 24)).strftime("%Y-%m-%dT%H:%M")
    for path in ("basics", f"phases/anonymization/extend?end={moment}"):
        shown = page(contest.arena, f"{contest.path}/organize/{path}", organizer=True).text
        assert 'name="password"' in shown
