"""Team members: joining, leaving, moving and removal."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from httpx2 import Response
from sqlalchemy import func, select, update

from anoncup.schemas.fields import Role
from app.core.db.models import Member, Submission
from app.teams.models import Invite
from tests.support.accounts import (
    PARALLEL_CALLS,
    count_rows,
    create_invite,
    create_team_invite,
    get_me,
    list_audit_entries,
    list_uses_left,
    read_database_time,
    read_refusal,
    run_in_parallel,
    sign_in_new_person,
    sign_up,
    sign_up_member,
)
from tests.support.arena import API, Arena
from tests.support.contest import Contest
from tests.support.database_rows import execute, load_all, load_one, load_team_id
from tests.support.page_requests import get_page
from tests.support.uploads_in_flight import start_upload

pytestmark = pytest.mark.full


def list_own_team(arena: Arena, token: str) -> list[str]:
    """Return the names of the members, as the owner of the token sees them."""
    response = arena.get(f"/competitions/{arena.slug}/team", token=token)
    assert response.status_code == 200, response.text
    return [row["name"] for row in response.json()["members"]]


def test_team_invite_creates_an_account_in_the_team(arena: Arena) -> None:
    first = arena.get_team_token("red")
    account = sign_up_member(arena, create_team_invite(arena, "red"), name="Bob")
    assert (account["team"], account["competition"]) == ("red", arena.slug)
    team = arena.get(f"/competitions/{arena.slug}/team", token=account["token"]).json()
    assert (team["id"], team["name"], team["disqualified_at"]) == (account["team_id"], "red", None)
    assert {"user_id": account["user_id"], "name": "Bob"} in team["members"]
    assert list_own_team(arena, first) == list_own_team(arena, account["token"])
    assert arena.submit("red").status_code == 202
    submissions = arena.get(f"/competitions/{arena.slug}/submissions", token=account["token"]).json()
    assert len(submissions) == 1


@pytest.mark.parametrize(
    ("team", "status"), [(None, 201), ("red", 201), ("  ＲＥＤ ", 201), ("blue", 422), ("", 422)]
)
def test_team_invite_accepts_only_the_name_of_its_team(arena: Arena, team: str | None, status: int) -> None:
    response = sign_up(arena.client, create_team_invite(arena, "red"), team=team, name="Bob")
    assert response.status_code == status
    if status == 422:
        assert response.json()["code"] == "another_team"
        assert sorted(list_uses_left()) == [0, 1]
        assert "red" not in response.text


def test_competition_invite_requires_a_team_name(arena: Arena) -> None:
    assert read_refusal(sign_up(arena.client, create_invite(arena), team=None)) == (422, "team_needed")
    assert (list_uses_left(), count_rows(Member)) == ([1], 0)


def test_signed_in_users_found_and_join_teams(arena: Arena) -> None:
    ada, bob = (sign_in_new_person(arena.client, name) for name in ("Ada", "Bob"))
    founding = arena.post("/join", token=ada, json={"invite": create_invite(arena), "team": "Red"})
    assert founding.status_code == 201, founding.text
    code = arena.post(f"/competitions/{arena.slug}/team/invites", token=ada, json={}).json()["code"]
    join_response = arena.post("/join", token=bob, json={"invite": code})
    assert (join_response.status_code, join_response.json()) == (201, founding.json())
    assert founding.json() == {
        "competition": arena.slug,
        "team": "Red",
        "team_id": founding.json()["team_id"],
    }
    assert list_own_team(arena, ada) == ["Ada", "Bob"]
    assert get_me(arena.client, bob).json()["teams"] == [founding.json()]
    assert [act for act in list_audit_entries() if act[1] == "team.join"] == [
        ("Ada", "team.join", ""),
        ("Bob", "team.join", ""),
    ]


def test_user_is_in_one_team_per_competition(arena: Arena) -> None:
    other_arena = Arena.create(arena.client, slug="other")
    token = arena.get_team_token("red")
    for code in (create_invite(arena), create_team_invite(arena, "blue"), create_team_invite(arena, "red")):
        assert read_refusal(arena.post("/join", token=token, json={"invite": code})) == (409, "in_a_team")
        assert arena.client.get("/healthz").status_code == 200
    assert load_all(select(Invite.uses_left).where(Invite.uses_left > 0)) == [1, 1, 1]
    assert (
        arena.post(
            "/join", token=token, json={"invite": create_invite(other_arena), "team": "red"}
        ).status_code
        == 201
    )
    assert [membership["competition"] for membership in get_me(arena.client, token).json()["teams"]] == [
        "small",
        "other",
    ]


def test_only_one_of_parallel_joins_by_a_user_succeeds(arena: Arena) -> None:
    """Each request has its own invite; half of them found a team, half join one."""
    token = sign_in_new_person(arena.client, "Ada")
    codes = [
        create_invite(arena) if number % 2 else create_team_invite(arena, f"team {number}")
        for number in range(PARALLEL_CALLS)
    ]
    members_before = count_rows(Member)

    def join(number: int) -> Response:
        body = {"invite": codes[number]} | ({"team": f"new {number}"} if number % 2 else {})
        return arena.post("/join", token=token, json=body)

    responses = run_in_parallel(join)
    assert sorted(response.status_code for response in responses) == [201] + [409] * 9
    assert {response.json()["code"] for response in responses if response.status_code == 409} == {"in_a_team"}
    assert count_rows(Member) == members_before + 1
    assert sorted(list_uses_left())[-9:] == [1] * 9


def test_team_invite_is_limited_in_uses_and_to_60_days(arena: Arena) -> None:
    arena.get_team_token("red")
    time_before = read_database_time()
    code = create_team_invite(arena, "red", uses=2)
    stored_invite = load_one(select(Invite).where(Invite.uses_left == 2))
    assert time_before < stored_invite.expires_at - timedelta(days=60) < read_database_time()
    responses = run_in_parallel(lambda _: sign_up(arena.client, code, team=None))
    assert sorted(response.status_code for response in responses) == [201] * 2 + [422] * 8
    assert len(list_own_team(arena, arena.get_team_token("red"))) == 3
    code = create_team_invite(arena, "red")
    execute(update(Invite).values(expires_at=func.clock_timestamp()))
    assert read_refusal(sign_up(arena.client, code, team=None)) == (422, "invalid_invite")


def test_team_that_has_sent_nothing_can_be_left_and_ends_with_its_last_member(arena: Arena) -> None:
    first = arena.get_team_token("red")
    second = sign_up_member(arena, create_team_invite(arena, "red", uses=2), name="Bob")
    team, path = f"/competitions/{arena.slug}/team", f"/competitions/{arena.slug}/team/members"
    leave_response = arena.call("DELETE", f"{path}/{second['user_id']}", token=second["token"])
    assert (leave_response.status_code, leave_response.content) == (204, b"")
    assert read_refusal(arena.get(team, token=second["token"])) == (403, "not_in_a_team")
    assert list_audit_entries()[-1] == ("Bob", "team.remove", "Bob")
    arena.submit("red", anonymized=b"x")  # an attempt, which sends nothing
    own = get_me(arena.client, first).json()["user_id"]
    assert arena.call("DELETE", f"{path}/{own}", token=first).status_code == 204
    assert arena.get(f"/competitions/{arena.slug}/teams").json() == []
    assert list_audit_entries()[-1][1:] == ("team.delete", "red")
    assert load_all(select(Invite.team_id)) == [None]  # that of the competition
    again = arena.post("/join", token=first, json={"invite": create_invite(arena), "team": "red"})
    assert again.status_code == 201


def test_team_that_has_sent_something_cannot_be_left(arena: Arena) -> None:
    token = arena.get_team_token("red")
    other = sign_up_member(arena, create_team_invite(arena, "red"), name="Bob")
    assert arena.submit("red").status_code == 202
    path = f"/competitions/{arena.slug}/team/members"
    own = get_me(arena.client, token).json()["user_id"]
    assert read_refusal(arena.call("DELETE", f"{path}/{own}", token=token)) == (409, "team_has_sent")
    assert arena.call("DELETE", f"{path}/{other['user_id']}", token=token).status_code == 204


def test_answer_to_a_team_that_is_gone_stays_public_and_its_questions_private(arena: Arena) -> None:
    token, path = arena.get_team_token("red"), f"/competitions/{arena.slug}"
    for question, public in (("May rows be left out?", True), ("Our trick?", False)):
        asked = arena.post(f"{path}/clarifications", token=token, json={"question": question}).json()
        body = {"answer": "Yes.", "public": public}
        assert arena.put(f"/clarifications/{asked['id']}/answer", json=body).status_code == 200
    own = get_me(arena.client, token).json()["user_id"]
    assert arena.call("DELETE", f"{path}/team/members/{own}", token=token).status_code == 204
    for reader in (token, arena.get_team_token("blue")):
        (left,) = arena.get(f"{path}/clarifications", token=reader).json()
        assert (left["question"], left["own"], left["team"]) == ("May rows be left out?", False, None)
    visitor = arena.client.get(f"{API}{path}/clarifications").json()
    assert [row["question"] for row in visitor] == ["May rows be left out?"]
    assert len(arena.get(f"{path}/clarifications").json()) == 2


def test_last_member_leaves_or_somebody_joins(arena: Arena) -> None:
    """Whoever comes first: nobody joins a team that is gone, and no team with a member goes."""
    for round_ in range(5):
        team = f"team {round_}"
        token, code = arena.get_team_token(team), create_team_invite(arena, team)
        path = f"/competitions/{arena.slug}/team/members/{get_me(arena.client, token).json()['user_id']}"
        calls = (
            lambda path=path, token=token: arena.call("DELETE", path, token=token),
            lambda code=code: sign_up(arena.client, code, team=None),
        )
        with ThreadPoolExecutor(2) as pool:
            leaving, joining = [future.result() for future in [pool.submit(call) for call in calls]]
        assert (leaving.status_code, joining.status_code) in ((204, 201), (204, 422))
        teams = [row["name"] for row in arena.get(f"/competitions/{arena.slug}/teams").json()]
        assert (team in teams) == (joining.status_code == 201)


def move(arena: Arena, user_id: str, team: str, **caller: str) -> Response:
    path = f"/competitions/{arena.slug}/teams/{load_team_id(team)}/members/{user_id}"
    return arena.put(path, **caller)


def test_organizer_moves_people_until_one_of_the_teams_has_sent_something(arena: Arena) -> None:
    token, bob = (
        arena.get_team_token("red"),
        sign_up_member(arena, create_team_invite(arena, "red"), name="Bob"),
    )
    arena.get_team_token("blue")
    code = create_team_invite(arena, "red")
    assert move(arena, bob["user_id"], "blue").status_code == 204
    assert "Bob" in list_own_team(arena, arena.get_team_token("blue"))
    assert list_own_team(arena, bob["token"]) == list_own_team(arena, arena.get_team_token("blue"))
    assert list_audit_entries()[-1][1:] == ("team.move", "Bob")
    audit_page = get_page(arena, f"/competitions/{arena.slug}/organize/audit", organizer=True)
    assert "team: red → blue" in audit_page.text
    assert read_refusal(sign_up(arena.client, code, team=None)) == (422, "invalid_invite")  # Bob may know it
    assert arena.submit("blue").status_code == 202
    for user_id, team in ((bob["user_id"], "red"), (get_me(arena.client, token).json()["user_id"], "blue")):
        assert read_refusal(move(arena, user_id, team)) == (409, "team_has_sent")
    arena.get_team_token("green")
    own = get_me(arena.client, token).json()["user_id"]
    assert move(arena, own, "green").status_code == 204
    teams = [row["name"] for row in arena.get(f"/competitions/{arena.slug}/teams").json()]
    assert teams == ["blue", "green"]  # nobody was left in the team red
    assert read_refusal(move(arena, str(uuid4()), "green")) == (404, "no_such_member")
    missing = f"/competitions/{arena.slug}/teams/{uuid4()}/members/{own}"
    assert read_refusal(arena.put(missing)) == (404, "no_such_team")


def test_upload_of_a_person_who_is_moved_meanwhile_is_refused(contest: Contest) -> None:
    arena = contest.arena
    sign_up_member(arena, create_team_invite(arena, "red"), name="Bob")
    arena.get_team_token("blue")
    own = get_me(arena.client, arena.get_team_token("red")).json()["user_id"]
    with start_upload(contest, "red") as upload:
        assert move(arena, own, "blue").status_code == 204
        assert upload.finish().json()["code"] == "changed_meanwhile"
    assert count_rows(Submission) == 0


def test_nobody_is_moved_once_an_upload_has_been_accepted(contest: Contest) -> None:
    arena = contest.arena
    arena.get_team_token("blue")
    own = get_me(arena.client, arena.get_team_token("red")).json()["user_id"]
    with ThreadPoolExecutor(2) as pool:
        uploading = pool.submit(arena.submit, "red")
        moving = pool.submit(move, arena, own, "blue")
    assert (uploading.result().status_code, moving.result().status_code) in (
        *((202, 409), (202, 204)),  # sent by the old team, or by the new one
        *((409, 204), (403, 204)),  # moved while it was received, or when it began
    )
    teams = load_all(select(Member.team_id).where(Member.user_id == UUID(own)))
    assert load_all(select(Submission.team_id)) == (teams if uploading.result().status_code == 202 else [])


def test_removed_member_cannot_rejoin_by_a_team_invite(arena: Arena) -> None:
    bob = sign_up_member(arena, create_team_invite(arena, "red"), name="Bob")
    code = arena.post(f"/competitions/{arena.slug}/team/invites", token=bob["token"], json={}).json()["code"]
    other_invite = create_team_invite(arena, "blue")
    path = f"/competitions/{arena.slug}/team/members/{bob['user_id']}"
    assert arena.call("DELETE", path, team="red").status_code == 204
    assert read_refusal(arena.post("/join", token=bob["token"], json={"invite": code})) == (
        422,
        "invalid_invite",
    )
    assert arena.post("/join", token=bob["token"], json={"invite": other_invite}).status_code == 201


def test_member_of_another_team_cannot_be_removed(arena: Arena) -> None:
    red, blue = arena.get_team_token("red"), arena.get_team_token("blue")
    path = f"/competitions/{arena.slug}/team/members"
    for victim in (get_me(arena.client, red).json()["user_id"], str(uuid4())):
        assert read_refusal(arena.call("DELETE", f"{path}/{victim}", token=blue)) == (404, "no_such_member")
    assert arena.call("DELETE", f"{path}/a%00b", token=blue).status_code == 422
    assert count_rows(Member) == 2


def test_organizer_cannot_join_a_team_of_the_own_competition(arena: Arena) -> None:
    other_arena = Arena.create(arena.client, slug="other")
    administrator = sign_in_new_person(arena.client, "Root", Role.ADMINISTRATOR)
    for code in (create_invite(arena), create_team_invite(arena, "red")):
        for token in (arena.organizer_token, administrator):
            response = arena.post("/join", token=token, json={"invite": code, "team": "red"})
            assert read_refusal(response) == (409, "organizes_it")
    body = {"invite": create_invite(arena), "team": "mine"}
    assert arena.post("/join", token=other_arena.organizer_token, json=body).status_code == 201


def test_user_cannot_join_and_become_organizer_in_parallel(arena: Arena) -> None:
    for round_ in range(5):
        name = f"Olga {round_}"
        token = sign_in_new_person(arena.client, name, Role.ORGANIZER)
        code = create_invite(arena)
        calls = (
            lambda code=code, token=token: arena.post(
                "/join", token=token, json={"invite": code, "team": f"team {code}"}
            ),
            lambda name=name: arena.post(f"/competitions/{arena.slug}/organizers", json={"name": name}),
        )
        with ThreadPoolExecutor(2) as pool:
            responses = [future.result() for future in [pool.submit(call) for call in calls]]
        assert sorted(response.status_code for response in responses) == [201, 409]
