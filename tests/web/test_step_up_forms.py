"""Forms for actions that need step-up authentication ask for the password."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select

from anoncup.competition.parser import parse_competition
from anoncup.competition.writer import replace_publication_rules
from app.db.models import Competition
from app.db.transaction import transaction
from app.http.session_cookie import COOKIE
from tests.support.arena import API
from tests.support.confirmation_forms import collect_refusals
from tests.support.contest import Contest, load_competition
from tests.support.database_rows import load_team_id
from tests.support.page_requests import SAME_ORIGIN, get_page, post_form, send_form
from tests.support.step_up import (
    PROBLEM_MESSAGES,
    ApiRequest,
    PasswordForm,
    contest,
    read_state,
    request_disqualification,
    request_organizer,
    request_organizer_removal,
    request_reinstatement,
    request_rule_change,
)
from tests.support.translations import translate_problem as refused_in_words

pytestmark = pytest.mark.full

__all__ = ["contest"]


def test_disqualification_form_asks_for_the_password(contest: Contest) -> None:
    team = load_team_id("red")
    path = f"{contest.path}/organize/teams/{team}/disqualify"
    form = get_page(contest.arena, path, organizer=True).text
    assert 'name="password" type="password" required' in form
    state_before = read_state()
    for password, status in (("", 403), ("wrong", 422)):
        response = post_form(contest.arena, path, {"reason": "x", "password": password}, organizer=True)
        assert response.status_code == status
        assert 'name="password" type="password" required' in response.text
    assert read_state() == state_before
    send_form(contest.arena, path, {"reason": "x"}, organizer=True)
    assert read_state() != state_before


@pytest.mark.parametrize(
    "build_act", [request_organizer_removal, request_rule_change], ids=lambda builder: builder.__name__
)
def test_forms_for_rescores_and_organizers_ask_for_the_password(
    contest: Contest, build_act: Callable[[Contest], ApiRequest]
) -> None:
    _, path, _ = build_act(contest)
    if build_act is request_rule_change:
        path = f"{contest.path}/organize{path}"
        html = get_page(contest.arena, path.removesuffix("/apply"), organizer=True).text
    else:
        path = path.replace("/organizers/", "/organize/teams/organizers/") + "/remove"
        html = get_page(contest.arena, f"{contest.path}/organize/teams", organizer=True).text
    form = html.split(f'action="{path}"')[1].split("</form>")[0]
    assert 'name="password" type="password" required' in form
    state_before = read_state()
    for password, status, language in (("", 403, "en"), ("wrong", 422, "ja")):
        fields = {"password": password}
        response = post_form(contest.arena, path, fields, organizer=True, language=language)
        assert response.status_code == status
        assert refused_in_words(PROBLEM_MESSAGES[status], language) in unescape(response.text)
        assert read_state() == state_before
    send_form(contest.arena, path, organizer=True)
    assert read_state() != state_before


def build_organizer_form(contest: Contest) -> PasswordForm:
    _, _, content = request_organizer(contest)
    page_path = f"{contest.path}/organize/teams"
    return page_path, f"{page_path}/organizers", content["json"]


def build_password_link_form(contest: Contest) -> PasswordForm:
    user_id = contest.arena.get("/me", team="red").json()["user_id"]
    page_path = f"{contest.path}/organize/teams/{load_team_id('red')}"
    return page_path, f"{page_path}/members/{user_id}/password-link", {}


def build_token_form(_: Contest) -> PasswordForm:
    return "/account", "/account/tokens", {"name": "mine", "scopes": "organize", "days": "365"}


def build_reinstate_form(contest: Contest) -> PasswordForm:
    """Return the form that reinstates a disqualified team once there are targets."""
    request_reinstatement(contest, request_disqualification(contest))
    contest.open_attacks()
    path = f"{contest.path}/organize/teams/{load_team_id('red')}/reinstate"
    return path, path, {"reason": "cousins"}


@pytest.mark.parametrize(
    "build_form",
    [build_organizer_form, build_password_link_form, build_token_form, build_reinstate_form],
    ids=lambda builder: builder.__name__,
)
def test_forms_that_grant_access_ask_for_the_password(
    contest: Contest, build_form: Callable[[Contest], PasswordForm]
) -> None:
    form = build_form(contest)
    for message, text in collect_refusals(contest, form, field='name="password" type="password" required'):
        assert message in unescape(text)
        assert all(f'value="{typed}"' in text for typed in form[2].values())


def test_token_alone_cannot_create_a_token(contest: Contest) -> None:
    """A bearer token opens the page, but its form asks for the password. As a cookie it opens nothing."""
    token = contest.arena.organizer_token
    state_before = read_state()
    bearer, cookie = {"Authorization": f"Bearer {token}"}, {"Cookie": f"{COOKIE}={token}"}
    for headers, status in ((bearer, 403), (cookie, 303)):
        request_headers = headers | SAME_ORIGIN
        fields = {"name": "mine", "scopes": "read"}
        response = contest.arena.client.post(
            "/account/tokens", data=fields, headers=request_headers, follow_redirects=False
        )
        assert response.status_code == status
    assert contest.arena.client.post(f"{API}/tokens", headers=bearer, json={"name": "x"}).status_code == 422
    assert read_state() == state_before


def build_earlier_end_fields() -> dict[str, str]:
    return build_dates_fields("UTC", timedelta(hours=-1))


def build_other_time_zone_fields() -> dict[str, str]:
    with transaction() as session:
        row = session.scalars(select(Competition)).one()
        competition = parse_competition(row.file)
        daily = replace(competition.publication, feedback="daily")
        row.file = replace_publication_rules(row.file, daily, competition.ranking, competition.limits)
    return build_dates_fields("Pacific/Kiritimati", timedelta())


def build_dates_fields(zone: str, shift: timedelta) -> dict[str, str]:
    """Return the fields of the dates form: the current dates in ``zone``, with the ends shifted."""
    windows = {
        f"{phase.name}_{boundary}": f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%dT%H:%M}"
        for phase in parse_competition(load_competition().file).phases
        for boundary, moment in (("start", phase.start), ("end", phase.end + shift))
    }
    return {"title_en": "Small cup", "zone": zone, **windows}


@pytest.mark.parametrize(
    "build_fields",
    [build_earlier_end_fields, build_other_time_zone_fields],
    ids=lambda builder: builder.__name__,
)
@pytest.mark.parametrize("password", ["", "wrong"])
def test_dates_form_asks_for_the_password_after_the_start(
    contest: Contest, password: str, build_fields: Callable[[], dict[str, str]]
) -> None:
    path = f"{contest.path}/organize/basics"
    fields = build_fields()
    assert 'name="password"' in get_page(contest.arena, path, organizer=True).text
    state_before = read_state()
    response = post_form(contest.arena, path, fields | {"password": password}, organizer=True)
    assert (response.status_code, read_state()) == (422 if password else 403, state_before)
    send_form(contest.arena, path, fields, organizer=True)


def test_earlier_end_needs_the_password(contest: Contest) -> None:
    path = f"{contest.path}/organize/phases/anonymization/extend"
    for days, expected in ((0.5, True), (1.5, False)):
        moment = (datetime.now(UTC) + timedelta(days=days, hours=9)).strftime("%Y-%m-%dT%H:%M")
        html = get_page(contest.arena, f"{path}?end={moment}", organizer=True).text
        assert ('name="password"' in html) is expected


def test_password_is_needed_after_a_past_start_was_moved(contest: Contest) -> None:
    contest.move_phases(anonymization=(1, 48), reidentification=(50, 60))
    assert contest.get_state() == "draft"
    moment = (datetime.now(UTC) + timedelta(hours=9 + 24)).strftime("%Y-%m-%dT%H:%M")
    for path in ("basics", f"phases/anonymization/extend?end={moment}"):
        html = get_page(contest.arena, f"{contest.path}/organize/{path}", organizer=True).text
        assert 'name="password"' in html
