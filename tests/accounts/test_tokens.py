"""Sign-in, and scopes and lifetime of tokens."""

from datetime import timedelta
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from anoncup.schemas.fields import Role
from app.core.db.models import Token, User
from app.core.db.transaction import transaction
from app.core.identity import tokens
from tests.support.accounts import (
    count_rows,
    create_person,
    get_me,
    read_database_time,
    read_refusal,
    request_token,
)
from tests.support.arena import API, PASSWORD, Arena
from tests.support.database_rows import load_all, load_one


def test_wrong_password_and_unknown_name_get_the_same_response(client: TestClient) -> None:
    create_person("Rei")
    attempts = [("Rei", "wrong password"), ("Nobody", PASSWORD), ("Rei", ""), ("", ""), ("Rei\x00", PASSWORD)]
    responses = [request_token(client, name=name, password=password) for name, password in attempts]
    assert {response.status_code for response in responses} == {401}
    assert len({response.content for response in responses}) == 1
    assert request_token(client, name="Rei", password=PASSWORD).status_code == 201


def test_token_has_the_requested_scopes(client: TestClient) -> None:
    create_person("Olga", Role.ORGANIZER)
    token = request_token(client, name="Olga", password=PASSWORD, scopes=["read"]).json()["token"]
    assert get_me(client, token).json()["scopes"] == ["read"]
    full_token = request_token(client, name="Olga", password=PASSWORD).json()["token"]
    assert get_me(client, full_token).json()["scopes"] == ["organize", "read", "submit"]
    repeated_scopes = request_token(client, name="Olga", password=PASSWORD, scopes=["read"] * 1000)
    assert get_me(client, repeated_scopes.json()["token"]).json()["scopes"] == ["read"]
    assert max(len(scopes) for scopes in load_all(select(Token.scopes))) == 3


@pytest.mark.parametrize("scopes", [[], ["organize"], ["read", "organize"], ["everything"], ["READ"]])
def test_participant_gets_no_organizer_scope(client: TestClient, scopes: list[str]) -> None:
    create_person("Rei")
    response = request_token(client, name="Rei", password=PASSWORD, scopes=scopes)
    assert (response.status_code, response.json()["code"]) == (422, "unknown_scope")


def test_token_works_only_within_its_scopes(arena: Arena) -> None:
    with transaction() as session:
        users = {row.name: row for row in session.scalars(select(User))}
        organizer = next(user for name, user in users.items() if name.startswith("organizer"))
        scopes: tuple[tuple[str, ...], ...] = (("read",), ("submit",), ("organize",))
        read_token, submit_token, organize_token = (
            tokens.issue_token(session, organizer, name="scoped", scopes=scope_set) for scope_set in scopes
        )
    invites, submissions = (f"/competitions/{arena.slug}/{part}" for part in ("invites", "submissions"))
    competition = f"/competitions/{arena.slug}"
    team = f"{competition}/team"
    codes = {
        "reader invites": arena.post(invites, token=read_token, json={}).json()["code"],
        "sender invites": arena.post(invites, token=submit_token, json={}).json()["code"],
        "sender lists": arena.get(submissions, token=submit_token).json()["code"],
        "maker lists": arena.get(submissions, token=organize_token).json()["code"],
        "reader sends": arena.post(submissions, token=read_token).json()["code"],
        "reader creates": arena.post("/competitions", token=read_token, content="x").json()["code"],
        "reader joins": arena.post("/join", token=read_token, json={"invite": "x"}).json()["code"],
        "reader invites members": arena.post(f"{team}/invites", token=read_token, json={}).json()["code"],
        "reader removes": arena.call("DELETE", f"{team}/members/{uuid4()}", token=read_token).json()["code"],
        "reader revokes": arena.call("DELETE", f"/tokens/{uuid4()}", token=read_token).json()["code"],
        "sender reads team": arena.get(team, token=submit_token).json()["code"],
        "sender lists tokens": arena.get("/tokens", token=submit_token).json()["code"],
        **{
            f"reader reads {part}": arena.get(f"{competition}/{part}", token=read_token).json()["code"]
            for part in ("audit", "queue", "submissions/all")
        },
    }
    assert set(codes.values()) == {"scope_missing"}
    assert arena.post(invites, token=organize_token, json={}).status_code == 201


def test_token_lifetime_is_as_requested_or_180_days(client: TestClient) -> None:
    create_person("Rei")
    for options, days in (({}, 180), ({"expires_in_days": 1}, 1), ({"expires_in_days": 365}, 365)):
        time_before = read_database_time()
        token = request_token(client, name="Rei", password=PASSWORD, **options).json()["token"]
        time_after = read_database_time()
        stored_token = load_one(select(Token).where(Token.digest == tokens.hash_token(token)))
        assert time_before < stored_token.expires_at - timedelta(days=days) < time_after


@pytest.mark.parametrize("days", [0, -1, 366, 1.5, "long", None, 10**30])
def test_token_lifetime_is_one_day_to_one_year(client: TestClient, days: object) -> None:
    create_person("Rei")
    assert request_token(client, name="Rei", password=PASSWORD, expires_in_days=days).status_code == 422
    assert count_rows(Token) == 0


def list_tokens(client: TestClient, token: str, query: str = "") -> Response:
    response: Response = client.get(f"{API}/tokens{query}", headers={"Authorization": f"Bearer {token}"})
    return response


def test_users_list_their_tokens_newest_first_without_values(client: TestClient) -> None:
    for name in ("Rei", "Other"):
        create_person(name)
    request_token(client, name="Other", password=PASSWORD)
    tokens = [
        request_token(client, name="Rei", password=PASSWORD, token_name=f"t{number}", scopes=["read"]).json()
        for number in range(3)
    ]
    current = tokens[1]["token"]
    response = list_tokens(client, current)
    assert response.status_code == 200
    assert [row["name"] for row in response.json()] == ["t2", "t1", "t0"]
    assert [row["current"] for row in response.json()] == [False, True, False]
    assert set(response.json()[0]) == {
        *("id", "kind", "name", "scopes", "created_at", "expires_at", "revoked_at", "current"),
    }
    assert not [row["token"] for row in tokens if row["token"] in response.text]


def test_users_revoke_only_their_own_tokens(client: TestClient) -> None:
    for name in ("Rei", "Other"):
        create_person(name)
    first, second, other_token = (
        request_token(client, name=name, password=PASSWORD).json()["token"]
        for name in ("Rei", "Rei", "Other")
    )
    identifier = next(row["id"] for row in list_tokens(client, first).json() if row["current"])

    def revoke(token: str, token_id: str = identifier) -> Response:
        response: Response = client.delete(
            f"{API}/tokens/{token_id}", headers={"Authorization": f"Bearer {token}"}
        )
        return response

    assert read_refusal(revoke(other_token)) == (404, "no_such_token")
    assert read_refusal(revoke(second, str(uuid4()))) == (404, "no_such_token")
    assert revoke(second, "a%00b").status_code == 422
    assert get_me(client, first).status_code == 200
    assert revoke(second).status_code == 204
    assert [get_me(client, token).status_code for token in (first, second)] == [401, 200]
    revoked_at = next(
        row["revoked_at"] for row in list_tokens(client, second).json() if row["id"] == identifier
    )
    assert revoke(second).status_code == 204
    revoked_again = next(
        row["revoked_at"] for row in list_tokens(client, second).json() if row["id"] == identifier
    )
    assert revoked_at == revoked_again
