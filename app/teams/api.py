"""Routes of the teams and organizers of a competition."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import BaseModel, ConfigDict, Field

from anoncup import schemas
from anoncup.schemas.fields import example
from app.accounts.step_up import ReauthenticatedCaller
from app.core.db.transaction import transaction
from app.core.identity.authentication import CurrentPrincipal
from app.teams import invites, members, organizers
from app.teams.account_api import ByName

router = APIRouter(prefix="/competitions/{slug}", tags=["teams"])


class InviteIn(BaseModel):
    uses: Annotated[int, Field(ge=1, le=1000), example(20)] = 1


class MethodDescriptionIn(BaseModel):
    """The description of a method. It is plain text; line breaks are kept."""

    model_config = ConfigDict(extra="forbid")

    method_description: Annotated[
        str, Field(max_length=members.MAX_METHOD_DESCRIPTION_LENGTH), example("Microaggregation, then swaps.")
    ]


@router.get("/team")
def get_own_team(slug: str, principal: CurrentPrincipal) -> schemas.Team:
    """Return your team in this competition."""
    with transaction() as session:
        team, persons = members.load_own_team(session, principal, slug)
        return schemas.Team.from_row(team, members=persons)


@router.put("/team/method")
def set_method_description(slug: str, principal: CurrentPrincipal, body: MethodDescriptionIn) -> schemas.Team:
    """Set the description of your team's method. It becomes public at the close; an empty text removes it."""
    with transaction() as session:
        members.set_method_description(session, principal, slug, body.method_description)
        team, persons = members.load_own_team(session, principal, slug)
        return schemas.Team.from_row(team, members=persons)


@router.post("/team/invites", status_code=status.HTTP_201_CREATED)
def create_team_invite(slug: str, principal: ReauthenticatedCaller, body: InviteIn) -> schemas.Invite:
    """Create a code with which people join your team. It is valid for 60 days."""
    with transaction() as session:
        return schemas.Invite(
            code=invites.create_for_members(session, principal, slug, uses=body.uses), uses=body.uses
        )


@router.delete("/team/members/{user_id}", status_code=status.HTTP_204_NO_CONTENT)
def remove_member(slug: str, user_id: UUID, principal: CurrentPrincipal) -> None:
    """Leave your team, or remove another member, which also ends the team's invites.

    The last member cannot be removed.
    """
    with transaction() as session:
        members.remove(session, principal, slug, user_id)


@router.get("/teams")
def list_teams(slug: str, principal: CurrentPrincipal) -> list[schemas.Entrant]:
    """List all teams with their members, oldest first. For organizers."""
    with transaction() as session:
        entrants = members.list_entrants(session, principal, slug)
    return [
        schemas.Entrant.from_row(entrant.team, members=list(entrant.members), submissions=entrant.submissions)
        for entrant in entrants
    ]


@router.get("/organizers", tags=["organizers"])
def list_organizers(slug: str, principal: CurrentPrincipal) -> list[schemas.Person]:
    """List the competition's organizers. For organizers."""
    with transaction() as session:
        return organizers.list_organizers(session, principal, slug)


@router.post("/organizers", tags=["organizers"], status_code=status.HTTP_201_CREATED)
def add_organizer(slug: str, principal: ReauthenticatedCaller, body: ByName) -> schemas.Person:
    """Add an organizer: a person with an organizer's account who is in no team of the competition."""
    with transaction() as session:
        return organizers.add(session, principal, slug, body.name)


@router.delete("/organizers/{user_id}", tags=["organizers"], status_code=status.HTTP_204_NO_CONTENT)
def remove_organizer(slug: str, user_id: UUID, principal: ReauthenticatedCaller) -> None:
    """Remove an organizer. The last one cannot be removed."""
    with transaction() as session:
        organizers.remove(session, principal, slug, user_id)


@router.post("/invites", status_code=status.HTTP_201_CREATED)
def create_invite(slug: str, principal: ReauthenticatedCaller, body: InviteIn) -> schemas.Invite:
    """Create a code with which teams sign up. After the anonymization phase this requires the password."""
    with transaction() as session:
        return schemas.Invite(
            code=invites.create_for_new_teams(session, principal, slug, uses=body.uses), uses=body.uses
        )
