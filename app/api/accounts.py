"""One's own account: signing up, the password, tokens."""

from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request, Response, status
from pydantic import BaseModel, Field, SecretStr

from anoncup import schemas
from anoncup.schemas.fields import PersonName, example
from app.api.documentation.responses import NEW_NAME, refusing
from app.db.transaction import transaction
from app.http import throttle
from app.http.authentication import Address, SignedIn
from app.http.paging import Cursor, Limit, cursor_of, link_to_next, place_of
from app.http.passwords import change, few_at_a_time, proven
from app.services.accounts import accounts, memberships, passwords
from app.services.teams import invites, members, organizers

router = APIRouter(tags=["accounts"])

LONGEST_TOKEN_LIFE_DAYS = 365

Name = Annotated[
    PersonName, Field(max_length=1000, description="any spelling that differs in case or width only")
]
NewName = Annotated[
    PersonName, Field(max_length=1000, description="1 to 100 characters without control characters")
]
Code = Annotated[str, Field(max_length=200), example("q3c1Jt2nUe0VbW8s")]
Known = Annotated[SecretStr, Field(max_length=1000), example("seven quiet foxes")]
Password = Annotated[Known, Field(description="8 to 256 characters")]


class SignUp(BaseModel):
    """An invite, and who one wants to be."""

    invite: Annotated[Code, Field(description="a code of an organizer (a new team) or of a team (joins it)")]
    team: Annotated[
        str | None,
        Field(
            max_length=1000,
            description="the new team's name; of an invite that joins a team: its name or nothing",
        ),
        example("Red"),
    ] = None
    name: NewName
    password: Password


class Join(BaseModel):
    """An invite for somebody who has an account."""

    invite: Code
    team: Annotated[str | None, Field(max_length=1000, description="as in signing up"), example("Red")] = None


class SignIn(BaseModel):
    """Name and password, and what the token shall be."""

    name: Name
    password: Known
    token_name: Annotated[str, Field(description="what you will know it by"), example("laptop")] = "api"  # noqa: S105  # a label
    scopes: Annotated[
        list[str] | None,
        Field(description="of read, submit, organize; without it, all that your role has"),
        example(["read", "submit"]),
    ] = None
    expires_in_days: Annotated[int, Field(ge=1, le=LONGEST_TOKEN_LIFE_DAYS)] = accounts.TOKEN_LIFE.days


class NewPassword(BaseModel):
    """The password there is, and the one there shall be."""

    old: Known
    new: Annotated[Password, example("eight quiet foxes")]


class PasswordByCode(BaseModel):
    """The code of a password link."""

    code: Code
    password: Password


@router.post(
    "/signup",
    status_code=status.HTTP_201_CREATED,
    responses=refusing(
        "name_taken team_name_taken in_a_team",
        NEW_NAME,
        "password_length invalid_invite team_needed another_team",
    ),
)
@few_at_a_time
def sign_up(body: SignUp, address: Address) -> schemas.SignedUp:
    """A new account by an invite: with a new team, or in the team that the invite is of."""
    with throttle.invite_tries(address):
        with transaction() as session:
            invites.look(session, body.invite)  # a wrong one costs no hash
        kept = accounts.hashed(body.password.get_secret_value())
        with transaction() as session:
            made = members.sign_up(
                session, code=body.invite, team=body.team, name=body.name, password_hash=kept
            )
            token = accounts.issue_token(session, made.user, name="sign-up")
    throttle.welcome(address, made.user.name_key)
    return schemas.SignedUp(**joined(made).model_dump(), user_id=made.user.id, token=token)


@router.post(
    "/join",
    status_code=status.HTTP_201_CREATED,
    responses=refusing(
        "in_a_team organizes_it team_name_taken invalid_invite team_needed another_team", NEW_NAME
    ),
)
def join(body: Join, principal: SignedIn, address: Address) -> schemas.Joined:
    """Take part in one more competition by an invite: found a team, or join one."""
    with throttle.invite_tries(address), transaction() as session:
        return joined(members.join(session, principal, code=body.invite, team=body.team))


def joined(made: members.Joined) -> schemas.Joined:
    return schemas.Joined(team_id=made.team.id, team=made.team.name, competition=made.competition.slug)


@router.post(
    "/password", status_code=status.HTTP_204_NO_CONTENT, responses=refusing("invalid_code password_length")
)
@few_at_a_time
def set_password(body: PasswordByCode, address: Address) -> None:
    """Set a new password with the code of a password link, once. All tokens and sessions end."""
    with throttle.tries(address):
        new = accounts.hashed(body.password.get_secret_value())
        with transaction() as session:
            user = passwords.set_by_link(session, code=body.code, new=new)
    throttle.welcome(address, user.name_key)


@router.put(
    "/me/password",
    status_code=status.HTTP_204_NO_CONTENT,
    responses=refusing("422.wrong_password password_length"),
)
@few_at_a_time
def change_password(body: NewPassword, principal: SignedIn, address: Address) -> None:
    """Set a new password by the old one. All tokens and sessions end but the one that asks."""
    with throttle.tries(address, account=accounts.confirming_key(principal)):
        change(principal, old=body.old.get_secret_value(), new=body.new.get_secret_value())


@router.post(
    "/tokens",
    status_code=status.HTTP_201_CREATED,
    responses=refusing("wrong_password unknown_scope", NEW_NAME),
)
@few_at_a_time
def create_token(body: SignIn, address: Address) -> schemas.IssuedToken:
    """A personal API token for name and password."""
    account = accounts.searched_key(body.name)
    with throttle.tries(address, account=account):
        kept = proven(body.name, body.password.get_secret_value())
        with transaction() as session:
            token = accounts.issue_token(
                session,
                accounts.signing_in(session, name=body.name, proven=kept),
                name=body.token_name,
                scopes=None if body.scopes is None else tuple(body.scopes),
                life=timedelta(days=body.expires_in_days),
            )
    return schemas.IssuedToken(token=token)


@router.get("/tokens")
def list_tokens(
    request: Request, response: Response, principal: SignedIn, limit: Limit = 50, cursor: Cursor = None
) -> list[schemas.Token]:
    """Your tokens and browser sessions, newest first, ended ones too."""
    after = place_of(cursor, datetime.fromisoformat, UUID)
    with transaction() as session:
        rows = accounts.listed(session, principal, after=after, limit=limit + 1)
    page = rows[:limit]
    following = cursor_of(page[-1].created_at.isoformat(), page[-1].id) if len(rows) > limit else None
    link_to_next(request, response, following)
    return [
        schemas.Token(
            id=row.id,
            kind=row.kind,
            name=row.name,
            scopes=row.scopes,
            created_at=row.created_at,
            expires_at=row.expires_at,
            revoked_at=row.revoked_at,
            current=row.id == principal.token_id,
        )
        for row in page
    ]


@router.delete("/tokens/current", status_code=status.HTTP_204_NO_CONTENT)
def revoke_current_token(principal: SignedIn) -> None:
    """End the token that makes this request."""
    with transaction() as session:
        accounts.revoke(session, principal)


@router.delete("/tokens/{token_id}", status_code=status.HTTP_204_NO_CONTENT)
def revoke_token(token_id: UUID, principal: SignedIn) -> None:
    """End one of your tokens or browser sessions."""
    with transaction() as session:
        accounts.revoke_own(session, principal, token_id)


@router.get("/me")
def me(principal: SignedIn) -> schemas.Me:
    """Who the token belongs to, and where they take part."""
    with transaction() as session:
        own = memberships.joined(session, principal.user_id)
        organizes = organizers.organized(session, principal.user_id)
    return schemas.Me(
        user_id=principal.user_id,
        name=principal.name,
        role=principal.role,
        scopes=sorted(principal.scopes),
        teams=[schemas.TeamOfMine(competition=slug, team_id=team.id, team=team.name) for slug, team in own],
        organizes=list(organizes),
    )
