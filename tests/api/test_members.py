"""Who is in a team, how they get in, and how they get out."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
from httpx2 import Response
from sqlalchemy import func, select, update

from anoncup.schemas.roles import Role
from app.db.models import Invite, Member, User
from app.db.transaction import transaction
from app.services.accounts import accounts
from tests.support.accounts import (
    AT_ONCE,
    acts,
    at_once,
    counted,
    database_time,
    invite,
    me,
    member,
    sign_up,
    signed_in,
    team_invite,
    told,
    uses_left,
)
from tests.support.arena import Arena

pytestmark = pytest.mark.full


def own_team(arena: Arena, token: str) -> list[str]:
    """The names of the members, as one of them sees them."""
    answer = arena.get(f"/competitions/{arena.slug}/team", token=token)
    assert answer.status_code == 200, answer.text
    return [one["name"] for one in answer.json()["members"]]


def test_a_teams_invite_makes_an_account_in_that_team(arena: Arena) -> None:
    first = arena.team("red")
    made = member(arena, team_invite(arena, "red"), name="Bob")
    assert (made["team"], made["competition"]) == ("red", arena.slug)
    shown = arena.get(f"/competitions/{arena.slug}/team", token=made["token"]).json()
    assert (shown["id"], shown["name"], shown["disqualified_at"]) == (made["team_id"], "red", None)
    assert {"user_id": made["user_id"], "name": "Bob"} in shown["members"]
    assert own_team(arena, first) == own_team(arena, made["token"])
    assert arena.submit("red").status_code == 202
    listed = arena.get(f"/competitions/{arena.slug}/submissions", token=made["token"]).json()
    assert len(listed) == 1


@pytest.mark.parametrize(
    ("team", "status"), [(None, 201), ("red", 201), ("  ＲＥＤ ", 201), ("blue", 422), ("", 422)]
)
def test_with_a_teams_invite_the_teams_name_may_only_be_repeated(
    arena: Arena, team: str | None, status: int
) -> None:
    answer = sign_up(arena.client, team_invite(arena, "red"), team=team, name="Bob")
    assert answer.status_code == status
    if status == 422:
        assert answer.json()["code"] == "another_team"
        assert sorted(uses_left()) == [0, 1]
        assert "red" not in answer.text


def test_an_invite_of_the_competition_needs_a_name_for_the_team(arena: Arena) -> None:
    assert told(sign_up(arena.client, invite(arena), team=None)) == (422, "team_needed")
    assert (uses_left(), counted(Member)) == ([1], 0)


def test_a_signed_in_person_founds_a_team_and_another_joins_it(arena: Arena) -> None:
    ada, bob = (signed_in(arena.client, name) for name in ("Ada", "Bob"))
    founded = arena.post("/join", token=ada, json={"invite": invite(arena), "team": "Red"})
    assert founded.status_code == 201, founded.text
    code = arena.post(f"/competitions/{arena.slug}/team/invites", token=ada, json={}).json()["code"]
    joined = arena.post("/join", token=bob, json={"invite": code})
    assert (joined.status_code, joined.json()) == (201, founded.json())
    assert founded.json() == {
        "competition": arena.slug,
        "team": "Red",
        "team_id": founded.json()["team_id"],
    }
    assert own_team(arena, ada) == ["Ada", "Bob"]
    assert me(arena.client, bob).json()["teams"] == [founded.json()]
    assert [act for act in acts() if act[1] == "team.join"] == [
        ("Ada", "team.join", ""),
        ("Bob", "team.join", ""),
    ]


def test_a_person_is_in_one_team_of_a_competition_and_in_one_of_each(arena: Arena) -> None:
    other = Arena.opened(arena.client, slug="other")
    token = arena.team("red")
    for code in (invite(arena), team_invite(arena, "blue"), team_invite(arena, "red")):
        assert told(arena.post("/join", token=token, json={"invite": code})) == (409, "in_a_team")
        assert arena.client.get("/healthz").status_code == 200
    with transaction() as session:
        assert session.scalars(select(Invite.uses_left).where(Invite.uses_left > 0)).all() == [1, 1, 1]
    assert arena.post("/join", token=token, json={"invite": invite(other), "team": "red"}).status_code == 201
    assert [one["competition"] for one in me(arena.client, token).json()["teams"]] == ["small", "other"]


def test_of_ten_joins_of_one_person_at_once_exactly_one_wins(arena: Arena) -> None:
    """Each with an invite of its own: half found a team, half join one."""
    token = signed_in(arena.client, "Ada")
    codes = [
        invite(arena) if number % 2 else team_invite(arena, f"team {number}") for number in range(AT_ONCE)
    ]
    before = counted(Member)

    def join(number: int) -> Response:
        body = {"invite": codes[number]} | ({"team": f"new {number}"} if number % 2 else {})
        return arena.post("/join", token=token, json=body)

    answers = at_once(join)
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 9
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"in_a_team"}
    assert counted(Member) == before + 1
    assert sorted(uses_left())[-9:] == [1] * 9


def test_a_team_invite_serves_as_many_people_as_it_says_and_sixty_days(arena: Arena) -> None:
    arena.team("red")
    before = database_time()
    code = team_invite(arena, "red", uses=2)
    with transaction() as session:
        kept = session.scalars(select(Invite).where(Invite.uses_left == 2)).one()
    assert before < kept.expires_at - timedelta(days=60) < database_time()
    answers = at_once(lambda _: sign_up(arena.client, code, team=None))
    assert sorted(answer.status_code for answer in answers) == [201] * 2 + [422] * 8
    assert len(own_team(arena, arena.team("red"))) == 3
    code = team_invite(arena, "red")
    with transaction() as session:
        session.execute(update(Invite).values(expires_at=func.clock_timestamp()))
    assert told(sign_up(arena.client, code, team=None)) == (422, "invalid_invite")


def test_a_member_leaves_but_not_the_last_one(arena: Arena) -> None:
    first, second = arena.team("red"), member(arena, team_invite(arena, "red"), name="Bob")
    path = f"/competitions/{arena.slug}/team/members"
    left = arena.call("DELETE", f"{path}/{second['user_id']}", token=second["token"])
    assert (left.status_code, left.content) == (204, b"")
    gone = arena.get(f"/competitions/{arena.slug}/team", token=second["token"])
    assert told(gone) == (403, "not_in_a_team")
    answer = arena.call("DELETE", f"{path}/{me(arena.client, first).json()['user_id']}", token=first)
    assert told(answer) == (409, "last_member")
    assert acts()[-1] == ("Bob", "team.remove", "Bob")


def test_a_member_who_is_taken_out_does_not_come_back_by_a_code_of_the_team(arena: Arena) -> None:
    bob = member(arena, team_invite(arena, "red"), name="Bob")
    code = arena.post(f"/competitions/{arena.slug}/team/invites", token=bob["token"], json={}).json()["code"]
    elsewhere = team_invite(arena, "blue")
    path = f"/competitions/{arena.slug}/team/members/{bob['user_id']}"
    assert arena.call("DELETE", path, token=arena.team("red")).status_code == 204
    assert told(arena.post("/join", token=bob["token"], json={"invite": code})) == (422, "invalid_invite")
    assert arena.post("/join", token=bob["token"], json={"invite": elsewhere}).status_code == 201


def test_of_two_members_who_leave_at_the_same_time_one_stays(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/team/members"
    for round_ in range(5):
        ada = arena.team(f"team {round_}")
        bob = member(arena, team_invite(arena, f"team {round_}"))["token"]
        own = {token: me(arena.client, token).json()["user_id"] for token in (ada, bob)}
        with ThreadPoolExecutor(2) as pool:
            leaving = [
                pool.submit(arena.call, "DELETE", f"{path}/{own[token]}", token=token) for token in own
            ]
        assert sorted(one.result().status_code for one in leaving) == [204, 409]


def test_a_member_of_another_team_cannot_be_taken_out(arena: Arena) -> None:
    red, blue = arena.team("red"), arena.team("blue")
    path = f"/competitions/{arena.slug}/team/members"
    for victim in (me(arena.client, red).json()["user_id"], str(uuid4())):
        assert told(arena.call("DELETE", f"{path}/{victim}", token=blue)) == (404, "no_such_member")
    assert arena.call("DELETE", f"{path}/a%00b", token=blue).status_code == 422
    assert counted(Member) == 2


def test_an_organizer_is_in_no_team_of_their_competition(arena: Arena) -> None:
    other = Arena.opened(arena.client, slug="other")
    administrator = signed_in(arena.client, "Root", Role.ADMINISTRATOR)
    for code in (invite(arena), team_invite(arena, "red")):
        for token in (arena.organizer, administrator):
            answer = arena.post("/join", token=token, json={"invite": code, "team": "red"})
            assert told(answer) == (409, "organizes_it")
    body = {"invite": invite(arena), "team": "mine"}
    assert arena.post("/join", token=other.organizer, json=body).status_code == 201


def test_a_joiner_and_a_new_organizer_at_the_same_time_are_not_both(arena: Arena) -> None:
    for round_ in range(5):
        name = f"Olga {round_}"
        token = signed_in(arena.client, name, Role.ORGANIZER)
        code = invite(arena)
        calls = (
            lambda code=code, token=token: arena.post(
                "/join", token=token, json={"invite": code, "team": f"team {code}"}
            ),
            lambda name=name: arena.post(f"/competitions/{arena.slug}/organizers", json={"name": name}),
        )
        with ThreadPoolExecutor(2) as pool:
            answers = [future.result() for future in [pool.submit(call) for call in calls]]
        assert sorted(answer.status_code for answer in answers) == [201, 409]


def test_a_token_that_only_reads_joins_nothing_and_takes_nobody_out(arena: Arena) -> None:
    arena.team("red")
    with transaction() as session:
        user = session.scalars(select(User).where(User.role == Role.PARTICIPANT)).one()
        reader = accounts.issue_token(session, user, name="reader", scopes=("read",))
        sender = accounts.issue_token(session, user, name="sender", scopes=("submit",))
        user_id = user.id
    team = f"/competitions/{arena.slug}/team"
    refused = [
        arena.post("/join", token=reader, json={"invite": invite(arena), "team": "x"}),
        arena.post(f"{team}/invites", token=reader, json={}),
        arena.call("DELETE", f"{team}/members/{user_id}", token=reader),
        arena.get(team, token=sender),
    ]
    assert {told(answer) for answer in refused} == {(403, "scope_missing")}


def test_organizers_see_every_team_with_its_members_and_submissions(arena: Arena) -> None:
    bob = member(arena, team_invite(arena, "red"), name="Bob")
    arena.team("blue")
    for seed in (1, 2):
        assert arena.submit("red", seed=seed).status_code == 202
    found = arena.get(f"/competitions/{arena.slug}/teams").json()
    assert [(one["name"], one["submissions"], len(one["members"])) for one in found] == [
        ("red", 2, 2),
        ("blue", 0, 1),
    ]
    assert found[0]["id"] == bob["team_id"]
    assert {"user_id": bob["user_id"], "name": "Bob"} in found[0]["members"]
    assert [one["disqualified_at"] for one in found] == [None, None]
    assert found[0]["created_at"] < found[1]["created_at"]
