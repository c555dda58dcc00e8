"""Who may see what of a competition, and when: every output, count and stream asks here.

What depends on a secret is an answer about it. Until the reveal others see of a release its rank, ``overall``
and, coarser, U and E; its team and the organizers see all of it (docs/publication.md).

Guesses and their scores hide together: what a hidden score would change (a victim's security, a rank, a
count) is computed only from guesses accepted before the horizon of the one who looks. Not
entered: what enters before midnight and ends after it could still be written by what others have told.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar
from uuid import UUID

from sqlalchemy.orm import Session

from app.contest import Contest
from app.db.models import Competition
from app.errors import NotAllowed, NotFound
from app.scoring.publication import OVERALL_DIGITS
from app.scoring.settings import Publication
from app.services.contest import competitions, phases
from app.services.people import teams
from app.services.people.accounts import Principal
from app.services.work.leases import clock
from app.wire import BoardRow

ALWAYS = datetime.max.replace(tzinfo=UTC)
"""Later than anything: all of it is visible, as it stands."""


@dataclass(frozen=True, slots=True)
class Audience:
    """The one who looks: a visitor, a member of ``team_id``, or an organizer (administrators are)."""

    team_id: UUID | None = None
    organizer: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """What one audience may see now.

    ``as_of``: the boards as they stood then (frozen), or, ``ALWAYS``, as they stand. ``guesses_before``: of
    guesses those accepted earlier; None: of none. ``finals_only``: the board compares the frozen finals.
    ``owners_known``: whose target is whose. ``digits``: the decimals of U and E of others; None: everything
    is shown in full.
    """

    audience: Audience
    as_of: datetime
    guesses_before: datetime | None
    finals_only: bool
    owners_known: bool
    digits: int | None = None

    def losses(self, utility: float, security: float) -> tuple[float, float]:
        """U and E as they are compared in what everybody sees."""
        return rounded(utility, self.digits), rounded(security, self.digits)

    def row(self, row: BoardRow, *, own: bool) -> BoardRow:
        """A row of the anonymization board as this audience sees it."""
        if own or self.digits is None:
            return row
        return row.model_copy(
            update={
                "overall": rounded(row.overall, OVERALL_DIGITS),
                "utility": rounded(row.utility, self.digits),
                "security": rounded(row.security, self.digits),
                "rivals": None,
                "rank_sum": None,
                "measures": {},
                "attackers": {},
            }
        )


@dataclass(frozen=True, slots=True)
class Sight:
    """A competition's boards, and what one audience may see of them."""

    contest: Contest
    view: View

    def lasts_until(self, now: datetime) -> bool:
        """Whether the same rows are seen in the same way at a later moment."""
        return view_at(self.contest, self.view.audience, now) == self.view


Score = TypeVar("Score", float, float | None)


def rounded(score: Score, digits: int | None) -> Score:
    return score if score is None or digits is None else round(score, digits)


def audience(session: Session, row: Competition, principal: Principal | None) -> Audience:
    if principal is None:
        return Audience()
    principal.require("read")
    team = teams.team_of(session, row.id, principal)
    return Audience(team.id if team else None, competitions.is_organizer(session, row.id, principal))


def boards(session: Session, principal: Principal | None, slug: str) -> Sight:
    """The boards as this person may see them now; NotFound, NotAllowed."""
    contest = competitions.find(session, slug)
    viewer = audience(session, contest.row, principal)
    sight = Sight(contest, view_at(contest, viewer, clock(session)))
    require_board(contest.rules.publication, viewer)
    return sight


def view_at(contest: Contest, viewer: Audience, now: datetime) -> View:
    """What an audience may see of the competition's boards at a moment: nothing else depends on the clock."""
    row, publication = contest.row, contest.rules.publication
    cut = frozen_since(contest, viewer, now)
    horizon = guess_horizon(contest, viewer, min(now, cut))
    return View(
        audience=viewer,
        as_of=cut,
        guesses_before=None if horizon is None else min(horizon, cut),
        finals_only=row.published_at is not None and row.published_at < cut,
        owners_known=owners_are_known(contest, viewer),
        digits=None if is_exact(row, viewer) else publication.digits,
    )


def everything(row: Competition) -> View:
    """What organizers see."""
    return View(Audience(organizer=True), ALWAYS, ALWAYS, row.published_at is not None, owners_known=True)


def require_board(publication: Publication, audience: Audience) -> None:
    """The competition file says whether visitors and teams see the boards."""
    open_to = publication.board
    if audience.organizer or open_to == "public" or (open_to == "teams" and audience.team_id):
        return
    raise NotAllowed("this board is not open to you", code="board_not_open")


def frozen_since(contest: Contest, audience: Audience, now: datetime) -> datetime:
    """From ``frozen_from`` to the close, everybody but the organizers sees the boards as they stood then."""
    frozen_from = contest.rules.publication.frozen_from
    applies = frozen_from is not None and frozen_from <= now and not contest.is_over
    return frozen_from if frozen_from and applies and not audience.organizer else ALWAYS


def guess_horizon(contest: Contest, audience: Audience, now: datetime) -> datetime | None:
    """Guesses accepted before it are scored in public; None: of no guess is anything said."""
    feedback = contest.rules.publication.feedback
    if audience.organizer or contest.row.closed_at is not None or feedback == "immediate":
        return ALWAYS
    return phases.midnights(now, contest.rules.timezone)[0] if feedback == "daily" else None


def is_exact(row: Competition, audience: Audience) -> bool:
    """Whether what depends on others' secrets is shown in full."""
    return audience.organizer or row.revealed_at is not None


def owners_are_known(contest: Contest, audience: Audience) -> bool:
    """Targets stand under opaque names until the reveal, unless the competition shows their owners."""
    shown = contest.rules.publication.owners == "shown"
    return shown or is_exact(contest.row, audience)


def require_targets(session: Session, contest: Contest, audience: Audience) -> None:
    """Targets are for the teams, all at the same moment; organizers may look as soon as they are written."""
    if not (audience.organizer or audience.team_id):
        raise NotAllowed("targets are for the teams of this competition", code="not_in_a_team")
    published = contest.row.published_at is not None
    if not published or not (audience.organizer or second_phase_has_begun(session, contest)):
        raise NotFound("the targets are not published yet", code="no_targets_yet")


def second_phase_has_begun(session: Session, contest: Contest) -> bool:
    phase = contest.rules.phase(phases.REIDENTIFICATION)
    return phase is not None and phase.start <= (contest.row.paused_at or clock(session))


def require_reveal(row: Competition) -> None:
    """Secrets are published when the competition has closed, and never before."""
    if row.revealed_at is None:
        raise NotFound("the secrets are not revealed yet", code="not_revealed_yet")
