"""Uploads of releases before acceptance: check who may send one, and parse it."""

import hashlib
import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from psycopg.errors import InsufficientPrivilege
from sqlalchemy import select
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, FileProblem, Forbidden, InvalidInput, InvalidUpload
from anoncup.lazy import lazy
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tables.files import Remark, build_missing_file_problem
from anoncup.tracks.files import SECRET_FILE
from anoncup.tracks.model import Sizes, Tables, Track
from anoncup.tracks.uploads import ParsedUpload, check_partial_upload, parse_upload
from app.config import get_settings
from app.crypto import sealing
from app.db.models import Attempt, Competition, Submission, Team
from app.db.privileges import GUESS_GUARD, SUBMISSION_GUARD
from app.processes import parser_process
from app.services.accounts import memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, phases
from app.services.contests.contest import parse_stored_rules
from app.services.originals import allocated_files
from app.services.submissions import attempts, quota
from app.storage import compute_digest, get_store

if TYPE_CHECKING:
    from numpy.random import default_rng

    from anoncup.evaluation.evaluate import check_secret, explain_too_few_rows
else:
    default_rng = lazy("numpy.random.default_rng")
    check_secret = lazy("anoncup.evaluation.evaluate.check_secret")
    explain_too_few_rows = lazy("anoncup.evaluation.evaluate.explain_too_few_rows")

MAX_COMMENT_LENGTH = 1_000
_IDEMPOTENCY_KEY_PATTERN = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(frozen=True, slots=True)
class UploadContext:
    """The competition as it was when an upload entered. The upload is parsed against this state.

    ``key``: idempotency key. ``attempt``: the counted attempt; None for a retry, a dry run or a baseline.
    ``accepted_id``: id of the submission that was accepted earlier with the same key, or None.
    ``is_first``: the competition had no submission yet.
    ``own_files``: SHA-256 of the team's own files by name, where the service allocates such files.
    """

    competition_id: UUID
    competition_file: str
    original: tuple[tuple[str, str], ...]
    key: str | None
    attempt: Attempt | None
    is_first: bool
    accepted_id: UUID | None = None
    own_files: Mapping[str, str] = field(default_factory=dict)

    @property
    def rules(self) -> Rules:
        return parse_stored_rules(self.competition_file)

    @property
    def track(self) -> Track:
        return TRACKS[self.rules.track]

    @property
    def public_file_names(self) -> tuple[str, ...]:
        """Names of the files that are not secret."""
        return self.track.release_file_names

    @property
    def file_names(self) -> tuple[str, ...]:
        """Names of all files to be sent; no secret is sent where the service allocates the answer."""
        return (
            self.public_file_names if self.track.allocates_answer else (*self.public_file_names, SECRET_FILE)
        )

    @property
    def file_mb(self) -> int:
        return self.rules.limits.file_mb


@dataclass(frozen=True, slots=True)
class PendingRelease:
    """A well-formed release that is not accepted yet.

    ``files``: SHA-256 of the stored files by name, ``uploaded_sha256`` of the files as received.
    ``secret``: unencrypted, kept in memory only. ``submission_id``: id of the future submission, to which
    sealed files are bound.
    """

    context: UploadContext
    files: dict[str, str]
    uploaded_sha256: dict[str, str]
    fingerprint: str
    sizes: Sizes
    secret: bytes
    comment: str
    remarks: tuple[Remark, ...]
    submission_id: UUID = field(default_factory=uuid4)


@dataclass(frozen=True, slots=True)
class ParsedRelease:
    """The result of parsing a release; ``files``: the shuffled tables, empty if nothing is shuffled."""

    files: dict[str, bytes]
    sizes: dict[str, int]
    secret: bytes
    remarks: tuple[Remark, ...]


def begin_upload(session: Session, principal: Principal, slug: str, *, key: str | None) -> UploadContext:
    """Check that the person may submit now, and count an attempt before the files are read."""
    principal.require("submit")
    contest = competitions.find(session, principal, slug)
    competition = contest.competition
    team = memberships.require_team(session, competition.id, principal)
    quota.lock_rows(session, competition, team)
    accepted_id = find_submission_id(session, team, validate_key(key))
    if accepted_id is not None:
        return UploadContext(
            competition.id,
            competition.file,
            list_original_digests(competition),
            key,
            None,
            not competition.scored_by,
            accepted_id,
        )
    require_qualified(team)
    attempt = quota.begin_attempt(
        session, contest, team, principal.user_id, phase=phases.ANONYMIZATION, key=key
    )
    if competition.original_rows is None:
        raise Conflict("the competition has no original data yet", code="no_original")
    own_files = allocated_files.require_allocated(session, competition, team)
    return UploadContext(
        competition.id,
        competition.file,
        list_original_digests(competition),
        key,
        attempt,
        not competition.scored_by,
        own_files=own_files,
    )


def begin_dry_run(session: Session, principal: Principal, slug: str) -> tuple[UploadContext, UUID]:
    """Return the context of a dry run, and the id of the person's team.

    A team may check its files as soon as the original data exist, even before the phase opens, and until it
    ends. No attempt is counted.
    """
    principal.require("submit")
    contest = competitions.find(session, principal, slug)
    competition = contest.competition
    team = memberships.require_team(session, competition.id, principal)
    require_qualified(team)
    phases.require_phase_not_ended(session, competition, phases.ANONYMIZATION)
    if competition.original_rows is None:
        raise Conflict("the competition has no original data yet", code="no_original")
    own_files = allocated_files.require_allocated(session, competition, team)
    return UploadContext(
        competition.id,
        competition.file,
        list_original_digests(competition),
        None,
        None,
        not competition.scored_by,
        own_files=own_files,
    ), team.id


def refresh_context(session: Session, principal: Principal, context: UploadContext) -> UploadContext:
    """Return the context of a received upload. Begin again if its attempt was answered meanwhile."""
    if context.key is None or context.attempt is None or not attempts.has_ended(session, context.attempt):
        return context
    slug = session.get_one(Competition, context.competition_id).slug
    return begin_upload(session, principal, slug, key=context.key)


def validate_key(key: str | None) -> str | None:
    if key is not None and not _IDEMPOTENCY_KEY_PATTERN.fullmatch(key):
        raise InvalidInput(
            "an Idempotency-Key must have 1 to 200 visible ASCII characters", code="idempotency_key"
        )
    return key


def find_submission_id(session: Session, team: Team, key: str | None) -> UUID | None:
    if key is None:
        return None
    query = select(Submission.id).where(Submission.team_id == team.id, Submission.idempotency_key == key)
    return session.scalar(query)


def require_qualified(team: Team) -> None:
    if team.disqualified_at is not None:
        raise Forbidden("your team has been disqualified", code="disqualified")


def list_original_digests(competition: Competition) -> tuple[tuple[str, str], ...]:
    """Return name and SHA-256 of each public data file, sorted by name."""
    return tuple(sorted(competition.public_files.items()))


def is_still_valid(competition: Competition, context: UploadContext) -> bool:
    """Whether an upload would be parsed the same way now; deadlines may have moved meanwhile."""
    settings_then, settings_now = (
        (rules.columns, rules.settings, rules.publication.shuffle_targets)
        for rules in (context.rules, parse_stored_rules(competition.file))
    )
    return settings_then == settings_now and context.original == list_original_digests(competition)


def compute_fingerprint(parts: dict[str, bytes], comment: str = "") -> str:
    """Return the SHA-256 of all parts of a request, which identifies a retry with the same key."""
    digest = hashlib.sha256()
    for name, content in sorted({**parts, "comment": comment.encode(errors="surrogatepass")}.items()):
        digest.update(f"{name} {len(content)}\n".encode() + hashlib.sha256(content).digest())
    return digest.hexdigest()


def require_same_request(stored_fingerprint: str | None, new_fingerprint: str) -> None:
    """Raise InvalidInput if an idempotency key is used again for a different request."""
    if stored_fingerprint != new_fingerprint:
        raise InvalidInput("this Idempotency-Key was used for another upload", code="idempotency_key_reused")


def reject_unexpected_secret(context: UploadContext, names: Collection[str]) -> None:
    """Raise InvalidUpload for a secret if the service allocates the answer, so that nobody relies on it."""
    if SECRET_FILE in names and SECRET_FILE not in context.file_names:
        message = Message("the service has drawn the answer itself: do not send a secret")
        raise InvalidUpload([FileProblem(SECRET_FILE, None, None, "answer_is_drawn", message)])


def store_release(
    context: UploadContext, *, files: dict[str, bytes], secret: bytes | None, comment: str
) -> PendingRelease:
    """Parse a release and its secret against the original data, and store the files; raises InvalidUpload.

    ``secret``: None where the service allocates the answer. Needs no session: the files are stored before
    anything is locked. If the upload is refused later, they stay in the store without a reference.
    """
    _require_comment(comment)
    release = parser_process.call_with_files(
        parser_process.UPLOADS,
        dict(context.original).values(),
        parse_release,
        context.competition_file,
        context.original,
        files=files,
        secret=_load_allocated_answer(context) if secret is None else secret,
    )
    submission_id = uuid4()
    stored_files = release.files if context.rules.publication.shuffle_targets else files
    return PendingRelease(
        context=context,
        files={
            name: get_store().save(_seal_if_required(stored_files[name], context.track, submission_id))
            for name in files
        },
        uploaded_sha256={name: compute_digest(content) for name, content in files.items()},
        fingerprint=compute_fingerprint(files if secret is None else {**files, SECRET_FILE: secret}, comment),
        sizes=release.sizes,
        secret=release.secret,
        comment=comment,
        remarks=release.remarks,
        submission_id=submission_id,
    )


def parse_release(
    competition_file: str, original: tuple[tuple[str, str], ...], *, files: dict[str, bytes], secret: bytes
) -> ParsedRelease:
    """Parse a release and its secret by a competition file; runs in the parser process.

    If the competition shuffles targets, a random order is applied to the release and to the secret here, so
    that the same table is scored, attacked and published.
    """
    rules = parse_stored_rules(competition_file)
    track = TRACKS[rules.track]
    parsed = parse_upload(
        track, rules, competitions.load_original_tables(original, competition_file), files, secret
    )
    release, answer = parsed.release, parsed.answer
    shuffled = {}
    if rules.publication.shuffle_targets:
        rng = default_rng(secrets.randbits(128))
        release, answer = track.shuffle(release, answer, rng=rng)
        shuffled = track.files_of(release)
    return ParsedRelease(shuffled, dict(parsed.sizes), track.answer_spec.write(answer), tuple(parsed.remarks))


def _require_comment(comment: str) -> None:
    if not is_storable(comment):
        raise InvalidInput("a comment must not contain the character NUL or half a character", code="comment")
    if len(comment) > MAX_COMMENT_LENGTH:
        raise InvalidInput(
            "a comment is text of at most {most} characters",
            code="comment",
            most=MAX_COMMENT_LENGTH,
        )


def _load_allocated_answer(context: UploadContext) -> bytes:
    """Load the answer that the service has allocated to the team."""
    return get_store().get(context.own_files[context.track.answer_spec.file.name])


@dataclass(frozen=True, slots=True)
class ReleaseCheck:
    """The result of a dry run: a well-formed upload that was not stored."""

    uploaded_sha256: dict[str, str]
    rows: int
    remarks: tuple[Remark, ...]


def check_release(
    context: UploadContext, *, files: dict[str, bytes], secret: bytes | None, comment: str
) -> ReleaseCheck:
    """Check a release as ``store_release`` does, but store nothing.

    The InvalidUpload error also lists missing files, so that the files of a form can be checked one by one.
    """
    names = files.keys() if secret is None else {*files, SECRET_FILE}
    missing = [build_missing_file_problem(name) for name in context.file_names if name not in names]
    try:
        _require_comment(comment)
        rows, remarks = parser_process.call_with_files(
            parser_process.UPLOADS,
            dict(context.original).values(),
            check_files,
            context.competition_file,
            context.original,
            files=files,
            secret=_load_allocated_answer(context) if context.track.allocates_answer else secret,
        )
    except InvalidUpload as error:
        total = len(missing) + error.total
        raise InvalidUpload([*missing, *error.problems], total=total) from None
    if missing:
        raise InvalidUpload(missing)
    return ReleaseCheck({name: compute_digest(content) for name, content in files.items()}, rows, remarks)


def check_files(
    competition_file: str,
    original: tuple[tuple[str, str], ...],
    *,
    files: dict[str, bytes],
    secret: bytes | None,
) -> tuple[int, tuple[Remark, ...]]:
    """Return the number of rows of a release and the remarks on it; runs in the parser process.

    If files are missing, the others are checked as far as possible, and the number of rows is 0.
    """
    rules = parse_stored_rules(competition_file)
    track, tables = TRACKS[rules.track], competitions.load_original_tables(original, competition_file)
    if secret is None or not files.keys() >= set(track.release_file_names):
        received_files = files if secret is None or track.allocates_answer else {**files, SECRET_FILE: secret}
        check_partial_upload(track, rules, tables, received_files)
        return 0, ()
    parsed = parse_upload(track, rules, tables, files, secret)
    row_warning = explain_too_few_rows(rules, parsed.sizes)
    warnings = [Remark("too_few_rows", row_warning)] if row_warning else []
    return parsed.sizes["rows"], (*parsed.remarks, *warnings, *_list_secret_warnings(rules, tables, parsed))


def _list_secret_warnings(rules: Rules, original: Tables, parsed: ParsedUpload) -> tuple[Remark, ...]:
    """Return warnings that the secret may belong to another release. The verdict will contain them, too.

    If the check runs out of memory, there are no warnings: a real upload needs less memory and would be
    accepted.
    """
    track = TRACKS[rules.track]
    if not track.distances:
        return ()
    try:
        prepared = track.prepare(original, rules)
        return check_secret(rules, prepared, parsed.release, parsed.answer)
    except MemoryError:
        return ()


def _seal_if_required(content: bytes, track: Track, submission_id: UUID) -> bytes:
    """Return a file of a release as it is stored: sealed if the track requires it."""
    if not track.seals_release:
        return content
    return sealing.seal_file(get_settings().sealing_key_file, submission_id=submission_id, content=content)


def is_storable(text: str) -> bool:
    """Whether Postgres can store the text: it accepts neither NUL nor lone surrogates."""
    return "\x00" not in text and text.encode(errors="replace").decode() == text


def flush_accepted_upload(session: Session) -> None:
    """Flush an accepted upload; raises Conflict if the database refuses it because the terms have changed."""
    try:
        session.flush()
    except ProgrammingError as problem:
        cause = problem.orig
        if isinstance(cause, InsufficientPrivilege) and cause.diag.constraint_name in (
            GUESS_GUARD,
            SUBMISSION_GUARD,
        ):
            raise Conflict(
                "the competition has changed meanwhile; send it again", code="changed_meanwhile"
            ) from problem
        raise
