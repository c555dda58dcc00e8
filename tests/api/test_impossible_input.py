"""Texts that no name, password, path or body can be."""

import json
from collections.abc import Iterator
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from app.db.models import Team, Token
from tests.support.accounts import counted, invite, person, sign_up, uses_left
from tests.support.arena import API, PASSWORD, Arena, noisy_release

pytestmark = pytest.mark.full

BAD_TEXTS = {
    "nul": "a\x00b",
    "high surrogate": "a\ud800b",
    "low surrogate": "\udfff",
    "control": "a\x1bb",
    "huge": "x" * 1_000_000,
    "expanding": "\ufdfa" * 1_000,
    "empty": "",
}
KEY_OF_FULL_LENGTH = "\ufdfa" * 100
"""100 characters that NFKC makes 1,800 of: more than an index entry of the database holds uncompressed."""


@pytest.mark.parametrize("field", ["invite", "team", "name", "password"])
def test_a_sign_up_with_an_impossible_text_is_refused(arena: Arena, field: str) -> None:
    body = {"invite": invite(arena), "team": "t", "name": "n", "password": PASSWORD}
    answered = {
        name: arena.client.post(f"{API}/signup", content=json.dumps(body | {field: value})).status_code
        for name, value in BAD_TEXTS.items()
    }
    assert answered == dict.fromkeys(BAD_TEXTS, 422)
    assert (uses_left(), counted(Team)) == ([1], 0)


@pytest.mark.parametrize("field", ["name", "password", "token_name", "scopes"])
def test_a_token_request_with_an_impossible_text_is_refused(client: TestClient, field: str) -> None:
    person("Rei")
    for name, value in BAD_TEXTS.items():
        body = {"name": "Rei", "password": PASSWORD, field: [value] if field == "scopes" else value}
        answer = client.post(f"{API}/tokens", content=json.dumps(body))
        assert answer.status_code in {401, 422}, (name, answer.text)
    assert counted(Token) == 0


def test_a_name_whose_key_is_many_times_as_long_is_answered(arena: Arena) -> None:
    mixed = "".join(chr(0xFDFA + (number * 7919 % 3 > 1)) + chr(0x3300 + number % 87) for number in range(50))
    code = invite(arena, uses=2)
    for name in (KEY_OF_FULL_LENGTH, mixed):
        assert sign_up(arena.client, code, team=name).status_code in {201, 422}


IMPOSSIBLE_PATHS = (
    "/competitions/a%00b",
    "/competitions/a%00b/competition.toml",
    "/competitions/%ED%A0%80",
    "/competitions/" + "x" * 5000,
    "/competitions/a%00b/boards/anonymization",
    "/competitions/a%00b/submissions",
    "/competitions/small/original/a%00b",
    "/submissions/a%00b",
    "/submissions/00000000-0000-0000-0000-000000000000/data/%00",
)


def test_an_impossible_path_is_not_found(arena: Arena) -> None:
    for path in IMPOSSIBLE_PATHS:
        answer = arena.get(path, token=arena.team("red"))
        assert answer.status_code == (422 if path == "/submissions/a%00b" else 404), answer.text
        assert answer.headers["content-type"] == "application/problem+json"


def test_an_impossible_comment_is_refused(arena: Arena) -> None:
    table, secret = noisy_release(1, arena.table)
    for comment in ("a\x00b", "x" * 1001, "x" * 70_000):
        answer = arena.post(
            f"/competitions/{arena.slug}/submissions",
            token=arena.team("red"),
            files={"anonymized": ("a.csv", table), "secret": ("s.csv", secret)},
            data={"comment": comment},
        )
        assert 400 <= answer.status_code < 500, answer.text


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"name": NaN}', b"[" * 100_000]
)
def test_a_body_that_is_no_object_is_refused(client: TestClient, body: bytes) -> None:
    for path in ("/signup", "/tokens"):
        answer = client.post(API + path, content=body, headers={"Content-Type": "application/json"})
        assert 400 <= answer.status_code < 500, answer.text


def test_half_a_character_in_a_name_or_password_is_refused_or_taken_as_it_is(arena: Arena) -> None:
    headers = {"Content-Type": "application/json"}
    sent = '{"name": "\\ud800", "password": "\\ud800"}'
    answer = arena.client.post(f"{API}/tokens", content=sent, headers=headers)
    assert answer.status_code in {401, 422}
    code = arena.post(f"/competitions/{arena.slug}/invites", json={}).json()["code"]
    body = f'{{"invite": "{code}", "team": "half", "name": "half", "password": "\\ud800abcdefgh"}}'
    answer = arena.client.post(f"{API}/signup", content=body, headers=headers)
    assert answer.status_code in {201, 422}


def test_a_body_that_is_no_file_is_small(client: TestClient) -> None:
    for kind in ("application/json", "application/toml"):
        answer = client.post(f"{API}/tokens", content=b" " * (3 << 20), headers={"Content-Type": kind})
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert answer.json()["detail"] == "a request may have at most 2 MB"
        assert answer.json()["values"] == {"most_mb": 2}


def test_a_request_that_cannot_be_taken_apart_is_refused_with_the_reason(arena: Arena) -> None:
    headers = {"Authorization": f"Bearer {arena.team('red')}", "Content-Type": "multipart/form-data"}
    path = f"{API}/competitions/small/submissions"
    answer = arena.client.post(path, content=b"x", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")
    assert answer.json()["values"] == {"reason": "Missing boundary in multipart."}
    assert answer.json()["detail"] == "the request cannot be read: Missing boundary in multipart."


@pytest.mark.parametrize("charset", ["undefined", "punycode", "unicode_escape", "raw_unicode_escape"])
def test_an_upload_in_a_strange_encoding_is_malformed(arena: Arena, charset: str) -> None:
    part = 'Content-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'.format
    table, secret = noisy_release(1, arena.table)
    texts = [part("comment", "\\ud800abc"), part("\\ud800", "1"), part("\\ud800", "2")]
    files = [
        part('anonymized"; filename="a.csv', table.decode()),
        part('secret"; filename="s.csv', secret.decode()),
    ]
    body = "--x\r\n" + "--x\r\n".join([*files, *texts]) + "--x--\r\n"
    kind = f"multipart/form-data; boundary=x; charset={charset}"
    headers = {"Authorization": f"Bearer {arena.team('red')}", "Content-Type": kind}
    answer = arena.client.post(
        f"{API}/competitions/small/submissions", content=body.encode(), headers=headers
    )
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


def test_who_shows_no_credentials_sends_no_large_body(client: TestClient) -> None:
    for path in ("/tokens", "/competitions/small/submissions", "/competitions/small/original/x.csv"):
        method = "PUT" if "original" in path else "POST"
        answer = client.request(method, API + path, content=b" " * (3 << 20))
        assert answer.status_code in {401, 413}


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("PUT", "/competitions/small/original/original.csv", "text/csv"),
        ("POST", "/competitions/small/submissions", "multipart/form-data; boundary=x"),
        ("POST", "/competitions/small/baselines", "multipart/form-data; boundary=x"),
        ("POST", f"/targets/{UUID(int=0)}/guesses", "multipart/form-data; boundary=x"),
    ],
)
def test_a_large_body_under_a_wrong_token_is_not_read(
    arena: Arena, method: str, path: str, kind: str
) -> None:
    taken: list[bytes] = []

    def body() -> Iterator[bytes]:
        for _ in range(150):
            taken.append(b" " * 2**20)
            yield taken[-1]

    headers = {"Authorization": "Bearer anoncup_nobodys", "Content-Type": kind}
    answer = arena.client.request(method, API + path, content=body(), headers=headers)
    assert answer.status_code == 401
    assert len(taken) <= 1
