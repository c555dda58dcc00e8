"""All competitions as one person meets them, in a fixed number of queries however many there are."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup.errors import CompetitionUnavailable, NotAllowed
from anoncup.rules.model import Rules
from app.db.models import Member, Organizer, Team
from app.db.now import clock
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, phases, visibility
from app.services.contests.contest import Contest
from app.services.contests.phases import Standing
from app.services.contests.visibility import Audience


@dataclass(frozen=True, slots=True)
class Readable:
    """``team``: the reader's own; ``organizer``: it is theirs; ``teams``: how many there are, None where the
    boards, which name them, are not open to the reader."""

    rules: Rules
    standing: Standing
    team: str | None
    organizer: bool
    teams: int | None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A competition whose file this version cannot read, by its name and what of the title is known."""

    slug: str
    title: Mapping[str, str]
    organizer: bool


@dataclass(frozen=True, slots=True)
class Directory:
    readable: list[Readable]
    unreadable: list[Unreadable]


def competitions_for(session: Session, principal: Principal | None) -> Directory:
    """Every competition, oldest first; one that cannot be read hides no other."""
    now = clock(session)
    own = own_teams(session, principal) if principal else {}
    organized = organized_by(session, principal) if principal else set()
    counted = team_counts(session)
    found = Directory([], [])
    for row in competitions.listed(session):
        organizer = row.id in organized
        try:
            standing = phases.standing_at(row, now)
            found.readable.append(listed(Contest(row), standing, own.get(row.id), organizer, counted))
        except CompetitionUnavailable:
            found.unreadable.append(Unreadable(row.slug, competitions.title_of(row), organizer))
    return found


def listed(
    contest: Contest, standing: Standing, team: Team | None, organizer: bool, counted: dict[UUID, int]
) -> Readable:
    rules = contest.rules
    audience = Audience(team.id if team else None, organizer)
    teams = counted.get(contest.id, 0) if sees_teams(rules, audience) else None
    return Readable(rules, standing, team.name if team else None, organizer, teams)


def sees_teams(rules: Rules, audience: Audience) -> bool:
    try:
        visibility.require_board(rules.publication, audience)
    except NotAllowed:
        return False
    return True


def own_teams(session: Session, principal: Principal) -> dict[UUID, Team]:
    """The person's teams by competition."""
    mine = select(Team).join(Member, Member.team_id == Team.id).where(Member.user_id == principal.user_id)
    return {team.competition_id: team for team in session.scalars(mine)}


def organized_by(session: Session, principal: Principal) -> set[UUID]:
    """The competitions that the person was made an organizer of; an administrator's right is not meant."""
    mine = select(Organizer.competition_id).where(Organizer.user_id == principal.user_id)
    return set(session.scalars(mine))


def team_counts(session: Session) -> dict[UUID, int]:
    """How many teams compete, by competition."""
    competing = select(Team.competition_id, func.count()).where(
        Team.disqualified_at.is_(None), ~Team.baseline
    )
    return dict(iter(session.execute(competing.group_by(Team.competition_id))))
