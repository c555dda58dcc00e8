"""Who takes part in a competition, and who organizes it."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import BaseModel, ConfigDict, Field

from anoncup import schemas
from anoncup.schemas.fields import example
from app.api.competitions import InviteIn
from app.api.documentation.responses import NEW_NAME, ORGANIZER, TEAM, refusing
from app.api.users import ByName
from app.db.models import Team
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.step_up import Confirming
from app.services.accounts.memberships import Person
from app.services.teams import invites, members, organizers

router = APIRouter(prefix="/competitions/{slug}", tags=["teams"])


class ApproachIn(BaseModel):
    """Plain text; line breaks are kept."""

    model_config = ConfigDict(extra="forbid")

    approach: Annotated[
        str, Field(max_length=members.LONGEST_APPROACH), example("Microaggregation, then swaps.")
    ]


def people(found: Sequence[Person]) -> list[schemas.Person]:
    return [schemas.Person(user_id=one.user_id, name=one.name) for one in found]


@router.get("/team", responses=refusing(TEAM))
def get_own_team(slug: str, principal: SignedIn) -> schemas.Team:
    """Your team in this competition."""
    with transaction() as session:
        return own(*members.own_team(session, principal, slug))


@router.put("/team/approach", responses=refusing(TEAM, "approach_text"))
def tell_approach(slug: str, principal: SignedIn, body: ApproachIn) -> schemas.Team:
    """Tell how your team did it, on its page, once the contest has closed; an empty text takes it back."""
    with transaction() as session:
        members.tell(session, principal, slug, body.approach)
        return own(*members.own_team(session, principal, slug))


def own(team: Team, found: Sequence[Person]) -> schemas.Team:
    return schemas.Team(
        id=team.id,
        name=team.name,
        members=people(found),
        disqualified_at=team.disqualified_at,
        disqualified_for=team.disqualified_for,
        approach=team.approach,
    )


@router.post("/team/invites", status_code=status.HTTP_201_CREATED, responses=refusing(TEAM))
def create_team_invite(slug: str, principal: Confirming, body: InviteIn) -> schemas.Invite:
    """A code with which people join your team, for 60 days."""
    with transaction() as session:
        return schemas.Invite(
            code=invites.for_members(session, principal, slug, uses=body.uses), uses=body.uses
        )


@router.delete(
    "/team/members/{user_id}",
    status_code=status.HTTP_204_NO_CONTENT,
    responses=refusing(TEAM, "no_such_member last_member"),
)
def remove_member(slug: str, user_id: UUID, principal: SignedIn) -> None:
    """Leave your team, or take another member out of it, which ends the team's invites.

    The last member stays.
    """
    with transaction() as session:
        members.remove(session, principal, slug, user_id)


@router.get("/teams", responses=refusing(ORGANIZER))
def list_teams(slug: str, principal: SignedIn) -> list[schemas.Entrant]:
    """All teams with their members, oldest first. For organizers."""
    with transaction() as session:
        found = members.entrants(session, principal, slug)
    return [
        schemas.Entrant(
            id=one.team.id,
            name=one.team.name,
            created_at=one.team.created_at,
            disqualified_at=one.team.disqualified_at,
            disqualified_for=one.team.disqualified_for,
            approach=one.team.approach,
            members=people(one.members),
            baseline=one.team.baseline,
            submissions=one.submissions,
        )
        for one in found
    ]


@router.get("/organizers", tags=["organizers"], responses=refusing(ORGANIZER))
def list_organizers(slug: str, principal: SignedIn) -> list[schemas.Person]:
    """Who organizes the competition. For organizers."""
    with transaction() as session:
        return people(organizers.listed(session, principal, slug))


@router.post(
    "/organizers",
    tags=["organizers"],
    status_code=status.HTTP_201_CREATED,
    responses=refusing(
        ORGANIZER, "no_such_user not_an_organizer organizes_it in_a_team is_rehearsal", NEW_NAME
    ),
)
def add_organizer(slug: str, principal: Confirming, body: ByName) -> schemas.Person:
    """Let somebody with an organizer's account, who is in no team of it, organize the competition, too."""
    with transaction() as session:
        return people([organizers.add(session, principal, slug, body.name)])[0]


@router.delete(
    "/organizers/{user_id}",
    tags=["organizers"],
    status_code=status.HTTP_204_NO_CONTENT,
    responses=refusing(ORGANIZER, "no_such_organizer last_organizer"),
)
def remove_organizer(slug: str, user_id: UUID, principal: Confirming) -> None:
    """Take an organizer away. The last one stays."""
    with transaction() as session:
        organizers.remove(session, principal, slug, user_id)
