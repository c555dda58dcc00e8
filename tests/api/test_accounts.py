"""Invites, names, passwords and tokens, as people and attackers use them."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select, update

from app.config import Settings
from app.db.models import Base, Invite, Member, Team, Token, User
from app.roles import Role
from app.services import accounts
from app.transaction import transaction
from tests.arena import API, PASSWORD, Arena, competition_file, noisy_release, numbers

AT_ONCE = 10


def invite(arena: Arena, *, uses: int = 1) -> str:
    answer = arena.post(f"/competitions/{arena.slug}/invites", json={"uses": uses})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["code"])


def sign_up(client: TestClient, code: str, **fields: Any) -> Response:
    number = next(numbers)
    body = {"invite": code, "team": f"team {number}", "name": f"person {number}", "password": PASSWORD}
    answer: Response = client.post(f"{API}/signup", json=body | fields)
    return answer


def at_once(call: Callable[[int], Response]) -> list[Response]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(call, range(AT_ONCE)))


def counted(model: type[Base]) -> int:
    with transaction() as session:
        return session.scalars(select(func.count()).select_from(model)).one()


def uses_left() -> list[int]:
    with transaction() as session:
        return list(session.scalars(select(Invite.uses_left)))


def token_for(client: TestClient, **fields: Any) -> Response:
    answer: Response = client.post(f"{API}/tokens", json=fields)
    return answer


def me(client: TestClient, token: str) -> Response:
    answer: Response = client.get(f"{API}/me", headers={"Authorization": f"Bearer {token}"})
    return answer


def person(name: str, role: Role = Role.PARTICIPANT) -> None:
    with transaction() as session:
        accounts.create_user(session, name=name, password=PASSWORD, role=role)


def test_a_sign_up_makes_a_person_a_team_and_a_token(arena: Arena) -> None:
    answer = sign_up(arena.client, invite(arena), team="red", name="Rei")
    assert answer.status_code == 201
    made = answer.json()
    assert (made["team"], made["competition"]) == ("red", arena.slug)
    found = me(arena.client, made["token"]).json()
    assert found == {
        "user_id": made["user_id"],
        "name": "Rei",
        "role": "participant",
        "scopes": ["read", "submit"],
    }


def test_of_ten_sign_ups_at_once_with_one_invite_exactly_one_wins(arena: Arena) -> None:
    code = invite(arena)
    answers = at_once(lambda _: sign_up(arena.client, code))
    assert sorted(answer.status_code for answer in answers) == [201] + [422] * 9
    assert {answer.json()["code"] for answer in answers if answer.status_code == 422} == {"invalid_invite"}
    assert counted(Team) == counted(Member) == 1
    assert counted(User) == 2  # the organizer and the winner
    assert uses_left() == [0]


def test_an_invite_for_three_lets_three_in(arena: Arena) -> None:
    code = invite(arena, uses=3)
    assert [sign_up(arena.client, code).status_code for _ in range(4)] == [201, 201, 201, 422]


def test_an_expired_an_unknown_and_a_used_invite_get_the_same_answer(arena: Arena) -> None:
    used, expired = invite(arena), invite(arena)
    assert sign_up(arena.client, used).status_code == 201
    with transaction() as session:
        past = datetime.now(UTC) - timedelta(seconds=1)
        session.execute(update(Invite).where(Invite.uses_left > 0).values(expires_at=past))
    answers = [sign_up(arena.client, code) for code in (used, expired, "unknown", "")]
    assert {answer.status_code for answer in answers} == {422}
    assert len({answer.content for answer in answers}) == 1
    assert counted(Team) == 1


@pytest.mark.parametrize("uses", [0, -1, 1001, 1.5, "many", None, 10**30])
def test_an_invite_has_one_to_a_thousand_uses(arena: Arena, uses: object) -> None:
    assert arena.post(f"/competitions/{arena.slug}/invites", json={"uses": uses}).status_code == 422


FREE_NAMES = [
    "匿名化工房",
    'The "Quoted", with, commas',
    "O'Brien & <b>Sons</b>",
    "=SUM(A1:A9)",
    "名前のとても長いチーム" * 8,
    "x" * 100,
    "Ünïcödé ßtraße",
    "Команда 🎉",
    "family 👩\u200d👩\u200d👧",
    "ｶﾞｷﾞｸﾞ",
    "\\'; DROP TABLE teams; --",
    "%s %(name)s {slug} $1",
]


def test_a_team_and_a_person_may_have_any_name(arena: Arena) -> None:
    code = invite(arena, uses=len(FREE_NAMES))
    for name in FREE_NAMES:
        answer = sign_up(arena.client, code, team=name, name=name)
        assert answer.status_code == 201, name
        assert answer.json()["team"] == name
        assert token_for(arena.client, name=name, password=PASSWORD).status_code == 201


SAME_NAMES = [
    ("Team A", "TEAM a"),
    ("Team A", "Ｔｅａｍ　Ａ"),
    ("ガギグ", "ｶﾞｷﾞｸﾞ"),
    ("Straße", "STRASSE"),
    ("Café", "Cafe\u0301"),
    ("ﬁne", "FINE"),
    ("Team A", "  Team A  "),
    ("Team A", "Team\u00a0A"),
    ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
    ("①", "1"),
    ("TeamA", "Team\u200dA"),
    ("\u1fb3x", "\u0391\u0399X"),
]


def test_names_that_read_alike_are_the_same_name(arena: Arena) -> None:
    code = invite(arena, uses=100)
    for first, second in SAME_NAMES:
        sign_up(arena.client, code, team=first, name=first)  # some of the first names are alike, too
        answer = sign_up(arena.client, code, team=second)
        assert (answer.status_code, answer.json()["code"]) == (409, "team_name_taken"), second
        answer = sign_up(arena.client, code, name=second)
        assert (answer.status_code, answer.json()["code"]) == (409, "name_taken"), second


def test_two_competitions_may_each_have_a_team_of_the_same_name(client: TestClient) -> None:
    for slug in ("one", "two"):
        assert sign_up(client, invite(Arena.opened(client, slug=slug)), team="red").status_code == 201


@pytest.mark.parametrize("field", ["team", "name"])
def test_of_ten_sign_ups_at_once_with_the_same_name_exactly_one_wins(arena: Arena, field: str) -> None:
    """Each with an invite of its own, so that nothing but the name stands between them."""
    codes = [invite(arena) for _ in range(AT_ONCE)]
    answers = at_once(lambda number: sign_up(arena.client, codes[number], **{field: "The same"}))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 9
    assert sorted(uses_left()) == [0] + [1] * 9
    assert counted(Team) == 1


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"team": "red"}, 409),
        ({"name": "Rei"}, 409),
        ({"password": "short"}, 422),
        ({"password": "x" * 257}, 422),
        ({"team": ""}, 422),
        ({"team": "   "}, 422),
        ({"team": "x" * 101}, 422),
        ({"team": "a\u202eb"}, 422),
        ({"team": "a\nb"}, 422),
        ({"name": ""}, 422),
        ({"team": "\u200d"}, 422),
    ],
)
def test_a_sign_up_that_fails_uses_no_invite_up(arena: Arena, fields: dict[str, str], status: int) -> None:
    assert sign_up(arena.client, invite(arena), team="red", name="Rei").status_code == 201
    code = invite(arena)
    users = counted(User)
    assert sign_up(arena.client, code, **fields).status_code == status
    assert (sorted(uses_left()), counted(User), counted(Team)) == ([0, 1], users, 1)
    assert sign_up(arena.client, code).status_code == 201


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


@pytest.mark.parametrize(
    ("method", "part", "content"),
    [
        ("PUT", "competition.toml", {"content": competition_file("small", threshold=0.5)}),
        ("PUT", "original/original.csv", {"content": b"sex,age,income,rent\nf,20,1,2\n"}),
        ("POST", "invites", {"json": {}}),
    ],
)
def test_an_organizer_cannot_touch_another_organizers_competition(
    arena: Arena, method: str, part: str, content: dict[str, Any]
) -> None:
    stranger = Arena.opened(arena.client, slug="elsewhere").organizer
    before = arena.get(f"/competitions/{arena.slug}/competition.toml").content
    answer = arena.call(method, f"/competitions/{arena.slug}/{part}", token=stranger, **content)
    assert (answer.status_code, answer.json()["code"]) == (403, "not_organizer")
    assert arena.get(f"/competitions/{arena.slug}/competition.toml").content == before


def test_an_invite_leads_into_its_own_competition_only(client: TestClient) -> None:
    here, there = (Arena.opened(client, slug=slug) for slug in ("here", "there"))
    made = sign_up(client, invite(here)).json()
    assert made["competition"] == "here"
    assert here.get("/competitions/here/submissions", token=made["token"]).status_code == 200
    assert there.get("/competitions/there/submissions", token=made["token"]).status_code == 403


def test_half_a_character_in_a_name_or_password_is_refused_or_taken_as_it_is(arena: Arena) -> None:
    headers = {"Content-Type": "application/json"}
    sent = '{"name": "\\ud800", "password": "\\ud800"}'
    answer = arena.client.post(f"{API}/tokens", content=sent, headers=headers)
    assert answer.status_code in {401, 422}
    code = arena.post(f"/competitions/{arena.slug}/invites", json={}).json()["code"]
    body = f'{{"invite": "{code}", "team": "half", "name": "half", "password": "\\ud800abcdefgh"}}'
    answer = arena.client.post(f"{API}/signup", content=body, headers=headers)
    assert answer.status_code in {201, 422}
