"""Pages of accounts and teams: sign-up by invite, tokens, passwords and members."""

import re
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from limits import RateLimitItemPerMinute

from anoncup.schemas.fields import Role
from app.core.db.transaction import transaction
from app.core.http import throttle
from app.core.identity import tokens, users
from tests.support.accounts import (
    create_invite,
    create_team_invite,
    sign_up_member,
)
from tests.support.arena import API, PASSWORD, Arena
from tests.support.page_requests import (
    assert_refused,
    extract_text,
    get_page,
    post_form,
    send_form,
)
from tests.support.translations import translate

pytestmark = pytest.mark.full

ACCEPT_HTML = {"Accept": "text/html,application/xhtml+xml"}


def test_guesses_of_codes_are_throttled(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "ADDRESS_LIMIT", RateLimitItemPerMinute(2, 15, "throttle"))
    response = get_page(arena, "/sign-up?invite=wrong")
    assert_refused(response, 422, "The invite is unknown, used up or expired: ask for a new one.")
    assert post_form(arena, "/sign-up?invite=wrong", {"password": PASSWORD}).status_code == 422
    throttled = get_page(arena, "/sign-up?invite=wrong")
    assert throttled.status_code == 429
    assert int(throttled.headers["Retry-After"]) > 0
    assert get_page(arena, f"/sign-up?invite={create_invite(arena)}").status_code == 200  # a valid code
    fields = {"password": PASSWORD}
    statuses = [post_form(arena, "/password?code=wrong", fields).status_code for _ in range(3)]
    assert statuses == [422, 422, 429]


def test_invite_leads_to_sign_up_or_to_joining_if_signed_in(client: TestClient) -> None:
    first, second = Arena.create(client, slug="first"), Arena.create(client, slug="second")
    invite = create_invite(second)
    form = get_page(first, get_page(first, f"/join?invite={invite}").headers["location"])
    assert f'href="/sign-up?invite={invite}"' in form.text
    assert 'href="/sign-up"' in get_page(first, "/sign-in?to=//elsewhere/join%3Finvite=x").text
    response = get_page(first, f"/sign-up?invite={invite}", team="red")
    assert response.headers["location"] == f"/join?invite={invite}"
    send_form(first, response.headers["location"], {"team": "roses"}, team="red")
    assert "roses" in extract_text(get_page(first, "/account", team="red"))
    for path in (f"/join?invite={invite}", f"/join?invite={create_invite(second)}"):  # used by them, unused
        for refusal in (
            get_page(first, path, team="red"),
            post_form(first, path, {"team": "more"}, team="red"),
        ):
            assert_refused(refusal, 409, "You are in the team roses of this competition already.")
            assert 'href="/competitions/second/submissions"' in refusal.text
    assert_refused(get_page(first, f"/join?invite={invite}", team="blue"), 422, "The invite is unknown")


def test_token_is_shown_once_and_has_the_chosen_scopes(arena: Arena) -> None:
    fields = {"name": "lab <1>", "scopes": "read", "days": "30"}
    response = post_form(arena, "/account/tokens", fields, team="red")
    assert response.status_code == 201
    (token,) = re.findall(r"anoncup_[\w-]{43}", response.text)
    html = get_page(arena, "/account", team="red").text
    assert token not in html
    assert "lab &lt;1&gt;" in html
    assert arena.get("/me", token=token).json()["scopes"] == ["read"]
    (identifier,) = [entry["id"] for entry in arena.get("/tokens", token=token).json() if entry["current"]]
    revoke_response = post_form(arena, f"/account/tokens/{identifier}/revoke", team="red")
    assert revoke_response.headers["location"] == "/account?done=token_revoked"
    assert arena.get("/me", token=token).status_code == 401


def test_invite_link_of_a_team_is_shown_once(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/team"
    arena.get_team_token("red")
    response = post_form(arena, f"{path}/invites", {"uses": "1"}, team="red")
    assert response.status_code == 201
    (link,) = re.findall(r"http://localhost(/sign-up\?invite=[\w-]+)", response.text)
    form = get_page(arena, link, language="ja").text
    assert "<strong>red</strong>" in form
    assert "小さな杯" in form
    assert 'name="team"' not in form
    assert link not in get_page(arena, path, team="red").text
    join_response = post_form(arena, link, {"name": "Colleague", "password": PASSWORD})
    assert join_response.status_code == 303
    assert "Colleague" in extract_text(get_page(arena, path, team="red"))
    for uses in ("0", "1000000", "many"):
        assert post_form(arena, f"{path}/invites", {"uses": uses}, team="red").status_code == 422


def test_members_are_removed_after_a_question_and_can_leave(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/team"
    colleague = sign_up_member(arena, create_team_invite(arena, "red"), name="Colleague")
    assert get_page(arena, f"{path}/members/{uuid4()}", team="red").status_code == 404
    question = get_page(arena, f"{path}/members/{colleague['user_id']}", team="red")
    assert "Colleague" in question.text
    assert get_page(arena, path, team="red").text.count("/members/") == 2  # the question changed nothing
    response = post_form(arena, f"{path}/members/{colleague['user_id']}", team="red")
    assert response.headers["location"] == f"{path}?done=member_removed"
    assert "Colleague" not in get_page(arena, path, team="red").text
    member = sign_up_member(arena, create_team_invite(arena, "red"), name="Another")
    arena.team_tokens["member"] = member["token"]
    response = send_form(arena, f"{path}/members/{member['user_id']}", team="member")
    assert response.headers["location"] == "/account?done=team_left"
    text = "You take part in no competition yet. You can join one with an invite code."
    assert text in extract_text(get_page(arena, "/account", team="member"))


@pytest.mark.parametrize(("language", "path"), [("en", "/nowhere"), ("ja", "/competitions/a/b/c")])
def test_unknown_address_is_a_page_in_browsers_and_json_elsewhere(
    client: TestClient, language: str, path: str
) -> None:
    response = client.get(path, headers=ACCEPT_HTML | {"Accept-Language": language})
    assert response.status_code == 404
    assert translate("This page does not exist, or is not open to you.", language) in response.text
    assert client.get(path).json()["code"] == "not_found"
    assert client.get(f"{API}{path}", headers=ACCEPT_HTML).json()["code"] == "not_found"


def test_token_gets_no_scope_that_the_session_lacks(arena: Arena) -> None:
    with transaction() as session:
        user = users.create_user(session, name="Chief", password=PASSWORD, role=Role.ORGANIZER)
        arena.team_tokens["few"] = tokens.issue_token(session, user, name="few", scopes=("read", "submit"))
    for scope, status in (("organize", 403), ("submit", 201)):
        response = post_form(arena, "/account/tokens", {"name": "x", "scopes": scope}, team="few")
        assert response.status_code == status
    assert post_form(arena, "/account/tokens", {"name": "x"}, team="few").status_code == 422
