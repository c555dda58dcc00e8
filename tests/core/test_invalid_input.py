"""Names, passwords, paths and bodies that are invalid or hostile."""

import json
from collections.abc import Iterator
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from app.core.db.models import Team, Token
from tests.support.accounts import count_rows, create_invite, create_person, list_uses_left
from tests.support.arena import API, PASSWORD, Arena, build_noisy_release

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


@pytest.mark.parametrize("field", ["invite", "team", "name", "password"])
def test_sign_up_with_invalid_characters_is_refused(arena: Arena, field: str) -> None:
    body = {"invite": create_invite(arena), "team": "t", "name": "n", "password": PASSWORD}
    statuses = {
        name: arena.client.post(f"{API}/signup", content=json.dumps(body | {field: value})).status_code
        for name, value in BAD_TEXTS.items()
    }
    assert statuses == dict.fromkeys(BAD_TEXTS, 422)
    assert (list_uses_left(), count_rows(Team)) == ([1], 0)


@pytest.mark.parametrize("field", ["name", "password", "token_name", "scopes"])
def test_token_request_with_invalid_characters_is_refused(client: TestClient, field: str) -> None:
    create_person("Rei")
    for name, value in BAD_TEXTS.items():
        body = {"name": "Rei", "password": PASSWORD, field: [value] if field == "scopes" else value}
        response = client.post(f"{API}/tokens", content=json.dumps(body))
        assert response.status_code in {401, 422}, (name, response.text)
    assert count_rows(Token) == 0


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


def test_path_with_invalid_characters_is_not_found(arena: Arena) -> None:
    for path in IMPOSSIBLE_PATHS:
        response = arena.get(path, team="red")
        assert response.status_code == (422 if path == "/submissions/a%00b" else 404), response.text
        assert response.headers["content-type"] == "application/problem+json"


def test_comment_with_invalid_characters_is_refused(arena: Arena) -> None:
    table, secret = build_noisy_release(1, arena.table)
    for comment in ("a\x00b", "x" * 1001, "x" * 70_000):
        response = arena.post(
            f"/competitions/{arena.slug}/submissions",
            team="red",
            files={"anonymized": ("a.csv", table), "secret": ("s.csv", secret)},
            data={"comment": comment},
        )
        assert 400 <= response.status_code < 500, response.text


def test_bodies_without_files_have_a_small_limit(client: TestClient) -> None:
    for kind in ("application/json", "application/toml"):
        response = client.post(f"{API}/tokens", content=b" " * (3 << 20), headers={"Content-Type": kind})
        assert (response.status_code, response.json()["code"]) == (413, "too_large")
        assert response.json()["detail"] == "a request may have at most 2 MB"
        assert response.json()["values"] == {"most_mb": 2}


def test_unparsable_request_is_refused_with_a_reason(arena: Arena) -> None:
    headers = {
        "Authorization": f"Bearer {arena.get_team_token('red')}",
        "Content-Type": "multipart/form-data",
    }
    path = f"{API}/competitions/small/submissions"
    response = arena.client.post(path, content=b"x", headers=headers)
    assert (response.status_code, response.json()["code"]) == (400, "bad_request")
    assert response.json()["values"] == {"reason": "Missing boundary in multipart."}
    assert response.json()["detail"] == "the request cannot be read: Missing boundary in multipart."


def test_upload_that_ends_within_a_file_is_malformed(arena: Arena) -> None:
    body = '--x\r\nContent-Disposition: form-data; name="anonymized"; filename="a.csv"\r\n\r\nage,sex\r\n'
    headers = {"Authorization": f"Bearer {arena.get_team_token('red')}"}
    headers["Content-Type"] = "multipart/form-data; boundary=x"
    response = arena.client.post(f"{API}/competitions/small/submissions", content=body, headers=headers)
    assert (response.status_code, response.json()["values"]) == (400, {"reason": "The last file is cut off."})


@pytest.mark.parametrize("charset", ["undefined", "unicode_escape"])
def test_upload_in_an_unknown_encoding_is_malformed(arena: Arena, charset: str) -> None:
    part = 'Content-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'.format
    table, secret = build_noisy_release(1, arena.table)
    texts = [part("comment", "\\ud800abc"), part("\\ud800", "1"), part("\\ud800", "2")]
    files = [
        part('anonymized"; filename="a.csv', table.decode()),
        part('secret"; filename="s.csv', secret.decode()),
    ]
    body = "--x\r\n" + "--x\r\n".join([*files, *texts]) + "--x--\r\n"
    kind = f"multipart/form-data; boundary=x; charset={charset}"
    headers = {"Authorization": f"Bearer {arena.get_team_token('red')}", "Content-Type": kind}
    response = arena.client.post(
        f"{API}/competitions/small/submissions", content=body.encode(), headers=headers
    )
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("PUT", "/competitions/small/original/original.csv", "text/csv"),
        ("POST", "/competitions/small/submissions", "multipart/form-data; boundary=x"),
        ("POST", "/competitions/small/baselines", "multipart/form-data; boundary=x"),
        ("POST", f"/targets/{UUID(int=0)}/guesses", "multipart/form-data; boundary=x"),
    ],
)
def test_large_body_with_an_invalid_token_is_not_read(
    arena: Arena, method: str, path: str, kind: str
) -> None:
    chunks: list[bytes] = []

    def body() -> Iterator[bytes]:
        for _ in range(150):
            chunks.append(b" " * 2**20)
            yield chunks[-1]

    headers = {"Authorization": "Bearer anoncup_nobodys", "Content-Type": kind}
    response = arena.client.request(method, API + path, content=body(), headers=headers)
    assert response.status_code == 401
    assert len(chunks) <= 1
