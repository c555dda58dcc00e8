"""Submissions: read an upload, accept it, show it to its team."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID, uuid4

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, joinedload

from app import sealing, storage
from app.db.models import Competition as CompetitionRow
from app.db.models import Evaluation, Secret, State, Submission, Team
from app.errors import Conflict, InvalidInput, NotFound
from app.scoring.csv_text import Remark
from app.scoring.permutation import keeps_original_order, secret_csv, source_from_secret
from app.scoring.tracks import TRACKS
from app.services import competitions, evaluations, teams
from app.services.accounts import Principal

LONGEST_COMMENT = 1_000


@dataclass(frozen=True, slots=True)
class Entrance:
    """What an upload is read against: the competition as it stood when the team knocked."""

    competition_id: UUID
    file: str
    original: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Upload:
    """A well-formed release, read but not yet accepted; ``secret`` in clear, in memory only."""

    entrance: Entrance
    files: dict[str, bytes]
    rows: int
    secret: bytes
    comment: str
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    submission: Submission
    evaluation: Evaluation
    commitment: str


def entrance(session: Session, principal: Principal, slug: str) -> Entrance:
    """Whether this person may submit now; asked before the files are read."""
    principal.require("submit")
    row = competitions.find(session, slug)
    teams.require_team(session, row.id, principal)
    require_open(session, row)
    if row.original_rows is None:
        raise Conflict("the competition has no original data yet", code="no_original")
    return Entrance(row.id, row.file, digests(row))


def digests(row: CompetitionRow) -> tuple[tuple[str, str], ...]:
    """Name and SHA-256 of each file of the original."""
    return tuple(sorted(row.original.items()))


def require_open(session: Session, row: CompetitionRow) -> datetime:
    """The time by the database's clock, which must lie in the anonymization phase."""
    standing = competitions.standing(session, competitions.read_file(row.file))
    if standing.phase is None or standing.phase.name != "anonymization":
        raise Conflict("the anonymization phase is not open", code="phase_closed")
    return standing.now


def read_upload(at: Entrance, *, files: dict[str, bytes], secret: bytes, comment: str, data: Path) -> Upload:
    """Parse a release and its secret against the original; InvalidUpload says what is wrong.

    Needs no session.
    """
    if len(comment) > LONGEST_COMMENT or "\x00" in comment:
        raise InvalidInput(f"a comment is text of at most {LONGEST_COMMENT} characters", code="comment")
    competition = competitions.read_file(at.file)
    track = TRACKS[competition.track]
    original = competitions.original_tables(data, at.original, at.file)
    release, remarks = track.parse_release(files, original, competition)
    rows = track.individuals(release)
    source = source_from_secret(secret, originals=track.individuals(original), anonymized=rows)
    if keeps_original_order(source):
        remarks.append(
            Remark(
                "rows_in_original_order",
                "most rows stand in the order of the original: guessing 'row j is row j' finds them",
            )
        )
    return Upload(at, files, rows, secret_csv(source), comment, tuple(remarks))


def accept(
    session: Session, principal: Principal, upload: Upload, *, data: Path, sealing_key: Path | None
) -> Receipt:
    """Take a submission in: sealed, stored, queued; all of it at COMMIT or none of it.

    The competition's shared lock keeps its phases and data from turning meanwhile, the team's own lock puts
    its uploads in a row; the clock is read under both.
    """
    row = session.get_one(CompetitionRow, upload.entrance.competition_id, with_for_update={"read": True})
    team = teams.require_team(session, row.id, principal)
    session.refresh(team, with_for_update=True)
    received_at = require_open(session, row)
    if (row.file, digests(row)) != (upload.entrance.file, upload.entrance.original):
        raise Conflict("the competition has changed meanwhile; send it again", code="changed_meanwhile")
    identifier = uuid4()
    sealed = sealing.seal(sealing_key, submission_id=identifier, secret=upload.secret)
    submission = Submission(
        id=identifier,
        competition_id=row.id,
        team_id=team.id,
        user_id=principal.user_id,
        received_at=received_at,
        comment=upload.comment,
        files={name: storage.put(data, content) for name, content in upload.files.items()},
        sent={name: storage.digest_of(content) for name, content in upload.files.items()},
        quota_left={},
        rows=upload.rows,
        remarks=[asdict(remark) for remark in (*upload.remarks, *repetition(session, team, upload))],
    )
    session.add(submission)
    session.flush()
    session.add(Secret(submission_id=identifier, **sealed_columns(sealed)))
    return Receipt(submission, evaluations.queue_up(session, submission), sealed.commitment)


def sealed_columns(sealed: sealing.Sealed) -> dict[str, object]:
    return {"key_id": sealed.key_id, "sealed": sealed.box, "commitment": sealed.commitment}


def repetition(session: Session, team: Team, upload: Upload) -> list[Remark]:
    """Said to the same team only: nothing ever tells that another team sent the same."""
    found = {name: storage.digest_of(content) for name, content in upload.files.items()}
    sent = session.scalars(select(Submission.files).where(Submission.team_id == team.id))
    earlier = sum(files == found for files in sent)
    if not earlier:
        return []
    return [Remark("sent_before", f"your team has sent this very table {earlier} times before")]


def of_team(session: Session, principal: Principal, slug: str) -> Sequence[Submission]:
    """The team's own submissions, newest first."""
    principal.require("read")
    row = competitions.find(session, slug)
    team = teams.require_team(session, row.id, principal)
    return session.scalars(
        shown().where(Submission.team_id == team.id).order_by(Submission.received_at.desc())
    ).all()


def visible(session: Session, principal: Principal, submission_id: UUID) -> Submission:
    """One submission, to its own team and the competition's organizers; to others it does not exist."""
    principal.require("read")
    found = session.scalar(shown().where(Submission.id == submission_id))
    if found is None or not may_see(session, principal, found):
        raise NotFound("there is no such submission", code="no_such_submission")
    return found


def slug_of(session: Session, submission: Submission) -> str:
    return session.get_one(CompetitionRow, submission.competition_id).slug


def may_see(session: Session, principal: Principal, submission: Submission) -> bool:
    own = teams.team_of(session, submission.competition_id, principal)
    if own is not None and own.id == submission.team_id:
        return True
    return competitions.is_organizer(session, submission.competition_id, principal)


def shown() -> Select[Submission]:
    return select(Submission).options(
        joinedload(Submission.team, innerjoin=True),
        joinedload(Submission.evaluation, innerjoin=True),
        joinedload(Submission.secret, innerjoin=True).load_only(Secret.commitment, Secret.key_id),
    )


def place_in_queue(session: Session, evaluation: Evaluation) -> int | None:
    """How many are to be scored before this one; None once it is being scored."""
    if evaluation.state != State.QUEUED:
        return None
    return session.scalar(
        select(func.count()).where(
            Evaluation.state == State.QUEUED, Evaluation.created_at < evaluation.created_at
        )
    )
