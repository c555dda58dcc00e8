"""Signing in, and what the tokens it gives can do."""

from datetime import timedelta
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select, update

from anoncup.schemas.roles import Role
from app.config import Settings
from app.db.models import Token, User
from app.db.transaction import transaction
from app.services.accounts import accounts
from tests.support.accounts import counted, database_time, me, person, token_for, told
from tests.support.arena import API, PASSWORD, Arena


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
        session.execute(update(Token).values(expires_at=func.clock_timestamp()))
    assert me(client, token).status_code == 401


def test_a_token_is_kept_as_a_digest_only(client: TestClient, settings: Settings) -> None:
    person("Rei")
    token = token_for(client, name="Rei", password=PASSWORD).json()["token"]
    with transaction() as session:
        kept = session.scalars(select(Token)).one()
        user = session.scalars(select(User)).one()
    assert kept.digest == accounts.digest(token)
    assert user.password_hash.startswith("$argon2id$")


def test_a_token_lives_as_long_as_was_asked_for_and_half_a_year_by_itself(client: TestClient) -> None:
    person("Rei")
    for asked, days in (({}, 180), ({"expires_in_days": 1}, 1), ({"expires_in_days": 365}, 365)):
        before = database_time()
        token = token_for(client, name="Rei", password=PASSWORD, **asked).json()["token"]
        after = database_time()
        with transaction() as session:
            kept = session.scalars(select(Token).where(Token.digest == accounts.digest(token))).one()
        assert before < kept.expires_at - timedelta(days=days) < after


@pytest.mark.parametrize("days", [0, -1, 366, 1.5, "long", None, 10**30])
def test_a_token_lives_one_day_to_a_year(client: TestClient, days: object) -> None:
    person("Rei")
    assert token_for(client, name="Rei", password=PASSWORD, expires_in_days=days).status_code == 422
    assert counted(Token) == 0


def listed(client: TestClient, token: str, query: str = "") -> Response:
    answer: Response = client.get(f"{API}/tokens{query}", headers={"Authorization": f"Bearer {token}"})
    return answer


def test_people_see_their_own_tokens_newest_first_and_none_in_clear(client: TestClient) -> None:
    for name in ("Rei", "Other"):
        person(name)
    token_for(client, name="Other", password=PASSWORD)
    tokens = [
        token_for(client, name="Rei", password=PASSWORD, token_name=f"t{number}", scopes=["read"]).json()
        for number in range(3)
    ]
    current = tokens[1]["token"]
    answer = listed(client, current)
    assert answer.status_code == 200
    assert [one["name"] for one in answer.json()] == ["t2", "t1", "t0"]
    assert [one["current"] for one in answer.json()] == [False, True, False]
    assert set(answer.json()[0]) == {
        "id",
        "kind",
        "name",
        "scopes",
        "created_at",
        "expires_at",
        "revoked_at",
        "current",
    }
    assert not [one["token"] for one in tokens if one["token"] in answer.text]


def test_the_list_of_tokens_comes_in_pages(client: TestClient) -> None:
    person("Rei")
    tokens = [
        token_for(client, name="Rei", password=PASSWORD, token_name=f"t{number}").json()["token"]
        for number in range(5)
    ]
    token = tokens[0]
    found, page = [], listed(client, token, "?limit=2")
    for _ in range(3):
        found += [one["name"] for one in page.json()]
        if "next" in page.links:
            page = listed(client, token, "?" + page.links["next"]["url"].split("?")[1])
    assert found == ["t4", "t3", "t2", "t1", "t0"]
    assert "next" not in page.links
    for cursor in ("nonsense", "a%00b", "WyJ4IiwieSJd", "e30"):
        assert told(listed(client, token, f"?cursor={cursor}")) == (422, "invalid_cursor")


def test_people_end_their_own_tokens_one_by_one_and_nobody_elses(client: TestClient) -> None:
    for name in ("Rei", "Other"):
        person(name)
    first, second, other = (
        token_for(client, name=name, password=PASSWORD).json()["token"] for name in ("Rei", "Rei", "Other")
    )
    identifier = next(one["id"] for one in listed(client, first).json() if one["current"])

    def end(token: str, which: str = identifier) -> Response:
        answer: Response = client.delete(
            f"{API}/tokens/{which}", headers={"Authorization": f"Bearer {token}"}
        )
        return answer

    assert told(end(other)) == (404, "no_such_token")
    assert told(end(second, str(uuid4()))) == (404, "no_such_token")
    assert end(second, "a%00b").status_code == 422
    assert me(client, first).status_code == 200
    assert end(second).status_code == 204
    assert [me(client, token).status_code for token in (first, second)] == [401, 200]
    when = next(one["revoked_at"] for one in listed(client, second).json() if one["id"] == identifier)
    assert end(second).status_code == 204
    again = next(one["revoked_at"] for one in listed(client, second).json() if one["id"] == identifier)
    assert when == again


def test_tokens_are_listed_and_ended_within_their_scopes(client: TestClient) -> None:
    person("Rei")
    reader, sender = (
        token_for(client, name="Rei", password=PASSWORD, scopes=[scope]).json()["token"]
        for scope in ("read", "submit")
    )
    assert told(listed(client, sender)) == (403, "scope_missing")
    for one in listed(client, reader).json():
        answer = client.delete(f"{API}/tokens/{one['id']}", headers={"Authorization": f"Bearer {reader}"})
        assert told(answer) == (403, "scope_missing")
