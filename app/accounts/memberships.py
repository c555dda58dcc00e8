"""Teams of a competition and their members."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, Forbidden
from anoncup.schemas import Person
from app.core.db.models import Competition, Member, Organizer, Team, User
from app.core.identity import names
from app.core.identity.principal import Principal


def create_team(session: Session, competition_id: UUID, name: str, *, baseline: bool = False) -> Team:
    name = names.clean_name(name)
    team = Team(competition_id=competition_id, name=name, baseline=baseline, name_key=names.build_key(name))
    session.add(team)
    try:
        session.flush()
    except IntegrityError:
        raise Conflict(
            "this competition has a team of that name: choose another", code="team_name_taken"
        ) from None
    return team


def find_team(
    session: Session, competition_id: UUID, principal: Principal, *, for_update: bool = False
) -> Team | None:
    own_team = (
        select(Team)
        .join(Member, Member.team_id == Team.id)
        .where(Member.competition_id == competition_id, Member.user_id == principal.user_id)
    )
    if for_update:
        own_team = own_team.with_for_update(of=Team).execution_options(populate_existing=True)
    return session.scalar(own_team)


def require_team(
    session: Session, competition_id: UUID, principal: Principal, *, for_update: bool = False
) -> Team:
    """Return the person's team. Raise Forbidden if there is none. ``for_update`` locks and reloads it."""
    team = find_team(session, competition_id, principal, for_update=for_update)
    if team is None:
        raise Forbidden("you are in no team of this competition", code="not_in_a_team")
    return team


def list_teams(session: Session, user_id: UUID) -> Sequence[tuple[Competition, Team]]:
    """Return the teams of a person, each with its competition."""
    rows = session.execute(
        select(Competition, Team)
        .join(Team, Team.competition_id == Competition.id)
        .join(Member, Member.team_id == Team.id)
        .where(Member.user_id == user_id)
        .order_by(Competition.created_at, Competition.id)
    )
    return [(competition, team) for competition, team in rows]


def list_organized(session: Session, user_id: UUID) -> Sequence[Competition]:
    """Return the competitions that a person organizes, not counting the rights of administrators."""
    return session.scalars(
        select(Competition)
        .join(Organizer, Organizer.competition_id == Competition.id)
        .where(Organizer.user_id == user_id)
        .order_by(Competition.created_at, Competition.id)
    ).all()


def load_members_by_team(session: Session, competition_id: UUID) -> defaultdict[UUID, list[Person]]:
    """Return the members of every team of a competition, sorted by name."""
    rows = session.execute(
        select(Member.team_id, User.id, User.name)
        .join(User, User.id == Member.user_id)
        .where(Member.competition_id == competition_id)
        .order_by(func.lower(User.name), User.name)
    )
    members_by_team: defaultdict[UUID, list[Person]] = defaultdict(list)
    for team_id, user_id, name in rows:
        members_by_team[team_id].append(Person(user_id=user_id, name=name))
    return members_by_team
