"""The authenticated sender of a request."""

from dataclasses import dataclass
from uuid import UUID

from anoncup.errors import Forbidden
from anoncup.schemas.fields import Role

STEP_UP_CODES = frozenset({"password_needed", "no_password"})
"""Codes of the errors that ``require_reauthentication`` raises."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated sender of a request, with the scopes of the token.

    ``is_reauthenticated`` means that the request also carried the password or, for people without one, that
    they signed in again with their provider shortly before.
    """

    user_id: UUID
    name: str
    role: Role
    scopes: frozenset[str]
    token_id: UUID
    is_reauthenticated: bool = False
    has_password: bool = True

    def require(self, scope: str) -> None:
        if scope not in self.scopes:
            raise Forbidden("this token lacks the scope {scope}", code="scope_missing", scope=scope)

    def require_reauthentication(self) -> None:
        """Require the password for acts that are irreversible or grant access.

        Call this after the permission checks, so that it reveals nothing to those without permission.
        """
        if not self.is_reauthenticated and not self.has_password:
            raise Forbidden(
                "this needs your password and you have none: sign in again with your provider on the page,"
                " or set a password on your account page",
                code="no_password",
            )
        if not self.is_reauthenticated:
            raise Forbidden(
                "confirm this with your password in the header X-Confirm-Password",
                code="password_needed",
            )

    @property
    def step_up_key(self) -> str:
        """The throttle key for wrong passwords of a signed-in user: that of the token or session.

        With the key of the account, a stolen token could lock out its owner. Names contain no NUL, so the key
        cannot be that of a name.
        """
        return f"token\x00{self.token_id}"
