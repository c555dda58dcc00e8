"""Passwords are hashed with limited parallelism and outside of transactions."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient
from sqlalchemy import QueuePool

from anoncup.schemas.roles import Role
from app.accounts import passwords
from app.core.db import engine
from app.core.identity import password_hashes
from tests.support.accounts import create_invite, request_token, sign_in_new_person, sign_up
from tests.support.arena import PASSWORD, Arena
from tests.support.passwords import NEW_PASSWORD, create_password_code, set_password, sign_in_browser

pytestmark = pytest.mark.full

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
    administrator = sign_in_new_person(arena.client, "Ada", Role.ADMINISTRATOR)
    hasher.connections.clear()
    token = sign_up(arena.client, create_invite(arena), name="Rei").json()["token"]
    sign_in_browser(arena.client, "Rei")
    assert request_token(arena.client, name="nobody", password=PASSWORD).status_code == 401
    changed = arena.put("/me/password", token=token, json={"old": PASSWORD, "new": NEW_PASSWORD})
    assert changed.status_code == 204
    assert set_password(arena.client, create_password_code(arena, "Rei"), PASSWORD).status_code == 204
    assert request_token(arena.client, name="Rei", password=PASSWORD).status_code == 201
    body = {"name": "Mio", "password": PASSWORD, "role": "participant"}
    assert arena.post("/users", token=administrator, json=body).status_code == 201
    assert len(hasher.connections) >= 8
    assert set(hasher.connections) == {0}


def test_unknown_name_takes_as_long_as_a_known_one() -> None:
    assert not PasswordHasher().check_needs_rehash(password_hashes.DUMMY_HASH)


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
