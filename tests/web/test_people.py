"""Accounts and teams as pages: codes lead in, secrets are shown once, and nobody is taken out unasked."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from limits import RateLimitItemPerMinute
from sqlalchemy import func, select

from anoncup.messages import Message
from anoncup.schemas.roles import Role
from app.db.models import Invite, Token, User
from app.db.transaction import transaction
from app.http import throttle
from app.services.accounts import accounts
from tests.support.arena import API, PASSWORD, Arena
from tests.web.reader import SAME_ORIGIN, page, send
from tests.web.spoken import refused, said, sentence

pytestmark = pytest.mark.full

HTML = {"Accept": "text/html,application/xhtml+xml"}


def text_of(answer: Response) -> str:
    return unescape(re.sub(r"<[^>]*>", "", answer.text))


def an_invite(arena: Arena) -> str:
    return str(arena.post(f"/competitions/{arena.slug}/invites", json={}).json()["code"])


def a_seat(arena: Arena, team: str) -> str:
    path = f"/competitions/{arena.slug}/team/invites"
    return str(arena.post(path, token=arena.team(team), json={}).json()["code"])


def people() -> int:
    with transaction() as session:
        return session.scalars(select(func.count()).select_from(User)).one()


def test_an_organizers_invite_leads_to_an_account_a_team_and_its_submissions(arena: Arena) -> None:
    invite = an_invite(arena)
    form = page(arena, f"/sign-up?invite={invite}")
    assert "Small cup" in form.text
    assert 'name="team"' in form.text
    typed = {"team": "赤 & Söhne", "name": "Rei", "password": PASSWORD}
    answer = send(arena, f"/sign-up?invite={invite}", typed)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/competitions/{arena.slug}/submissions?done=joined"
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert said("done_joined") in text_of(arena.client.get(answer.headers["location"]))
    assert "赤 &amp; Söhne" in arena.client.get("/account").text
    with transaction() as session:
        token = session.scalars(select(Token).join(User).where(User.name == "Rei")).one()
        assert (token.kind, token.expires_at - token.created_at <= accounts.SESSION_LIFE) == ("session", True)


def test_a_members_invite_names_the_team_and_asks_for_no_other(arena: Arena) -> None:
    form = page(arena, f"/sign-up?invite={a_seat(arena, 'red')}", language="ja").text
    assert "<strong>red</strong>" in form
    assert "小さな杯" in form
    assert 'name="team"' not in form


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        (
            {"team": "red", "name": "Rei", "password": PASSWORD},
            Message("this competition has a team of that name, or of one that looks like it: choose another"),
        ),
        (
            {"team": "", "name": "Rei", "password": PASSWORD},
            Message("this invite creates a team: give the team a name"),
        ),
        (
            {"team": "blue", "name": "", "password": PASSWORD},
            Message("a name must have 1 to {most} characters", most=100),
        ),
        (
            {"team": "blue", "name": "Rei\u202e", "password": PASSWORD},
            Message("a name must not contain control or invisible characters"),
        ),
        (
            {"team": "\u2800", "name": "Rei", "password": PASSWORD},
            Message("a name must contain at least one visible character"),
        ),
        (
            {"team": "blue", "name": "Rei", "password": "short"},
            Message("a password must have {least} to {most} characters", least=8, most=256),
        ),
    ],
)
def test_a_refused_sign_up_says_why_and_keeps_what_was_typed_but_the_password(
    arena: Arena, typed: dict[str, str], problem: Message
) -> None:
    arena.team("red")
    before, invite = people(), an_invite(arena)
    answer = send(arena, f"/sign-up?invite={invite}", typed, language="ja")
    assert answer.status_code in {409, 422}
    assert sentence(problem, "ja") in text_of(answer)
    assert f'value="{typed["team"]}"' in answer.text
    assert typed["password"] not in answer.text
    assert people() == before
    good = {"team": "green", "name": "Ren", "password": PASSWORD}
    assert send(arena, f"/sign-up?invite={invite}", good).status_code == 303  # the invite is not used up


def test_a_code_can_be_guessed_neither_by_looking_nor_by_sending(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "PER_ADDRESS", RateLimitItemPerMinute(2, 15, "throttle"))
    looked = page(arena, "/sign-up?invite=wrong")
    assert (
        looked.status_code,
        "The invite is unknown, used up or expired: ask for a new one." in text_of(looked),
    ) == (422, True)
    assert send(arena, "/sign-up?invite=wrong", {"password": PASSWORD}).status_code == 422
    full = page(arena, "/sign-up?invite=wrong")
    assert full.status_code == 429
    assert int(full.headers["Retry-After"]) > 0
    assert page(arena, f"/sign-up?invite={an_invite(arena)}").status_code == 200  # a right one always works
    statuses = [send(arena, "/password?code=wrong", {"password": PASSWORD}).status_code for _ in range(3)]
    assert statuses == [422, 422, 429]


@pytest.mark.parametrize("path", ["/sign-up?invite=x", "/password?code=x"])
def test_a_form_of_another_site_uses_no_code(arena: Arena, path: str) -> None:
    answer = arena.client.post(path, data={"password": PASSWORD}, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403


def test_who_is_signed_in_joins_instead_of_signing_up(client: TestClient) -> None:
    first, second = Arena.opened(client, slug="first"), Arena.opened(client, slug="second")
    first.team("red")
    invite = an_invite(second)
    answer = page(first, f"/sign-up?invite={invite}", team="red")
    assert answer.headers["location"] == f"/join?invite={invite}"
    assert send(first, answer.headers["location"], {"team": "roses"}, team="red").status_code == 303
    shown = text_of(page(first, "/account", team="red"))
    assert "roses" in shown
    again = send(first, f"/join?invite={an_invite(second)}", {"team": "more"}, team="red")
    assert (again.status_code, "You are in a team of this competition already." in text_of(again)) == (
        409,
        True,
    )


def test_a_visitor_with_an_invite_finds_the_way_from_the_sign_in(arena: Arena) -> None:
    invite = an_invite(arena)
    asked = page(arena, f"/join?invite={invite}")
    form = page(arena, asked.headers["location"])
    assert f'href="/sign-up?invite={invite}"' in form.text
    assert 'href="/sign-up"' in page(arena, "/sign-in?to=//elsewhere/join%3Finvite=x").text


def test_a_password_link_works_once_and_ends_every_session(arena: Arena) -> None:
    token = arena.team("red")
    name = arena.get("/me", token=token).json()["name"]
    code = arena.post("/users/password-links", json={"name": name}).json()["code"]
    refused = send(arena, f"/password?code={code}", {"password": "short"})
    assert (refused.status_code, "A password must have 8 to 256 characters." in text_of(refused)) == (
        422,
        True,
    )
    answer = send(arena, f"/password?code={code}", {"password": "a new password"})
    assert answer.headers["location"] == "/sign-in?done=password_set"
    assert arena.get("/me", token=token).status_code == 401
    again = send(arena, f"/password?code={code}", {"password": "another one"})
    assert (again.status_code, "The code is unknown, used or expired." in text_of(again)) == (422, True)
    known = send(arena, "/sign-in", {"name": name, "password": "a new password"})
    assert known.status_code == 303


def test_a_token_is_shown_once_and_does_what_was_chosen(arena: Arena) -> None:
    arena.team("red")
    answer = send(arena, "/account/tokens", {"name": "lab <1>", "scopes": "read", "days": "30"}, team="red")
    assert answer.status_code == 201
    (token,) = re.findall(r"anoncup_[\w-]{43}", answer.text)
    assert token not in page(arena, "/account", team="red").text
    assert "lab &lt;1&gt;" in page(arena, "/account", team="red").text
    assert arena.get("/me", token=token).json()["scopes"] == ["read"]
    assert arena.post(f"/competitions/{arena.slug}/team/invites", token=token, json={}).status_code == 403
    (identifier,) = [one["id"] for one in arena.get("/tokens", token=token).json() if one["current"]]
    ended = send(arena, f"/account/tokens/{identifier}/revoke", team="red")
    assert ended.headers["location"] == "/account?done=token_revoked"
    assert arena.get("/me", token=token).status_code == 401


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"name": "x"}, "Choose at least one of the scopes read, submit."),
        ({"name": "", "scopes": "read"}, "A name must have 1 to 100 characters."),
        ({"name": "x", "scopes": "organize"}, "This token lacks the scope organize."),
        ({"name": "x", "scopes": "read", "days": "9999"}, "This form cannot be read: check what you typed."),
    ],
)
def test_a_token_with_no_or_too_many_rights_is_not_made(
    arena: Arena, fields: dict[str, str], problem: str
) -> None:
    arena.team("red")
    answer = send(arena, "/account/tokens", fields, team="red")
    assert answer.status_code == (403 if "lacks" in problem else 422)
    assert problem in text_of(answer)
    assert not re.search(r"anoncup_[\w-]{43}", answer.text)


def test_a_token_of_few_rights_makes_none_with_more(arena: Arena) -> None:
    with transaction() as session:
        user = accounts.create_user(session, name="Chief", password=PASSWORD, role=Role.ORGANIZER)
        arena.tokens["few"] = accounts.issue_token(session, user, name="few", scopes=("read", "submit"))
    answer = send(arena, "/account/tokens", {"name": "x", "scopes": "organize"}, team="few")
    assert answer.status_code == 403
    assert send(arena, "/account/tokens", {"name": "x", "scopes": "submit"}, team="few").status_code == 201


def test_the_password_is_changed_by_the_old_one_and_this_browser_stays(arena: Arena) -> None:
    token = arena.team("red")
    name = arena.get("/me", token=token).json()["name"]
    other = arena.client.post(f"{API}/tokens", json={"name": name, "password": PASSWORD}).json()["token"]
    wrong = send(arena, "/account/password", {"old": "not it", "new": "a new password"}, team="red")
    assert (wrong.status_code, said("The current password is wrong.") in text_of(wrong)) == (422, True)
    answer = send(arena, "/account/password", {"old": PASSWORD, "new": "a new password"}, team="red")
    assert answer.headers["location"] == "/account?done=password_changed"
    assert page(arena, "/account", team="red").status_code == 200
    assert arena.get("/me", token=other).status_code == 401


def test_a_team_invites_by_a_link_that_is_shown_once(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/team"
    arena.team("red")
    answer = send(arena, f"{path}/invites", {"uses": "1"}, team="red")
    assert answer.status_code == 201
    (link,) = re.findall(r"http://localhost(/sign-up\?invite=[\w-]+)", answer.text)
    assert link not in page(arena, path, team="red").text
    joined = send(arena, link, {"name": "Colleague", "password": PASSWORD})
    assert joined.status_code == 303
    assert "Colleague" in text_of(page(arena, path, team="red"))
    assert send(arena, link, {"name": "One more", "password": PASSWORD}).status_code == 422
    for uses in ("0", "-1", "1000000", "many"):
        assert send(arena, f"{path}/invites", {"uses": uses}, team="red").status_code == 422


def test_a_member_is_taken_out_only_after_a_question_and_the_last_one_stays(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/team"
    body = {"invite": a_seat(arena, "red"), "name": "Colleague", "password": PASSWORD}
    colleague = arena.client.post(f"{API}/signup", json=body).json()
    question = page(arena, f"{path}/members/{colleague['user_id']}", team="red")
    assert "Colleague" in question.text
    assert page(arena, path, team="red").text.count("/members/") == 2  # asking changed nothing
    answer = send(arena, f"{path}/members/{colleague['user_id']}", team="red")
    assert answer.headers["location"] == f"{path}?done=member_removed"
    assert "Colleague" not in page(arena, path, team="red").text
    own = arena.get("/me", token=arena.team("red")).json()["user_id"]
    last = send(arena, f"{path}/members/{own}", team="red")
    assert (last.status_code, said("The last member cannot leave a team.") in text_of(last)) == (409, True)


def test_a_teams_session_alone_lets_nobody_into_the_team(arena: Arena) -> None:
    """Who came in would stay when the session is ended."""
    path = f"/competitions/{arena.slug}/team"
    shown = page(arena, path, team="red").text
    assert 'name="password" type="password" required' in shown.split(f'action="{path}/invites"')[1]
    with transaction() as session:
        before = session.scalars(select(Invite.id).order_by(Invite.id)).all()
    for password, status, language, word in (
        ("", 403, "en", "problem_password_needed"),
        ("wrong", 422, "ja", "the password is wrong"),
    ):
        sent = {"uses": "7", "password": password}
        answer = send(arena, f"{path}/invites", sent, team="red", language=language)
        assert answer.status_code == status
        assert refused(word, language) in text_of(answer)
        assert 'name="uses" type="number" value="7"' in answer.text
    token = {"Authorization": f"Bearer {arena.team('red')}"}
    answer = arena.client.post(f"{API}{path}/invites", headers=token, json={})
    assert (answer.status_code, answer.json()["code"]) == (403, "password_needed")
    with transaction() as session:
        assert session.scalars(select(Invite.id).order_by(Invite.id)).all() == before
    assert send(arena, f"{path}/invites", {"uses": "7"}, team="red").status_code == 201


def test_who_leaves_comes_to_the_account(arena: Arena) -> None:
    body = {"invite": a_seat(arena, "red"), "name": "Colleague", "password": PASSWORD}
    colleague = arena.client.post(f"{API}/signup", json=body).json()
    arena.tokens["colleague"] = colleague["token"]
    path = f"/competitions/{arena.slug}/team/members/{colleague['user_id']}"
    assert send(arena, path, team="colleague").headers["location"] == "/account?done=team_left"
    assert said("You take part in no competition yet. You can join one with an invite code.") in text_of(
        page(arena, "/account", team="colleague")
    )


@pytest.mark.parametrize(("language", "path"), [("en", "/nowhere"), ("ja", "/competitions/a/b/c")])
def test_an_address_that_exists_nowhere_is_a_page_to_browsers_and_json_to_others(
    client: TestClient, language: str, path: str
) -> None:
    answer = client.get(path, headers=HTML | {"Accept-Language": language})
    assert answer.status_code == 404
    assert said("This page does not exist, or is not open to you.", language) in answer.text
    assert client.get(path).json()["code"] == "not_found"
    assert client.get(f"{API}{path}", headers=HTML).json()["code"] == "not_found"


def test_the_address_of_a_form_opened_as_a_page_says_so(client: TestClient) -> None:
    answer = client.get("/sign-out", headers=HTML)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert said("http_method_not_allowed") in text_of(answer)
    for path in ("/account/tokens", "/account/password", "/competitions/x/team/invites"):
        assert client.get(path, headers=SAME_ORIGIN, follow_redirects=False).status_code == 303


def test_tokens_and_sessions_stand_on_the_readers_own_clock(arena: Arena) -> None:
    shown = page(arena, "/account", team="red").text
    assert len(re.findall(r'<time datetime="[^"]+" data-own>[^<]* UTC</time>', shown)) >= 2
