"""Visibility rules: who may see which parts of a competition at which time.

Every output, count and stream uses this module. A value that depends on a secret leaks information about it.
Until the reveal, other teams see the rank and ``overall`` of a release, and rounded U and E. Its own team and
the organizers see everything (docs/publication.md).

Guesses and their scores are hidden together: everything that a hidden score would change (the security of an
attacked team, a rank, a count) is computed only from guesses accepted before the viewer's horizon. The time
of acceptance decides, not the time of entry: an upload that begins before midnight and ends after it could
still be changed after others have told its sender their scores.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.errors import Forbidden, NotFound
from anoncup.rules.settings import OVERALL_DIGITS, Publication
from app.accounts import memberships
from app.competitions import competitions, phases
from app.core.db.models import Competition, Round, Series
from app.core.db.transaction import read_clock
from app.core.identity.principal import Principal

UNFROZEN = datetime.max.replace(tzinfo=UTC)
"""A moment later than any other: the boards are shown as they are now."""


_OpenT = TypeVar("_OpenT")


@dataclass(frozen=True, slots=True)
class Viewer:
    """A visitor, a member of ``team_id``, or an organizer; administrators count as organizers."""

    team_id: UUID | None = None
    is_organizer: bool = False


class ReleaseScores(NamedTuple):
    """The scores of a team on the anonymization board. ``score`` is the value of a formula."""

    overall: float | None
    utility: float | None
    security: float | None
    score: float | None


@dataclass(frozen=True, slots=True)
class BoardScope:
    """The part of the boards that one viewer may see.

    ``before``: the moment of the boards, which show what counted before it: now, or that of the freeze.
    ``series``: the standings that they show.
    ``guesses_before``: guesses accepted before this moment count; with None, no guess counts.
    ``finals_only``: the board compares the frozen finals.
    ``owners_known``: targets show their teams.
    ``digits``: decimals of U and E of other teams; with None, nothing is rounded or hidden.
    ``hides_formula_values``: other teams' scores would reveal comparisons of each measure.
    """

    viewer: Viewer
    before: datetime
    series: Series
    guesses_before: datetime | None
    finals_only: bool
    owners_known: bool
    digits: int | None
    hides_formula_values: bool

    def can_see_details(self, team_id: UUID) -> bool:
        """Whether the exact scores of this team and its measures are shown."""
        return self.digits is None or team_id == self.viewer.team_id

    def mask_scores(self, scores: ReleaseScores) -> ReleaseScores:
        """Return the scores of another team to the precision that this viewer may see."""
        if self.digits is None:
            return scores
        return ReleaseScores(
            overall=_round(scores.overall, OVERALL_DIGITS),
            utility=_round(scores.utility, self.digits),
            security=_round(scores.security, self.digits),
            score=None if self.hides_formula_values else self.round_score(scores.score),
        )

    def round_score(self, score: float | None) -> float | None:
        """Round the value of a formula to the digits and decimals that this viewer may see."""
        if score is None or self.digits is None:
            return score
        return round(float(f"{score:.{OVERALL_DIGITS}g}"), OVERALL_DIGITS)


@dataclass(frozen=True, slots=True)
class BoardAccess:
    """A contest and the part of its boards that one viewer may see."""

    round: Round
    scope: BoardScope


def _round(score: float | None, digits: int) -> float | None:
    return None if score is None else round(score, digits)


def load_viewer(session: Session, competition: Competition, principal: Principal | None) -> Viewer:
    if principal is None:
        return Viewer()
    principal.require("read")
    team = memberships.find_team(session, competition.id, principal)
    return Viewer(team.id if team else None, competitions.is_organizer(session, competition.id, principal))


def find_board_access(session: Session, principal: Principal | None, slug: str) -> BoardAccess | None:
    """Return this person's access to the boards, or None if these are not open to them."""
    round_ = competitions.find(session, principal, slug)
    viewer = load_viewer(session, round_.competition, principal)
    if not can_see_boards(round_.rules.publication, viewer):
        return None
    return BoardAccess(round_, compute_scope(round_, viewer, read_clock(session)))


def authorize_boards(session: Session, principal: Principal | None, slug: str) -> BoardAccess:
    """Return this person's access to the boards; raises NotFound or Forbidden."""
    return require_open(find_board_access(session, principal, slug))


def require_open(board: _OpenT | None) -> _OpenT:
    """Return a board or the access to it; raise Forbidden if it is None, because it is not open."""
    if board is None:
        raise Forbidden("this board is not open to you", code="board_not_open")
    return board


def compute_scope(round_: Round, viewer: Viewer, now: datetime) -> BoardScope:
    """Compute what a viewer may see of the boards at ``now``; nothing else depends on the clock."""
    publication = round_.rules.publication
    before = min(now, compute_freeze_time(round_, viewer, now))
    horizon = compute_guess_horizon(round_, viewer, before)
    is_exact = _can_see_exact_scores(round_, viewer)
    return BoardScope(
        viewer=viewer,
        before=before,
        series=_choose_series(horizon),
        guesses_before=None if horizon is None else min(horizon, before),
        finals_only=round_.published_at is not None and round_.published_at < before,
        owners_known=can_see_owners(round_, viewer),
        digits=None if is_exact else publication.digits,
        hides_formula_values=not is_exact and compares_teams(round_.rules),
    )


def _choose_series(horizon: datetime | None) -> Series:
    if horizon is None:
        return Series.WITHOUT_GUESSES
    return Series.ALL_GUESSES if horizon == UNFROZEN else Series.DAILY


def can_see_boards(publication: Publication, viewer: Viewer) -> bool:
    """Whether the competition file opens the boards to this viewer."""
    open_to = publication.board
    return viewer.is_organizer or open_to == "public" or (open_to == "teams" and viewer.team_id is not None)


def compute_freeze_time(round_: Round, viewer: Viewer, now: datetime) -> datetime:
    """Return the moment at which the boards are frozen for this viewer, or ``UNFROZEN``.

    From ``frozen_from`` until the close, everybody except the organizers sees the boards of ``frozen_from``.
    """
    frozen_from = round_.rules.publication.frozen_from
    is_over = round_.over_at is not None and round_.over_at <= now
    is_frozen = frozen_from is not None and frozen_from <= now and not is_over
    return frozen_from if frozen_from and is_frozen and not viewer.is_organizer else UNFROZEN


def compute_guess_horizon(round_: Round, viewer: Viewer, now: datetime) -> datetime | None:
    """Return the moment before which accepted guesses are visible; None if no guess is visible."""
    feedback = round_.rules.publication.feedback
    is_closed = round_.closed_at is not None and round_.closed_at <= now
    if viewer.is_organizer or is_closed or feedback == "immediate":
        return UNFROZEN
    return phases.find_midnights(now, round_.rules.timezone)[0] if feedback == "daily" else None


def _can_see_exact_scores(round_: Round, viewer: Viewer) -> bool:
    """Whether values that depend on the secrets of other teams are shown in full."""
    return viewer.is_organizer or round_.revealed_at is not None


def can_see_owners(round_: Round, viewer: Viewer) -> bool:
    """Whether targets show their teams to this viewer; visitors see them only where boards show teams."""
    publication = round_.rules.publication
    can_see_teams = viewer.team_id is not None or can_see_boards(publication, viewer)
    return _can_see_exact_scores(round_, viewer) or (publication.owners == "shown" and can_see_teams)


def require_targets(session: Session, round_: Round, viewer: Viewer) -> None:
    """Raise Forbidden or NotFound unless the viewer may see the targets.

    All teams get them at the start of the second phase; organizers see them as soon as they are published.
    """
    if not (viewer.is_organizer or viewer.team_id):
        raise Forbidden("targets are for the teams of this competition", code="not_in_a_team")
    if round_.published_at is None or not (
        viewer.is_organizer or phases.has_phase_begun(round_, phases.REIDENTIFICATION, read_clock(session))
    ):
        raise NotFound("the targets are not published yet", code="no_targets_yet")


def require_reveal(round_: Round) -> None:
    """Raise NotFound until the secrets have been revealed."""
    if round_.revealed_at is None:
        raise NotFound("the secrets are not revealed yet", code="not_revealed_yet")
