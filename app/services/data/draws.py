"""What the service draws by a committed seed: read here, made by the clock (``attacks.drawing``)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Competition, Drawn, SeedOpening, Team
from app.errors import Conflict, NotFound
from app.messages import N_
from app.services.contest import competitions, visibility
from app.services.contest.held import NOBODY
from app.services.people import teams
from app.services.people.accounts import Principal

NOT_YET = N_("what the service draws is not there yet; it will be in a moment")


@dataclass(frozen=True, slots=True)
class Revealed:
    """The seed, and the draws of all teams in the order in which they were made."""

    seed: bytes
    draws: Sequence[Drawn]


def own(session: Session, competition_id: UUID, team_id: UUID | None) -> Mapping[str, str] | None:
    """SHA-256 of each of a team's own files, of the baselines' without a team; None: not drawn yet."""
    whose = Drawn.team_id == team_id if team_id else Drawn.team == NOBODY
    query = select(Drawn.files).where(Drawn.competition_id == competition_id, whose)
    return session.scalar(query)


def require_drawn(session: Session, row: Competition, team: Team | None) -> Mapping[str, str]:
    """The own files that a release is read with, none where teams have none; Conflict before the draw."""
    if not row.drawing:
        return {}
    found = own(session, row.id, team.id if team else None) if row.drawing["each_team"] else {}
    if found is None or row.undrawn:
        raise Conflict(NOT_YET, code="not_drawn_yet")
    return found


@dataclass(frozen=True, slots=True)
class Own:
    """The names of a team's own files, none where teams have none; ``files``: SHA-256 of each once they are
    drawn."""

    names: tuple[str, ...]
    files: Mapping[str, str] | None


def of_member(session: Session, principal: Principal, row: Competition) -> Own:
    """The own files of the person's team, for its page."""
    names = own_files(row)
    team = teams.team_of(session, row.id, principal) if names else None
    return Own(names if team else (), own(session, row.id, team.id) if team else None)


def of_team(session: Session, principal: Principal, slug: str) -> Drawn:
    """What was drawn for the person's own team. Nobody else's: not for organizers either."""
    principal.require("read")
    row = competitions.find(session, principal, slug).row
    team = teams.require_team(session, row.id, principal)
    if not own_files(row):
        raise NotFound("the service draws nothing for teams of this competition", code="nothing_drawn")
    found = session.scalar(select(Drawn).where(Drawn.team_id == team.id))
    if found is None:
        raise Conflict(NOT_YET, code="not_drawn_yet")
    return found


def own_files(row: Competition) -> tuple[str, ...]:
    """The names of the files that every team has for itself."""
    return tuple(row.drawing["files"]) if row.drawing.get("each_team") else ()


def file_of_team(session: Session, principal: Principal, slug: str, file: str) -> str:
    """SHA-256 of one of the team's own files; NotFound, Conflict before the draw."""
    found = of_team(session, principal, slug).files
    known = {f"{name}.csv": digest for name, digest in found.items()}
    if file not in known:
        raise NotFound("your team's own files are {names}", code="no_such_file", names=tuple(known))
    return str(known[file])


def revealed(session: Session, principal: Principal | None, slug: str) -> Revealed:
    """The seed and whose draw was which, so that anybody can draw again; NotFound before the reveal."""
    contest = competitions.find(session, principal, slug)
    visibility.require_reveal(contest.row)
    opening = session.get(SeedOpening, contest.id)
    if opening is None:
        raise NotFound("the service has drawn nothing in this competition", code="nothing_drawn")
    mine = select(Drawn).where(Drawn.competition_id == contest.id).order_by(Drawn.made_at, Drawn.team)
    return Revealed(opening.seed, session.scalars(mine).all())
