"""Signing in, and what the tokens it gives can do."""

from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from app.config import Settings
from app.db.models import Token, User
from app.roles import Role
from app.services import accounts
from app.transaction import transaction
from tests.arena import API, PASSWORD, Arena
from tests.people import me, person, token_for


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(client: TestClient) -> None:
    person("Rei")
    attempts = [("Rei", "wrong password"), ("Nobody", PASSWORD), ("Rei", ""), ("", ""), ("Rei\x00", PASSWORD)]
    answers = [token_for(client, name=name, password=password) for name, password in attempts]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert token_for(client, name="Rei", password=PASSWORD).status_code == 201


def test_a_password_is_not_cut_before_it_is_compared(client: TestClient) -> None:
    with transaction() as session:
        accounts.create_user(session, name="Rei", password="x" * 256)
    assert token_for(client, name="Rei", password="x" * 256).status_code == 201
    assert token_for(client, name="Rei", password="x" * 257).status_code == 401


def test_a_person_signs_in_by_any_spelling_of_the_same_name(client: TestClient) -> None:
    person("Straße")
    assert token_for(client, name=" STRASSE ", password=PASSWORD).status_code == 201


def test_a_token_has_the_scopes_that_were_asked_for(client: TestClient) -> None:
    person("Olga", Role.ORGANIZER)
    token = token_for(client, name="Olga", password=PASSWORD, scopes=["read"]).json()["token"]
    assert me(client, token).json()["scopes"] == ["read"]
    every = token_for(client, name="Olga", password=PASSWORD).json()["token"]
    assert me(client, every).json()["scopes"] == ["organize", "read", "submit"]
    twice = token_for(client, name="Olga", password=PASSWORD, scopes=["read"] * 1000)
    assert me(client, twice.json()["token"]).json()["scopes"] == ["read"]
    with transaction() as session:
        assert max(len(scopes) for scopes in session.scalars(select(Token.scopes))) == 3


@pytest.mark.parametrize("scopes", [[], ["organize"], ["read", "organize"], ["everything"], ["READ"]])
def test_a_participant_gets_no_scope_beyond_taking_part(client: TestClient, scopes: list[str]) -> None:
    person("Rei")
    answer = token_for(client, name="Rei", password=PASSWORD, scopes=scopes)
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_scope")


def test_a_token_does_nothing_outside_its_scopes(arena: Arena) -> None:
    with transaction() as session:
        users = {row.name: row for row in session.scalars(select(User))}
        organizer = next(user for name, user in users.items() if name.startswith("organizer"))
        scopes: tuple[tuple[str, ...], ...] = (("read",), ("submit",), ("organize",))
        reader, sender, maker = (
            accounts.issue_token(session, organizer, name="scoped", scopes=one) for one in scopes
        )
    invites, submissions = (f"/competitions/{arena.slug}/{part}" for part in ("invites", "submissions"))
    codes = {
        "reader invites": arena.post(invites, token=reader, json={}).json()["code"],
        "sender invites": arena.post(invites, token=sender, json={}).json()["code"],
        "sender lists": arena.get(submissions, token=sender).json()["code"],
        "maker lists": arena.get(submissions, token=maker).json()["code"],
        "reader sends": arena.post(submissions, token=reader).json()["code"],
        "reader creates": arena.post("/competitions", token=reader, content="x").json()["code"],
    }
    assert set(codes.values()) == {"scope_missing"}
    assert arena.post(invites, token=maker, json={}).status_code == 201


def test_a_revoked_token_is_refused_and_others_of_the_same_person_are_not(client: TestClient) -> None:
    person("Rei")
    first, second = (token_for(client, name="Rei", password=PASSWORD).json()["token"] for _ in range(2))
    ended = client.delete(f"{API}/tokens/current", headers={"Authorization": f"Bearer {first}"})
    assert (ended.status_code, ended.content) == (204, b"")
    assert [me(client, token).status_code for token in (first, second)] == [401, 200]
    assert me(client, first).json()["code"] == "invalid_token"


def test_an_expired_token_is_refused(client: TestClient) -> None:
    person("Rei")
    token = token_for(client, name="Rei", password=PASSWORD).json()["token"]
    with transaction() as session:
        session.execute(update(Token).values(expires_at=datetime.now(UTC)))
    assert me(client, token).status_code == 401


def test_a_token_is_kept_as_a_digest_only(client: TestClient, settings: Settings) -> None:
    person("Rei")
    token = token_for(client, name="Rei", password=PASSWORD).json()["token"]
    with transaction() as session:
        kept = session.scalars(select(Token)).one()
        user = session.scalars(select(User)).one()
    assert kept.digest == accounts.digest(token)
    assert user.password_hash.startswith("$argon2id$")
