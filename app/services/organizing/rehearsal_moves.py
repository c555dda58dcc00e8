"""Moves of a rehearsal's sample teams: a worker claims each move when it is due and makes it once.

An upload of a sample team enters when its files are ready. The functions that accept uploads of real teams
accept it, too, with the same locks, phases, caps and checks. A submission or guess is committed together with
the end of its move, so that a worker that is killed before the COMMIT has sent nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.errors import DomainError
from anoncup.messages import CodedMessage, Message
from app.db.models import Competition, RehearsalMove, State, Target, Team
from app.services.attacks import guesses, targets
from app.services.attacks.guesses import StoredGuess
from app.services.contests import competitions, phases
from app.services.contests.contest import Contest
from app.services.contests.phases import ANONYMIZATION, PhaseStatus
from app.services.jobs import leases, queue
from app.services.submissions import quota, submissions, uploads
from app.services.submissions.submissions import Seal
from app.services.submissions.uploads import PendingRelease

MOVE_REFUSED = "move_refused"
_RETRYABLE_CODES = {"phase_closed", "phase_paused", "changed_meanwhile"}
"""Errors after which a move may be tried again, because organizers move and pause phases."""


@dataclass(frozen=True, slots=True)
class MoveClaim:
    """Everything a worker needs for one move; ``attempt`` entitles it to record the result.

    ``competition_file``: the published file. Either ``release_context`` or ``guess_context`` is set.
    ``target_files``: name and SHA-256 of each file of the target that the guess attacks.
    """

    move_id: UUID
    attempt: int
    competition_id: UUID
    competition_file: str
    method: str
    release_context: uploads.UploadContext | None = None
    guess_context: guesses.GuessContext | None = None
    target_files: tuple[tuple[str, str], ...] = ()

    @property
    def original(self) -> dict[str, str]:
        context = self.release_context or self.guess_context
        return dict(context.original) if context else {}


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
    claim = MoveClaim(
        move.id, move.attempt, competition.id, competitions.build_published_file(competition), move.method
    )
    if move.phase == ANONYMIZATION:
        is_first = not competition.scored_by
        return replace(
            claim,
            release_context=uploads.UploadContext(
                competition.id,
                competition.file,
                uploads.list_original_digests(competition),
                None,
                None,
                is_first,
            ),
        )
    target = _choose_target(session, move)
    if target is None:
        leases.finish(session, move, State.CANCELLED)
        return None
    files = tuple(sorted((target.files or {}).items()))
    context = guesses.build_context(Contest(competition), target, key=None)
    return replace(claim, guess_context=context, target_files=files)


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


def submit_release(session: Session, claim: MoveClaim, upload: PendingRelease, seal: Seal) -> bool:
    """Submit a release; False if another worker has claimed the move meanwhile."""
    locked_rows = _lock_rows(session, claim)
    if locked_rows is None:
        return False
    move, competition, team = locked_rows
    attempt = quota.begin_attempt(
        session, Contest(competition), team, move.user_id, phase=move.phase, key=None
    )
    entered_upload = replace(upload, context=replace(upload.context, attempt=attempt))
    submissions.insert_submission(
        session, move.user_id, entered_upload, competition=competition, team=team, seal=seal
    )
    finish(session, move)
    return True


def submit_guesses(session: Session, claim: MoveClaim, stored_guesses: Sequence[StoredGuess]) -> bool:
    """Submit the guesses on a target, one for each question; False if another worker has claimed the move."""
    locked_rows = _lock_rows(session, claim)
    if locked_rows is None or claim.guess_context is None:
        return False
    move, competition, team = locked_rows
    for stored_guess in stored_guesses:
        attempt = quota.begin_attempt(
            session, Contest(competition), team, move.user_id, phase=move.phase, key=None
        )
        context = replace(claim.guess_context, attempt=attempt)
        guesses.insert_guess(session, move.user_id, context, stored_guess, competition=competition, team=team)
    finish(session, move)
    return True


def _lock_rows(session: Session, claim: MoveClaim) -> tuple[RehearsalMove, Competition, Team] | None:
    """Lock the competition, the move and its team; None if another worker has claimed the move.

    The competition is locked first, in the same order as when a rehearsal is ended.
    """
    competition = session.get_one(Competition, claim.competition_id, with_for_update={"read": True})
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
    competition = session.get_one(Competition, claim.competition_id, with_for_update={"read": True})
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
