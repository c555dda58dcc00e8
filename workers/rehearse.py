"""Play rehearsals: the sandboxed child anonymizes or attacks, and a client of the API sends the result.

A worker acts for a sample team with the token of its member. Each move has its own idempotency key and seed,
so that it counts once, even if a killed worker's move is made again.
"""

import json
import random
import time
from uuid import UUID

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from sqlalchemy import select

from anoncup.client import ApiError, Client
from anoncup.errors import DomainError
from anoncup.messages import Message
from anoncup.tracks.files import SECRET_FILE
from app.config import get_settings
from app.crypto import sealing
from app.db.models import Competition, Round
from app.db.transaction import transaction
from app.services.contests import competitions
from app.services.contests.contest import Contest
from app.services.jobs import queue, requeue
from app.services.organizing import rehearsal_moves
from app.services.organizing.rehearsal_moves import GuessMove, Move
from workers import scoring_child
from workers.jobs import AttackJob, SampleJob
from workers.scoring_child import ChildDiedError, ScoringError

log = structlog.get_logger(__name__)

_TRANSIENT_CODES = {"phase_closed", "phase_paused", "changed_meanwhile", "too_late", "invalid_token"}
"""Codes of refusals for now: organizers move, pause and end rehearsals."""
_MAX_REPORT_LENGTH = 1000
_PAUSE_S = 60.0
"""Seconds until this process tries a postponed rehearsal again, so that reports need not wait for it."""
paused_until: dict[UUID, float] = {}
"""End of that pause by rehearsal, in monotonic time."""


def make_next_move() -> bool:
    """Make a move of a rehearsal; return False if none is due, or if those that are due have to wait."""
    with transaction() as session:
        rehearsals = requeue.list_rehearsals(session)
    random.shuffle(rehearsals)
    if not any(map(_make_move_of, rehearsals)):
        return False
    with transaction() as session:  # ask for the next move, or for a report that has waited meanwhile
        queue.enqueue_after_commit(session, queue.ADVISE)
    return True


def _make_move_of(round_: Round) -> bool:
    """Make a move of this rehearsal, unless another worker is making one. A failure does not stop others."""
    if time.monotonic() < paused_until.get(round_.id, 0.0):
        return False
    try:
        with transaction() as lock_session:
            return rehearsal_moves.try_lock(lock_session, round_.id) and _make_due_move(round_)
    except SoftTimeLimitExceeded:
        raise
    except DomainError as problem:
        log.warning("rehearsal_postponed", competition=round_.address, reason=str(problem))
    except Exception:
        log.exception("rehearsal_failed", competition=round_.address)
    paused_until[round_.id] = time.monotonic() + _PAUSE_S
    return False


def _make_due_move(round_: Round) -> bool:
    with transaction() as session:
        moves = rehearsal_moves.load_due(session, round_)
        sealed_tokens = session.scalar(
            select(Competition.rehearsal_tokens).where(Competition.id == round_.competition_id)
        )
    return sealed_tokens is not None and make_first_move(round_, moves, sealed_tokens)


def make_first_move(round_: Round, moves: list[Move], sealed_tokens: bytes) -> bool:
    """Make the first move that its team has not given up; return False if there is none."""
    settings = get_settings()
    tokens = json.loads(
        sealing.open_file(settings.opening_keys_dir, bound_to=round_.competition_id, content=sealed_tokens)
    )
    questions_by_team: dict[str, list[str]] = {}
    for move in moves:
        name = move.team.name
        with connect(tokens[name]) as client:
            if name not in questions_by_team:
                questions = client.list_clarifications(round_.address)
                questions_by_team[name] = [item.question for item in questions if item.own]
            if not move.is_given_up(questions_by_team[name]):
                _make_or_report(client, round_, move)
                return True
    return False


def connect(token: str) -> Client:
    """Return a client of the web server, which may have a name that only the local network knows."""
    settings = get_settings()
    client = Client(settings.service_url, token, trust_env=False)
    address = client.http.base_url
    if address.scheme == "http" and not settings.serves_host(address.host):
        client.http.headers["Host"] = "localhost"  # a name that every web server of ours answers to
    return client


def _make_or_report(client: Client, round_: Round, move: Move) -> None:
    """Make a move, or have its team ask the organizers why it cannot be made."""
    retry_until = time.monotonic() + get_settings().scoring_time_limit_s / 2
    try:
        if isinstance(move, GuessMove):
            _send_guess(client, round_, move, retry_until=retry_until)
        else:
            _send_release(client, round_, move, retry_until=retry_until)
    except SoftTimeLimitExceeded:
        reason = "it took too long"
    except (ApiError, ChildDiedError, ScoringError) as problem:
        if isinstance(problem, ApiError) and _is_transient(problem):
            raise
        reason = str(problem)
    else:
        return
    client.ask_question(round_.address, f"{move.label}: {reason}"[:_MAX_REPORT_LENGTH])


def _is_transient(problem: ApiError) -> bool:
    """Return whether a refusal has to do with the service or the phase, not with the move."""
    return problem.code in _TRANSIENT_CODES or problem.status == 408 or problem.status >= 500


def _send_release(client: Client, round_: Round, move: Move, *, retry_until: float) -> None:
    """Submit a release that the team's sample method makes."""
    method = move.team.name
    job = SampleJob(
        competitions.build_published_file(round_),
        round_.public_files,
        method,
        move.seed,
        file_names=(*Contest(round_).track.release_file_names, SECRET_FILE),
    )
    files = _run(job, retry_until=retry_until)
    secret = files.pop(SECRET_FILE)
    client.submit(round_.address, files, secret=secret, comment=method, key=move.label)


def _send_guess(client: Client, round_: Round, move: GuessMove, *, retry_until: float) -> None:
    """Send the guess of the first attacker that has one; begin with no other after ``retry_until``."""
    contest = Contest(round_)
    for attacker in move.attackers:
        job = AttackJob(
            competitions.build_published_file(round_),
            round_.public_files,
            move.target.files or {},
            attacker=attacker,
            seed=move.seed,
            file_names=tuple(contest.track.select_questions(contest.rules)),
        )
        guess = _run(job, retry_until=retry_until).get(move.question)
        if guess is not None:
            client.send_guess(str(move.target.id), guess, question=move.question)
            return
        if time.monotonic() >= retry_until:
            break
    raise ScoringError(Message("no built-in attacker has a guess in time"))


def _run(job: SampleJob | AttackJob, *, retry_until: float) -> dict[str, bytes]:
    """Return the files that the child makes, in another child if one was killed before ``retry_until``."""
    attempts_left = get_settings().scoring_attempts
    while True:
        attempts_left -= 1
        try:
            return _run_once(job)
        except ChildDiedError:
            if not attempts_left or time.monotonic() >= retry_until:
                raise


def _run_once(job: SampleJob | AttackJob) -> dict[str, bytes]:
    files = scoring_child.run(job, get_settings()).content["files"]
    return {name: content.encode() for name, content in files.items()}
