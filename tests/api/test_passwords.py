"""New passwords, by the old one or by a link, and what they end."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select, text, update

from anoncup.schemas.roles import Role
from app.db.models import PasswordLink, Token, User
from app.db.transaction import transaction
from app.http.authentication import COOKIE
from app.services.accounts import accounts
from tests.support.accounts import (
    acts,
    at_once,
    counted,
    database_time,
    invite,
    me,
    person,
    sign_up,
    signed_in,
    token_for,
    told,
)
from tests.support.arena import API, PASSWORD, Arena
from tests.support.passwords import NEW, browser_session, code_for, link, set_by

pytestmark = pytest.mark.full


def status_by(client: TestClient, cookie: str) -> int:
    """How a browser with that cookie is answered."""
    answer: Response = client.get(f"{API}/me", headers={"Cookie": f"{COOKIE}={cookie}"})
    return answer.status_code


@pytest.fixture
def bob(arena: Arena) -> str:
    """The token of a participant of the competition."""
    return str(sign_up(arena.client, invite(arena), name="Bob").json()["token"])


def change(arena: Arena, token: str, **fields: Any) -> Response:
    return arena.put("/me/password", token=token, json={"old": PASSWORD, "new": NEW} | fields)


def test_a_new_password_ends_every_other_token_and_session(arena: Arena, bob: str) -> None:
    other = token_for(arena.client, name="Bob", password=PASSWORD).json()["token"]
    cookie = browser_session(arena.client, "Bob")
    code = code_for(arena, "Bob")
    assert [me(arena.client, token).status_code for token in (bob, other)] == [200, 200]
    assert status_by(arena.client, cookie) == 200
    answer = change(arena, bob)
    assert (answer.status_code, answer.content) == (204, b"")
    assert [me(arena.client, token).status_code for token in (bob, other)] == [200, 401]
    assert status_by(arena.client, cookie) == 401
    assert token_for(arena.client, name="Bob", password=PASSWORD).status_code == 401
    assert token_for(arena.client, name="Bob", password=NEW).status_code == 201
    assert told(set_by(arena.client, code)) == (422, "invalid_code")
    assert me(arena.client, arena.organizer).status_code == 200


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"old": "wrong password"}, "wrong_password"),
        ({"old": ""}, "wrong_password"),
        ({"new": "short"}, "password_length"),
        ({"new": "x" * 257}, "password_length"),
        ({"new": "x" * 5000}, "invalid_request"),
        ({"new": None}, "invalid_request"),
    ],
)
def test_a_refused_password_changes_nothing(
    arena: Arena, bob: str, fields: dict[str, Any], code: str
) -> None:
    other = token_for(arena.client, name="Bob", password=PASSWORD).json()["token"]
    assert told(change(arena, bob, **fields)) == (422, code)
    assert me(arena.client, other).status_code == 200
    assert token_for(arena.client, name="Bob", password=PASSWORD).status_code == 201


def test_no_token_by_the_old_password_appears_after_the_new_one(arena: Arena, bob: str) -> None:
    """Sign-ins and the change at the same time: whoever was in time is out again."""

    def act(number: int) -> Response:
        return change(arena, bob) if number == 3 else token_for(arena.client, name="Bob", password=PASSWORD)

    answers = at_once(act)
    assert answers[3].status_code == 204
    issued = [answer.json()["token"] for answer in answers if answer.status_code == 201]
    assert {me(arena.client, token).status_code for token in issued} <= {401}
    assert me(arena.client, bob).status_code == 200


def test_a_link_sets_a_password_once_and_ends_every_token_and_session(arena: Arena, bob: str) -> None:
    cookie = browser_session(arena.client, "Bob")
    before = database_time()
    answer = link(arena, " ＢＯＢ ")
    assert answer.status_code == 201
    made = datetime.fromisoformat(answer.json()["expires_at"]) - timedelta(hours=48)
    assert before < made < database_time()
    code = answer.json()["code"]
    done = set_by(arena.client, code)
    assert (done.status_code, done.content) == (204, b"")
    assert (me(arena.client, bob).status_code, status_by(arena.client, cookie)) == (401, 401)
    assert token_for(arena.client, name="Bob", password=NEW).status_code == 201
    assert token_for(arena.client, name="Bob", password=PASSWORD).status_code == 401
    assert told(set_by(arena.client, code, "another password")) == (422, "invalid_code")
    assert token_for(arena.client, name="Bob", password=NEW).status_code == 201
    organizer = me(arena.client, arena.organizer).json()["name"]
    assert acts()[-2:] == [(organizer, "user.password_link", "Bob"), ("Bob", "user.password_by_link", "Bob")]


def test_of_ten_uses_of_one_code_at_once_exactly_one_sets_the_password(arena: Arena, bob: str) -> None:
    code = code_for(arena, "Bob")
    answers = at_once(lambda number: set_by(arena.client, code, f"password {number}"))
    assert sorted(answer.status_code for answer in answers) == [204] + [422] * 9
    won = next(number for number, answer in enumerate(answers) if answer.status_code == 204)
    assert token_for(arena.client, name="Bob", password=f"password {won}").status_code == 201


def test_a_used_an_expired_an_older_and_an_unknown_code_get_the_same_answer(arena: Arena, bob: str) -> None:
    older = code_for(arena, "Bob")
    expired = code_for(arena, "Bob")
    with transaction() as session:
        session.execute(update(PasswordLink).values(expires_at=text("clock_timestamp()")))
    sign_up(arena.client, invite(arena), name="Rei")
    used = code_for(arena, "Rei")
    assert set_by(arena.client, used).status_code == 204
    answers = [set_by(arena.client, code) for code in (older, expired, used, "unknown", "")]
    assert {answer.status_code for answer in answers} == {422}
    assert len({answer.content for answer in answers}) == 1
    assert token_for(arena.client, name="Bob", password=PASSWORD).status_code == 201


def test_a_code_survives_a_password_that_is_too_short(arena: Arena, bob: str) -> None:
    code = code_for(arena, "Bob")
    assert told(set_by(arena.client, code, "short")) == (422, "password_length")
    assert me(arena.client, bob).status_code == 200
    assert set_by(arena.client, code).status_code == 204


def test_an_administrator_opens_any_account_and_an_organizer_only_their_participants(
    arena: Arena, bob: str
) -> None:
    stranger = Arena.opened(arena.client, slug="elsewhere")
    root = signed_in(arena.client, "Root", Role.ADMINISTRATOR)
    other = signed_in(arena.client, "Other", Role.ORGANIZER)
    person("Loner")
    stranger_name = me(arena.client, stranger.organizer).json()["name"]
    everybody = ("Bob", "Root", "Other", "Loner", stranger_name)
    refused = [link(stranger, name) for name in (*everybody, "Nobody")]
    assert len({answer.content for answer in refused}) == 1
    assert told(refused[0]) == (404, "no_such_user")
    assert [link(arena, name).status_code for name in everybody] == [201, 404, 404, 404, 404]
    assert [link(arena, name, token=root).status_code for name in everybody] == [201] * 5
    assert told(link(arena, "Nobody", token=root)) == (404, "no_such_user")
    assert told(link(arena, "Bob", token=bob)) == (403, "scope_missing")
    # An organizer's account that takes part is still an organizer's.
    body = {"invite": invite(arena), "team": "Others"}
    assert arena.post("/join", token=other, json=body).status_code == 201
    assert told(link(arena, "Other")) == (404, "no_such_user")


def test_an_organizer_opens_no_account_that_is_in_another_organizers_competition(
    arena: Arena, bob: str
) -> None:
    elsewhere = Arena.opened(arena.client, slug="elsewhere")
    code = code_for(arena, "Bob")
    body = {"invite": invite(elsewhere), "team": "Bobs"}
    assert arena.post("/join", token=bob, json=body).status_code == 201
    assert told(set_by(arena.client, code)) == (422, "invalid_code")  # it would open more than before
    for organizer in (arena, elsewhere):
        assert told(link(organizer, "Bob")) == (403, "in_another_competition")
    own = me(arena.client, arena.organizer).json()["name"]
    answer = elsewhere.post("/competitions/elsewhere/organizers", json={"name": own})
    assert answer.status_code == 201
    assert link(arena, "Bob").status_code == 201


@pytest.mark.parametrize("name", ["", "a\x00b", "x" * 999, "\ufdfa" * 900])
def test_a_link_for_an_impossible_name_is_refused(arena: Arena, name: str) -> None:
    root = signed_in(arena.client, "Root", Role.ADMINISTRATOR)
    assert told(link(arena, name, token=root)) == (404, "no_such_user")
    assert counted(PasswordLink) == 0


def test_neither_code_nor_password_is_kept_anywhere_in_clear(arena: Arena, bob: str) -> None:
    code = code_for(arena, "Bob")
    set_by(arena.client, code)
    with transaction() as session:
        kept = session.scalars(select(PasswordLink)).one()
        everything = "".join(
            str(row)
            for table in ("users", "tokens", "password_links", "audit_entries")
            for row in session.execute(text(f"SELECT * FROM {table}"))  # names of ours
        )
        assert session.scalars(select(Token.revoked_at).join(User).where(User.name == "Bob")).all() != [None]
    assert kept.digest == accounts.digest(code)
    assert code not in everything
    assert NEW not in everything


def test_a_change_and_a_link_at_the_same_time_end_well(arena: Arena, bob: str) -> None:
    """Both hold the person's row; neither waits for the other for ever."""
    code = code_for(arena, "Bob")
    with ThreadPoolExecutor(3) as pool:
        calls = [
            pool.submit(change, arena, bob),
            pool.submit(set_by, arena.client, code, "by the link"),
            pool.submit(link, arena, "Bob"),
        ]
    answers = [call.result() for call in calls]
    assert all(answer.status_code < 500 for answer in answers)
    worked = [
        password
        for password in (PASSWORD, NEW, "by the link")
        if token_for(arena.client, name="Bob", password=password).status_code == 201
    ]
    assert len(worked) == 1
    assert worked != [PASSWORD]
