"""Accounts that administrators make, and who organizes a competition."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest

from anoncup.schemas.roles import Role
from app.db.models import Organizer, User
from app.db.transaction import transaction
from app.services.accounts import accounts
from tests.support.accounts import acts, counted, me, person, signed_in, team_invite, token_for, told
from tests.support.arena import API, PASSWORD, Arena

pytestmark = pytest.mark.full


def organizer_named(arena: Arena, name: str) -> str:
    """The id of somebody with an organizer's account, who now organizes the competition."""
    person(name, Role.ORGANIZER)
    answer = arena.post(f"/competitions/{arena.slug}/organizers", json={"name": name})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["user_id"])


@pytest.mark.parametrize("role", list(Role))
def test_an_administrator_makes_accounts_of_every_role(arena: Arena, role: Role) -> None:
    root = signed_in(arena.client, "Root", Role.ADMINISTRATOR)
    body = {"name": "Ümit", "password": PASSWORD, "role": role}
    answer = arena.post("/users", token=root, json=body)
    assert answer.status_code == 201
    token = token_for(arena.client, name="Ümit", password=PASSWORD).json()["token"]
    found = me(arena.client, token).json()
    assert answer.json() == {"user_id": found["user_id"], "name": "Ümit", "role": found["role"]}
    assert ("organize" in found["scopes"]) == (role != Role.PARTICIPANT)
    assert acts()[-1] == ("Root", "user.create", "Ümit")
    assert told(arena.post("/users", token=root, json=body | {"name": "ÜMIT"})) == (409, "name_taken")


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "king"},
        {"role": None},
        {"name": ""},
        {"name": "a\u202eb"},
        {"name": 7},
        {"password": "short"},
        {"password": "x" * 257},
        {"password": "x" * 100_000},
    ],
)
def test_an_account_with_an_impossible_field_is_refused(arena: Arena, wrong: dict[str, object]) -> None:
    root = signed_in(arena.client, "Root", Role.ADMINISTRATOR)
    body = {"name": "Ada", "password": PASSWORD, "role": "participant"} | wrong
    answer = arena.post("/users", token=root, json=body)
    assert answer.status_code == 422
    assert "x" * 100 not in answer.text
    assert counted(User) == 2


def test_nobody_but_an_administrator_makes_accounts(arena: Arena) -> None:
    body = {"name": "Ada", "password": PASSWORD, "role": "administrator"}
    assert told(arena.post("/users", json=body)) == (403, "not_administrator")
    person("Root", Role.ADMINISTRATOR)
    reader = token_for(arena.client, name="Root", password=PASSWORD, scopes=["read"]).json()["token"]
    assert told(arena.post("/users", token=reader, json=body)) == (403, "scope_missing")


def test_a_second_organizer_may_do_what_the_first_may_until_taken_away(arena: Arena) -> None:
    user_id = organizer_named(arena, "Olga")
    olga = token_for(arena.client, name="Olga", password=PASSWORD).json()["token"]
    path = f"/competitions/{arena.slug}"
    assert me(arena.client, olga).json()["organizes"] == [arena.slug]
    assert arena.post(f"{path}/invites", token=olga, json={}).status_code == 201
    listed = arena.get(f"{path}/organizers", token=olga).json()
    assert {"user_id": user_id, "name": "Olga"} in listed
    assert len(listed) == 2
    assert arena.call("DELETE", f"{path}/organizers/{user_id}").status_code == 204
    assert told(arena.post(f"{path}/invites", token=olga, json={})) == (403, "not_organizer")
    assert [act[1:] for act in acts() if act[1].startswith("organizer.")] == [
        ("organizer.add", "Olga"),
        ("organizer.remove", "Olga"),
    ]


def test_only_people_with_an_organizers_account_and_in_no_team_become_organizers(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/organizers"
    olga = signed_in(arena.client, "Olga", Role.ORGANIZER)
    arena.team("red")
    assert arena.post("/join", token=olga, json={"invite": team_invite(arena, "red")}).status_code == 201
    assert told(arena.post(path, json={"name": "Olga"})) == (409, "in_a_team")
    person("Paul")
    assert told(arena.post(path, json={"name": "Paul"})) == (409, "not_an_organizer")
    for name in ("Nobody", "", "a\x00b", "x" * 999):
        assert told(arena.post(path, json={"name": name})) == (404, "no_such_user")
    organizer_named(arena, "Ann")
    assert told(arena.post(path, json={"name": " ＡＮＮ"})) == (409, "organizes_it")
    assert counted(Organizer) == 2


def test_the_last_organizer_stays(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/organizers"
    own = me(arena.client, arena.organizer).json()["user_id"]
    root = signed_in(arena.client, "Root", Role.ADMINISTRATOR)
    for token in (arena.organizer, root):
        assert told(arena.call("DELETE", f"{path}/{own}", token=token)) == (409, "last_organizer")
    assert told(arena.call("DELETE", f"{path}/{uuid4()}")) == (404, "no_such_organizer")
    organizer_named(arena, "Olga")
    assert arena.call("DELETE", f"{path}/{own}").status_code == 204
    assert told(arena.get(path)) == (403, "not_organizer")


def sure(token: str) -> dict[str, str]:
    """The headers of somebody who gives the password along."""
    return {"Authorization": f"Bearer {token}", "X-Confirm-Password": quote(PASSWORD)}


def test_of_two_organizers_who_remove_each_other_one_stays(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/organizers"
    root = signed_in(arena.client, "Root", Role.ADMINISTRATOR)
    for round_ in range(5):
        other = organizer_named(arena, f"Olga {round_}")
        with transaction() as session:
            user = session.get_one(User, UUID(other))
            theirs = accounts.issue_token(session, user, name="test")
        own = me(arena.client, arena.organizer).json()["user_id"]
        with ThreadPoolExecutor(2) as pool:
            both = [
                pool.submit(arena.client.delete, f"{API}{path}/{victim}", headers=sure(token))
                for victim, token in ((other, arena.organizer), (own, theirs))
            ]
        assert sorted(one.result().status_code for one in both) in ([204, 403], [204, 409])
        assert len(arena.get(path, token=root).json()) == 1
        arena.organizer = next(
            token for token in (arena.organizer, theirs) if arena.get(path, token=token).status_code == 200
        )
