"""Who may see what of a competition: every output asks here."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from app.db.models import Competition as CompetitionRow
from app.errors import NotAllowed
from app.scoring.competition import Competition
from app.services import competitions, teams
from app.services.accounts import Principal


@dataclass(frozen=True, slots=True)
class Audience:
    """The one who looks: a visitor, a member of ``team_id``, or an organizer (administrators are)."""

    team_id: UUID | None = None
    organizer: bool = False


def audience(session: Session, row: CompetitionRow, principal: Principal | None) -> Audience:
    if principal is None:
        return Audience()
    principal.require("read")
    team = teams.team_of(session, row.id, principal)
    return Audience(team.id if team else None, competitions.is_organizer(session, row.id, principal))


def require_board(competition: Competition, audience: Audience) -> None:
    """The competition file says whether visitors and teams see the board."""
    open_to = competition.publication.board
    if audience.organizer or open_to == "public" or (open_to == "teams" and audience.team_id):
        return
    raise NotAllowed("this board is not open to you", code="board_not_open")


def board_is_frozen(competition: Competition, audience: Audience) -> bool:
    """From ``frozen_from`` on, everybody but the organizers sees the board as it stood then."""
    return competition.publication.frozen_from is not None and not audience.organizer
