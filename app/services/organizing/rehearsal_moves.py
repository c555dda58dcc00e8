"""The moves of a rehearsal's sample teams: claimed by a worker when they are due, and made once.

What a team sends enters when its files are ready, and is taken in by what takes in the teams' own: under the
same locks, phases, caps and checks. The submission, or the guess, and the end of its move are one COMMIT: a
worker that is killed before it has sent nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.errors import DomainError
from anoncup.messages import Message, Statement
from app.db.models import Competition, RehearsalMove, State, Target, Team
from app.services.attacks import guesses, targets
from app.services.attacks.guesses import Given
from app.services.contests import competitions, phases
from app.services.contests.contest import Contest
from app.services.contests.phases import ANONYMIZATION, Standing
from app.services.jobs import leases, queue
from app.services.submissions import quota, submissions, uploads
from app.services.submissions.submissions import Seal
from app.services.submissions.uploads import Upload

REFUSED = "move_refused"
WAITS = {"phase_closed", "phase_paused", "changed_meanwhile"}
"""Refusals after which a move may still be made: the organizers move and pause phases."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a worker needs for one move, and the attempt that is its right to record.

    ``scored_by``: the competition's file as workers read it. ``release``: what a release is read against;
    ``guess``: what a guess is, and ``target`` the digests of the target's files; the other one is None.
    """

    move_id: UUID
    attempt: int
    competition_id: UUID
    scored_by: str
    method: str
    release: uploads.Entrance | None = None
    guess: guesses.Entrance | None = None
    target: tuple[tuple[str, str], ...] = ()

    @property
    def original(self) -> dict[str, str]:
        entrance = self.release or self.guess
        return dict(entrance.original) if entrance else {}


def claim_next(session: Session, *, lease: timedelta, attempts: int) -> Claim | None:
    """Take the move that is fairly next and can be made now; None if there is none."""
    while (move := leases.claim_next(session, RehearsalMove, lease=lease, attempts=attempts)) is not None:
        row = session.get_one(Competition, move.competition_id)
        if (found := claim_of(session, row, move)) is not None:
            return found
    return None


def claim_of(session: Session, row: Competition, move: RehearsalMove) -> Claim | None:
    """None: it is not the time for it, or there is nothing to do; noted on the move."""
    now = phases.standing(session, row)
    if now.open is None or now.open.name != move.phase:
        wait_or_drop(session, row, move, now)
        return None
    claim = Claim(move.id, move.attempt, row.id, competitions.published_file(row), move.method)
    if move.phase == ANONYMIZATION:
        first = not row.scored_by
        return replace(
            claim, release=uploads.Entrance(row.id, row.file, uploads.digests(row), None, None, first)
        )
    target = target_of(session, move)
    if target is None:
        leases.finish(session, move, State.CANCELLED)
        return None
    files = tuple(sorted((target.files or {}).items()))
    return replace(claim, guess=guesses.before(Contest(row), target, key=None), target=files)


def wait_or_drop(session: Session, row: Competition, move: RehearsalMove, now: Standing) -> None:
    """Leave it for later, or for good once its phase is over."""
    phase = phases.timetable_of(row).phase(move.phase)
    turned = row.frozen_at if move.phase == ANONYMIZATION else row.closed_at
    if phase is None or turned is not None or (phase.end <= now.now and not now.paused):
        leases.finish(session, move, State.CANCELLED)
        move.failure = Statement(REFUSED, Message("its phase is over"))
    else:
        leases.put_back(session, move, Statement(REFUSED, Message("its phase is not open")))


def target_of(session: Session, move: RehearsalMove) -> Target | None:
    """Of the others' targets, in the order of their names, the one whose turn it is; each team begins at
    another one."""
    mine = targets.joined().where(Target.competition_id == move.competition_id).order_by(Target.name)
    all_of_them = session.scalars(mine.where(targets.counts())).all()
    others = [one for one in all_of_them if one.submission.team_id != move.team_id]
    if move.number >= len(others):
        return None
    teams = select(Team.id).where(Team.competition_id == move.competition_id, ~Team.baseline)
    place = session.scalars(teams.order_by(Team.name)).all().index(move.team_id)
    return others[(move.number + place) % len(others)]


def send(session: Session, claimed: Claim, upload: Upload, seal: Seal) -> bool:
    """Hand a release in; False if another worker has taken the move since."""
    found = locked(session, claimed)
    if found is None:
        return False
    move, row, team = found
    attempt = quota.begin_attempt(session, Contest(row), team, move.user_id, phase=move.phase, key=None)
    entered = replace(upload, entrance=replace(upload.entrance, attempt=attempt))
    submissions.admit(session, move.user_id, entered, row=row, team=team, seal=seal)
    finish(session, move)
    return True


def guess(session: Session, claimed: Claim, given: Sequence[Given]) -> bool:
    """Hand in what was found of a target, by question; False if another worker has taken the move since."""
    found = locked(session, claimed)
    if found is None or claimed.guess is None:
        return False
    move, row, team = found
    for one in given:
        attempt = quota.begin_attempt(session, Contest(row), team, move.user_id, phase=move.phase, key=None)
        at = replace(claimed.guess, attempt=attempt)
        guesses.admit(session, move.user_id, at, one, row=row, team=team)
    finish(session, move)
    return True


def locked(session: Session, claimed: Claim) -> tuple[RehearsalMove, Competition, Team] | None:
    """The competition first, as whoever ends the rehearsal takes it."""
    row = session.get_one(Competition, claimed.competition_id, with_for_update={"read": True})
    move = leases.held(session, RehearsalMove, claimed.move_id, claimed.attempt)
    if move is None:
        return None
    return move, row, session.get_one(Team, move.team_id, with_for_update=True)


def finish(session: Session, move: RehearsalMove) -> None:
    leases.finish(session, move, State.SCORED)
    move.failure = None
    # Another one of the rehearsal had to wait for this one, and whoever was rung for it found nothing.
    queue.defer(session, queue.ADVISE)


def refused(session: Session, claimed: Claim, problem: DomainError) -> None:
    """Note that the service has refused what was sent."""
    row = session.get_one(Competition, claimed.competition_id, with_for_update={"read": True})
    move = leases.held(session, RehearsalMove, claimed.move_id, claimed.attempt)
    if move is None:
        return
    if problem.code in WAITS:
        wait_or_drop(session, row, move, phases.standing(session, row))
        return
    leases.finish(session, move, State.ERROR)
    move.failure = Statement(REFUSED, Message("the service refused it: {reason}", reason=problem.message))
