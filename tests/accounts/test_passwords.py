"""Changing a password with the old one or by a link, and the tokens that this revokes."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select, text, update

from anoncup.schemas.roles import Role
from app.accounts.models import PasswordLink
from app.core.db.models import Token, User
from app.core.db.transaction import transaction
from app.core.identity import tokens
from app.core.identity.session_cookie import COOKIE
from tests.support.accounts import (
    create_invite,
    create_person,
    get_me,
    list_audit_entries,
    read_database_time,
    read_refusal,
    request_token,
    run_in_parallel,
    sign_in_new_person,
    sign_up,
)
from tests.support.arena import API, PASSWORD, Arena
from tests.support.database_rows import execute
from tests.support.passwords import (
    NEW_PASSWORD,
    create_password_code,
    create_password_link,
    set_password,
    sign_in_browser,
)

pytestmark = pytest.mark.full


def get_status(client: TestClient, cookie: str) -> int:
    """Return the status that a browser with this cookie gets."""
    response: Response = client.get(f"{API}/me", headers={"Cookie": f"{COOKIE}={cookie}"})
    return response.status_code


@pytest.fixture
def bob(arena: Arena) -> str:
    """The token of a participant."""
    return str(sign_up(arena.client, create_invite(arena), name="Bob").json()["token"])


def change_password(arena: Arena, token: str, **fields: Any) -> Response:
    return arena.put("/me/password", token=token, json={"old": PASSWORD, "new": NEW_PASSWORD} | fields)


def test_new_password_revokes_other_tokens_and_sessions(arena: Arena, bob: str) -> None:
    other_token = request_token(arena.client, name="Bob", password=PASSWORD).json()["token"]
    cookie = sign_in_browser(arena.client, "Bob")
    code = create_password_code(arena, "Bob")
    assert [get_me(arena.client, token).status_code for token in (bob, other_token)] == [200, 200]
    assert get_status(arena.client, cookie) == 200
    response = change_password(arena, bob)
    assert (response.status_code, response.content) == (204, b"")
    assert [get_me(arena.client, token).status_code for token in (bob, other_token)] == [200, 401]
    assert get_status(arena.client, cookie) == 401
    assert request_token(arena.client, name="Bob", password=PASSWORD).status_code == 401
    assert request_token(arena.client, name="Bob", password=NEW_PASSWORD).status_code == 201
    assert read_refusal(set_password(arena.client, code)) == (422, "invalid_code")
    assert get_me(arena.client, arena.organizer_token).status_code == 200


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"old": "wrong password"}, "wrong_password"),
        ({"old": ""}, "wrong_password"),
        ({"new": "short"}, "password_length"),
        ({"new": "x" * 257}, "password_length"),
        ({"new": "x" * 5000}, "invalid_request"),
        ({"new": None}, "invalid_request"),
    ],
)
def test_refused_password_changes_nothing(arena: Arena, bob: str, fields: dict[str, Any], code: str) -> None:
    other_token = request_token(arena.client, name="Bob", password=PASSWORD).json()["token"]
    assert read_refusal(change_password(arena, bob, **fields)) == (422, code)
    assert get_me(arena.client, other_token).status_code == 200
    assert request_token(arena.client, name="Bob", password=PASSWORD).status_code == 201


def test_parallel_sign_ins_with_the_old_password_are_revoked(arena: Arena, bob: str) -> None:
    """Sign-ins run in parallel with the change; tokens issued just before it are revoked by it."""

    def change_or_sign_in(number: int) -> Response:
        return (
            change_password(arena, bob)
            if number == 3
            else request_token(arena.client, name="Bob", password=PASSWORD)
        )

    responses = run_in_parallel(change_or_sign_in)
    assert responses[3].status_code == 204
    issued_tokens = [response.json()["token"] for response in responses if response.status_code == 201]
    assert {get_me(arena.client, token).status_code for token in issued_tokens} <= {401}
    assert get_me(arena.client, bob).status_code == 200


def test_password_link_works_once_and_revokes_tokens_and_sessions(arena: Arena, bob: str) -> None:
    cookie = sign_in_browser(arena.client, "Bob")
    time_before = read_database_time()
    response = create_password_link(arena, " ＢＯＢ ")
    assert response.status_code == 201
    created_at = datetime.fromisoformat(response.json()["expires_at"]) - timedelta(hours=48)
    assert time_before < created_at < read_database_time()
    code = response.json()["code"]
    set_response = set_password(arena.client, code)
    assert (set_response.status_code, set_response.content) == (204, b"")
    assert (get_me(arena.client, bob).status_code, get_status(arena.client, cookie)) == (401, 401)
    assert request_token(arena.client, name="Bob", password=NEW_PASSWORD).status_code == 201
    assert request_token(arena.client, name="Bob", password=PASSWORD).status_code == 401
    assert read_refusal(set_password(arena.client, code, "another password")) == (422, "invalid_code")
    assert request_token(arena.client, name="Bob", password=NEW_PASSWORD).status_code == 201
    organizer = get_me(arena.client, arena.organizer_token).json()["name"]
    assert list_audit_entries()[-2:] == [
        (organizer, "user.password_link", "Bob"),
        ("Bob", "user.password_by_link", "Bob"),
    ]


def test_only_one_of_parallel_uses_of_a_code_succeeds(arena: Arena, bob: str) -> None:
    code = create_password_code(arena, "Bob")
    responses = run_in_parallel(lambda number: set_password(arena.client, code, f"password {number}"))
    assert sorted(response.status_code for response in responses) == [204] + [422] * 9
    winner = next(number for number, response in enumerate(responses) if response.status_code == 204)
    assert request_token(arena.client, name="Bob", password=f"password {winner}").status_code == 201


def test_invalid_codes_all_get_the_same_response(arena: Arena, bob: str) -> None:
    older = create_password_code(arena, "Bob")
    expired = create_password_code(arena, "Bob")
    execute(update(PasswordLink).values(expires_at=text("clock_timestamp()")))
    sign_up(arena.client, create_invite(arena), name="Rei")
    used = create_password_code(arena, "Rei")
    assert set_password(arena.client, used).status_code == 204
    responses = [set_password(arena.client, code) for code in (older, expired, used, "unknown", "")]
    assert {response.status_code for response in responses} == {422}
    assert len({response.content for response in responses}) == 1
    assert request_token(arena.client, name="Bob", password=PASSWORD).status_code == 201


def test_organizers_reset_only_passwords_of_participants(arena: Arena, bob: str) -> None:
    other_arena = Arena.create(arena.client, slug="elsewhere")
    root = sign_in_new_person(arena.client, "Root", Role.ADMINISTRATOR)
    other_organizer = sign_in_new_person(arena.client, "Other", Role.ORGANIZER)
    create_person("Loner")
    stranger_name = get_me(arena.client, other_arena.organizer_token).json()["name"]
    names = ("Bob", "Root", "Other", "Loner", stranger_name)
    refusals = [create_password_link(other_arena, name) for name in (*names, "Nobody")]
    assert len({response.content for response in refusals}) == 1
    assert read_refusal(refusals[0]) == (404, "no_such_user")
    assert [create_password_link(arena, name).status_code for name in names] == [201, 404, 404, 404, 404]
    assert [create_password_link(arena, name, token=root).status_code for name in names] == [201] * 5
    assert read_refusal(create_password_link(arena, "Nobody", token=root)) == (404, "no_such_user")
    assert read_refusal(create_password_link(arena, "Bob", token=bob)) == (403, "scope_missing")
    # An organizer's account that joins a team is still an organizer's account.
    body = {"invite": create_invite(arena), "team": "Others"}
    assert arena.post("/join", token=other_organizer, json=body).status_code == 201
    assert read_refusal(create_password_link(arena, "Other")) == (404, "no_such_user")


def test_organizer_cannot_reset_passwords_of_other_competitions(arena: Arena, bob: str) -> None:
    other_arena = Arena.create(arena.client, slug="elsewhere")
    code = create_password_code(arena, "Bob")
    body = {"invite": create_invite(other_arena), "team": "Bobs"}
    assert arena.post("/join", token=bob, json=body).status_code == 201
    assert read_refusal(set_password(arena.client, code)) == (
        422,
        "invalid_code",
    )  # it would open another competition
    for organizer in (arena, other_arena):
        assert read_refusal(create_password_link(organizer, "Bob")) == (403, "in_another_competition")
    own = get_me(arena.client, arena.organizer_token).json()["name"]
    response = other_arena.post("/competitions/elsewhere/organizers", json={"name": own})
    assert response.status_code == 201
    assert create_password_link(arena, "Bob").status_code == 201


def test_codes_and_passwords_are_not_stored_in_plain_text(arena: Arena, bob: str) -> None:
    code = create_password_code(arena, "Bob")
    set_password(arena.client, code)
    with transaction() as session:
        stored_link = session.scalars(select(PasswordLink)).one()
        all_rows = "".join(
            str(row)
            for table in ("users", "tokens", "password_links", "audit_entries")
            for row in session.execute(text(f"SELECT * FROM {table}"))  # fixed names, no user input
        )
        assert session.scalars(select(Token.revoked_at).join(User).where(User.name == "Bob")).all() != [None]
    assert stored_link.digest == tokens.hash_token(code)
    assert code not in all_rows
    assert NEW_PASSWORD not in all_rows


def test_parallel_change_and_reset_do_not_deadlock(arena: Arena, bob: str) -> None:
    """Both lock the user's row."""
    code = create_password_code(arena, "Bob")
    with ThreadPoolExecutor(3) as pool:
        calls = [
            pool.submit(change_password, arena, bob),
            pool.submit(set_password, arena.client, code, "by the link"),
            pool.submit(create_password_link, arena, "Bob"),
        ]
    responses = [call.result() for call in calls]
    assert all(response.status_code < 500 for response in responses)
    working_passwords = [
        password
        for password in (PASSWORD, NEW_PASSWORD, "by the link")
        if request_token(arena.client, name="Bob", password=password).status_code == 201
    ]
    assert len(working_passwords) == 1
    assert working_passwords != [PASSWORD]
