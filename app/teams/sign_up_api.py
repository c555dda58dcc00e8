"""Routes that begin with an invite: a new account, and another team."""

from typing import Annotated

from fastapi import APIRouter, status
from pydantic import BaseModel, Field

from anoncup import schemas
from anoncup.schemas.fields import example
from app.accounts.api import Code, NewName, Password
from app.accounts.passwords import limit_concurrency
from app.core.db.transaction import transaction
from app.core.http import throttle
from app.core.identity import password_hashes, tokens
from app.core.identity.authentication import ClientAddress, CurrentPrincipal
from app.teams import invites, members

router = APIRouter(tags=["accounts"])


class SignUp(BaseModel):
    """An invite, and the new account."""

    invite: Annotated[
        Code, Field(description="code of an organizer, for a new team, or of a team, to join it")
    ]
    team: Annotated[
        str | None,
        Field(
            max_length=1000,
            description="name of the new team; to join a team, its name or nothing",
        ),
        example("Red"),
    ] = None
    name: NewName
    password: Password


class Join(BaseModel):
    """An invite for a person who has an account."""

    invite: Code
    team: Annotated[
        str | None, Field(max_length=1000, description="as for a new account"), example("Red")
    ] = None


@router.post(
    "/signup",
    status_code=status.HTTP_201_CREATED,
)
@limit_concurrency
def sign_up(body: SignUp, address: ClientAddress) -> schemas.SignedUp:
    """Create an account with an invite: for a new team, or for the team that the invite belongs to."""
    with throttle.limit_invite_tries(address):
        with transaction() as session:
            invites.find_usable(session, body.invite)  # reject a wrong code before hashing the password
        password_hash = password_hashes.hash_password(body.password.get_secret_value())
        with transaction() as session:
            membership = members.sign_up(
                session, code=body.invite, team_name=body.team, name=body.name, password_hash=password_hash
            )
            token = tokens.issue_token(session, membership.user, name="sign-up")
    throttle.remember_address(address, membership.user.name_key)
    return schemas.SignedUp(
        **_serialize_membership(membership).model_dump(), user_id=membership.user.id, token=token
    )


@router.post("/join", status_code=status.HTTP_201_CREATED)
def join(body: Join, principal: CurrentPrincipal, address: ClientAddress) -> schemas.TeamMembership:
    """Take part in another competition with an invite: create a team, or join one."""
    with throttle.limit_invite_tries(address), transaction() as session:
        return _serialize_membership(members.join(session, principal, code=body.invite, team_name=body.team))


def _serialize_membership(membership: members.JoinedMember) -> schemas.TeamMembership:
    return schemas.TeamMembership(
        team_id=membership.team.id, team=membership.team.name, competition=membership.competition.slug
    )
