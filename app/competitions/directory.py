"""The list of competitions as one person sees it, in a fixed number of queries."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup.errors import CompetitionUnavailable
from anoncup.rules.model import Rules
from app.accounts import memberships
from app.competitions import competitions, phases, visibility
from app.competitions.contest import Contest
from app.competitions.phases import PhaseBoundary, PhaseStatus
from app.competitions.visibility import Viewer
from app.core.db.models import Team
from app.core.db.now import read_clock
from app.core.identity.principal import Principal


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """A competition in the list.

    ``team_name``: the person's own team. ``is_organizer``: being an administrator is not enough.
    ``team_count``: None if the person may not see the boards, which name the teams.
    """

    rules: Rules
    status: PhaseStatus
    team_name: str | None
    is_organizer: bool
    team_count: int | None

    @property
    def next_boundary(self) -> PhaseBoundary | None:
        return phases.find_next_boundary(self.rules, self.status)

    @property
    def ended_at(self) -> datetime | None:
        """End of the last phase, or None unless the competition is closed."""
        ends = [phase.end for phase in self.rules.phases]
        return max(ends) if ends and self.status.state == "closed" else None


@dataclass(frozen=True, slots=True)
class UnreadableEntry:
    """A competition whose file this version cannot read."""

    slug: str
    title: Mapping[str, str]
    is_organizer: bool


@dataclass(frozen=True, slots=True)
class Directory:
    readable: list[DirectoryEntry]
    unreadable: list[UnreadableEntry]


def load_directory(session: Session, principal: Principal | None) -> Directory:
    """Return all competitions, oldest first, the unreadable ones separately."""
    now = read_clock(session)
    own_teams = memberships.list_teams(session, principal.user_id) if principal else ()
    teams = {team.competition_id: team for _, team in own_teams}
    organized = memberships.list_organized(session, principal.user_id) if principal else ()
    organized_ids = {competition.id for competition in organized}
    counts = _count_teams(session)
    directory = Directory([], [])
    for contest in competitions.list_contests(session):
        is_organizer = contest.id in organized_ids
        try:
            status = phases.get_status_at(contest.round, now)
            directory.readable.append(
                _build_entry(contest, status, teams.get(contest.id), is_organizer, counts)
            )
        except CompetitionUnavailable:
            directory.unreadable.append(
                UnreadableEntry(contest.address, contest.competition.title, is_organizer)
            )
    return directory


def _build_entry(
    contest: Contest, status: PhaseStatus, team: Team | None, is_organizer: bool, counts: dict[UUID, int]
) -> DirectoryEntry:
    rules = contest.rules
    viewer = Viewer(team.id if team else None, is_organizer)
    can_see_boards = visibility.can_see_boards(rules.publication, viewer)
    team_count = counts.get(contest.id, 0) if can_see_boards else None
    return DirectoryEntry(rules, status, team.name if team else None, is_organizer, team_count)


def _count_teams(session: Session) -> dict[UUID, int]:
    """Count the teams by competition, without disqualified teams and baselines."""
    query = select(Team.competition_id, func.count()).where(Team.disqualified_at.is_(None), ~Team.baseline)
    return dict(iter(session.execute(query.group_by(Team.competition_id))))
