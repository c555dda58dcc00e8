"""Routes of other people's accounts: creation by administrators, and password links."""

from typing import Annotated

from fastapi import APIRouter, status
from pydantic import BaseModel

from anoncup import schemas
from anoncup.schemas.fields import example
from anoncup.schemas.roles import Role
from app.accounts import password_changes
from app.accounts.api import Name, NewName, Password
from app.accounts.passwords import limit_concurrency
from app.accounts.step_up import ReauthenticatedCaller
from app.core.db.transaction import transaction
from app.core.identity import password_hashes
from app.teams import organizers

router = APIRouter(prefix="/users", tags=["users"])


class UserIn(BaseModel):
    """A new account."""

    name: NewName
    password: Password
    role: Annotated[Role, example("participant")]


class ByName(BaseModel):
    """The name of a person."""

    name: Name


@router.post(
    "",
    status_code=status.HTTP_201_CREATED,
)
@limit_concurrency
def create_user(body: UserIn, principal: ReauthenticatedCaller) -> schemas.User:
    """Create an account with any role. For administrators; teams sign up with invites."""
    organizers.require_can_create_accounts(principal)
    password_hash = password_hashes.hash_password(body.password.get_secret_value())
    with transaction() as session:
        user = organizers.create_user(
            session, principal, name=body.name, password_hash=password_hash, role=body.role
        )
    return schemas.User(user_id=user.id, name=user.name, role=user.role)


@router.post("/password-links", status_code=status.HTTP_201_CREATED)
def create_password_link(body: ByName, principal: ReauthenticatedCaller) -> schemas.PasswordLink:
    """Create a code with which a person sets a new password, once within 48 hours. Earlier codes end.

    Administrators create codes for everybody. Organizers create codes for participants of their own
    competitions, unless those also take part in a competition of other organizers.
    """
    with transaction() as session:
        link = password_changes.issue_link(session, principal, body.name)
    return schemas.PasswordLink(code=link.code, expires_at=link.expires_at)
