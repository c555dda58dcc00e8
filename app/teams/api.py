"""Routes of signing up, and of the teams and organizers of a competition."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import BaseModel, ConfigDict, Field

from anoncup import schemas
from anoncup.schemas.fields import example
from app.accounts.api import ByName, Code, NewName, Password
from app.accounts.passwords import limit_concurrency
from app.accounts.step_up import ReauthenticatedCaller
from app.core.db.transaction import transaction
from app.core.http import throttle
from app.core.identity import tokens
from app.core.identity.authentication import ClientAddress, CurrentPrincipal, ServiceUrl
from app.teams import invites, members, organizers

router = APIRouter()
_AcceptTerms = Annotated[
    bool, Field(description="whether you accept the terms in the description, if the competition has terms")
]


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
    accept_terms: _AcceptTerms = False


class Join(BaseModel):
    """An invite for a person who has an account."""

    invite: Code
    team: Annotated[
        str | None, Field(max_length=1000, description="as for a new account"), example("Red")
    ] = None
    accept_terms: _AcceptTerms = False


@router.post("/signup", tags=["accounts"], status_code=status.HTTP_201_CREATED)
@limit_concurrency
def sign_up(body: SignUp, address: ClientAddress) -> schemas.SignedUp:
    """Create an account with an invite: for a new team, or for the team that the invite belongs to."""
    return members.sign_up(
        address,
        code=body.invite,
        team_name=body.team,
        name=body.name,
        password=body.password.get_secret_value(),
        accept_terms=body.accept_terms,
        begin=lambda session, user: tokens.issue_token(session, user, name="sign-up"),
    )


@router.post("/join", tags=["accounts"], status_code=status.HTTP_201_CREATED)
def join(body: Join, principal: CurrentPrincipal, address: ClientAddress) -> schemas.TeamMembership:
    """Take part in another competition with an invite: create a team, or join one."""
    with throttle.limit_invite_tries(address), transaction() as session:
        return members.join(
            session, principal, code=body.invite, team_name=body.team, accept_terms=body.accept_terms
        )


team_router = APIRouter(prefix="/competitions/{slug}", tags=["teams"])


class InviteIn(BaseModel):
    uses: Annotated[int, Field(ge=1, le=1000), example(20)] = 1


class MethodDescriptionIn(BaseModel):
    """The description of a method. It is plain text; line breaks are kept."""

    model_config = ConfigDict(extra="forbid")

    method_description: Annotated[
        str, Field(max_length=members.MAX_METHOD_DESCRIPTION_LENGTH), example("Microaggregation, then swaps.")
    ]


@team_router.get("/team")
def get_own_team(slug: str, principal: CurrentPrincipal) -> schemas.Team:
    """Return your team in this competition."""
    with transaction() as session:
        team, persons = members.load_own_team(session, principal, slug)
        return schemas.Team.from_row(team, members=persons)


@team_router.put("/team/method")
def set_method_description(slug: str, principal: CurrentPrincipal, body: MethodDescriptionIn) -> schemas.Team:
    """Set the description of your team's method. It becomes public at the close; an empty text removes it."""
    with transaction() as session:
        members.set_method_description(session, principal, slug, body.method_description)
        team, persons = members.load_own_team(session, principal, slug)
        return schemas.Team.from_row(team, members=persons)


@team_router.post("/team/invites", status_code=status.HTTP_201_CREATED)
def create_team_invite(
    slug: str, principal: ReauthenticatedCaller, service_url: ServiceUrl, body: InviteIn
) -> schemas.Invite:
    """Create a code with which people join your team. It is valid for 60 days."""
    with transaction() as session:
        code = invites.create_for_members(session, principal, slug, uses=body.uses)
    return schemas.Invite(code=code, link=invites.build_link(service_url, code), uses=body.uses)


@team_router.delete("/team/members/{user_id}", status_code=status.HTTP_204_NO_CONTENT)
def remove_member(slug: str, user_id: UUID, principal: CurrentPrincipal) -> None:
    """Leave your team, or remove another member, which also ends the team's invites.

    A team that has sent anything cannot be left. A team is deleted when its last member leaves.
    """
    with transaction() as session:
        members.remove(session, principal, slug, user_id)


@team_router.get("/teams")
def list_teams(slug: str, principal: CurrentPrincipal) -> list[schemas.Entrant]:
    """List all teams with their members, oldest first. For organizers."""
    with transaction() as session:
        return members.list_entrants(session, principal, slug)


@team_router.put("/teams/{team_id}/members/{user_id}", status_code=status.HTTP_204_NO_CONTENT)
def move_member(slug: str, team_id: UUID, user_id: UUID, principal: ReauthenticatedCaller) -> None:
    """Move a person from another team of the competition into this one. For organizers.

    Neither team may have sent anything. A team that has no other member is deleted.
    """
    with transaction() as session:
        members.move(session, principal, slug, user_id, team_id)


@team_router.get("/organizers", tags=["organizers"])
def list_organizers(slug: str, principal: CurrentPrincipal) -> list[schemas.Person]:
    """List the competition's organizers. For organizers."""
    with transaction() as session:
        return organizers.list_organizers(session, principal, slug)


@team_router.post("/organizers", tags=["organizers"], status_code=status.HTTP_201_CREATED)
def add_organizer(slug: str, principal: ReauthenticatedCaller, body: ByName) -> schemas.Person:
    """Add an organizer: a person with an organizer's account who is in no team of the competition."""
    with transaction() as session:
        return organizers.add(session, principal, slug, body.name)


@team_router.delete("/organizers/{user_id}", tags=["organizers"], status_code=status.HTTP_204_NO_CONTENT)
def remove_organizer(slug: str, user_id: UUID, principal: ReauthenticatedCaller) -> None:
    """Remove an organizer. The last one cannot be removed."""
    with transaction() as session:
        organizers.remove(session, principal, slug, user_id)


@team_router.post("/invites", status_code=status.HTTP_201_CREATED)
def create_invite(
    slug: str, principal: ReauthenticatedCaller, service_url: ServiceUrl, body: InviteIn
) -> schemas.Invite:
    """Create a code with which teams sign up. After the anonymization phase this requires the password."""
    with transaction() as session:
        code = invites.create_for_new_teams(session, principal, slug, uses=body.uses)
    return schemas.Invite(code=code, link=invites.build_link(service_url, code), uses=body.uses)
