"""Play rehearsals: the sandboxed child anonymizes or attacks, and a client of the API sends the result.

A worker acts for a sample team with the token of its member. Each move has its own idempotency key and seed,
so that it counts once, even if a killed worker's move is made again.
"""

import json
import random
from contextlib import suppress

import structlog
from sqlalchemy import select

from anoncup.client import ApiError, Client
from anoncup.errors import DomainError
from anoncup.messages import Message
from anoncup.tracks.files import SECRET_FILE
from app.config import get_settings
from app.crypto import sealing
from app.db.models import Competition
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
"""Codes of refusals that do not concern the move: organizers move, pause and end rehearsals."""
_MAX_REPORT_LENGTH = 1000


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


def _make_move_of(competition: Competition) -> bool:
    """Make a move of this rehearsal, unless another worker is making one."""
    with transaction() as lock_session:
        if not rehearsal_moves.try_lock(lock_session, competition.id):
            return False
        try:
            with transaction() as session:
                moves = rehearsal_moves.load_due(session, competition)
                sealed_tokens = session.scalar(
                    select(Competition.rehearsal_tokens).where(Competition.id == competition.id)
                )
            return sealed_tokens is not None and make_first(competition, moves, sealed_tokens)
        except DomainError as problem:
            log.warning("rehearsal_postponed", competition=competition.slug, reason=str(problem))
            return False


def make_first(competition: Competition, moves: list[Move], sealed_tokens: bytes) -> bool:
    """Make the first move that its team has not given up; return False if there is none."""
    settings = get_settings()
    tokens = json.loads(
        sealing.open_file(settings.opening_keys_dir, bound_to=competition.id, content=sealed_tokens)
    )
    for move in moves:
        with Client(settings.service_url, tokens[move.team.name]) as client:
            # The address may be a name in a local network. The web server also answers to local names.
            client.http.headers["Host"] = "localhost"
            questions = client.list_clarifications(competition.slug)
            if not move.is_given_up([item.question for item in questions if item.own]):
                _make_or_report(client, competition, move)
                return True
    return False


def _make_or_report(client: Client, competition: Competition, move: Move) -> None:
    """Make a move, or have its team ask the organizers why it cannot be made."""
    try:
        if isinstance(move, GuessMove):
            _send_guess(client, competition, move)
        else:
            _send_release(client, competition, move)
    except (ApiError, ChildDiedError, ScoringError) as problem:
        if problem.code in _TRANSIENT_CODES:
            raise
        client.ask_question(competition.slug, f"{move.label}: {problem}"[:_MAX_REPORT_LENGTH])


def _send_release(client: Client, competition: Competition, move: Move) -> None:
    """Submit a release that the team's sample method makes."""
    method = move.team.name
    job = SampleJob(
        competitions.build_published_file(competition),
        competition.public_files,
        method,
        move.seed,
        names=(*Contest(competition).track.release_file_names, SECRET_FILE),
    )
    files = _run(job)
    secret = files.pop(SECRET_FILE)
    client.submit(competition.slug, files, secret=secret, comment=method, key=move.label)


def _send_guess(client: Client, competition: Competition, move: GuessMove) -> None:
    """Send the guess of the first attacker that has one."""
    contest = Contest(competition)
    for attacker in move.attackers:
        job = AttackJob(
            competitions.build_published_file(competition),
            competition.public_files,
            move.target.files or {},
            attacker=attacker,
            seed=move.seed,
            names=tuple(contest.track.select_questions(contest.rules)),
        )
        guess = _run(job).get(move.question)
        if guess is not None:
            client.send_guess(str(move.target.id), guess, question=move.question)
            return
    raise ScoringError(Message("no built-in attacker has a guess"))


def _run(job: SampleJob | AttackJob) -> dict[str, bytes]:
    """Return the files that the child makes, in another child if the first was killed."""
    for _ in range(get_settings().scoring_attempts - 1):
        with suppress(ChildDiedError):
            return _run_once(job)
    return _run_once(job)


def _run_once(job: SampleJob | AttackJob) -> dict[str, bytes]:
    files = scoring_child.run(job, get_settings()).content["files"]
    return {name: content.encode() for name, content in files.items()}
