"""The organizers of a competition."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest

from anoncup.schemas.fields import Role
from app.core.db.models import Organizer, User
from app.core.db.transaction import transaction
from app.core.identity import tokens
from tests.support.accounts import (
    count_rows,
    create_person,
    create_team_invite,
    get_me,
    list_audit_entries,
    read_refusal,
    request_token,
    sign_in_new_person,
)
from tests.support.arena import API, PASSWORD, Arena

pytestmark = pytest.mark.full


def add_organizer(arena: Arena, name: str) -> str:
    """Create an organizer's account, add it to the competition and return its id."""
    create_person(name, Role.ORGANIZER)
    response = arena.post(f"/competitions/{arena.slug}/organizers", json={"name": name})
    assert response.status_code == 201, response.text
    return str(response.json()["user_id"])


def test_second_organizer_has_the_same_rights_until_removed(arena: Arena) -> None:
    user_id = add_organizer(arena, "Olga")
    olga = request_token(arena.client, name="Olga", password=PASSWORD).json()["token"]
    path = f"/competitions/{arena.slug}"
    assert get_me(arena.client, olga).json()["organizes"] == [arena.slug]
    assert arena.post(f"{path}/invites", token=olga, json={}).status_code == 201
    organizers = arena.get(f"{path}/organizers", token=olga).json()
    assert {"user_id": user_id, "name": "Olga"} in organizers
    assert len(organizers) == 2
    assert arena.call("DELETE", f"{path}/organizers/{user_id}").status_code == 204
    assert read_refusal(arena.post(f"{path}/invites", token=olga, json={})) == (403, "not_organizer")
    assert [act[1:] for act in list_audit_entries() if act[1].startswith("organizer.")] == [
        ("organizer.add", "Olga"),
        ("organizer.remove", "Olga"),
    ]


def test_only_organizer_accounts_without_a_team_become_organizers(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/organizers"
    olga = sign_in_new_person(arena.client, "Olga", Role.ORGANIZER)
    arena.get_team_token("red")
    assert (
        arena.post("/join", token=olga, json={"invite": create_team_invite(arena, "red")}).status_code == 201
    )
    assert read_refusal(arena.post(path, json={"name": "Olga"})) == (409, "in_a_team")
    create_person("Paul")
    assert read_refusal(arena.post(path, json={"name": "Paul"})) == (409, "not_an_organizer")
    for name in ("Nobody", "", "a\x00b", "x" * 999):
        assert read_refusal(arena.post(path, json={"name": name})) == (404, "no_such_user")
    add_organizer(arena, "Ann")
    assert read_refusal(arena.post(path, json={"name": " ＡＮＮ"})) == (409, "organizes_it")
    assert count_rows(Organizer) == 2


def test_last_organizer_cannot_be_removed(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/organizers"
    own = get_me(arena.client, arena.organizer_token).json()["user_id"]
    root = sign_in_new_person(arena.client, "Root", Role.ADMINISTRATOR)
    for token in (arena.organizer_token, root):
        assert read_refusal(arena.call("DELETE", f"{path}/{own}", token=token)) == (409, "last_organizer")
    assert read_refusal(arena.call("DELETE", f"{path}/{uuid4()}")) == (404, "no_such_organizer")
    add_organizer(arena, "Olga")
    assert arena.call("DELETE", f"{path}/{own}").status_code == 204
    assert read_refusal(arena.get(path)) == (403, "not_organizer")


def build_confirmed_headers(token: str) -> dict[str, str]:
    """Return headers with token and password."""
    return {"Authorization": f"Bearer {token}", "X-Confirm-Password": quote(PASSWORD)}


def test_only_one_of_two_organizers_can_remove_the_other(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/organizers"
    root = sign_in_new_person(arena.client, "Root", Role.ADMINISTRATOR)
    for round_ in range(5):
        other_id = add_organizer(arena, f"Olga {round_}")
        with transaction() as session:
            user = session.get_one(User, UUID(other_id))
            other_token = tokens.issue_token(session, user, name="test")
        own = get_me(arena.client, arena.organizer_token).json()["user_id"]
        with ThreadPoolExecutor(2) as pool:
            futures = [
                pool.submit(
                    arena.client.delete, f"{API}{path}/{victim}", headers=build_confirmed_headers(token)
                )
                for victim, token in ((other_id, arena.organizer_token), (own, other_token))
            ]
        assert sorted(future.result().status_code for future in futures) in ([204, 403], [204, 409])
        assert len(arena.get(path, token=root).json()) == 1
        arena.organizer_token = next(
            token
            for token in (arena.organizer_token, other_token)
            if arena.get(path, token=token).status_code == 200
        )
