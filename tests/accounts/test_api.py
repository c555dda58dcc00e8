"""Sign-ups by invite, and names as ordinary users and attackers choose them."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from app.core.db.models import Team
from app.teams.models import Invite
from tests.support.accounts import (
    PARALLEL_CALLS,
    count_rows,
    create_invite,
    get_me,
    list_uses_left,
    run_in_parallel,
    sign_up,
)
from tests.support.arena import Arena
from tests.support.database_rows import execute


def test_sign_up_creates_user_team_and_token(arena: Arena) -> None:
    response = sign_up(arena.client, create_invite(arena), team="red", name="Rei")
    assert response.status_code == 201
    account = response.json()
    assert (account["team"], account["competition"]) == ("red", arena.slug)
    profile = get_me(arena.client, account["token"]).json()
    assert profile == {
        "user_id": account["user_id"],
        "name": "Rei",
        "role": "participant",
        "scopes": ["read", "submit"],
        "teams": [{"competition": arena.slug, "team_id": account["team_id"], "team": "red"}],
        "organizes": [],
    }


def test_expired_unknown_and_used_invites_get_the_same_response(arena: Arena) -> None:
    used, expired = create_invite(arena), create_invite(arena)
    assert sign_up(arena.client, used).status_code == 201
    expired_at = datetime.now(UTC) - timedelta(seconds=1)
    execute(update(Invite).where(Invite.uses_left > 0).values(expires_at=expired_at))
    responses = [sign_up(arena.client, code) for code in (used, expired, "unknown", "")]
    assert {response.status_code for response in responses} == {422}
    assert len({response.content for response in responses}) == 1
    assert count_rows(Team) == 1


@pytest.mark.parametrize("uses", [0, -1, 1001, 1.5, "many", None, 10**30])
def test_invite_allows_1_to_1000_uses(arena: Arena, uses: object) -> None:
    assert arena.post(f"/competitions/{arena.slug}/invites", json={"uses": uses}).status_code == 422


@pytest.mark.full
@pytest.mark.parametrize("field", ["team", "name"])
def test_only_one_of_parallel_sign_ups_gets_a_name(arena: Arena, field: str) -> None:
    """Each sign-up has its own invite, so that only the name is contested."""
    codes = [create_invite(arena) for _ in range(PARALLEL_CALLS)]
    responses = run_in_parallel(lambda number: sign_up(arena.client, codes[number], **{field: "The same"}))
    assert sorted(response.status_code for response in responses) == [201] + [409] * 9
    assert sorted(list_uses_left()) == [0] + [1] * 9
    assert count_rows(Team) == 1
