"""Signing up and tokens."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import BaseModel, Field, SecretStr

from app.http.dependencies import SignedIn
from app.services import accounts, teams
from app.transaction import transaction

router = APIRouter(tags=["accounts"])


class SignUp(BaseModel):
    invite: Annotated[str, Field(max_length=200)]
    team: str
    name: str
    password: SecretStr


class SignedUp(BaseModel):
    user_id: UUID
    team_id: UUID
    team: str
    competition: str
    token: Annotated[str, Field(description="Shown this once; only its hash is kept")]


class SignIn(BaseModel):
    name: str
    password: SecretStr
    token_name: str = "api"  # noqa: S105  # a label
    scopes: list[str] | None = None


class IssuedToken(BaseModel):
    token: Annotated[str, Field(description="Shown this once; only its hash is kept")]


class Me(BaseModel):
    user_id: UUID
    name: str
    role: str
    scopes: list[str]


@router.post("/signup", status_code=status.HTTP_201_CREATED)
def sign_up(body: SignUp) -> SignedUp:
    """A new account with a new team, by an organizer's invite."""
    with transaction() as session:
        made = teams.sign_up(
            session,
            code=body.invite,
            team=body.team,
            name=body.name,
            password=body.password.get_secret_value(),
        )
    return SignedUp(
        user_id=made.user.id,
        team_id=made.team.id,
        team=made.team.name,
        competition=made.competition.slug,
        token=made.token,
    )


@router.post("/tokens", status_code=status.HTTP_201_CREATED)
def create_token(body: SignIn) -> IssuedToken:
    """A personal API token for name and password."""
    with transaction() as session:
        user = accounts.check_password(session, name=body.name, password=body.password.get_secret_value())
        scopes = None if body.scopes is None else tuple(body.scopes)
        return IssuedToken(token=accounts.issue_token(session, user, name=body.token_name, scopes=scopes))


@router.delete("/tokens/current", status_code=status.HTTP_204_NO_CONTENT)
def revoke_token(principal: SignedIn) -> None:
    """End the token that makes this request."""
    with transaction() as session:
        accounts.revoke(session, principal)


@router.get("/me")
def me(principal: SignedIn) -> Me:
    """Who the token belongs to."""
    return Me(
        user_id=principal.user_id,
        name=principal.name,
        role=principal.role,
        scopes=sorted(principal.scopes),
    )
