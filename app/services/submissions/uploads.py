"""An upload on its way in: who may send one now, and what it says; nothing is accepted here."""

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

from anoncup.errors import Conflict, InvalidInput, InvalidUpload, NotAllowed, Problem
from anoncup.lazy import deferred
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tables.files import Remark, missing_file
from anoncup.tracks.files import SECRET
from anoncup.tracks.model import Sizes, Tables, Track
from anoncup.tracks.uploads import ParsedUpload, check_some, parse_upload
from app.config import get_settings
from app.crypto import sealing
from app.db.models import Attempt, Competition, Submission, Team
from app.db.privileges import GUESS_GUARD, SUBMISSION_GUARD
from app.processes import parser_process
from app.services.accounts import memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, phases
from app.services.contests.contest import read_file
from app.services.originals import allocations
from app.services.submissions import attempts, quota
from app.storage import digest_of, store

if TYPE_CHECKING:
    from numpy.random import default_rng

    from anoncup.evaluation.evaluate import doubts_about_secret, too_few_rows
else:
    default_rng = deferred("numpy.random.default_rng")
    doubts_about_secret = deferred("anoncup.evaluation.evaluate.doubts_about_secret")
    too_few_rows = deferred("anoncup.evaluation.evaluate.too_few_rows")

LONGEST_COMMENT = 1_000
IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(frozen=True, slots=True)
class Entrance:
    """What an upload is read against: the competition as it stood when the team knocked.

    ``attempt``: how and when it was counted; None if ``repeats`` names what was accepted under its key.
    ``first``: nothing had been accepted in the competition. ``own``: SHA-256 of each of the team's own files,
    by name, where the service has drawn some.
    """

    competition_id: UUID
    file: str
    original: tuple[tuple[str, str], ...]
    key: str | None
    attempt: Attempt | None
    first: bool
    repeats: UUID | None = None
    own: Mapping[str, str] = field(default_factory=dict)

    @property
    def rules(self) -> Rules:
        return read_file(self.file)

    @property
    def track(self) -> Track:
        return TRACKS[self.rules.track]

    @property
    def public(self) -> tuple[str, ...]:
        """The names of the files that are not secret."""
        return self.track.files

    @property
    def names(self) -> tuple[str, ...]:
        """Of all files: where the service draws the answer, nothing secret is sent."""
        return self.public if self.track.draws_answer else (*self.public, SECRET)

    @property
    def file_mb(self) -> int:
        return self.rules.limits.file_mb


@dataclass(frozen=True, slots=True)
class Upload:
    """A well-formed release, read but not yet accepted; ``secret`` in clear, in memory only.

    ``files`` are the digests of what the store has of it, ``sent`` those of what came in. ``identifier``: of
    the submission that it becomes, for which its files may be sealed.
    """

    entrance: Entrance
    files: dict[str, str]
    sent: dict[str, str]
    fingerprint: str
    sizes: Sizes
    secret: bytes
    comment: str
    remarks: tuple[Remark, ...]
    identifier: UUID = field(default_factory=uuid4)


@dataclass(frozen=True, slots=True)
class ParsedRelease:
    """What a parser finds in a release; ``files``: the tables in their new order, if they are shuffled."""

    files: dict[str, bytes]
    sizes: dict[str, int]
    secret: bytes
    remarks: tuple[Remark, ...]


def entrance(session: Session, principal: Principal, slug: str, *, key: str | None) -> Entrance:
    """Whether this person may submit now; asked, and counted as an attempt, before the files are read."""
    principal.require("submit")
    contest = competitions.find(session, principal, slug)
    row = contest.row
    team = memberships.require_team(session, row.id, principal)
    quota.lock(session, row, team)
    repeats = submitted_under(session, team, checked_key(key))
    if repeats is not None:
        return Entrance(row.id, row.file, digests(row), key, None, not row.scored_by, repeats)
    require_qualified(team)
    attempt = quota.begin_attempt(
        session, contest, team, principal.user_id, phase=phases.ANONYMIZATION, key=key
    )
    if row.original_rows is None:
        raise Conflict("the competition has no original data yet", code="no_original")
    own = allocations.require_drawn(session, row, team)
    return Entrance(row.id, row.file, digests(row), key, attempt, not row.scored_by, own=own)


def enter_check(session: Session, principal: Principal, slug: str) -> tuple[Entrance, UUID]:
    """Return what a dry run is read against, and the id of the team that asks for it.

    A team may check its files once the original data are there, also before the phase opens, until it ends.
    Nothing is counted.
    """
    principal.require("submit")
    contest = competitions.find(session, principal, slug)
    row = contest.row
    team = memberships.require_team(session, row.id, principal)
    require_qualified(team)
    phases.require_not_ended(session, row, phases.ANONYMIZATION)
    if row.original_rows is None:
        raise Conflict("the competition has no original data yet", code="no_original")
    own = allocations.require_drawn(session, row, team)
    return Entrance(row.id, row.file, digests(row), None, None, not row.scored_by, own=own), team.id


def renewed(session: Session, principal: Principal, at: Entrance) -> Entrance:
    """The entrance of an upload that has come; anew if another one under its key was answered meanwhile."""
    if at.key is None or at.attempt is None or not attempts.has_ended(session, at.attempt):
        return at
    slug = session.get_one(Competition, at.competition_id).slug
    return entrance(session, principal, slug, key=at.key)


def checked_key(key: str | None) -> str | None:
    if key is not None and not IDEMPOTENCY_KEY.fullmatch(key):
        raise InvalidInput(
            "an Idempotency-Key must have 1 to 200 visible ASCII characters", code="idempotency_key"
        )
    return key


def submitted_under(session: Session, team: Team, key: str | None) -> UUID | None:
    if key is None:
        return None
    mine = select(Submission.id).where(Submission.team_id == team.id, Submission.idempotency_key == key)
    return session.scalar(mine)


def require_qualified(team: Team) -> None:
    if team.disqualified_at is not None:
        raise NotAllowed("your team has been disqualified", code="disqualified")


def digests(row: Competition) -> tuple[tuple[str, str], ...]:
    """Name and SHA-256 of each file that everybody is given."""
    return tuple(sorted(row.given.items()))


def stands(row: Competition, at: Entrance) -> bool:
    """Whether the competition would still read the upload as it was read; deadlines may move meanwhile."""
    before, now = (
        (rules.columns, rules.settings, rules.publication.shuffle_targets)
        for rules in (at.rules, read_file(row.file))
    )
    return before == now and at.original == digests(row)


def fingerprint(parts: dict[str, bytes], comment: str = "") -> str:
    """SHA-256 of all parts of a request: the same under one key means the same request."""
    found = hashlib.sha256()
    for name, content in sorted({**parts, "comment": comment.encode(errors="surrogatepass")}.items()):
        found.update(f"{name} {len(content)}\n".encode() + hashlib.sha256(content).digest())
    return found.hexdigest()


def require_same(known: str | None, sent: str) -> None:
    """Under a known key only the same request is the retry that the key is for."""
    if known != sent:
        raise InvalidInput("this Idempotency-Key was used for another upload", code="idempotency_key_reused")


def require_not_sent(at: Entrance, sent: Collection[str]) -> None:
    """InvalidUpload for a secret where none is asked for: nobody should believe that it counted."""
    if SECRET in sent and SECRET not in at.names:
        message = Message("the service has drawn the answer itself: do not send a secret")
        raise InvalidUpload([Problem(SECRET, None, None, "answer_is_drawn", message)])


def read_upload(at: Entrance, *, files: dict[str, bytes], secret: bytes | None, comment: str) -> Upload:
    """Parse a release and its secret, None where the service has drawn it, against the original;
    InvalidUpload says what is wrong.

    Needs no session: what is well-formed is in the store before anything is locked, and stays there, named by
    nobody, should it be refused after all.
    """
    require_comment(comment)
    release = parser_process.call_reading(
        parser_process.UPLOADS,
        dict(at.original).values(),
        parse_release,
        at.file,
        at.original,
        files=files,
        secret=drawn_answer(at) if secret is None else secret,
    )
    identifier = uuid4()
    kept = release.files if at.rules.publication.shuffle_targets else files
    return Upload(
        entrance=at,
        files={name: store().put(as_kept(kept[name], at.track, identifier)) for name in files},
        sent={name: digest_of(content) for name, content in files.items()},
        fingerprint=fingerprint(files if secret is None else {**files, SECRET: secret}, comment),
        sizes=release.sizes,
        secret=release.secret,
        comment=comment,
        remarks=release.remarks,
        identifier=identifier,
    )


def parse_release(
    file: str, original: tuple[tuple[str, str], ...], *, files: dict[str, bytes], secret: bytes
) -> ParsedRelease:
    """Parse a release and its secret by a competition's file; called in the parser.

    Where the competition shuffles, the order is drawn here and composed into the secret: what is scored,
    attacked and published is the same table.
    """
    rules = read_file(file)
    track = TRACKS[rules.track]
    parsed = parse_upload(track, rules, competitions.original_tables(original, file), files, secret)
    release, answer = parsed.release, parsed.answer
    shuffled = {}
    if rules.publication.shuffle_targets:
        order = default_rng(secrets.randbits(128))
        release, answer = track.shuffle(release, answer, rng=order)
        shuffled = track.files_of(release)
    return ParsedRelease(shuffled, dict(parsed.sizes), track.answers.write(answer), tuple(parsed.remarks))


def require_comment(comment: str) -> None:
    if not is_storable(comment):
        raise InvalidInput("a comment must not contain the character NUL or half a character", code="comment")
    if len(comment) > LONGEST_COMMENT:
        raise InvalidInput(
            "a comment is text of at most {most} characters",
            code="comment",
            most=LONGEST_COMMENT,
        )


def drawn_answer(at: Entrance) -> bytes:
    """Return the answer that the service has drawn for the team."""
    return store().get(at.own[at.track.answers.file.name])


@dataclass(frozen=True, slots=True)
class Checked:
    """A well-formed upload that was read and not kept."""

    sent: dict[str, str]
    rows: int
    remarks: tuple[Remark, ...]


def check_upload(at: Entrance, *, files: dict[str, bytes], secret: bytes | None, comment: str) -> Checked:
    """Read an upload as ``read_upload`` does and store nothing.

    InvalidUpload lists missing files too, so that the files of a form can be checked one after the other.
    """
    sent = files.keys() if secret is None else {*files, SECRET}
    missing = [missing_file(name) for name in at.names if name not in sent]
    try:
        require_comment(comment)
        rows, remarks = parser_process.call_reading(
            parser_process.UPLOADS,
            dict(at.original).values(),
            check_files,
            at.file,
            at.original,
            files=files,
            secret=drawn_answer(at) if at.track.draws_answer else secret,
        )
    except InvalidUpload as faulty:
        total = len(missing) + faulty.total
        raise InvalidUpload([*missing, *faulty.problems], total=total) from None
    if missing:
        raise InvalidUpload(missing)
    return Checked({name: digest_of(content) for name, content in files.items()}, rows, remarks)


def check_files(
    file: str, original: tuple[tuple[str, str], ...], *, files: dict[str, bytes], secret: bytes | None
) -> tuple[int, tuple[Remark, ...]]:
    """Return the rows of a release and the remarks on it; called in the parser.

    Where files are missing the others are read as far as they can be.
    """
    rules = read_file(file)
    track, tables = TRACKS[rules.track], competitions.original_tables(original, file)
    if secret is None or not files.keys() >= set(track.files):
        sent = files if secret is None or track.draws_answer else {**files, SECRET: secret}
        check_some(track, rules, tables, sent)
        return 0, ()
    parsed = parse_upload(track, rules, tables, files, secret)
    few = too_few_rows(rules, parsed.sizes)
    warnings = [Remark("too_few_rows", few)] if few else []
    return parsed.sizes["rows"], (*parsed.remarks, *warnings, *doubts_in_memory(rules, tables, parsed))


def doubts_in_memory(rules: Rules, original: Tables, parsed: ParsedUpload) -> tuple[Remark, ...]:
    """A warning if the secret may belong to another file, which the verdict would say too.

    None where it would take more memory than there is: an upload needs less, and would be accepted.
    """
    track = TRACKS[rules.track]
    if not track.distances:
        return ()
    try:
        prepared = track.prepare(original, rules)
        return doubts_about_secret(rules, prepared, parsed.release, parsed.answer)
    except MemoryError:
        return ()


def as_kept(content: bytes, track: Track, identifier: UUID) -> bytes:
    """A file of a release as the store has it."""
    if not track.seals_release:
        return content
    return sealing.seal_file(get_settings().sealing_key_file, submission_id=identifier, content=content)


def is_storable(text: str) -> bool:
    """Postgres has no text with a NUL or half a character."""
    return "\x00" not in text and text.encode(errors="replace").decode() == text


def flush(session: Session) -> None:
    """Insert what was taken in. Conflict if the database refuses it by rules that have since changed."""
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
