"""Throttling of wrong passwords and codes, per account and per address."""

import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from limits import RateLimitItemPerMinute
from structlog.testing import capture_logs

from app.config import Settings
from app.core.db.models import Token
from app.core.http import redis_client, throttle
from tests.support.accounts import (
    count_rows,
    create_invite,
    create_person,
    get_me,
    read_refusal,
    request_token,
    sign_in_new_person,
    sign_up,
)
from tests.support.application import build_application
from tests.support.arena import API, PASSWORD, Arena
from tests.support.setting_changes import change_settings
from tests.support.wait import TIMEOUT_S

STRANGER_ADDRESS = "203.0.113.7"
OWNER_ADDRESS = "198.51.100.1"


def build_client(address: str | None) -> TestClient:
    """Return a client whose requests come from this address."""
    client = TestClient(
        build_application(),
        base_url="http://localhost",
        raise_server_exceptions=False,
        client=(address or "", 4000),
    )
    if address is None:
        client._transport.client = None  # type: ignore[attr-defined]  # as on a unix socket
    return client


def try_password(client: TestClient, name: str = "Rei", password: str = "wrong password") -> Response:
    return request_token(client, name=name, password=password)


def try_passwords(client: TestClient, number: int, name: str = "Rei") -> list[int]:
    return [try_password(client, name).status_code for _ in range(number)]


def sign_in_on_page(client: TestClient, password: str, language: str = "en") -> Response:
    response: Response = client.post(
        f"/sign-in?lang={language}",
        data={"name": "Rei", "password": password},
        headers={"Sec-Fetch-Site": "same-origin"},
        follow_redirects=False,
    )
    client.cookies.clear()
    return response


@pytest.fixture
def rei(settings: Settings) -> None:
    create_person("Rei")


def test_eleventh_wrong_password_of_an_account_is_throttled(rei: None) -> None:
    """The limit holds for all addresses together."""
    responses = [try_password(build_client(f"203.0.113.{number}")) for number in range(10)]
    assert {response.status_code for response in responses} == {401}
    response = try_password(build_client(STRANGER_ADDRESS))
    assert read_refusal(response) == (429, "too_many_tries")
    assert response.headers["content-type"] == "application/problem+json"
    assert 14 * 60 < int(response.headers["retry-after"]) <= 15 * 60
    assert read_refusal(try_password(build_client(STRANGER_ADDRESS), password=PASSWORD)) == (
        429,
        "too_many_tries",
    )
    assert count_rows(Token) == 0


@pytest.mark.full
def test_unknown_name_is_throttled_like_a_known_one(settings: Settings) -> None:
    assert try_passwords(build_client(STRANGER_ADDRESS), 11, "Nobody") == [401] * 10 + [429]
    assert try_password(build_client(STRANGER_ADDRESS), " ＮＯＢＯＤＹ").status_code == 429
    assert try_password(build_client(STRANGER_ADDRESS), "Somebody").status_code == 401


def test_correct_passwords_are_not_counted(rei: None) -> None:
    client = build_client(OWNER_ADDRESS)
    assert {try_password(client, password=PASSWORD).status_code for _ in range(15)} == {201}
    assert try_passwords(client, 9) == [401] * 9
    assert {try_password(client, password=PASSWORD).status_code for _ in range(3)} == {201}
    assert try_passwords(client, 2) == [401, 429]


@pytest.mark.full
def test_only_ten_of_thirty_parallel_wrong_passwords_are_checked(rei: None) -> None:
    client = build_client(STRANGER_ADDRESS)
    with ThreadPoolExecutor(30) as pool:
        statuses = sorted(pool.map(lambda _: try_password(client).status_code, range(30)))
    assert statuses == [401] * 10 + [429] * 20


def test_stranger_cannot_lock_out_the_owner_at_a_known_address(rei: None) -> None:
    assert try_password(build_client(OWNER_ADDRESS), password=PASSWORD).status_code == 201
    token = try_password(build_client(OWNER_ADDRESS), password=PASSWORD).json()["token"]
    assert try_passwords(build_client(STRANGER_ADDRESS), 12)[-1] == 429
    assert try_password(build_client(OWNER_ADDRESS), password=PASSWORD).status_code == 201
    assert sign_in_on_page(build_client(OWNER_ADDRESS), PASSWORD).status_code == 303
    assert get_me(build_client(STRANGER_ADDRESS), token).status_code == 200
    # A known address has a limit as well.
    assert try_passwords(build_client(OWNER_ADDRESS), 11) == [401] * 10 + [429]


@pytest.mark.parametrize(
    ("first", "second", "is_same_network"),
    [
        ("203.0.113.1", "203.0.113.2", False),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:203.0.113.1", "203.0.113.1", True),
        ("::ffff:203.0.113.1", "::ffff:203.0.113.2", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("testclient", "testclient", True),
        ("", "203.0.113.1", False),
    ],
)
def test_addresses_are_grouped_by_network(first: str, second: str, is_same_network: bool) -> None:
    assert (throttle.normalize_address(first) == throttle.normalize_address(second)) is is_same_network


WRONG_CODES: dict[str, Callable[[TestClient, str], Response]] = {
    "/signup": lambda client, _: sign_up(client, "wrong"),
    "/join": lambda client, token: client.post(
        f"{API}/join", json={"invite": "wrong"}, headers={"Authorization": f"Bearer {token}"}
    ),
    "/password": lambda client, _: client.post(
        f"{API}/password", json={"code": "wrong", "password": PASSWORD}
    ),
}


@pytest.mark.full
@pytest.mark.parametrize("path", WRONG_CODES)
def test_wrong_codes_count_for_the_address_and_block_no_sign_up(
    arena: Arena, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "ADDRESS_LIMIT", RateLimitItemPerMinute(3, 15, "throttle"))
    client, token = build_client(STRANGER_ADDRESS), sign_in_new_person(arena.client, "Rei")
    responses = [WRONG_CODES[path](client, token) for _ in range(4)]
    assert [response.status_code for response in responses] == [422] * 3 + [429]
    assert WRONG_CODES[path](build_client(OWNER_ADDRESS), token).status_code == 422
    code = create_invite(arena, uses=2)
    assert sign_up(client, code, name="Ren", team="green").status_code == 201
    body, headers = {"invite": code, "team": "white"}, {"Authorization": f"Bearer {token}"}
    assert client.post(f"{API}/join", json=body, headers=headers).status_code == 201
    # Invites and password codes are counted separately.
    other_paths = {"/signup", "/join"} if path == "/password" else {"/password"}
    assert {WRONG_CODES[other_path](client, token).status_code for other_path in other_paths} == {422}


@pytest.mark.full
def test_other_refusals_are_not_counted(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "ADDRESS_LIMIT", RateLimitItemPerMinute(1, 15, "throttle"))
    client, code = build_client(OWNER_ADDRESS), create_invite(arena)
    arena.get_team_token("red")
    for fields in ({"team": "red"}, {"name": ""}, {"password": "short"}, {"team": None}):
        assert sign_up(client, code, **fields).status_code in {409, 422}
    assert request_token(client, name="Nobody", password=PASSWORD, scopes="read").status_code == 422
    assert sign_up(client, code).status_code == 201


def test_redis_contains_no_names_or_addresses(rei: None) -> None:
    try_password(build_client(OWNER_ADDRESS), password=PASSWORD)
    try_password(build_client(OWNER_ADDRESS))
    connection = throttle.get_storage().storage
    keys = [key.decode() for key in connection.scan_iter("*throttle*")]
    assert keys
    assert not [key for key in keys if "rei" in key.lower() or OWNER_ADDRESS in key]
    assert all(connection.ttl(key) > 0 for key in keys)


@pytest.mark.parametrize(
    "url",
    ["redis://127.0.0.1:1/0", "redis+socket:///nowhere/valkey.sock", "rediss://127.0.0.1:1", "nonsense"],
)
def test_users_can_sign_in_without_redis(rei: None, url: str) -> None:
    with change_settings(REDIS_URL=url), capture_logs() as log_entries:
        client = build_client(OWNER_ADDRESS)
        assert try_password(client).status_code == 401
        assert try_password(client, password=PASSWORD).status_code == 201
        assert sign_in_on_page(client, PASSWORD).status_code == 303
    assert "throttle_unreachable" in {entry["event"] for entry in log_entries}


@pytest.mark.full
def test_without_redis_each_process_counts_on_its_own(rei: None) -> None:
    client = build_client(STRANGER_ADDRESS)
    with change_settings(REDIS_URL="redis://127.0.0.1:1/0"):
        assert try_passwords(client, 11) == [401] * 10 + [429]
        refusal = try_password(client, password=PASSWORD)
        assert read_refusal(refusal) == (429, "too_many_tries")
        assert 0 < int(refusal.headers["retry-after"]) <= 15 * 60
    assert try_password(client, password=PASSWORD).status_code == 201


@pytest.mark.full
def test_unresponsive_redis_delays_only_one_request(rei: None) -> None:
    """The server accepts the connection and never answers; a request waits for it only once and briefly."""
    assert redis_client.TIMEOUT_S <= 0.5
    with ThreadPoolExecutor(1) as pool, socket.create_server(("127.0.0.1", 0)) as silent_server:
        silent_server.setblocking(False)
        with change_settings(REDIS_URL=f"redis://127.0.0.1:{silent_server.getsockname()[1]}/0"):
            future = pool.submit(try_password, build_client(OWNER_ADDRESS), password=PASSWORD)
            assert future.result(TIMEOUT_S).status_code == 201
            throttle.get_storage().storage.connection_pool.disconnect()
        silent_server.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent_server.accept()
