"""Forms for actions that need step-up authentication ask for the password."""

from collections.abc import Callable
from html import unescape

import pytest
from sqlalchemy import update

from anoncup.schemas.fields import Role
from app.core.db.models import User
from app.core.db.transaction import transaction
from app.core.identity.password_hashes import UNUSABLE_HASH
from tests.support.contest import Contest
from tests.support.database_rows import load_team_id
from tests.support.organizer_pages import format_future_time
from tests.support.page_requests import get_page, post_form
from tests.support.step_up import (
    PROBLEM_MESSAGES,
    PasswordForm,
    read_state,
    request_disqualification,
    request_organizer,
    request_organizer_removal,
    request_reinstatement,
    request_rule_change,
)
from tests.support.translations import translate_problem

pytestmark = [pytest.mark.full, pytest.mark.contest(teams=("red",))]


def build_disqualification_form(contest: Contest) -> PasswordForm:
    path = f"{contest.path}/organize/teams/{load_team_id('red')}"
    return path, f"{path}/disqualify", {"reason": "x"}


def build_removal_form(contest: Contest) -> PasswordForm:
    _, path, _ = request_organizer_removal(contest)
    page_path = f"{contest.path}/organize/teams"
    return page_path, f"{page_path}/organizers/{path.rpartition('/')[2]}/remove", {}


def build_rescore_form(contest: Contest) -> PasswordForm:
    _, path, _ = request_rule_change(contest)
    path = f"{contest.path}/organize{path}"
    return path.removesuffix("/apply"), path, {}


def build_organizer_form(contest: Contest) -> PasswordForm:
    _, _, content = request_organizer(contest)
    page_path = f"{contest.path}/organize/teams"
    return page_path, f"{page_path}/organizers", content["json"]


def build_password_link_form(contest: Contest) -> PasswordForm:
    user_id = contest.arena.get("/me", team="red").json()["user_id"]
    page_path = f"{contest.path}/organize/teams/{load_team_id('red')}"
    return page_path, f"{page_path}/members/{user_id}/password-link", {}


def build_move_form(contest: Contest) -> PasswordForm:
    """Return the form that moves a person from one team without submissions to another."""
    user_id = contest.arena.get("/me", team="green").json()["user_id"]
    contest.arena.get_team_token("blue")
    page_path = f"{contest.path}/organize/teams/{load_team_id('green')}"
    return page_path, f"{page_path}/members/{user_id}/move", {"to": str(load_team_id("blue"))}


def build_person_form(contest: Contest) -> PasswordForm:
    """Make the organizer an administrator, and return the form that creates an account."""
    with transaction() as session:
        session.execute(update(User).values(role=Role.ADMINISTRATOR))
    return "/people", "/people", {"name": "Thief", "role": "administrator"}


def build_role_form(contest: Contest) -> PasswordForm:
    build_person_form(contest)
    user_id = contest.arena.get("/me", team="red").json()["user_id"]
    return "/people", f"/people/{user_id}/role", {"new_role": "organizer"}


def build_closing_form(contest: Contest) -> PasswordForm:
    request_organizer_removal(contest)  # adds a second organizer
    return "/account", "/account/close", {}


def build_token_form(_: Contest) -> PasswordForm:
    return "/account", "/account/tokens", {"name": "mine", "scopes": "organize", "days": "365"}


def build_reinstate_form(contest: Contest) -> PasswordForm:
    """Return the form that reinstates a disqualified team once there are targets."""
    request_reinstatement(contest, request_disqualification(contest))
    contest.open_attacks()
    path = f"{contest.path}/organize/teams/{load_team_id('red')}"
    return path, f"{path}/reinstate", {"reason": "cousins"}


def build_extension_form(contest: Contest) -> PasswordForm:
    path = f"{contest.path}/organize/phases"
    return path, f"{path}/anonymization/extend", {"end": format_future_time(0.5)}


@pytest.mark.parametrize(
    "build_form",
    [
        build_disqualification_form,
        build_removal_form,
        build_rescore_form,
        build_organizer_form,
        build_password_link_form,
        build_token_form,
        build_move_form,
        build_person_form,
        build_role_form,
        build_closing_form,
        build_reinstate_form,
        build_extension_form,
    ],
    ids=lambda builder: builder.__name__,
)
def test_forms_that_need_step_up_authentication_ask_for_the_password(
    contest: Contest, build_form: Callable[[Contest], PasswordForm]
) -> None:
    page_path, path, fields = build_form(contest)
    html = get_page(contest.arena, page_path, organizer=True).text
    assert 'name="password" type="password"' in html.split(f'action="{path}"')[1].split("</form>")[0]
    state_before = read_state()
    for password, status, language in (("", 403, "en"), ("wrong", 422, "ja")):
        values = fields | {"password": password}
        response = post_form(contest.arena, path, values, organizer=True, language=language)
        assert (response.status_code, read_state()) == (status, state_before)
        assert translate_problem(PROBLEM_MESSAGES[status], language) in unescape(response.text)
        assert 'value="wrong"' not in response.text
        assert all(f'value="{typed}"' in response.text for typed in fields.values())
    assert post_form(contest.arena, path, fields, organizer=True).status_code in {200, 201, 303}
    assert read_state() != state_before


def test_form_of_an_organizer_without_a_password_keeps_its_values(contest: Contest) -> None:
    """Somebody who signs in with a provider signs in again in a new tab, and sends the form once more."""
    _, path, fields = build_disqualification_form(contest)
    with transaction() as session:
        session.execute(update(User).values(password_hash=UNUSABLE_HASH))
    response = post_form(contest.arena, path, fields | {"password": ""}, organizer=True)
    assert (response.status_code, 'value="x"' in response.text) == (403, True)
