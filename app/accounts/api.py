"""Routes of the caller's own account, and of the accounts of other people."""

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import BaseModel, Field, SecretStr

from anoncup import schemas
from anoncup.schemas.fields import PersonName, Role, example
from app.accounts import memberships, people
from app.accounts.passwords import (
    change_own_password,
    issue_link,
    limit_concurrency,
    reset_with_link,
    sign_in,
)
from app.accounts.step_up import ReauthenticatedCaller
from app.core.db.transaction import transaction
from app.core.http.paging import RequestedPage
from app.core.identity import tokens
from app.core.identity.authentication import ClientAddress, CurrentPrincipal

router = APIRouter(tags=["accounts"])

_MAX_TOKEN_LIFE_DAYS = 365

Name = Annotated[
    PersonName,
    Field(max_length=1000, description="upper and lower case and the width of characters do not matter"),
]
NewName = Annotated[
    PersonName, Field(max_length=1000, description="1 to 100 characters without control characters")
]
Code = Annotated[str, Field(max_length=200), example("q3c1Jt2nUe0VbW8s")]
_ExistingPassword = Annotated[SecretStr, Field(max_length=1000), example("seven quiet foxes")]
Password = Annotated[_ExistingPassword, Field(description="8 to 256 characters")]


class SignIn(BaseModel):
    """Name and password, and the properties of the new token."""

    name: Name
    password: _ExistingPassword
    token_name: Annotated[
        str, Field(description="a name by which you recognize the token"), example("laptop")
    ] = "api"  # noqa: S105  # a label
    scopes: Annotated[
        list[str] | None,
        Field(description="some of read, submit and organize; by default all scopes of your role"),
        example(["read", "submit"]),
    ] = None
    expires_in_days: Annotated[int, Field(ge=1, le=_MAX_TOKEN_LIFE_DAYS)] = tokens.TOKEN_LIFETIME.days


class NewPassword(BaseModel):
    """The current password and the new one."""

    old: _ExistingPassword
    new: Annotated[Password, example("eight quiet foxes")]


class PasswordByCode(BaseModel):
    """The code of a password link, and the new password."""

    code: Code
    password: Password


class RoleIn(BaseModel):
    """What a person may do."""

    role: Annotated[Role, example("organizer")]


class UserIn(RoleIn):
    """A new account."""

    name: NewName


class ByName(BaseModel):
    """The name of a person."""

    name: Name


@router.post("/password", status_code=status.HTTP_204_NO_CONTENT)
@limit_concurrency
def set_password(body: PasswordByCode, address: ClientAddress) -> None:
    """Set a new password with the code of a password link, which works once. All tokens and sessions end."""
    reset_with_link(address, code=body.code, password=body.password.get_secret_value())


@router.put("/me/password", status_code=status.HTTP_204_NO_CONTENT)
@limit_concurrency
def change_password(body: NewPassword, principal: CurrentPrincipal, address: ClientAddress) -> None:
    """Change your password. All your tokens and sessions end, except the one that makes this request."""
    change_own_password(principal, address, old=body.old.get_secret_value(), new=body.new.get_secret_value())


@router.post("/tokens", status_code=status.HTTP_201_CREATED)
@limit_concurrency
def create_token(body: SignIn, address: ClientAddress) -> schemas.IssuedToken:
    """Create a personal API token with a name and password."""
    with sign_in(address, name=body.name, password=body.password.get_secret_value()) as (session, user):
        token = tokens.issue_token(
            session,
            user,
            name=body.token_name,
            scopes=None if body.scopes is None else tuple(body.scopes),
            lifetime=timedelta(days=body.expires_in_days),
        )
    return schemas.IssuedToken(token=token)


@router.get("/tokens")
def list_tokens(page: RequestedPage, principal: CurrentPrincipal) -> list[schemas.Token]:
    """List your tokens and browser sessions, newest first, including those that have ended."""
    with transaction() as session:
        rows = tokens.list_tokens(session, principal, cursor=page.position, limit=page.fetch_limit)
    return [
        schemas.Token.from_row(row, current=row.id == principal.token_id)
        for row in page.take_page(rows, lambda last: (last.created_at, last.id))
    ]


@router.delete("/tokens/current", status_code=status.HTTP_204_NO_CONTENT)
def revoke_current_token(principal: CurrentPrincipal) -> None:
    """Revoke the token that makes this request."""
    with transaction() as session:
        tokens.revoke_current(session, principal)


@router.delete("/tokens/{token_id}", status_code=status.HTTP_204_NO_CONTENT)
def revoke_token(token_id: UUID, principal: CurrentPrincipal) -> None:
    """Revoke one of your tokens or browser sessions."""
    with transaction() as session:
        tokens.revoke_own(session, principal, token_id)


@router.get("/me")
def me(principal: CurrentPrincipal) -> schemas.Me:
    """Return the person that the token belongs to, with their teams and competitions."""
    with transaction() as session:
        own_teams = memberships.list_teams(session, principal.user_id)
        organized = memberships.list_organized(session, principal.user_id)
    return schemas.Me.from_row(
        principal,
        scopes=sorted(principal.scopes),
        teams=[
            schemas.TeamMembership(competition=competition.slug, team_id=team.id, team=team.name)
            for competition, team in own_teams
        ],
        organizes=[competition.slug for competition in organized],
    )


@router.delete("/me", status_code=status.HTTP_204_NO_CONTENT)
def close_account(principal: ReauthenticatedCaller) -> None:
    """Close your account: all access ends, and a neutral name replaces yours. Teams and results stay.

    The only organizer of a competition and the last administrator cannot close theirs.
    """
    with transaction() as session:
        people.close(session, principal)


@router.get("/users", tags=["users"])
def list_users(page: RequestedPage, principal: CurrentPrincipal) -> list[schemas.User]:
    """List the accounts, newest first. For administrators."""
    with transaction() as session:
        rows = people.list_people(session, principal, cursor=page.position, limit=page.fetch_limit)
    return [
        schemas.User.from_row(row, user_id=row.id)
        for row in page.take_page(rows, lambda last: (last.created_at, last.id))
    ]


@router.post("/users", tags=["users"], status_code=status.HTTP_201_CREATED)
def create_user(body: UserIn, principal: ReauthenticatedCaller) -> schemas.NewUser:
    """Create an account with any role. Its owner sets the password with the code in the answer.

    For administrators; teams sign up with invites.
    """
    with transaction() as session:
        user, link = people.create(session, principal, name=body.name, role=body.role)
        return schemas.NewUser.from_row(user, user_id=user.id, password_link=link)


@router.put("/users/{user_id}/role", tags=["users"])
def change_role(user_id: UUID, body: RoleIn, principal: ReauthenticatedCaller) -> schemas.User:
    """Change the role of a person, whose tokens, sessions and password links end. For administrators."""
    with transaction() as session:
        user = people.change_role(session, principal, user_id, body.role)
        return schemas.User.from_row(user, user_id=user.id)


@router.post("/users/password-links", tags=["users"], status_code=status.HTTP_201_CREATED)
def create_password_link(body: ByName, principal: ReauthenticatedCaller) -> schemas.PasswordLink:
    """Create a code with which a person sets a new password, once within 48 hours. Earlier codes end.

    Administrators create codes for everybody. Organizers create codes for participants of their own
    competitions, unless those also take part in a competition of other organizers.
    """
    with transaction() as session:
        return issue_link(session, principal, body.name)
