"""Uploads of teams: each begins, is received, parsed and accepted.

Releases are here, guesses in ``app.targets.guesses``. ``app.submissions.receiving`` receives the body between
the steps.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID, uuid4

from sqlalchemy import select
from sqlalchemy.orm import Session, undefer

from anoncup.errors import Conflict, FileProblem, Forbidden, InvalidInput, InvalidUpload
from anoncup.messages import Message, serialize_as_notice
from anoncup.rules.model import Rules
from anoncup.runner.jobs import CheckReleaseJob, ParsedRelease, ReadReleaseJob
from anoncup.tables.files import Remark, build_missing_file_problem
from anoncup.tracks.files import SECRET_FILE
from anoncup.tracks.model import AnyTrack, TeamData
from app.accounts import memberships
from app.competitions import competitions, phases
from app.config import get_settings
from app.core import sealing
from app.core.db.models import Round, Secret, Submission, Team
from app.core.db.transaction import transaction
from app.core.identity.principal import Principal
from app.core.processes import parsing
from app.core.storage import compute_digest, get_store
from app.originals import allocated_files
from app.submissions import attempts, evaluations, quota
from app.submissions.models import Attempt
from app.submissions.quota import QuotaCap

AcceptedT = TypeVar("AcceptedT")
CheckT = TypeVar("CheckT")

MAX_COMMENT_LENGTH = 1_000
_IDEMPOTENCY_KEY_PATTERN = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(eq=False, repr=False)
class Upload(ABC, Generic[AcceptedT, CheckT]):
    """One upload of a team: it begins before its body is received, is parsed, and is then accepted.

    It is parsed against the competition as it was when it began. That time decides whether it is in time. No
    lock and no transaction is held while its body is received and parsed.
    """

    phase: ClassVar[str]
    row_type: ClassVar[Any]
    """The model of what is accepted: submissions or guesses."""

    key: str | None = field(default=None, kw_only=True)
    """Idempotency key."""
    round: Round = field(init=False)
    rules: Rules = field(init=False)
    track: AnyTrack = field(init=False)
    original: tuple[tuple[str, str], ...] = field(init=False)
    file_names: tuple[str, ...] = field(default=(), init=False)
    """Names of all files to be sent."""
    team_id: UUID = field(init=False)
    team_name: str = field(default="", init=False)
    """Empty for baselines, which share one allocation."""
    own_files: Mapping[str, str] = field(default_factory=dict, init=False)
    """SHA-256 of the team's own files by name, where the service allocates such files."""
    attempt: Attempt | None = field(default=None, init=False)
    """The counted attempt; None for a retry of an accepted upload, a dry run or a baseline."""
    started_at: datetime | None = field(default=None, init=False)
    """When the counted attempt began, or a baseline was received."""
    accepted_id: UUID | None = field(default=None, init=False)
    """Id of the submission or guess that was accepted under the same key, or None."""
    caps: tuple[QuotaCap, ...] = field(default=(), init=False)
    """Caps that apply to the upload when it is accepted."""
    digests: dict[str, str] = field(default_factory=dict, init=False)
    """SHA-256 of the files as received, by name."""
    fingerprint: str = field(default="", init=False)
    """SHA-256 of all parts of the request."""

    def set_round(self, round_: Round) -> None:
        """Keep the competition as it is now, for parsing."""
        self.round = round_
        self.rules, self.track = round_.rules, round_.track
        self.original = list_original_digests(round_)

    def get_start_time(self) -> datetime:
        assert self.started_at is not None  # noqa: S101  # only a retry or a dry run has none
        return self.started_at

    def begin(self, session: Session, principal: Principal) -> None:
        """Check that the person may send this upload now, and count an attempt before the body is read."""
        principal.require("submit")
        self.attempt = None
        round_id = self.find_round(session, principal).id
        round_, team = self._lock(session, principal, round_id)
        self.set_round(round_)
        self.team_id = team.id
        self.admit(session, round_, team, principal.user_id)

    def begin_again_if_answered(self, session: Session, principal: Principal) -> None:
        """Begin again if a request with the same key was answered while the body was being received."""
        if self.key is not None and self.attempt is not None and attempts.has_ended(session, self.attempt):
            self.begin(session, principal)

    def begin_dry_run(self, session: Session, principal: Principal) -> None:
        """Begin a dry run, which counts no attempt. It may precede the phase, but not follow it."""
        principal.require("submit")
        round_ = self.find_round(session, principal)
        self.set_round(round_)
        team = memberships.require_team(session, round_.competition_id, principal)
        self.team_id = team.id
        require_qualified(team)
        phases.require_phase_not_ended(session, round_, self.phase)
        self.load(session, team)

    def accept(self, session: Session, principal: Principal) -> AcceptedT:
        """Accept the parsed upload, or return what was accepted earlier under the same key.

        The first submission locks the competition exclusively, because it writes the scoring versions, and
        two transactions with the shared lock would block each other from writing.
        """
        is_exclusive = not self.round.scored_by
        round_, team = self._lock(session, principal, self.round.id, is_exclusive=is_exclusive)
        if team.id != self.team_id:  # the organizers have moved the person
            raise Conflict("you are in another team meanwhile; send it again", code="changed_meanwhile")
        self.admit(session, round_, team, principal.user_id)
        if self.attempt is not None:
            attempts.end(session, self.attempt, counts=self.accepted_id is None)
        if self.accepted_id is None:
            return self.insert(session, round_, team, principal.user_id)
        accepted: AcceptedT = session.get_one(self.row_type, self.accepted_id, options=[undefer("*")])
        if accepted.fingerprint != self.fingerprint:  # type: ignore[attr-defined]  # of both models
            raise InvalidInput(
                "this Idempotency-Key was used for another upload", code="idempotency_key_reused"
            )
        return accepted

    def _lock(
        self, session: Session, principal: Principal, round_id: UUID, *, is_exclusive: bool = False
    ) -> tuple[Round, Team]:
        """Lock the competition (shared) and the person's team (exclusive).

        The first lock keeps phases and data from changing, and all earlier uploads count when a phase ends.
        The second one keeps parallel uploads from exceeding a cap, and lets a retry see what was accepted.
        """
        round_ = session.get_one(
            Round, round_id, with_for_update=True if is_exclusive else {"read": True}, populate_existing=True
        )
        return round_, memberships.require_team(session, round_.competition_id, principal, for_update=True)

    def admit(self, session: Session, round_: Round, team: Team, user_id: UUID) -> None:
        """Check idempotency key, qualification, deadline and quota. Competition and team must be locked.

        The checks run when the upload begins, which counts its attempt, and again when it is accepted,
        because all of them may have changed in the meantime.
        """
        self.accepted_id = self.find_accepted_id(session, team.id)
        if self.accepted_id is not None:
            return
        require_qualified(team)
        _require_present(round_)
        if self.attempt is None:
            attempt = attempts.begin(session, round_, team, user_id, phase=self.phase, key=self.key)
            self.started_at = attempt.started_at
            self.load(session, team)
            self.attempt = attempt
        else:
            status = phases.get_status(session, round_)
            attempts.require_in_time(round_, self.attempt, status)
            self.caps = self.recheck(session, round_, team)
            quota.require_remaining([cap for cap in self.caps if not cap.is_for_attempts], status.now)

    def find_accepted_id(self, session: Session, team_id: UUID) -> UUID | None:
        """Return the id of the team's upload that was accepted under this key, or None."""
        if self.key is None:
            return None
        if not _IDEMPOTENCY_KEY_PATTERN.fullmatch(self.key):
            raise InvalidInput(
                "an Idempotency-Key must have 1 to 200 visible ASCII characters", code="idempotency_key"
            )
        conditions = (self.row_type.team_id == team_id, self.row_type.idempotency_key == self.key)
        return session.scalar(select(self.row_type.id).where(*conditions))

    @abstractmethod
    def find_round(self, session: Session, principal: Principal) -> Round:
        """Return the competition; raises NotFound if the person may not know of it."""

    @abstractmethod
    def load(self, session: Session, team: Team) -> None:
        """Load what the files are parsed against; raises Conflict or Forbidden if they cannot be parsed."""

    @abstractmethod
    def recheck(self, session: Session, round_: Round, team: Team) -> tuple[QuotaCap, ...]:
        """Return the caps on the parsed upload; raises Conflict or Forbidden if it may not be sent now."""

    def parse(self, files: Mapping[str, bytes], texts: Mapping[str, str]) -> None:
        """Parse the upload and store its files; raises InvalidUpload. An accepted one is only identified.

        Needs no session: the files are stored before anything is locked. If the upload is refused later, they
        stay in the store without a reference.
        """
        text = self.read_texts(files, texts)
        if missing := self.list_missing(files):
            raise InvalidUpload(missing)
        self.digests = {name: compute_digest(files[name]) for name in self.file_names}
        self.fingerprint = _compute_fingerprint(self.digests, text)
        if self.accepted_id is None:
            self.parse_files(files)

    def list_missing(self, files: Collection[str]) -> list[FileProblem]:
        return [build_missing_file_problem(name) for name in self.file_names if name not in files]

    @abstractmethod
    def read_texts(self, files: Collection[str], texts: Mapping[str, str]) -> str:
        """Read the texts of the form and return those that identify the request."""

    @abstractmethod
    def parse_files(self, files: Mapping[str, bytes]) -> None:
        """Parse and store the files, of which none is missing."""

    @abstractmethod
    def check(self, files: Mapping[str, bytes], texts: Mapping[str, str]) -> CheckT:
        """Parse the upload like ``parse``, but store nothing."""

    @abstractmethod
    def insert(self, session: Session, round_: Round, team: Team, user_id: UUID) -> AcceptedT:
        """Insert the rows of the admitted upload."""

    def load_inputs(self) -> tuple[str, dict[str, bytes], TeamData]:
        """Return what the files are read with: the competition file, the original, and the team."""
        own_files = {name: get_store().get(digest) for name, digest in self.own_files.items()}
        original = competitions.load_contents(dict(self.original))
        return self.round.file, original, TeamData(self.team_name, own_files)


@dataclass(frozen=True, slots=True)
class ReleaseCheck:
    """The result of a dry run: a well-formed upload that was not stored."""

    uploaded_sha256: dict[str, str]
    rows: int
    remarks: tuple[Remark, ...]


@dataclass(eq=False, repr=False)
class ReleaseUpload(Upload[Submission, ReleaseCheck]):
    """An anonymized table with its secret."""

    phase = phases.ANONYMIZATION
    row_type = Submission

    slug: str
    submission_id: UUID = field(default_factory=uuid4, init=False)
    """Id of the future submission, to which sealed files are bound."""
    comment: str = field(default="", init=False)
    release: ParsedRelease = field(init=False)
    files: dict[str, str] = field(default_factory=dict, init=False)
    """SHA-256 of the stored files by name."""

    def set_round(self, round_: Round) -> None:
        super().set_round(round_)
        self.file_names = list_file_names(self.track)

    def find_round(self, session: Session, principal: Principal) -> Round:
        return competitions.find(session, principal, self.slug)

    def load(self, session: Session, team: Team | None) -> None:
        """Load the allocated files of the team, or of the baselines without one."""
        if self.round.original_rows is None:
            raise Conflict("the competition has no original data yet", code="no_original")
        self.own_files = allocated_files.require_allocated(session, self.round, team)
        self.team_name = team.name if team else ""

    def recheck(self, session: Session, round_: Round, team: Team) -> tuple[QuotaCap, ...]:
        """Return the caps on the day when the upload began; raises Conflict if rules or data have changed."""
        self.require_same_settings(round_)
        return quota.load_caps(session, round_, team.id, self.phase, self.get_start_time())

    def require_same_settings(self, round_: Round) -> None:
        """Raise Conflict if the release would be parsed differently now; deadlines may have moved."""
        _require_present(round_)
        settings_then, settings_now = (
            (rules.columns, rules.settings, rules.publication.shuffle_targets)
            for rules in (self.rules, round_.rules)
        )
        if settings_then != settings_now or self.original != list_original_digests(round_):
            raise Conflict("the competition has changed meanwhile; send it again", code="changed_meanwhile")

    def read_texts(self, files: Collection[str], texts: Mapping[str, str]) -> str:
        """Set ``comment`` and return it; raises InvalidUpload for a secret that the service has allocated."""
        if SECRET_FILE in {*files, *texts} and SECRET_FILE not in self.file_names:
            message = Message("the service has drawn the answer itself: do not send a secret")
            raise InvalidUpload([FileProblem(SECRET_FILE, None, None, "answer_is_drawn", message)])
        if "comment" in files:
            raise InvalidInput("send the comment as text, not as a file", code="comment")
        self.comment = texts.get("comment", "")
        if not is_storable(self.comment):
            raise InvalidInput(
                "a comment must not contain the character NUL or half a character", code="comment"
            )
        if len(self.comment) > MAX_COMMENT_LENGTH:
            raise InvalidInput(
                "a comment is text of at most {most} characters", code="comment", most=MAX_COMMENT_LENGTH
            )
        return self.comment

    def parse_files(self, files: Mapping[str, bytes]) -> None:
        tables, secret = self._select_tables(files), self._choose_answer(files)
        assert secret is not None  # noqa: S101  # no file is missing
        file, original, team = self.load_inputs()
        job = ReadReleaseJob(competition_file=file, original=original, files=tables, secret=secret, team=team)
        self.release = parsing.read_upload(job, self.track.name)
        stored = self.release.files if self.rules.publication.shuffle_targets else tables
        self.files = {name: get_store().save(self._seal_if_required(stored[name])) for name in tables}

    def check(self, files: Mapping[str, bytes], texts: Mapping[str, str]) -> ReleaseCheck:
        """Check a release as ``parse`` does.

        The InvalidUpload error also lists missing files, so that a form's files can be checked one by one.
        """
        self.read_texts(files, texts)
        missing, tables = self.list_missing(files), self._select_tables(files)
        secret, (file, original, team) = self._choose_answer(files), self.load_inputs()
        job = CheckReleaseJob(
            competition_file=file, original=original, files=tables, secret=secret, team=team
        )
        try:
            rows, remarks = parsing.read_upload(job, self.track.name)
        except InvalidUpload as error:
            raise InvalidUpload([*missing, *error.problems], total=len(missing) + error.total) from None
        if missing:
            raise InvalidUpload(missing)
        digests = {name: compute_digest(content) for name, content in tables.items()}
        with transaction() as session:
            repetition = _list_repetition_remarks(session, self.round.id, self.team_id, digests)
        return ReleaseCheck(digests, rows, (*remarks, *repetition))

    def _select_tables(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        return {name: files[name] for name in self.track.release_file_names if name in files}

    def _choose_answer(self, files: Mapping[str, bytes]) -> bytes | None:
        """Return the secret that was sent, or the answer that the service has allocated to the team."""
        if self.track.allocates_answer:
            return get_store().get(self.own_files[self.track.answer_spec.file.name])
        return files.get(SECRET_FILE)

    def _seal_if_required(self, content: bytes) -> bytes:
        """Return a file of the release as it is stored: sealed if the track requires it."""
        if not self.track.target_files.seals_release:
            return content
        key_file = get_settings().sealing_key_file
        return sealing.seal_file(key_file, bound_to=self.submission_id, content=content)

    def insert(self, session: Session, round_: Round, team: Team, user_id: UUID) -> Submission:
        """Seal and queue the release as a submission; the first one pins the scoring versions."""
        competitions.pin_scoring_versions(round_)
        sealed = sealing.seal(
            get_settings().sealing_key_file, bound_to=self.submission_id, secret=self.release.secret
        )
        uploaded_sha256 = {name: self.digests[name] for name in self.files}
        repetition_remarks = _list_repetition_remarks(session, round_.id, team.id, uploaded_sha256)
        remarks = (*self.release.remarks, *repetition_remarks)
        submission = Submission(
            id=self.submission_id,
            round_id=round_.id,
            team_id=team.id,
            user_id=user_id,
            received_at=self.get_start_time(),
            comment=self.comment,
            files=self.files,
            uploaded_sha256=uploaded_sha256,
            rows=self.release.sizes["rows"],
            sizes=self.release.sizes,
            remarks=[serialize_as_notice(remark.code, remark.message) for remark in remarks],
            commitment=sealed.commitment,
            quota_left={cap.name: cap.left - (not cap.is_for_attempts) for cap in self.caps},
            idempotency_key=self.key,
            fingerprint=self.fingerprint,
        )
        session.add(submission)
        session.flush()
        session.refresh(submission, ["number"])
        session.add(Secret(submission_id=submission.id, key_id=sealed.key_id, sealed=sealed.box))
        evaluations.enqueue(session, submission.id)
        evaluations.include_in_open_rescore(session, round_.id, submission.id)
        return submission


def list_file_names(track: AnyTrack) -> tuple[str, ...]:
    """Return the names of a release's files; no secret is sent where the service allocates the answer."""
    return track.release_file_names if track.allocates_answer else (*track.release_file_names, SECRET_FILE)


def is_storable(text: str) -> bool:
    """Return whether Postgres can store the text: it accepts neither NUL nor lone surrogates."""
    return "\x00" not in text and text.encode(errors="replace").decode() == text


def _require_present(round_: Round) -> None:
    """Raise Conflict if the round was removed or reset since the upload began."""
    if round_.removed_at is not None:
        raise Conflict("the competition has changed meanwhile; send it again", code="changed_meanwhile")


def require_qualified(team: Team) -> None:
    if team.disqualified_at is not None:
        raise Forbidden("your team has been disqualified", code="disqualified")


def list_original_digests(round_: Round) -> tuple[tuple[str, str], ...]:
    """Return name and SHA-256 of each public data file, sorted by name."""
    return tuple(sorted(round_.public_files.items()))


def _compute_fingerprint(digests: Mapping[str, str], text: str) -> str:
    """Return the SHA-256 of all parts of a request, which identifies a retry with its key."""
    parts = [*sorted(digests.items()), ("text", compute_digest(text.encode(errors="surrogatepass")))]
    return compute_digest("".join(f"{name} {digest}\n" for name, digest in parts).encode())


def _list_repetition_remarks(
    session: Session, round_id: UUID, team_id: UUID, uploaded_sha256: Mapping[str, str]
) -> list[Remark]:
    """Return a remark if the team has sent the same files before in this round.

    Uploads of other teams are never compared, because a remark would disclose them.
    """
    own_in_round = Submission.team_id == team_id, Submission.round_id == round_id
    earlier_uploads = session.scalars(select(Submission.uploaded_sha256).where(*own_in_round))
    repeat_count = sum(files == uploaded_sha256 for files in earlier_uploads)
    if not repeat_count:
        return []
    if repeat_count == 1:
        message = Message("your team has already sent this release once")
    else:
        message = Message("your team has already sent this release {times} times", times=repeat_count)
    return [Remark("sent_before", message)]
