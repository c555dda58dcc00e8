"""Routes of accounts: sign-up and joining with an invite, new accounts, password links."""

from typing import Annotated

from fastapi import APIRouter, status
from pydantic import BaseModel, Field

from anoncup import schemas
from anoncup.schemas.fields import example
from anoncup.schemas.roles import Role
from app.accounts import passwords
from app.accounts.api import Code, Name, NewName, Password
from app.accounts.passwords import limit_concurrency
from app.accounts.step_up import ReauthenticatedCaller
from app.core.db.transaction import transaction
from app.core.http import throttle
from app.core.identity import tokens
from app.core.identity.authentication import ClientAddress, CurrentPrincipal
from app.teams import members, organizers

router = APIRouter()


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


class UserIn(BaseModel):
    """A new account."""

    name: NewName
    password: Password
    role: Annotated[Role, example("participant")]


class ByName(BaseModel):
    """The name of a person."""

    name: Name


@router.post("/signup", tags=["accounts"], status_code=status.HTTP_201_CREATED)
@limit_concurrency
def sign_up(body: SignUp, address: ClientAddress) -> schemas.SignedUp:
    """Create an account with an invite: for a new team, or for the team that the invite belongs to."""
    membership, token = members.sign_up(
        address,
        code=body.invite,
        team_name=body.team,
        name=body.name,
        password=body.password.get_secret_value(),
        begin=lambda session, user: tokens.issue_token(session, user, name="sign-up"),
    )
    return schemas.SignedUp(
        **_serialize_membership(membership).model_dump(), user_id=membership.user.id, token=token
    )


@router.post("/join", tags=["accounts"], status_code=status.HTTP_201_CREATED)
def join(body: Join, principal: CurrentPrincipal, address: ClientAddress) -> schemas.TeamMembership:
    """Take part in another competition with an invite: create a team, or join one."""
    with throttle.limit_invite_tries(address), transaction() as session:
        return _serialize_membership(members.join(session, principal, code=body.invite, team_name=body.team))


def _serialize_membership(membership: members.JoinedMember) -> schemas.TeamMembership:
    return schemas.TeamMembership(
        team_id=membership.team.id, team=membership.team.name, competition=membership.competition.slug
    )


@router.post("/users", tags=["users"], status_code=status.HTTP_201_CREATED)
@limit_concurrency
def create_user(body: UserIn, principal: ReauthenticatedCaller) -> schemas.User:
    """Create an account with any role. For administrators; teams sign up with invites."""
    user = organizers.create_user(
        principal, name=body.name, password=body.password.get_secret_value(), role=body.role
    )
    return schemas.User(user_id=user.id, name=user.name, role=user.role)


@router.post("/users/password-links", tags=["users"], status_code=status.HTTP_201_CREATED)
def create_password_link(body: ByName, principal: ReauthenticatedCaller) -> schemas.PasswordLink:
    """Create a code with which a person sets a new password, once within 48 hours. Earlier codes end.

    Administrators create codes for everybody. Organizers create codes for participants of their own
    competitions, unless those also take part in a competition of other organizers.
    """
    with transaction() as session:
        return passwords.issue_link(session, principal, body.name)
