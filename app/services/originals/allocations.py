"""What the service draws by a committed seed: read here, made by the clock (``attacks.drawing``)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, NotFound
from anoncup.messages import N_
from app.db.models import Competition, Drawn, SeedOpening, Team
from app.db.now import clock
from app.services.accounts import memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, phases, visibility
from app.services.contests.sealed_inputs import NOBODY, lacking

NOT_YET = N_("the data that the service draws are not ready yet; try again in a moment")
NOT_BEGUN = N_("the service draws the data of teams when the anonymization phase begins")
NOT_GIVEN = N_("the organizers have not given yet what the data of teams are drawn from; ask them")
OVER = N_("the anonymization phase is over, and no more data are drawn: your team has none")
NONE_LEFT = N_("all data are assigned to other teams; ask the organizers")


@dataclass(frozen=True, slots=True)
class Revealed:
    """The seed, and the draws of all teams in the order in which they were made."""

    seed: bytes
    draws: Sequence[Drawn]


def own(session: Session, competition_id: UUID, team_id: UUID | None) -> Mapping[str, str] | None:
    """Return the SHA-256 of each of a team's own files, of the baselines' without a team.

    None: not drawn yet. Empty: other teams have all that there are.
    """
    whose = Drawn.team_id == team_id if team_id else Drawn.team == NOBODY
    query = select(Drawn.files).where(Drawn.competition_id == competition_id, whose)
    return session.scalar(query)


def require_drawn(session: Session, row: Competition, team: Team | None) -> Mapping[str, str]:
    """The own files that a release is read with, none where teams have none; Conflict before the draw."""
    if not row.drawing:
        return {}
    found = own(session, row.id, team.id if team else None) if row.drawing["each_team"] else {}
    if found is None or row.undrawn:
        raise refusal_before_draw(session, row)
    if not found and row.drawing["each_team"]:
        raise Conflict(NONE_LEFT, code="no_allocation_left")
    return found


def refusal_before_draw(session: Session, row: Competition) -> Conflict:
    """Say what a team waits for that has no data yet, or that it waits for nothing."""
    if not row.drawing["each_team"]:
        return Conflict(NOT_YET, code="not_drawn_yet")
    if row.frozen_at is not None:
        return Conflict(OVER, code="drawing_over")
    if not phases.first_has_begun(row, clock(session)):
        return Conflict(NOT_BEGUN, code="not_drawn_yet")
    return Conflict(NOT_GIVEN if lacking(session, row) else NOT_YET, code="not_drawn_yet")


@dataclass(frozen=True, slots=True)
class Own:
    """The names of a team's own files, none where teams have none; ``files``: SHA-256 of each once they are
    drawn, empty if none are left for the team."""

    names: tuple[str, ...]
    files: Mapping[str, str] | None


def of_member(session: Session, principal: Principal, row: Competition) -> Own:
    """The own files of the person's team, for its page."""
    names = own_files(row)
    team = memberships.team_of(session, row.id, principal) if names else None
    return Own(names if team else (), own(session, row.id, team.id) if team else None)


def of_team(session: Session, principal: Principal, slug: str) -> Drawn:
    """What was drawn for the person's own team. Nobody else's: not for organizers either."""
    principal.require("read")
    row = competitions.find(session, principal, slug).row
    team = memberships.require_team(session, row.id, principal)
    if not own_files(row):
        raise NotFound("the service draws nothing for teams of this competition", code="nothing_drawn")
    found = session.scalar(select(Drawn).where(Drawn.team_id == team.id))
    if found is None:
        raise refusal_before_draw(session, row)
    if not found.files:
        raise Conflict(NONE_LEFT, code="no_allocation_left")
    return found


def teams_without(session: Session, competition_id: UUID) -> int:
    """Return how many teams have no data because other teams have all there are."""
    found = session.scalars(select(Drawn.files).where(Drawn.competition_id == competition_id))
    return sum(not files for files in found)


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
    return Revealed(opening.seed, [one for one in session.scalars(mine) if one.files])
