"""Guessing passwords and codes: how often, from where, and what it does to others."""

import json
import socket
import subprocess
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from limits import RateLimitItemPerMinute
from structlog.testing import capture_logs

from app.config import Settings, get_settings
from app.db.models import Token
from app.http import redis_client, throttle
from app.processes import embedded_servers
from app.services.accounts import accounts
from tests.support.accounts import counted, invite, me, person, sign_up, signed_in, token_for, told
from tests.support.application import application
from tests.support.arena import API, PASSWORD, Arena
from tests.support.queue import empty_queue
from tests.support.wait import PATIENCE_S, eventually

STRANGER = "203.0.113.7"
HOME = "198.51.100.1"


def at(address: str | None) -> TestClient:
    """A client whose requests come from there."""
    client = TestClient(
        application(),
        base_url="http://localhost",
        raise_server_exceptions=False,
        client=(address or "", 4000),
    )
    if address is None:
        client._transport.client = None  # type: ignore[attr-defined]  # as on a unix socket
    return client


def guess(client: TestClient, name: str = "Rei", password: str = "wrong password") -> Response:
    return token_for(client, name=name, password=password)


def guesses(client: TestClient, number: int, name: str = "Rei") -> list[int]:
    return [guess(client, name).status_code for _ in range(number)]


def page_sign_in(client: TestClient, password: str, language: str = "en") -> Response:
    answer: Response = client.post(
        f"/sign-in?lang={language}",
        data={"name": "Rei", "password": password},
        headers={"Sec-Fetch-Site": "same-origin"},
        follow_redirects=False,
    )
    client.cookies.clear()
    return answer


@pytest.fixture
def rei(settings: Settings) -> None:
    person("Rei")


def test_the_eleventh_wrong_password_of_an_account_has_to_wait(rei: None) -> None:
    """From wherever they come: ten addresses are not ten times as many."""
    answers = [guess(at(f"203.0.113.{number}")) for number in range(10)]
    assert {answer.status_code for answer in answers} == {401}
    answer = guess(at(STRANGER))
    assert told(answer) == (429, "too_many_tries")
    assert answer.headers["content-type"] == "application/problem+json"
    assert 14 * 60 < int(answer.headers["retry-after"]) <= 15 * 60
    assert told(guess(at(STRANGER), password=PASSWORD)) == (429, "too_many_tries")
    assert counted(Token) == 0


@pytest.mark.full
def test_an_unknown_name_is_throttled_like_a_known_one(settings: Settings) -> None:
    assert guesses(at(STRANGER), 11, "Nobody") == [401] * 10 + [429]
    assert guess(at(STRANGER), " ＮＯＢＯＤＹ").status_code == 429
    assert guess(at(STRANGER), "Somebody").status_code == 401


def test_right_passwords_are_not_counted(rei: None) -> None:
    client = at(HOME)
    assert {guess(client, password=PASSWORD).status_code for _ in range(15)} == {201}
    assert guesses(client, 9) == [401] * 9
    assert {guess(client, password=PASSWORD).status_code for _ in range(3)} == {201}
    assert guesses(client, 2) == [401, 429]


@pytest.mark.full
def test_of_thirty_wrong_passwords_at_once_ten_are_looked_at(rei: None) -> None:
    client = at(STRANGER)
    with ThreadPoolExecutor(30) as pool:
        statuses = sorted(pool.map(lambda _: guess(client).status_code, range(30)))
    assert statuses == [401] * 10 + [429] * 20


def test_the_wait_ends(rei: None) -> None:
    client = at(STRANGER)
    assert guesses(client, 11)[-1] == 429
    connection = throttle.storage().storage
    for key in connection.scan_iter("*throttle*"):
        assert 0 < connection.ttl(key) <= 15 * 60
        connection.pexpire(key, 1)  # the quarter of an hour is over in a moment
    assert eventually(lambda: guess(client, password=PASSWORD).status_code == 201)


def test_a_stranger_does_not_lock_the_owner_out_at_home(rei: None) -> None:
    assert guess(at(HOME), password=PASSWORD).status_code == 201
    token = guess(at(HOME), password=PASSWORD).json()["token"]
    assert guesses(at(STRANGER), 12)[-1] == 429
    assert guess(at(HOME), password=PASSWORD).status_code == 201
    assert page_sign_in(at(HOME), PASSWORD).status_code == 303
    assert me(at(STRANGER), token).status_code == 200
    # At home, too, ten wrong ones are enough.
    assert guesses(at(HOME), 11) == [401] * 10 + [429]


@pytest.mark.full
def test_signing_up_and_a_password_link_make_an_address_known(arena: Arena) -> None:
    assert sign_up(at(HOME), invite(arena), name="Rei").status_code == 201
    assert guesses(at(STRANGER), 11)[-1] == 429
    assert guess(at(HOME), password=PASSWORD).status_code == 201
    elsewhere = at("198.51.100.99")
    assert guess(elsewhere, password=PASSWORD).status_code == 429
    code = arena.post("/users/password-links", json={"name": "Rei"}).json()["code"]
    done = elsewhere.post(f"{API}/password", json={"code": code, "password": "battery staple"})
    assert done.status_code == 204
    assert guess(elsewhere, password="battery staple").status_code == 201


@pytest.mark.full
def test_an_address_has_a_hundred_wrong_tries_whatever_the_accounts(rei: None) -> None:
    client = at(STRANGER)
    assert {WRONG_CODES["/password"](client, "").status_code for _ in range(100)} == {422}
    assert guess(client).status_code == 429
    assert guess(client, password=PASSWORD).status_code == 429
    assert guess(at(HOME), password=PASSWORD).status_code == 201


@pytest.mark.parametrize(
    ("first", "second", "same"),
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
def test_who_counts_as_one_address(first: str, second: str, same: bool) -> None:
    assert (throttle.network_of(first) == throttle.network_of(second)) is same


@pytest.mark.full
def test_the_addresses_of_one_network_share_their_tries(rei: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "PER_ADDRESS", RateLimitItemPerMinute(3, 15, "throttle"))
    answers = [guess(at(f"2001:db8::{number}"), f"name {number}") for number in range(5)]
    assert [answer.status_code for answer in answers] == [401] * 3 + [429] * 2
    assert guess(at("2001:db8:0:1::1")).status_code == 401


@pytest.mark.full
def test_without_an_address_the_account_alone_is_counted(rei: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "PER_ADDRESS", RateLimitItemPerMinute(3, 15, "throttle"))
    client = at(None)
    assert guesses(client, 11) == [401] * 10 + [429]
    assert guess(client, "Nobody").status_code == 401


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
def test_wrong_codes_count_for_the_address(arena: Arena, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "PER_ADDRESS", RateLimitItemPerMinute(3, 15, "throttle"))
    client, token = at(STRANGER), signed_in(arena.client, "Rei")
    answers = [WRONG_CODES[path](client, token) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [422] * 3 + [429]
    assert WRONG_CODES[path](at(HOME), token).status_code == 422


@pytest.mark.full
@pytest.mark.parametrize("path", WRONG_CODES)
def test_no_number_of_wrong_tries_keeps_a_class_behind_one_address_from_signing_up(
    arena: Arena, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "PER_ADDRESS", RateLimitItemPerMinute(3, 15, "throttle"))
    monkeypatch.setattr(throttle, "ALONE_PER_ADDRESS", RateLimitItemPerMinute(3, 15, "alone"))
    client, token = at(STRANGER), signed_in(arena.client, "Rei")
    for _ in range(4):
        last = WRONG_CODES[path](client, token)
    assert told(last) == (429, "too_many_tries")
    assert client.get("/sign-up", params={"invite": invite(arena)}).status_code == 200
    code = invite(arena, uses=2)
    assert sign_up(client, code, name="Ren", team="green").status_code == 201
    joined = client.post(
        f"{API}/join",
        json={"invite": code, "team": "white"},
        headers={"Authorization": f"Bearer {token}"},
    )
    assert joined.status_code == 201
    # The wrong ones of one kind do not use up the tries of the other.
    others = {"/signup", "/join"} if path == "/password" else {"/password"}
    assert {WRONG_CODES[other](client, token).status_code for other in others} == {422}
    with redis_at("redis://127.0.0.1:1/0", monkeypatch):
        alone = [WRONG_CODES[path](client, token).status_code for _ in range(4)]
        assert alone == [422] * 3 + [429]


@pytest.mark.full
def test_a_wrong_invite_costs_no_hash(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "hashed", None)
    assert told(sign_up(at(STRANGER), "wrong")) == (422, "invalid_invite")
    page = at(STRANGER).post(
        "/sign-up",
        data={"invite": "wrong", "name": "Rei", "password": PASSWORD, "team": "red"},
        headers={"Sec-Fetch-Site": "same-origin"},
    )
    assert page.status_code == 422


@pytest.mark.full
def test_what_is_refused_for_another_reason_is_no_wrong_try(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "PER_ADDRESS", RateLimitItemPerMinute(1, 15, "throttle"))
    client, code = at(HOME), invite(arena)
    arena.team("red")
    for fields in ({"team": "red"}, {"name": ""}, {"password": "short"}, {"team": None}):
        assert sign_up(client, code, **fields).status_code in {409, 422}
    assert token_for(client, name="Nobody", password=PASSWORD, scopes="read").status_code == 422
    assert sign_up(client, code).status_code == 201


@pytest.mark.full
def test_the_old_password_cannot_be_guessed_with_a_stolen_session(arena: Arena) -> None:
    token = signed_in(arena.client, "Rei")
    headers = {"Authorization": f"Bearer {token}"}
    body = {"old": "wrong password", "new": "battery staple"}
    client = at(STRANGER)
    answers = [client.put(f"{API}/me/password", json=body, headers=headers) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [422] * 10 + [429]


@pytest.mark.full
@pytest.mark.parametrize(
    ("language", "sentence"),
    [("en", "Too many wrong tries: try again in 15 min."), ("ja", "失敗が多すぎます。")],
)
def test_the_page_says_that_one_has_to_wait(rei: None, language: str, sentence: str) -> None:
    client = at(STRANGER)
    assert {page_sign_in(client, "wrong").status_code for _ in range(10)} == {401}
    answer = page_sign_in(client, PASSWORD, language)
    assert answer.status_code == 429
    assert sentence in answer.text
    assert 'role="alert"' in answer.text
    assert int(answer.headers["retry-after"]) > 14 * 60
    assert "anoncup_session" not in answer.headers.get("set-cookie", "")
    assert guess(client, password=PASSWORD).status_code == 429


def test_neither_names_nor_addresses_stand_in_redis(rei: None) -> None:
    guess(at(HOME), password=PASSWORD)
    guess(at(HOME))
    connection = throttle.storage().storage
    keys = [key.decode() for key in connection.scan_iter("*throttle*")]
    assert keys
    assert not [key for key in keys if "rei" in key.lower() or HOME in key]
    assert all(connection.ttl(key) > 0 for key in keys)


@contextmanager
def redis_at(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The application with another Redis than the tests'."""
    with monkeypatch.context() as changed:
        changed.setenv("REDIS_URL", url)
        get_settings.cache_clear()
        yield
    get_settings.cache_clear()


@pytest.mark.parametrize(
    "url",
    ["redis://127.0.0.1:1/0", "redis+socket:///nowhere/valkey.sock", "rediss://127.0.0.1:1", "nonsense"],
)
def test_without_redis_people_still_sign_in(rei: None, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with redis_at(url, monkeypatch), capture_logs() as logged:
        client = at(HOME)
        assert guess(client).status_code == 401
        assert guess(client, password=PASSWORD).status_code == 201
        assert page_sign_in(client, PASSWORD).status_code == 303
    assert "throttle_unreachable" in {entry["event"] for entry in logged}


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server of this test's own, and its URL."""
    address = tmp_path / "valkey.sock"
    command = [
        str(embedded_servers._valkey_binary()),
        "--port",
        "0",
        "--unixsocket",
        str(address),
        "--save",
        "",
    ]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        assert eventually(address.exists)
        yield f"redis+socket://{address}", process
        process.kill()


@pytest.mark.full
def test_when_redis_is_stopped_each_process_counts_by_itself_and_allows_less(
    rei: None, valkey: tuple[str, subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, process = valkey
    person("Ren")
    with redis_at(url, monkeypatch):
        client = at(STRANGER)
        assert guesses(client, 8) == [401] * 8
        process.kill()
        process.wait()
        assert guesses(client, 7) == [401] * 5 + [429] * 2
        refused = guess(client, password=PASSWORD)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_tries")
        assert 0 < int(refused.headers["retry-after"]) <= 15 * 60
        assert guess(at(HOME), password=PASSWORD).status_code == 429
        assert guess(client, "Ren", PASSWORD).status_code == 201
        strangers = [guess(client, f"nobody {number}").status_code for number in range(20)]
        assert strangers == [401] * 15 + [429] * 5
    assert guess(at(STRANGER), password=PASSWORD).status_code == 201


@pytest.mark.full
def test_without_redis_right_passwords_are_not_counted(rei: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with redis_at("redis://127.0.0.1:1/0", monkeypatch):
        client = at(HOME)
        assert [guess(client, password=PASSWORD).status_code for _ in range(8)] == [201] * 8


@pytest.mark.full
def test_a_redis_that_does_not_answer_holds_nobody_up(rei: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the connection and says nothing: one try waits for it once, and not for long."""
    assert redis_client.PATIENCE_S <= 0.5
    with ThreadPoolExecutor(1) as pool, socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        with redis_at(f"redis://127.0.0.1:{silent.getsockname()[1]}/0", monkeypatch):
            asked = pool.submit(guess, at(HOME), password=PASSWORD)
            assert asked.result(PATIENCE_S).status_code == 201
            throttle.storage().storage.connection_pool.disconnect()
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()


@pytest.mark.full
def test_connections_that_were_cut_are_made_again(rei: None) -> None:
    client = at(STRANGER)
    assert guesses(client, 5) == [401] * 5
    throttle.storage().storage.client_kill_filter(skipme=False, _type="normal")
    assert guesses(client, 6) == [401] * 5 + [429]
    empty_queue()
    assert guess(client).status_code == 401


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("redis+socket:///tmp/s/valkey.sock", "unix:///tmp/s/valkey.sock"),
        ("redis+socket:///tmp/valkey.sock?virtual_host=2", "unix:///tmp/valkey.sock?db=2"),
        ("redis://:pass@redis:6379/0", "redis://:pass@redis:6379/0"),
    ],
)
def test_the_url_of_the_queue_is_the_url_of_the_throttle(given: str, wanted: str) -> None:
    assert redis_client.redis_py_url(given) == wanted


@pytest.mark.full
def test_a_huge_name_is_refused_before_it_costs_anything(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of its letters is eighteen, once it is normalized."""
    normalize, normalized = unicodedata.normalize, list[int]()

    def counted_normalize(form: Literal["NFC", "NFKC"], text: str) -> str:
        normalized.append(len(text))
        return normalize(form, text)

    monkeypatch.setattr(unicodedata, "normalize", counted_normalize)
    client = at(STRANGER)
    assert guess(client, "x" * 1000).status_code == 401
    assert max(normalized) == 1000
    body = json.dumps({"name": "\ufdfa" * 300_000, "password": PASSWORD})
    assert client.post(f"{API}/tokens", content=body).status_code == 422
    assert max(normalized) == 1000
