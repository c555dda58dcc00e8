"""Passwords are hashed a few at a time, and while no transaction is open."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient
from sqlalchemy import QueuePool

from anoncup.schemas.roles import Role
from app.db import engine
from app.http import passwords
from app.services.accounts import accounts
from tests.support.accounts import invite, sign_up, signed_in, token_for
from tests.support.arena import PASSWORD, Arena
from tests.support.passwords import NEW, browser_session, code_for, set_by

pytestmark = pytest.mark.full

SIGN_INS = 45


class WatchedHasher:
    """The hasher, and what else was going on whenever it worked."""

    def __init__(self, real: PasswordHasher) -> None:
        self.real = real
        self.lock = Lock()
        self.now = self.most = 0
        self.connections: list[int] = []

    @contextmanager
    def working(self) -> Iterator[None]:
        pool = engine.get_engine().pool
        assert isinstance(pool, QueuePool)
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.connections.append(pool.checkedout())
        try:
            yield
        finally:
            with self.lock:
                self.now -= 1

    def hash(self, password: bytes) -> str:
        with self.working():
            return self.real.hash(password)

    def verify(self, kept: str, password: bytes) -> bool:
        with self.working():
            return self.real.verify(kept, password)


@pytest.fixture
def hasher(monkeypatch: pytest.MonkeyPatch) -> WatchedHasher:
    watched = WatchedHasher(accounts.hasher)
    monkeypatch.setattr(accounts, "hasher", watched)
    return watched


def test_whoever_signs_in_while_forty_others_do_waits_and_is_not_refused(
    client: TestClient, hasher: WatchedHasher
) -> None:
    signed_in(client, "Rei")
    with ThreadPoolExecutor(SIGN_INS) as pool:
        answers = list(pool.map(lambda _: token_for(client, name="Rei", password=PASSWORD), range(SIGN_INS)))
    assert {answer.status_code for answer in answers} == {201}
    assert hasher.most <= passwords.AT_ONCE


def test_no_connection_is_held_while_a_password_is_hashed(arena: Arena, hasher: WatchedHasher) -> None:
    """By every way on which there is something to hash."""
    administrator = signed_in(arena.client, "Ada", Role.ADMINISTRATOR)
    hasher.connections.clear()
    token = sign_up(arena.client, invite(arena), name="Rei").json()["token"]
    browser_session(arena.client, "Rei")
    assert token_for(arena.client, name="nobody", password=PASSWORD).status_code == 401
    changed = arena.put("/me/password", token=token, json={"old": PASSWORD, "new": NEW})
    assert changed.status_code == 204
    assert set_by(arena.client, code_for(arena, "Rei"), PASSWORD).status_code == 204
    assert token_for(arena.client, name="Rei", password=PASSWORD).status_code == 201
    body = {"name": "Mio", "password": PASSWORD, "role": "participant"}
    assert arena.post("/users", token=administrator, json=body).status_code == 201
    assert len(hasher.connections) >= 8
    assert set(hasher.connections) == {0}


def test_an_unknown_name_takes_as_much_work_as_a_known_one() -> None:
    assert not PasswordHasher().check_needs_rehash(accounts.NOBODY)
