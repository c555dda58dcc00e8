"""Moves of a rehearsal's sample teams: a worker claims each move when it is due and makes it once.

An upload of a sample team enters when its files are ready. The functions that accept uploads of real teams
accept it, too, with the same locks, phases, caps and checks. A submission or guess is committed together with
the end of its move, so that a worker that is killed before the COMMIT has sent nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.errors import DomainError
from anoncup.messages import CodedMessage, Message
from app.db.models import Competition, RehearsalMove, State, Target, Team
from app.services.attacks import targets
from app.services.attacks.guesses import GuessUpload
from app.services.contests import competitions, phases
from app.services.contests.phases import ANONYMIZATION, PhaseStatus
from app.services.jobs import leases, queue
from app.services.submissions.uploads import ReleaseUpload, Seal

MOVE_REFUSED = "move_refused"
_RETRYABLE_CODES = {"phase_closed", "phase_paused", "changed_meanwhile"}
"""Errors after which a move may be tried again, because organizers move and pause phases."""


@dataclass(frozen=True, slots=True)
class MoveClaim:
    """Everything a worker needs for one move; ``attempt`` entitles it to record the result.

    ``target``: the target to attack; None for a move that submits a release.
    """

    move_id: UUID
    attempt: int
    competition: Competition
    method: str
    target: Target | None = None

    @property
    def competition_file(self) -> str:
        """The published file."""
        return competitions.build_published_file(self.competition)

    def start_release(self, seal: Seal) -> ReleaseUpload:
        upload = ReleaseUpload(self.competition.slug, seal=seal)
        upload.set_competition(self.competition)
        return upload

    def start_guess(self, target: Target) -> GuessUpload:
        upload = GuessUpload(target.id)
        upload.set_competition(self.competition)
        upload.sizes = target.sizes
        return upload


def claim_next(session: Session, *, lease: timedelta, max_attempts: int) -> MoveClaim | None:
    """Claim the next move in fair order that can be made now; None if there is none."""
    while (
        move := leases.claim_next(session, RehearsalMove, lease=lease, max_attempts=max_attempts)
    ) is not None:
        competition = session.get_one(Competition, move.competition_id)
        if (claim := _build_claim(session, competition, move)) is not None:
            return claim
    return None


def _build_claim(session: Session, competition: Competition, move: RehearsalMove) -> MoveClaim | None:
    """Return what the worker needs for a move; None if its phase is not open or nothing is left to do.

    In that case the move is postponed or dropped.
    """
    status = phases.get_status(session, competition)
    if status.open_phase is None or status.open_phase.name != move.phase:
        _postpone_or_drop(session, competition, move, status)
        return None
    target = None if move.phase == ANONYMIZATION else _choose_target(session, move)
    if target is None and move.phase != ANONYMIZATION:
        leases.finish(session, move, State.CANCELLED)
        return None
    return MoveClaim(move.id, move.attempt, competition, move.method, target)


def _postpone_or_drop(
    session: Session, competition: Competition, move: RehearsalMove, status: PhaseStatus
) -> None:
    """Postpone a move, or drop it once its phase is over."""
    phase = phases.get_timetable(competition).phase(move.phase)
    ended_at = competition.frozen_at if move.phase == ANONYMIZATION else competition.closed_at
    if phase is None or ended_at is not None or (phase.end <= status.now and not status.paused):
        leases.finish(session, move, State.CANCELLED)
        move.failure = CodedMessage(MOVE_REFUSED, Message("its phase is over"))
    else:
        leases.requeue_with_backoff(
            session, move, CodedMessage(MOVE_REFUSED, Message("its phase is not open"))
        )


def _choose_target(session: Session, move: RehearsalMove) -> Target | None:
    """Return the next target of other teams, in order of name; each team starts with a different one."""
    query = targets.select_targets().where(Target.competition_id == move.competition_id).order_by(Target.name)
    counting_targets = session.scalars(query.where(targets.is_in_contest())).all()
    candidates = [target for target in counting_targets if target.submission.team_id != move.team_id]
    if move.number >= len(candidates):
        return None
    teams = select(Team.id).where(Team.competition_id == move.competition_id, ~Team.baseline)
    team_index = session.scalars(teams.order_by(Team.name)).all().index(move.team_id)
    return candidates[(move.number + team_index) % len(candidates)]


def submit(session: Session, claim: MoveClaim, uploads: Sequence[ReleaseUpload | GuessUpload]) -> bool:
    """Submit what a move has made: a release, or a guess for each question.

    False if another worker has claimed the move meanwhile.
    """
    locked_rows = _lock_rows(session, claim)
    if locked_rows is None:
        return False
    move, competition, team = locked_rows
    for upload in uploads:
        upload.admit(session, competition, team, move.user_id)
        upload.accept_locked(session, competition, team, move.user_id)
    finish(session, move)
    return True


def _lock_rows(session: Session, claim: MoveClaim) -> tuple[RehearsalMove, Competition, Team] | None:
    """Lock the competition, the move and its team; None if another worker has claimed the move.

    The competition is locked first, in the same order as when a rehearsal is ended.
    """
    competition = session.get_one(Competition, claim.competition.id, with_for_update={"read": True})
    move = leases.lock_lease(session, RehearsalMove, claim.move_id, claim.attempt)
    if move is None:
        return None
    return move, competition, session.get_one(Team, move.team_id, with_for_update=True)


def finish(session: Session, move: RehearsalMove) -> None:
    leases.finish(session, move, State.SCORED)
    move.failure = None
    # Send a message only now: while this move ran, no worker could have claimed another of the rehearsal.
    queue.enqueue_after_commit(session, queue.ADVISE)


def record_refusal(session: Session, claim: MoveClaim, problem: DomainError) -> None:
    """Record that the service refused an upload: retry later or end the move with an error."""
    competition = session.get_one(Competition, claim.competition.id, with_for_update={"read": True})
    move = leases.lock_lease(session, RehearsalMove, claim.move_id, claim.attempt)
    if move is None:
        return
    if problem.code in _RETRYABLE_CODES:
        _postpone_or_drop(session, competition, move, phases.get_status(session, competition))
        return
    leases.finish(session, move, State.ERROR)
    move.failure = CodedMessage(
        MOVE_REFUSED, Message("the service refused it: {reason}", reason=problem.message)
    )
