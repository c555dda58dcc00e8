"""Passwords: how they are hashed, changed with the old one or by a link, and what a change revokes."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import QueuePool, text, update

from anoncup.schemas.fields import Role
from app.accounts import passwords
from app.accounts.models import PasswordLink
from app.core.db import engine
from app.core.identity import password_hashes
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
    sign_in_browser,
    sign_in_new_person,
    sign_up,
)
from tests.support.arena import API, PASSWORD, Arena
from tests.support.database_rows import execute

pytestmark = pytest.mark.full


NEW_PASSWORD = "battery staple"


def create_password_link(arena: Arena, name: str, *, token: str | None = None) -> Response:
    return arena.post("/users/password-links", token=token, json={"name": name})


def create_password_code(arena: Arena, name: str) -> str:
    response = create_password_link(arena, name)
    assert response.status_code == 201, response.text
    return str(response.json()["code"])


def set_password(client: TestClient, code: str, password: str = NEW_PASSWORD) -> Response:
    response: Response = client.post(f"{API}/password", json={"code": code, "password": password})
    return response


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


SIGN_INS = 45


class CountingHasher:
    """A hasher that records parallel calls and open connections."""

    def __init__(self, real: PasswordHasher) -> None:
        self.real = real
        self.lock = Lock()
        self.running = self.peak = 0
        self.connections: list[int] = []

    @contextmanager
    def track(self) -> Iterator[None]:
        pool = engine.get_engine().pool
        assert isinstance(pool, QueuePool)
        with self.lock:
            self.running += 1
            self.peak = max(self.peak, self.running)
            self.connections.append(pool.checkedout())
        try:
            yield
        finally:
            with self.lock:
                self.running -= 1

    def hash(self, password: bytes) -> str:
        with self.track():
            return self.real.hash(password)

    def verify(self, password_hash: str, password: bytes) -> bool:
        with self.track():
            return self.real.verify(password_hash, password)


@pytest.fixture
def hasher(monkeypatch: pytest.MonkeyPatch) -> CountingHasher:
    counting_hasher = CountingHasher(password_hashes.hasher)
    monkeypatch.setattr(password_hashes, "hasher", counting_hasher)
    return counting_hasher


def test_sign_in_waits_for_parallel_sign_ins(client: TestClient, hasher: CountingHasher) -> None:
    sign_in_new_person(client, "Rei")
    with ThreadPoolExecutor(SIGN_INS) as pool:
        responses = list(
            pool.map(lambda _: request_token(client, name="Rei", password=PASSWORD), range(SIGN_INS))
        )
    assert {response.status_code for response in responses} == {201}
    assert hasher.peak <= passwords.MAX_CONCURRENT_HASHES


def test_password_hashing_holds_no_database_connection(arena: Arena, hasher: CountingHasher) -> None:
    """Covers every request that hashes a password."""
    hasher.connections.clear()
    token = sign_up(arena.client, create_invite(arena), name="Rei").json()["token"]
    sign_in_browser(arena.client, "Rei")
    assert request_token(arena.client, name="nobody", password=PASSWORD).status_code == 401
    changed = arena.put("/me/password", token=token, json={"old": PASSWORD, "new": NEW_PASSWORD})
    assert changed.status_code == 204
    assert set_password(arena.client, create_password_code(arena, "Rei"), PASSWORD).status_code == 204
    assert request_token(arena.client, name="Rei", password=PASSWORD).status_code == 201
    assert len(hasher.connections) >= 7
    assert set(hasher.connections) == {0}


@pytest.mark.parametrize(
    ("chosen", "typed"),
    [
        ("pässwörter", "pa\u0308sswo\u0308rter"),  # as macOS decomposes it
        ("\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44", "password"),  # full width
        ("ﾊﾟｽﾜｰﾄﾞ123", "パスワード123"),  # half width
        ("\u1f82" * 256, "\u03b1\u0313\u0300\u0345" * 256),  # the longest
        ("\ud800password", "\ud800password"),
    ],
)
def test_password_matches_in_every_spelling(chosen: str, typed: str) -> None:
    for first, second in ((chosen, typed), (typed, chosen)):
        assert password_hashes.is_correct_password(password_hashes.hash_password(first), second)
        assert not password_hashes.is_correct_password(password_hashes.hash_password(first), f"{second}!")
