"""Guesses: accepted like submissions, judged by a worker, shown when the competition shows scores."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from anoncup import schemas
from anoncup.errors import Conflict, Forbidden, InvalidUpload, NotFound
from anoncup.runner.jobs import ParsedGuess, ReadGuessJob
from anoncup.tracks.files import GUESS_FILE
from anoncup.tracks.model import AnyQuestion, Sizes
from anoncup.tracks.outcomes import Outcome
from app.accounts import memberships
from app.competitions import competitions, phases, visibility
from app.core.db import transaction
from app.core.db.models import Guess, JudgingJob, Rejudgement, Rescore, Round, State, Target, Team
from app.core.db.paging import Position, fetch_newest_first
from app.core.identity.principal import Principal
from app.core.processes import parsing
from app.core.storage import get_store
from app.jobs import leases, queue
from app.jobs.leases import Lease
from app.originals import allocated_files, sealed_inputs
from app.originals.sealed_inputs import AllocationInputs, SealedBox
from app.submissions import quota
from app.submissions.quota import QuotaCap
from app.submissions.uploads import Upload
from app.targets import rejudgements, targets


@dataclass(frozen=True, slots=True)
class GuessClaim:
    """Inputs for judging one guess, with the attempt that entitles a worker to record the result.

    The job is the guess itself, or its rejudgement by the rules of a rescore.
    """

    lease: Lease[JudgingJob]
    competition_file: str
    original: dict[str, str]
    question: str
    sizes: Sizes
    file: str
    guesser: str
    guesser_files: Mapping[str, str]
    """SHA-256 of the own files of the team that guesses, by name."""
    allocation_inputs: AllocationInputs | None
    secret: SealedBox


@dataclass(eq=False, repr=False)
class GuessUpload(Upload[Guess, ParsedGuess]):
    """A guess: the answer to one question about a target."""

    phase = phases.REIDENTIFICATION
    row_type = Guess
    target_id: UUID
    file_names: tuple[str, ...] = field(default=(GUESS_FILE,), init=False)
    sizes: Sizes = field(default_factory=dict, init=False)
    """Counts of the target and of the original."""
    question: str = field(default="", init=False)
    """The question that the guess answers; empty until the form has been read."""
    guess: ParsedGuess = field(init=False)
    file: str = field(default="", init=False)
    """SHA-256 of the stored guess."""

    @property
    def questions(self) -> dict[str, AnyQuestion]:
        """Questions that a guess may answer, the default one first."""
        return self.track.select_questions(self.rules)

    def find_round(self, session: Session, principal: Principal) -> Round:
        target = self._find_accepted_target(session, principal) or targets.find_visible(
            session, principal, self.target_id
        )
        return session.get_one(Round, target.round_id)

    def _find_accepted_target(self, session: Session, principal: Principal) -> Target | None:
        """Return the target if the team's guess was accepted, even if it has since been withdrawn.

        The key may have been used for another target; ``accept`` then refuses the upload.
        """
        target = session.get(Target, self.target_id) if self.key is not None else None
        if target is None:
            return None
        round_ = session.get_one(Round, target.round_id)
        team = memberships.find_team(session, round_.competition_id, principal)
        return target if team and self.find_accepted_id(session, team.id) else None

    def load(self, session: Session, team: Team) -> None:
        self.sizes = self._load_attackable_target(session, team).sizes
        self.team_name = team.name
        self.own_files = allocated_files.load_files(session, self.round.id, team.id) or {}

    def recheck(self, session: Session, round_: Round, team: Team) -> tuple[QuotaCap, ...]:
        """Return the cap on guesses that answer this question.

        Raises Conflict for a withdrawn target, and InvalidInput for a question that a re-score set has
        removed since the upload began.
        """
        target = self._load_attackable_target(session, team)
        round_.track.require_question(round_.rules, self.question)
        return (quota.load_guess_cap(session, round_, team.id, target, self.question),)

    def _load_attackable_target(self, session: Session, team: Team) -> Target:
        target = session.scalars(targets.select_targets().where(Target.id == self.target_id)).one()
        if target.submission.team_id == team.id:
            raise Forbidden("this target is your own", code="own_target")
        if targets.is_withdrawn(target):
            raise Conflict("this target has been withdrawn", code="target_withdrawn")
        return target

    def derive_key(self, session: Session) -> str:
        """Return an idempotency key derived from the request, so that a form sent twice is one guess.

        It includes the number of guesses that failed or were refused, so that the file can be sent again.
        """
        failed_count = select(func.count()).where(
            Guess.team_id == self.team_id,
            Guess.target_id == self.target_id,
            Guess.state.in_(quota.FREE_GUESS_STATES),
        )
        return f"page:{self.fingerprint}:{session.scalars(failed_count).one()}"

    def read_texts(self, files: Collection[str], texts: Mapping[str, str]) -> str:
        """Set ``question``, by default the first, and return it with the target."""
        question = texts.get("question", "" if "question" in files else next(iter(self.questions)))
        self.track.require_question(self.rules, question)
        self.question = question
        return f"{self.target_id} {question}"

    def parse_files(self, files: Mapping[str, bytes]) -> None:
        self.guess = self._call_parser(files[GUESS_FILE])
        self.file = get_store().save(self.guess.content)

    def check(self, files: Mapping[str, bytes], texts: Mapping[str, str]) -> ParsedGuess:
        self.read_texts(files, texts)
        if missing := self.list_missing(files):
            raise InvalidUpload(missing)
        return self._call_parser(files[GUESS_FILE])

    def _call_parser(self, content: bytes) -> ParsedGuess:
        file, original, guesser = self.load_inputs()
        job = ReadGuessJob(
            competition_file=file,
            original=original,
            guess=content,
            guesser=guesser,
            question=self.question,
            sizes=dict(self.sizes),
        )
        return parsing.read_upload(job, self.track.name)

    def insert(self, session: Session, round_: Round, team: Team, user_id: UUID) -> Guess:
        (cap,) = self.caps
        guess = Guess(
            round_id=round_.id,
            target_id=self.target_id,
            team_id=team.id,
            user_id=user_id,
            received_at=self.get_start_time(),
            question=self.question,
            file=self.file,
            answered=self.guess.answered,
            guesses_left=cap.left - 1,
            idempotency_key=self.key,
            fingerprint=self.fingerprint,
        )
        session.add(guess)
        session.flush()
        queue.enqueue_after_commit(session, queue.JUDGE)
        rejudgements.include_in_open_rescore(session, guess)
        return guess


def list_for_team(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    cursor: Position | None = None,
    limit: int | None = None,
) -> tuple[Sequence[Guess], datetime | None]:
    """Return the team's guesses, newest first, and the horizon: guesses accepted before it show scores."""
    round_, team = competitions.find_for_member(session, principal, slug)
    viewer = visibility.load_viewer(session, round_.competition, principal)
    horizon = visibility.compute_guess_horizon(round_, viewer, transaction.read_clock(session))
    own_guesses = (
        select(Guess)
        .where(Guess.team_id == team.id, Guess.round_id == round_.id)
        .options(joinedload(Guess.target, innerjoin=True))
    )
    newest = fetch_newest_first(session, own_guesses, Guess.received_at, Guess.id, cursor=cursor, limit=limit)
    return newest, horizon


def find_own(session: Session, principal: Principal, guess_id: UUID) -> tuple[Guess, datetime | None]:
    """Return a guess of the person's team and the horizon of ``list_for_team``; raise NotFound for others."""
    query = select(Guess).where(Guess.id == guess_id).options(joinedload(Guess.target, innerjoin=True))
    guess = session.scalar(query)
    round_ = None if guess is None else session.get_one(Round, guess.round_id)
    if guess is None or round_ is None or round_.removed_at is not None:
        raise NotFound("there is no such guess", code="no_such_guess")
    team = memberships.find_team(session, round_.competition_id, principal)
    if team is None or team.id != guess.team_id:
        raise NotFound("there is no such guess", code="no_such_guess")
    viewer = visibility.load_viewer(session, round_.competition, principal)
    return guess, visibility.compute_guess_horizon(round_, viewer, transaction.read_clock(session))


def get_visible_result(guess: Guess, horizon: datetime | None) -> schemas.GuessOutcome | None:
    """Return the result of a guess; None while the competition hides it or there is none."""
    return guess.parsed_outcome if horizon is not None and guess.created_at < horizon else None


def claim_next(session: Session) -> GuessClaim | None:
    """Claim the guess that is next in the fair order, or else a rejudgement; None if none waits."""
    job = leases.claim_next(session, Guess) or leases.claim_next(session, Rejudgement)
    return None if job is None else build_claim(session, job)


def build_claim(session: Session, job: JudgingJob) -> GuessClaim:
    """Load what a worker needs to judge a guess that it has leased."""
    rescore = session.get_one(Rescore, job.rescore_id) if isinstance(job, Rejudgement) else None
    guess = session.get_one(Guess, job.guess_id if isinstance(job, Rejudgement) else job.id)
    target = session.get_one(Target, guess.target_id)
    round_ = session.get_one(Round, guess.round_id)
    return GuessClaim(
        lease=Lease.create(job),
        competition_file=competitions.build_published_file(round_)
        if rescore is None
        else competitions.complete_file(rescore.file, rescore.scales, rescore.scored_by),
        original=round_.public_files,
        question=guess.question,
        sizes=target.sizes,
        file=guess.file,
        guesser=session.get_one(Team, guess.team_id).name,
        guesser_files=allocated_files.load_files(session, round_.id, guess.team_id) or {},
        allocation_inputs=sealed_inputs.load_inputs_for_submission(session, round_, target.submission_id),
        secret=sealed_inputs.load_secret(session, target.submission_id),
    )


def record(
    session: Session,
    claim: GuessClaim,
    *,
    outcome: dict[str, Any] | None = None,
    refused: dict[str, Any] | None = None,
) -> JudgingJob | None:
    """Record the outcome of a guess, or the problems for which it is refused.

    Return None if another worker has claimed it since.
    """
    job = leases.lock_job(session, claim.lease)
    if job is None:
        return None
    if outcome is None:
        leases.finish(session, job, State.REFUSED)
        job.refusal, job.failure = refused, None
        return job
    leases.finish(session, job, State.SCORED)
    job.outcome, job.failure = outcome, None
    job.correct = schemas.GuessOutcome.model_validate(outcome).correct_count
    job.risk = Outcome(outcome["value"], outcome["baseline"]).risk
    return job
