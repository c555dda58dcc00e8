"""Signing up by invite, and names, as people and attackers use them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from app.db.models import Invite, Member, Team, User
from app.db.transaction import transaction
from tests.support.accounts import AT_ONCE, at_once, counted, invite, me, sign_up, token_for, uses_left
from tests.support.arena import PASSWORD, Arena, competition_file


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
        "teams": [{"competition": arena.slug, "team_id": made["team_id"], "team": "red"}],
        "organizes": [],
    }


@pytest.mark.full
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


@pytest.mark.full
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
    ("Team bob", "Team\u00a0 b\ufe0fo\u034fb"),
    ("Team bob", "\u0422\u0435\u0430m b\u043e\u042c"),
    ("TEAM BOB", "TEAM \u0412\u041e\u0412"),
    ("力", "カ"),
]


@pytest.mark.full
def test_names_that_read_alike_are_the_same_name(arena: Arena) -> None:
    code = invite(arena, uses=100)
    for first, second in SAME_NAMES:
        sign_up(arena.client, code, team=first, name=first)  # some of the first names are alike, too
        answer = sign_up(arena.client, code, team=second)
        assert (answer.status_code, answer.json()["code"]) == (409, "team_name_taken"), second
        answer = sign_up(arena.client, code, name=second)
        assert (answer.status_code, answer.json()["code"]) == (409, "name_taken"), second


@pytest.mark.full
def test_two_competitions_may_each_have_a_team_of_the_same_name(client: TestClient) -> None:
    for slug in ("one", "two"):
        assert sign_up(client, invite(Arena.opened(client, slug=slug)), team="red").status_code == 201


@pytest.mark.full
@pytest.mark.parametrize("field", ["team", "name"])
def test_of_ten_sign_ups_at_once_with_the_same_name_exactly_one_wins(arena: Arena, field: str) -> None:
    """Each with an invite of its own, so that nothing but the name stands between them."""
    codes = [invite(arena) for _ in range(AT_ONCE)]
    answers = at_once(lambda number: sign_up(arena.client, codes[number], **{field: "The same"}))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 9
    assert sorted(uses_left()) == [0] + [1] * 9
    assert counted(Team) == 1


@pytest.mark.full
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
        ({"team": "\u2800"}, 422),
        ({"name": "\u3164"}, 422),
        ({"name": "a\u2800b"}, 422),
    ],
)
def test_a_sign_up_that_fails_uses_no_invite_up(arena: Arena, fields: dict[str, str], status: int) -> None:
    assert sign_up(arena.client, invite(arena), team="red", name="Rei").status_code == 201
    code = invite(arena)
    users = counted(User)
    assert sign_up(arena.client, code, **fields).status_code == status
    assert (sorted(uses_left()), counted(User), counted(Team)) == ([0, 1], users, 1)
    assert sign_up(arena.client, code).status_code == 201


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
