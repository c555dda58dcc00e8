"""Guesses: taken in like submissions, judged by a worker, shown when the competition shows scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, tuple_
from sqlalchemy.orm import Session, joinedload

from anoncup import schemas
from anoncup.errors import Conflict, InvalidInput, NotAllowed
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.tables.files import Remark
from anoncup.tracks.files import GUESS
from anoncup.tracks.model import About, Question, Sizes
from anoncup.tracks.outcomes import Outcome
from app.db import now
from app.db.models import Attempt, Competition, Guess, Secret, State, Target, Team
from app.processes import parser_process
from app.services.accounts import memberships
from app.services.accounts.accounts import Principal
from app.services.attacks import targets
from app.services.contests import competitions, phases, sealed_inputs, visibility
from app.services.contests.contest import Contest, read_file
from app.services.contests.sealed_inputs import Means
from app.services.jobs import leases, queue
from app.services.submissions import attempts, quota, uploads
from app.storage import store

NO_ANSWER = Remark("no_answer", Message("no line is answered, so the guess finds nobody"))


@dataclass(frozen=True, slots=True)
class Entrance:
    """The target that a guess is read against; ``attempt``: how and when it was counted."""

    target_id: UUID
    competition_id: UUID
    competition_file: str
    original: tuple[tuple[str, str], ...]
    sizes: Sizes
    file_mb: int
    key: str | None
    attempt: Attempt | None
    repeats: UUID | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (GUESS,)

    @property
    def asked(self) -> dict[str, Question]:
        """The questions that a guess here may answer, the usual one first."""
        rules = read_file(self.competition_file)
        return TRACKS[rules.track].asked(rules)

    def question(self, named: str | None) -> str:
        """The question that a guess answers, whose sender may have named it; else InvalidInput."""
        known = tuple(self.asked)
        if named is None:
            return known[0]
        if named not in known:
            raise InvalidInput("the questions asked here are {known}", code="unknown_question", known=known)
        return named


@dataclass(frozen=True, slots=True)
class Given:
    """A well-formed guess that the store has, not yet accepted: the question that it answers, its digest
    there, and on how many lines it says anything."""

    question: str
    file: str
    answered: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ParsedGuess:
    """What a parser finds in a guess: its lines as the service writes them, and how many say anything."""

    content: bytes
    answered: int
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """What a worker needs to judge one guess, and the attempt that is its right to record."""

    guess_id: UUID
    attempt: int
    submission_id: UUID
    competition_file: str
    original: dict[str, str]
    question: str
    sizes: Sizes
    file: str
    means: Means | None
    key_id: str
    sealed: bytes


def entrance(session: Session, principal: Principal, target_id: UUID, *, key: str | None) -> Entrance:
    """Whether this person may guess now; asked, and counted as an attempt, before the file is read."""
    principal.require("submit")
    repeats = repeated_on(session, principal, target_id, uploads.checked_key(key))
    target = repeats.target if repeats else targets.visible(session, principal, target_id)
    contest = Contest(session.get_one(Competition, target.competition_id))
    attempt = None
    if repeats is None:
        team = memberships.require_team(session, contest.id, principal)
        quota.lock(session, contest.row, team)
        repeats = repeated_on(session, principal, target_id, key)
    if repeats is None:
        uploads.require_qualified(team)
        require_attackable(target, team)
        phase = phases.REIDENTIFICATION
        attempt = quota.begin_attempt(session, contest, team, principal.user_id, phase=phase, key=key)
    # Under a key that has been used, the target may be another one: then it is no retry.
    asked = replace(before(contest, target, key=key), target_id=target_id)
    return replace(asked, attempt=attempt, repeats=repeats.id if repeats else None)


def enter_check(session: Session, principal: Principal, target_id: UUID) -> tuple[Entrance, UUID]:
    """Return what a dry run of a guess is read against, and the id of the team that asks for it.

    A team may check a guess on any target that it can see and that is not its own. Nothing is counted.
    """
    principal.require("submit")
    target = targets.visible(session, principal, target_id)
    contest = Contest(session.get_one(Competition, target.competition_id))
    team = memberships.require_team(session, contest.id, principal)
    uploads.require_qualified(team)
    require_attackable(target, team)
    return before(contest, target, key=None), team.id


def before(contest: Contest, target: Target, *, key: str | None) -> Entrance:
    """What a guess on a target is read against, of which nothing has been counted yet."""
    return Entrance(
        target_id=target.id,
        competition_id=contest.id,
        competition_file=contest.row.file,
        original=uploads.digests(contest.row),
        sizes=target.sizes,
        file_mb=contest.rules.limits.file_mb,
        key=key,
        attempt=None,
    )


def renewed(session: Session, principal: Principal, at: Entrance) -> Entrance:
    """The entrance of a guess that has come; anew if another one under its key was answered meanwhile."""
    if at.key is None or at.attempt is None or not attempts.has_ended(session, at.attempt):
        return at
    return entrance(session, principal, at.target_id, key=at.key)


def repeated_on(session: Session, principal: Principal, target_id: UUID, key: str | None) -> Guess | None:
    """What the person's team had accepted under this key, though its target may be withdrawn since."""
    target = session.get(Target, target_id)
    team = memberships.team_of(session, target.competition_id, principal) if target and key else None
    known = guessed_under(session, team, key) if team else None
    return (
        session.get_one(Guess, known, options=[joinedload(Guess.target, innerjoin=True)]) if known else None
    )


def guessed_under(session: Session, team: Team, key: str | None) -> UUID | None:
    if key is None:
        return None
    return session.scalar(select(Guess.id).where(Guess.team_id == team.id, Guess.idempotency_key == key))


def require_attackable(target: Target, team: Team) -> None:
    if target.submission.team_id == team.id:
        raise NotAllowed("this target is your own", code="own_target")
    if targets.is_withdrawn(target):
        raise Conflict("this target has been withdrawn", code="target_withdrawn")


def accept(session: Session, principal: Principal, at: Entrance, given: Given) -> Guess:
    """Take a guess in; the competition's shared lock and the team's own keep phase and quota from turning.

    What counts is when it entered.
    """
    row = session.get_one(Competition, at.competition_id, with_for_update={"read": True})
    team = memberships.require_team(session, row.id, principal, locked=True)
    accepted = guessed_under(session, team, at.key)
    if accepted is not None:
        if at.attempt is not None:
            attempts.end(session, at.attempt, counts=False)
        return repeated(session, accepted, given.fingerprint, at.target_id, given.question)
    return admit(session, principal.user_id, at, given, row=row, team=team)


def admit(
    session: Session, user_id: UUID, at: Entrance, given: Given, *, row: Competition, team: Team
) -> Guess:
    """Take it in for that team, if it came in time and there is room; under both locks."""
    uploads.require_qualified(team)
    assert at.attempt is not None  # noqa: S101  # only a repetition has none
    now = phases.standing(session, row)
    attempts.require_in_time(row, at.attempt, now)
    target = session.scalars(targets.joined().where(Target.id == at.target_id)).one()
    require_attackable(target, team)
    cap = quota.guesses_on(session, Contest(row), team.id, target, given.question)
    quota.require_room((cap,), now.now)
    made = Guess(
        competition_id=row.id,
        target_id=target.id,
        team_id=team.id,
        user_id=user_id,
        received_at=at.attempt.at,
        question=given.question,
        file=given.file,
        answered=given.answered,
        guesses_left=cap.left - 1,
        idempotency_key=at.key,
        fingerprint=given.fingerprint,
    )
    session.add(made)
    uploads.flush(session)
    attempts.end(session, at.attempt)
    queue.defer(session, queue.JUDGE)
    return made


def read(content: bytes, at: Entrance, question: str) -> Given:
    """The answer to a question in an uploaded file; InvalidUpload says what is wrong.

    Needs no session: what is well-formed is in the store before anything is locked.
    """
    parsed = call_parser(content, at, question)
    printed = uploads.fingerprint({"guess": content})
    return Given(question, store().put(parsed.content), parsed.answered, printed)


def call_parser(content: bytes, at: Entrance, question: str) -> ParsedGuess:
    return parser_process.call_reading(
        parser_process.UPLOADS,
        dict(at.original).values(),
        parse_guess,
        content,
        at.competition_file,
        at.original,
        question=question,
        sizes=dict(at.sizes),
    )


def parse_guess(
    content: bytes,
    competition_file: str,
    digests: tuple[tuple[str, str], ...],
    *,
    question: str,
    sizes: dict[str, int],
) -> ParsedGuess:
    """Parse the answer to a question; called in the parser."""
    rules = read_file(competition_file)
    asked = TRACKS[rules.track].asked(rules)[question]
    original = partial(competitions.original_tables, digests, competition_file)
    guess = asked.read(content, About(rules, sizes, original))
    answered = asked.answered(guess)
    remarks = asked.remarks(guess) if answered else [NO_ANSWER]
    return ParsedGuess(asked.write(guess), answered, tuple(remarks))


@dataclass(frozen=True, slots=True)
class Checked:
    """A well-formed guess that was read and not kept; ``answered``: on how many of its lines it says
    anything."""

    question: str
    answered: int
    remarks: tuple[Remark, ...]


def check(content: bytes, at: Entrance, question: str) -> Checked:
    """Read a guess as ``read`` does and store nothing."""
    parsed = call_parser(content, at, question)
    return Checked(question, parsed.answered, parsed.remarks)


def repeated(session: Session, accepted: UUID, fingerprint: str, target_id: UUID, question: str) -> Guess:
    """What was accepted under the same key, if it was the same."""
    made = session.get_one(Guess, accepted)
    same = made.target_id == target_id and made.question == question
    uploads.require_same(made.fingerprint, fingerprint if same else "")
    return made


def of_team(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    after: tuple[datetime, UUID] | None = None,
    limit: int | None = None,
) -> tuple[Sequence[Guess], datetime | None]:
    """The team's own guesses, newest first, and the horizon before which their scores are shown."""
    principal.require("read")
    contest = competitions.find(session, principal, slug)
    team = memberships.require_team(session, contest.id, principal)
    view = visibility.audience(session, contest.row, principal)
    horizon = visibility.guess_horizon(contest, view, now.clock(session))
    own = select(Guess).where(Guess.team_id == team.id).options(joinedload(Guess.target, innerjoin=True))
    if after is not None:
        own = own.where(tuple_(Guess.received_at, Guess.id) < tuple_(*after))
    newest = own.order_by(Guess.received_at.desc(), Guess.id.desc()).limit(limit)
    return session.scalars(newest).all(), horizon


def told(made: Guess, horizon: datetime | None) -> schemas.Judged | None:
    """What it came to, where the competition shows it by now."""
    return made.judged if horizon is not None and made.created_at < horizon else None


def named_by_content(
    session: Session, principal: Principal, at: Entrance, content: bytes, question: str
) -> Entrance:
    """The entrance under a key of the file's own: a form sent twice is one guess.

    A guess on which the service failed does not stand in the way of the same file.
    """
    team = memberships.require_team(session, at.competition_id, principal)
    failed = select(func.count()).where(
        Guess.team_id == team.id, Guess.target_id == at.target_id, Guess.state == State.ERROR
    )
    printed = uploads.fingerprint({"guess": content})
    to = "" if question == next(iter(at.asked)) else f":{question}"
    return replace(at, key=f"page:{at.target_id}{to}:{printed}:{session.scalars(failed).one()}")


def claim_next(session: Session, *, lease: timedelta, attempts: int) -> Claim | None:
    """Take the guess that is fairly next for this worker, or None if none waits."""
    guess = leases.claim_next(session, Guess, lease=lease, attempts=attempts)
    return None if guess is None else claim_of(session, guess)


def claim_of(session: Session, guess: Guess) -> Claim:
    target = session.get_one(Target, guess.target_id)
    row = session.get_one(Competition, guess.competition_id)
    secret = session.get_one(Secret, target.submission_id)
    return Claim(
        guess_id=guess.id,
        attempt=guess.attempt,
        submission_id=target.submission_id,
        competition_file=competitions.published_file(row),
        original=row.given,
        question=guess.question,
        sizes=target.sizes,
        file=guess.file,
        means=sealed_inputs.means_for(session, row, target.submission_id),
        key_id=secret.key_id,
        sealed=secret.sealed,
    )


def record(session: Session, claimed: Claim, *, outcome: dict[str, Any]) -> bool:
    """Store what it came to, once: False if another worker has taken the guess since."""
    guess = leases.held(session, Guess, claimed.guess_id, claimed.attempt)
    if guess is None:
        return False
    leases.finish(session, guess, State.SCORED)
    guess.outcome, guess.failure = outcome, None
    guess.correct = schemas.Judged.model_validate(outcome).counted
    guess.risk = Outcome(outcome["value"], outcome["baseline"]).risk
    return True
