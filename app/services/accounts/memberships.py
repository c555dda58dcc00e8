"""The teams of a competition."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, NotAllowed
from app.db.models import Competition, Member, Team, User
from app.services.accounts import names
from app.services.accounts.accounts import Principal


@dataclass(frozen=True, slots=True)
class Person:
    """A user as others of the competition know them."""

    user_id: UUID
    name: str


def create_team(session: Session, competition_id: UUID, name: str, *, baseline: bool = False) -> Team:
    name = names.clean(name)
    team = Team(competition_id=competition_id, name=name, baseline=baseline, **names.columns(name))
    session.add(team)
    try:
        session.flush()
    except IntegrityError:
        raise Conflict(
            "this competition has a team of that name, or of one that looks like it: choose another",
            code="team_name_taken",
        ) from None
    return team


def team_of(
    session: Session, competition_id: UUID, principal: Principal, *, locked: bool = False
) -> Team | None:
    mine = (
        select(Team)
        .join(Member, Member.team_id == Team.id)
        .where(Member.competition_id == competition_id, Member.user_id == principal.user_id)
    )
    if locked:
        mine = mine.with_for_update(of=Team).execution_options(populate_existing=True)
    return session.scalar(mine)


def require_team(
    session: Session, competition_id: UUID, principal: Principal, *, locked: bool = False
) -> Team:
    """The person's team; ``locked``: as it stands under its own lock."""
    team = team_of(session, competition_id, principal, locked=locked)
    if team is None:
        raise NotAllowed("you are in no team of this competition", code="not_in_a_team")
    return team


def joined(session: Session, user_id: UUID) -> Sequence[tuple[str, Team]]:
    """The teams a person is in, each with its competition's slug."""
    rows = session.execute(
        select(Competition.slug, Team)
        .join(Team, Team.competition_id == Competition.id)
        .join(Member, Member.team_id == Team.id)
        .where(Member.user_id == user_id)
        .order_by(Competition.created_at, Competition.id)
    )
    return [(slug, team) for slug, team in rows]


def people_by_team(session: Session, competition_id: UUID) -> defaultdict[UUID, list[Person]]:
    """The members of every team of a competition, by name."""
    rows = session.execute(
        select(Member.team_id, User.id, User.name)
        .join(User, User.id == Member.user_id)
        .where(Member.competition_id == competition_id)
        .order_by(func.lower(User.name), User.name)
    )
    people: defaultdict[UUID, list[Person]] = defaultdict(list)
    for team_id, user_id, name in rows:
        people[team_id].append(Person(user_id, name))
    return people
