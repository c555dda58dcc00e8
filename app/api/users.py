"""Other people's accounts: made by administrators, opened again by those in charge."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import BaseModel, Field

from app.api.accounts import Name, NewName, Password
from app.http.confirming import Confirming
from app.http.passwords import few_at_a_time
from app.roles import Role
from app.services import accounts, organizers, passwords
from app.transaction import transaction

router = APIRouter(prefix="/users", tags=["users"])


class UserIn(BaseModel):
    """A new account."""

    name: NewName
    password: Password
    role: Role


class UserOut(BaseModel):
    """An account, without its password."""

    user_id: UUID
    name: str
    role: Role


class ByName(BaseModel):
    """A person, by name."""

    name: Name


class PasswordLinkOut(BaseModel):
    """What its owner sends to `POST /password`; hand it over where only they read it."""

    code: Annotated[str, Field(description="Shown this once; only its hash is kept")]
    expires_at: datetime


@router.post("", status_code=status.HTTP_201_CREATED)
@few_at_a_time
def create_user(body: UserIn, principal: Confirming) -> UserOut:
    """A new account of any role. For administrators; teams sign up by invites."""
    organizers.require_account_maker(principal)
    kept = accounts.hashed(body.password.get_secret_value())
    with transaction() as session:
        user = organizers.create_user(session, principal, name=body.name, password_hash=kept, role=body.role)
    return UserOut(user_id=user.id, name=user.name, role=user.role)


@router.post("/password-links", status_code=status.HTTP_201_CREATED)
def create_password_link(body: ByName, principal: Confirming) -> PasswordLinkOut:
    """A code with which somebody sets a new password, once, within 48 hours; earlier codes end.

    Administrators issue one for anybody, organizers for participants of their own competitions who are in
    no other organizer's.
    """
    with transaction() as session:
        link = passwords.issue_link(session, principal, body.name)
    return PasswordLinkOut(code=link.code, expires_at=link.expires_at)
