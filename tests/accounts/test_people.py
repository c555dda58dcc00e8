"""Accounts that administrators create, their roles, and accounts that are closed."""

import re
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from httpx2 import Response
from sqlalchemy import select

from anoncup.errors import DomainError
from anoncup.schemas.fields import Role
from app.accounts import email_addresses, identities, passwords, people
from app.accounts.models import UserIdentity
from app.core.db.models import EmailAddress, Organizer, Token, User
from app.core.db.transaction import transaction
from app.core.identity import tokens, users
from tests.support.accounts import (
    create_person,
    create_team_invite,
    get_me,
    list_audit_entries,
    read_refusal,
    request_token,
    sign_in_new_person,
    sign_up_member,
)
from tests.support.arena import API, PASSWORD, Arena, load_principal
from tests.support.database_rows import load_all, load_one, load_team_id
from tests.support.page_requests import extract_text, get_page, post_form, send_form
from tests.support.secret_search import find_leaks, iterate_database_cells

pytestmark = pytest.mark.full

NAME, ADDRESS, SUBJECT = "Ümit Özdemir", "umit@example.org", "subject-of-umit"


@pytest.fixture
def root(arena: Arena) -> str:
    return sign_in_new_person(arena.client, "Root", Role.ADMINISTRATOR)


def set_password(arena: Arena, code: str) -> Response:
    response: Response = arena.client.post(f"{API}/password", json={"code": code, "password": PASSWORD})
    return response


def sign_in(arena: Arena, name: str) -> str:
    response = request_token(arena.client, name=name, password=PASSWORD)
    assert response.status_code == 201, response.text
    return str(response.json()["token"])


@pytest.mark.parametrize("role", list(Role))
def test_administrator_creates_accounts_whose_owners_set_the_password(
    arena: Arena, root: str, role: Role
) -> None:
    body = {"name": NAME, "role": role}
    response = arena.post("/users", token=root, json=body)
    assert response.status_code == 201
    assert request_token(arena.client, name=NAME, password="").status_code == 401
    code = response.json()["password_link"]["code"]
    assert set_password(arena, code).status_code == 204
    profile = get_me(arena.client, sign_in(arena, NAME)).json()
    assert (profile["role"], "organize" in profile["scopes"]) == (role, role != Role.PARTICIPANT)
    assert read_refusal(set_password(arena, code)) == (422, "invalid_code")
    assert ("Root", "user.create", NAME) in list_audit_entries()
    taken = arena.post("/users", token=root, json=body | {"name": NAME.upper()})
    assert read_refusal(taken) == (409, "name_taken")
    listed = arena.get("/users?limit=1", token=root)
    assert [row["name"] for row in listed.json()] == [NAME]
    assert 'rel="next"' in listed.headers["Link"]


def test_page_of_people_shows_each_link_once_and_changes_roles(arena: Arena, root: str) -> None:
    arena.team_tokens["root"] = root
    created = post_form(arena, "/people", {"name": "Olga", "role": "participant"}, team="root")
    user_id = load_one(select(User.id).where(User.name == "Olga"))
    again = post_form(arena, "/people/password-link", {"person": "Olga"}, team="root")
    links = [re.findall(r"/password\?code=([\w-]+)", response.text) for response in (created, again)]
    assert (created.status_code, again.status_code) == (201, 201)
    assert read_refusal(set_password(arena, links[0][0])) == (422, "invalid_code")
    assert set_password(arena, links[1][0]).status_code == 204
    send_form(arena, f"/people/{user_id}/role", {"new_role": "organizer"}, team="root")
    page = get_page(arena, "/people", team="root", language="ja")
    assert "Olga 主催者" in " ".join(extract_text(page).split())
    assert "code=" not in page.text
    assert 'href="/people"' in get_page(arena, "/", team="root").text
    assert 'href="/people"' not in get_page(arena, "/", organizer=True).text


def change_role(arena: Arena, root: str, name: str, role: Role) -> Response:
    user_id = load_one(select(User.id).where(User.name == name))
    return arena.put(f"/users/{user_id}/role", token=root, json={"role": role})


def test_new_role_ends_tokens_and_links_of_the_old_one(arena: Arena, root: str) -> None:
    """An organizer who made a link for a participant must not become an organizer elsewhere by it."""
    bob = sign_up_member(arena, create_team_invite(arena, "red"), name="Bob")
    code = arena.post("/users/password-links", json={"name": "Bob"}).json()["code"]
    assert change_role(arena, root, "Bob", Role.ORGANIZER).json()["role"] == "organizer"
    assert get_me(arena.client, bob["token"]).status_code == 401
    assert read_refusal(set_password(arena, code)) == (422, "invalid_code")
    assert "organize" in get_me(arena.client, sign_in(arena, "Bob")).json()["scopes"]
    assert list_audit_entries()[-1] == ("Root", "user.role", "Bob")


def test_role_must_fit_what_the_person_does(arena: Arena, root: str) -> None:
    organizer = arena.get("/me").json()["name"]
    assert read_refusal(change_role(arena, root, organizer, Role.PARTICIPANT)) == (409, "organizes_it")
    sign_up_member(arena, create_team_invite(arena, "red"), name="Bob")
    assert read_refusal(change_role(arena, root, "Bob", Role.ADMINISTRATOR)) == (409, "in_a_team")
    assert read_refusal(change_role(arena, root, "Root", Role.ORGANIZER)) == (409, "last_administrator")
    create_person("Ada", Role.ADMINISTRATOR)
    assert change_role(arena, root, "Root", Role.ORGANIZER).status_code == 200


def create_leaver(arena: Arena) -> dict[str, str]:
    """Sign up a member of the team red with an address, a linked provider, tokens and a password link."""
    person = sign_up_member(arena, create_team_invite(arena, "red"), name=NAME)
    arena.team_tokens["leaver"] = person["token"]
    user_id = UUID(person["user_id"])
    with transaction() as session:
        session.add(EmailAddress(user_id=user_id, address=ADDRESS, language="en"))
        session.add(UserIdentity(user_id=user_id, issuer="https://id.example.org", subject=SUBJECT))
        tokens.issue_token(session, session.get_one(User, user_id), name=f"laptop of {NAME}")
    person["code"] = arena.post("/users/password-links", json={"name": NAME}).json()["code"]
    return person


def test_closed_account_leaves_results_and_no_trace_of_the_person(arena: Arena, root: str) -> None:
    person = create_leaver(arena)
    submission = arena.submit("leaver").json()["id"]
    digests = load_all(select(Token.digest).where(Token.user_id == UUID(person["user_id"])))
    assert arena.call("DELETE", "/me", token=person["token"]).status_code == 204

    assert read_refusal(get_me(arena.client, person["token"])) == (401, "invalid_token")
    assert request_token(arena.client, name=NAME, password=PASSWORD).status_code == 401
    assert read_refusal(set_password(arena, person["code"])) == (422, "invalid_code")
    for name in (NAME, person["user_id"]):
        link = arena.post("/users/password-links", token=root, json={"name": name})
        assert read_refusal(link) == (404, "no_such_user")
    with transaction() as session:
        assert identities.find_user(session, "https://id.example.org", SUBJECT) is None

    needles = {NAME.encode(), NAME.lower().encode(), ADDRESS.encode(), SUBJECT.encode(), *digests}
    leaks = [cell for cell, value in iterate_database_cells() if find_leaks(value, needles)]
    assert leaks == []
    path = f"/competitions/{arena.slug}"
    outputs = [arena.get(f"{path}/{part}") for part in ("teams", "audit", "export.zip", "submissions/all")]
    outputs += [arena.get(f"{path}/team", team="red"), arena.get("/users", token=root)]
    pages = ("organize/teams", f"organize/teams/{load_team_id('red')}", "organize/audit")
    outputs += [get_page(arena, f"{path}/{page}", organizer=True) for page in pages]
    outputs.append(get_page(arena, f"{path}/team", team="red"))
    assert all(response.status_code == 200 for response in outputs)
    assert [response.url for response in outputs if find_leaks(response.content, needles)] == []
    new_name = f"closed account {UUID(person['user_id']).hex[:8]}"
    assert new_name in get_page(arena, f"{path}/team", team="red").text
    assert (
        new_name.replace("closed account", "退会済み")
        in get_page(arena, f"{path}/organize/teams", organizer=True, language="ja").text
    )
    assert list_audit_entries()[-1] == (new_name, "user.close", new_name)

    assert arena.get(f"/submissions/{submission}", team="red").status_code == 200
    taker = sign_up_member(arena, create_team_invite(arena, "blue"), name=NAME)
    assert arena.get("/me", token=taker["token"]).json()["teams"][0]["team"] == "blue"


def test_account_is_closed_on_its_page_with_the_password(arena: Arena) -> None:
    person = create_leaver(arena)
    assert post_form(arena, "/account/close", {"password": "wrong"}, team="leaver").status_code == 422
    response = send_form(arena, "/account/close", team="leaver")
    assert response.headers["location"] == "/?done=account_closed"
    assert "max-age=0" in response.headers["set-cookie"].lower()
    assert get_page(arena, "/account", team="leaver").headers["location"].startswith("/sign-in")
    assert get_me(arena.client, person["token"]).status_code == 401


def test_only_organizer_and_last_administrator_cannot_close_their_accounts(arena: Arena, root: str) -> None:
    assert read_refusal(arena.call("DELETE", "/me", token=root)) == (409, "last_administrator")
    refusal = arena.call("DELETE", "/me")
    assert read_refusal(refusal) == (409, "last_organizer")
    assert arena.slug in refusal.json()["detail"]
    olga = sign_in_new_person(arena.client, "Olga", Role.ORGANIZER)
    assert arena.post(f"/competitions/{arena.slug}/organizers", json={"name": "Olga"}).status_code == 201
    assert arena.call("DELETE", "/me").status_code == 204
    (organizer,) = arena.get(f"/competitions/{arena.slug}/organizers", token=olga).json()
    assert organizer["name"] == "Olga"


def test_one_of_two_who_close_their_accounts_at_once_stays(arena: Arena, root: str) -> None:
    olga = sign_in_new_person(arena.client, "Olga", Role.ORGANIZER)
    assert arena.post(f"/competitions/{arena.slug}/organizers", json={"name": "Olga"}).status_code == 201
    ada = sign_in_new_person(arena.client, "Ada", Role.ADMINISTRATOR)
    with ThreadPoolExecutor(2) as pool:
        for pair in ((olga, arena.organizer_token), (root, ada)):
            responses = list(pool.map(lambda token: arena.call("DELETE", "/me", token=token), pair))
            assert sorted(response.status_code for response in responses) == [204, 409]
    assert len(load_all(select(Organizer))) == 1
    assert load_all(select(User.closed_at).where(User.role == Role.ADMINISTRATOR)) == [None]


def test_request_that_began_before_the_closing_gives_no_access(arena: Arena) -> None:
    person = create_leaver(arena)
    with transaction() as session:
        principal = load_principal(session, person["token"])
        user = session.get_one(User, principal.user_id)
    assert arena.call("DELETE", "/me", token=person["token"]).status_code == 204
    with transaction() as session:
        for attempt in (
            lambda: tokens.create_token(
                session, principal, name="x", scopes=("read",), lifetime=tokens.TOKEN_LIFETIME
            ),
            lambda: email_addresses.remove(session, principal),
            lambda: users.lock_user(session, user.id),
            lambda: people.close(session, principal),
        ):
            with pytest.raises(DomainError) as refusal:
                attempt()
            assert refusal.value.code == "no_such_user"
    with pytest.raises(DomainError):
        passwords.change_own_password(principal, None, old=PASSWORD, new="battery staple")
    assert load_all(select(Token).where(Token.user_id == user.id)) == []
