"""Who may see what of a competition, and when: every output, count and stream asks here.

What depends on a secret is an answer about it. Until the reveal others see of a release its rank, ``overall``
and, coarser, U and E; its team and the organizers see all of it (docs/publication.md).

Guesses and their scores hide together: what a hidden score would change (a victim's security, a rank, a
count) is computed only from guesses accepted before the horizon of the one who looks. Not
entered: what enters before midnight and ends after it could still be written by what others have told.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.errors import NotAllowed, NotFound
from anoncup.rules.settings import OVERALL_DIGITS, Publication
from anoncup.schemas import BoardRow
from app.db.models import AuditEntry, Competition, Rescore
from app.db.now import clock
from app.services.accounts import memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, phases
from app.services.contests.contest import Contest, read_file

A_DAY, AN_HOUR = timedelta(days=1), timedelta(hours=1)
SHOWING = {"publication", "timezone"}
"""The parts of a competition's file by which boards show more or less, and when."""
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
    ``owners_known``: targets show their teams. ``digits``: the decimals of U and E of others; None:
    everything is shown in full. ``compared_with``: the moment whose ranks stand beside those of now.
    """

    audience: Audience
    as_of: datetime
    guesses_before: datetime | None
    finals_only: bool
    owners_known: bool
    digits: int | None = None
    compared_with: datetime | None = None

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
    team = memberships.team_of(session, row.id, principal)
    return Audience(team.id if team else None, competitions.is_organizer(session, row.id, principal))


def boards(session: Session, principal: Principal | None, slug: str) -> Sight:
    """The boards as this person may see them now; NotFound, NotAllowed."""
    contest = competitions.find(session, principal, slug)
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
        compared_with=hour_of(min(now, cut) - A_DAY),
    )


def view_then(contest: Contest, viewer: Audience, moment: datetime) -> View:
    """What the boards of an earlier moment showed this audience; who may see everything sees how it stood.

    ``as_of`` is never ``ALWAYS``: what has come since is not shown.
    """
    row = contest.row
    looking = replace(viewer, organizer=True) if is_exact(row, viewer) else viewer
    view = view_at(contest, looking, moment)
    cut, horizon = min(view.as_of, moment), view.guesses_before
    return replace(
        view,
        audience=viewer,
        as_of=cut,
        guesses_before=None if horizon is None else min(horizon, cut),
        finals_only=row.published_at is not None and row.published_at < cut,
    )


def alike_since(session: Session, contest: Contest, viewer: Audience) -> datetime | None:
    """When the competition began to show this audience what it shows; None: it always did.

    What it showed before is written down nowhere: maybe less, or to fewer.
    """
    if is_exact(contest.row, viewer):
        return None
    revised = select(AuditEntry.at, AuditEntry.after).where(
        AuditEntry.competition_id == contest.id, AuditEntry.action == "competition.revise"
    )
    times = [at for at, after in session.execute(revised) if SHOWING & set((after or {}).get("changed", ()))]
    applied = select(Rescore.applied_at, Rescore.replaced_file).where(
        Rescore.competition_id == contest.id, Rescore.replaced_file.is_not(None)
    )
    publication = contest.rules.publication
    times += [at for at, file in session.execute(applied) if shown_by(file) != publication]
    return max(times, default=None)


def shown_by(file: str | None) -> Publication | None:
    """What a file that was replaced said of it."""
    return read_file(file).publication if file else None


def hour_of(moment: datetime) -> datetime:
    """The last full hour: what is compared with it is made anew no more often."""
    return moment.replace(minute=0, second=0, microsecond=0)


def everything(row: Competition) -> View:
    """What organizers see."""
    return View(Audience(organizer=True), ALWAYS, ALWAYS, row.published_at is not None, owners_known=True)


def require_board(publication: Publication, audience: Audience) -> None:
    if not may_see_boards(publication, audience):
        raise NotAllowed("this board is not open to you", code="board_not_open")


def may_see_boards(publication: Publication, audience: Audience) -> bool:
    """The competition file says whether visitors and teams see the boards."""
    open_to = publication.board
    return audience.organizer or open_to == "public" or (open_to == "teams" and audience.team_id is not None)


def frozen_since(contest: Contest, audience: Audience, now: datetime) -> datetime:
    """From ``frozen_from`` to the close, everybody but the organizers sees the boards as they stood then."""
    frozen_from = contest.rules.publication.frozen_from
    over = contest.over_at is not None and contest.over_at <= now
    applies = frozen_from is not None and frozen_from <= now and not over
    return frozen_from if frozen_from and applies and not audience.organizer else ALWAYS


def guess_horizon(contest: Contest, audience: Audience, now: datetime) -> datetime | None:
    """Guesses accepted before it are scored in public; None: of no guess is anything said."""
    feedback = contest.rules.publication.feedback
    closed = contest.row.closed_at is not None and contest.row.closed_at <= now
    if audience.organizer or closed or feedback == "immediate":
        return ALWAYS
    return phases.midnights(now, contest.rules.timezone)[0] if feedback == "daily" else None


def is_exact(row: Competition, audience: Audience) -> bool:
    """Whether what depends on others' secrets is shown in full."""
    return audience.organizer or row.revealed_at is not None


def owners_are_known(contest: Contest, audience: Audience) -> bool:
    """Whether targets show their teams to this audience; to visitors only where the boards show teams."""
    publication = contest.rules.publication
    may_know = audience.team_id is not None or may_see_boards(publication, audience)
    return is_exact(contest.row, audience) or (publication.owners == "shown" and may_know)


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
