"""Guesses: accepted like submissions, judged by a worker, shown when the competition shows scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, tuple_
from sqlalchemy.orm import Session, joinedload

from anoncup import schemas
from anoncup.errors import Conflict, Forbidden, InvalidInput
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.tables.files import Remark
from anoncup.tracks.files import GUESS_FILE
from anoncup.tracks.model import Question, ReleaseContext, Sizes
from anoncup.tracks.outcomes import Outcome
from app.db import now
from app.db.models import Attempt, Competition, Guess, Secret, State, Target, Team
from app.processes import parser_process
from app.services.accounts import memberships
from app.services.accounts.accounts import Principal
from app.services.attacks import targets
from app.services.contests import competitions, phases, sealed_inputs, visibility
from app.services.contests.contest import Contest, parse_stored_rules
from app.services.contests.sealed_inputs import AllocationInputs
from app.services.jobs import leases, queue
from app.services.submissions import attempts, quota, uploads
from app.storage import get_store

NO_ANSWER = Remark("no_answer", Message("no line is answered, so the guess finds nobody"))


@dataclass(frozen=True, slots=True)
class GuessContext:
    """Target and competition against which an uploaded guess is read.

    ``attempt`` is the counted attempt; None for a dry run or a retry. ``accepted_id`` is the id of the guess
    accepted earlier under the same idempotency key, or None.
    """

    target_id: UUID
    competition_id: UUID
    competition_file: str
    original: tuple[tuple[str, str], ...]
    sizes: Sizes
    file_mb: int
    key: str | None
    attempt: Attempt | None
    accepted_id: UUID | None = None

    @property
    def file_names(self) -> tuple[str, ...]:
        return (GUESS_FILE,)

    @property
    def questions(self) -> dict[str, Question]:
        """Questions that a guess may answer, the default one first."""
        rules = parse_stored_rules(self.competition_file)
        return TRACKS[rules.track].select_questions(rules)

    def choose_question(self, requested: str | None) -> str:
        """Return the requested question or the default one. Raise InvalidInput if it is unknown."""
        question_names = tuple(self.questions)
        if requested is None:
            return question_names[0]
        if requested not in question_names:
            raise InvalidInput(
                "the questions asked here are {known}", code="unknown_question", known=question_names
            )
        return requested


@dataclass(frozen=True, slots=True)
class StoredGuess:
    """A well-formed guess that is stored but not yet accepted.

    ``file`` is its digest in the store, ``answered`` the number of lines with an answer.
    """

    question: str
    file: str
    answered: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ParsedGuess:
    """Result of parsing a guess: normalized content and the number of lines with an answer."""

    content: bytes
    answered: int
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class GuessClaim:
    """Inputs for judging one guess, with the attempt that entitles a worker to record the result."""

    guess_id: UUID
    attempt: int
    submission_id: UUID
    competition_file: str
    original: dict[str, str]
    question: str
    sizes: Sizes
    file: str
    allocation_inputs: AllocationInputs | None
    key_id: str
    sealed: bytes


def begin_guess(session: Session, principal: Principal, target_id: UUID, *, key: str | None) -> GuessContext:
    """Check that the person may send a guess now and count an attempt, before the file is read."""
    principal.require("submit")
    accepted_guess = _find_accepted(session, principal, target_id, uploads.validate_key(key))
    target = accepted_guess.target if accepted_guess else targets.find_visible(session, principal, target_id)
    contest = Contest(session.get_one(Competition, target.competition_id))
    attempt = None
    if accepted_guess is None:
        team = memberships.require_team(session, contest.id, principal)
        quota.lock_rows(session, contest.competition, team)
        accepted_guess = _find_accepted(session, principal, target_id, key)
    if accepted_guess is None:
        uploads.require_qualified(team)
        _require_attackable(target, team)
        phase = phases.REIDENTIFICATION
        attempt = quota.begin_attempt(session, contest, team, principal.user_id, phase=phase, key=key)
    # The key may have been used for another target; ``load_accepted`` then refuses the upload.
    context = replace(build_context(contest, target, key=key), target_id=target_id)
    return replace(context, attempt=attempt, accepted_id=accepted_guess.id if accepted_guess else None)


def begin_dry_run(session: Session, principal: Principal, target_id: UUID) -> tuple[GuessContext, UUID]:
    """Return the context for a dry run of a guess, and the id of the requesting team.

    A team may check a guess on any target that it can see and that is not its own. Nothing is counted.
    """
    principal.require("submit")
    target = targets.find_visible(session, principal, target_id)
    contest = Contest(session.get_one(Competition, target.competition_id))
    team = memberships.require_team(session, contest.id, principal)
    uploads.require_qualified(team)
    _require_attackable(target, team)
    return build_context(contest, target, key=None), team.id


def build_context(contest: Contest, target: Target, *, key: str | None) -> GuessContext:
    """Build the context of a guess on a target, without an attempt."""
    return GuessContext(
        target_id=target.id,
        competition_id=contest.id,
        competition_file=contest.competition.file,
        original=uploads.list_original_digests(contest.competition),
        sizes=target.sizes,
        file_mb=contest.rules.limits.file_mb,
        key=key,
        attempt=None,
    )


def refresh_context(session: Session, principal: Principal, context: GuessContext) -> GuessContext:
    """Return the context of a received guess. Begin again if another request with its key ended meanwhile."""
    if context.key is None or context.attempt is None or not attempts.has_ended(session, context.attempt):
        return context
    return begin_guess(session, principal, context.target_id, key=context.key)


def _find_accepted(session: Session, principal: Principal, target_id: UUID, key: str | None) -> Guess | None:
    """Return the team's guess accepted under this key, even if its target has since been withdrawn."""
    target = session.get(Target, target_id)
    team = memberships.find_team(session, target.competition_id, principal) if target and key else None
    guess_id = _find_id_by_key(session, team, key) if team else None
    return (
        session.get_one(Guess, guess_id, options=[joinedload(Guess.target, innerjoin=True)])
        if guess_id
        else None
    )


def _find_id_by_key(session: Session, team: Team, key: str | None) -> UUID | None:
    if key is None:
        return None
    return session.scalar(select(Guess.id).where(Guess.team_id == team.id, Guess.idempotency_key == key))


def _require_attackable(target: Target, team: Team) -> None:
    if target.submission.team_id == team.id:
        raise Forbidden("this target is your own", code="own_target")
    if targets.is_withdrawn(target):
        raise Conflict("this target has been withdrawn", code="target_withdrawn")


def accept(session: Session, principal: Principal, context: GuessContext, stored_guess: StoredGuess) -> Guess:
    """Accept a guess under a shared lock on the competition and a lock on the team.

    The locks keep phase and quota from changing. The guess is in time if its attempt began in time.
    """
    competition = session.get_one(Competition, context.competition_id, with_for_update={"read": True})
    team = memberships.require_team(session, competition.id, principal, for_update=True)
    accepted_id = _find_id_by_key(session, team, context.key)
    if accepted_id is not None:
        if context.attempt is not None:
            attempts.end(session, context.attempt, counts=False)
        return load_accepted(
            session, accepted_id, stored_guess.fingerprint, context.target_id, stored_guess.question
        )
    return insert_guess(session, principal.user_id, context, stored_guess, competition=competition, team=team)


def insert_guess(
    session: Session,
    user_id: UUID,
    context: GuessContext,
    stored_guess: StoredGuess,
    *,
    competition: Competition,
    team: Team,
) -> Guess:
    """Insert the guess if it is in time and within the quota. Both locks must be held."""
    uploads.require_qualified(team)
    assert context.attempt is not None  # noqa: S101  # only a retry has none
    status = phases.get_status(session, competition)
    attempts.require_in_time(competition, context.attempt, status)
    target = session.scalars(targets.select_targets().where(Target.id == context.target_id)).one()
    _require_attackable(target, team)
    cap = quota.load_guess_cap(session, Contest(competition), team.id, target, stored_guess.question)
    quota.require_remaining((cap,), status.now)
    guess = Guess(
        competition_id=competition.id,
        target_id=target.id,
        team_id=team.id,
        user_id=user_id,
        received_at=context.attempt.started_at,
        question=stored_guess.question,
        file=stored_guess.file,
        answered=stored_guess.answered,
        guesses_left=cap.left - 1,
        idempotency_key=context.key,
        fingerprint=stored_guess.fingerprint,
    )
    session.add(guess)
    uploads.flush_accepted_upload(session)
    attempts.end(session, context.attempt)
    queue.enqueue_after_commit(session, queue.JUDGE)
    return guess


def store_guess(content: bytes, context: GuessContext, question: str) -> StoredGuess:
    """Parse an uploaded guess and store it. Raise InvalidUpload if it is malformed.

    This needs no session, so that the file is stored before anything is locked.
    """
    parsed_guess = _call_parser(content, context, question)
    fingerprint = uploads.compute_fingerprint({"guess": content})
    return StoredGuess(question, get_store().save(parsed_guess.content), parsed_guess.answered, fingerprint)


def _call_parser(content: bytes, context: GuessContext, question: str) -> ParsedGuess:
    return parser_process.call_with_files(
        parser_process.UPLOADS,
        dict(context.original).values(),
        _parse_guess,
        content,
        context.competition_file,
        context.original,
        question=question,
        sizes=dict(context.sizes),
    )


def _parse_guess(
    content: bytes,
    competition_file: str,
    digests: tuple[tuple[str, str], ...],
    *,
    question: str,
    sizes: dict[str, int],
) -> ParsedGuess:
    """Parse the answer to a question. Runs in the parser process."""
    rules = parse_stored_rules(competition_file)
    asked_question = TRACKS[rules.track].select_questions(rules)[question]
    original = partial(competitions.load_original_tables, digests, competition_file)
    guess = asked_question.read(content, ReleaseContext(rules, sizes, original))
    answered_count = asked_question.count_answered(guess)
    remarks = asked_question.find_remarks(guess) if answered_count else [NO_ANSWER]
    return ParsedGuess(asked_question.write(guess), answered_count, tuple(remarks))


@dataclass(frozen=True, slots=True)
class GuessCheck:
    """Result of a dry run. ``answered`` is the number of lines with an answer."""

    question: str
    answered: int
    remarks: tuple[Remark, ...]


def check_guess(content: bytes, context: GuessContext, question: str) -> GuessCheck:
    """Parse a guess as ``store_guess`` does, but store nothing."""
    parsed_guess = _call_parser(content, context, question)
    return GuessCheck(question, parsed_guess.answered, parsed_guess.remarks)


def load_accepted(
    session: Session, guess_id: UUID, fingerprint: str, target_id: UUID, question: str
) -> Guess:
    """Return the guess accepted earlier under the same key. Raise an error if the new one differs."""
    guess = session.get_one(Guess, guess_id)
    is_same = guess.target_id == target_id and guess.question == question
    uploads.require_same_request(guess.fingerprint, fingerprint if is_same else "")
    return guess


def list_for_team(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    cursor: tuple[datetime, UUID] | None = None,
    limit: int | None = None,
) -> tuple[Sequence[Guess], datetime | None]:
    """Return the team's guesses, newest first, and the horizon: guesses accepted before it show scores."""
    principal.require("read")
    contest = competitions.find(session, principal, slug)
    team = memberships.require_team(session, contest.id, principal)
    viewer = visibility.load_viewer(session, contest.competition, principal)
    horizon = visibility.compute_guess_horizon(contest, viewer, now.read_clock(session))
    own_guesses = (
        select(Guess).where(Guess.team_id == team.id).options(joinedload(Guess.target, innerjoin=True))
    )
    if cursor is not None:
        own_guesses = own_guesses.where(tuple_(Guess.received_at, Guess.id) < tuple_(*cursor))
    newest = own_guesses.order_by(Guess.received_at.desc(), Guess.id.desc()).limit(limit)
    return session.scalars(newest).all(), horizon


def get_visible_result(guess: Guess, horizon: datetime | None) -> schemas.GuessOutcome | None:
    """Return the result of a guess; None while the competition hides it or there is none."""
    return guess.parsed_outcome if horizon is not None and guess.created_at < horizon else None


def assign_content_key(
    session: Session, principal: Principal, context: GuessContext, content: bytes, question: str
) -> GuessContext:
    """Return the context with an idempotency key derived from the file.

    A form sent twice is then one guess. The key includes the number of guesses on which the service failed,
    so that the same file can be sent again after a failure.
    """
    team = memberships.require_team(session, context.competition_id, principal)
    failed_query = select(func.count()).where(
        Guess.team_id == team.id, Guess.target_id == context.target_id, Guess.state == State.ERROR
    )
    fingerprint = uploads.compute_fingerprint({"guess": content})
    question_suffix = "" if question == next(iter(context.questions)) else f":{question}"
    return replace(
        context,
        key=f"page:{context.target_id}{question_suffix}:{fingerprint}:{session.scalars(failed_query).one()}",
    )


def claim_next(session: Session, *, lease: timedelta, max_attempts: int) -> GuessClaim | None:
    """Claim the guess that is next in the fair order; None if none waits."""
    guess = leases.claim_next(session, Guess, lease=lease, max_attempts=max_attempts)
    return None if guess is None else build_claim(session, guess)


def build_claim(session: Session, guess: Guess) -> GuessClaim:
    target = session.get_one(Target, guess.target_id)
    competition = session.get_one(Competition, guess.competition_id)
    secret = session.get_one(Secret, target.submission_id)
    return GuessClaim(
        guess_id=guess.id,
        attempt=guess.attempt,
        submission_id=target.submission_id,
        competition_file=competitions.build_published_file(competition),
        original=competition.public_files,
        question=guess.question,
        sizes=target.sizes,
        file=guess.file,
        allocation_inputs=sealed_inputs.load_inputs_for_submission(
            session, competition, target.submission_id
        ),
        key_id=secret.key_id,
        sealed=secret.sealed,
    )


def record(session: Session, claim: GuessClaim, *, outcome: dict[str, Any]) -> bool:
    """Record the outcome of a guess; return False if another worker has claimed it since."""
    guess = leases.lock_lease(session, Guess, claim.guess_id, claim.attempt)
    if guess is None:
        return False
    leases.finish(session, guess, State.SCORED)
    guess.outcome, guess.failure = outcome, None
    guess.correct = schemas.GuessOutcome.model_validate(outcome).correct_count
    guess.risk = Outcome(outcome["value"], outcome["baseline"]).risk
    return True
