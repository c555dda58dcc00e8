"""The database tables. The settings of a competition are in its file, not in columns."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID, uuid4

from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    ForeignKey,
    Identity,
    Index,
    LargeBinary,
    MetaData,
    ScalarSelect,
    Text,
    TypeDecorator,
    UniqueConstraint,
    func,
    select,
    tuple_,
)
from sqlalchemy import text as sql
from sqlalchemy.orm import (
    DeclarativeBase,
    InstrumentedAttribute,
    Mapped,
    column_property,
    mapped_column,
    relationship,
)

from anoncup import schemas
from anoncup.competition.parser import CompetitionFile
from anoncup.errors import CompetitionUnavailable, InvalidUpload
from anoncup.messages import CodedMessage
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.rounds import RoundSettings
from anoncup.rules.settings import Description
from anoncup.rules.timetable import Timetable
from anoncup.schemas import TokenKind
from anoncup.schemas.fields import Role
from anoncup.tracks.files import FileSpec
from anoncup.tracks.model import AnyTrack
from app.core.db.privileges import ADD, ALL, NONE, READ, WRITE
from app.core.db.stored_files import ResultT, read_rules, read_stored

_APP_FOLDER = Path(__file__).parents[2]


class CodedMessageType(TypeDecorator[CodedMessage]):
    """Column type for a CodedMessage, stored as JSON so that it can be translated to any language."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: CodedMessage | None, _: Dialect) -> dict[str, Any] | None:
        return None if value is None else value.to_json()

    def process_result_value(self, value: Any, _: Dialect) -> CodedMessage | None:
        return None if value is None else CodedMessage.from_json(value)


class Base(DeclarativeBase):
    privileges: ClassVar[tuple[str, str]]
    """Privileges of the web role, and of the role of workers and clock."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012  # SQLAlchemy reads it from the class
        str: Text,
        datetime: DateTime(timezone=True),
        # JSON and not JSONB, to keep the order of measures and every digit of floats.
        dict[str, Any]: JSON,
        list[dict[str, Any]]: JSON,
        list[str]: ARRAY(Text),
        CodedMessage: CodedMessageType,
    }


class State(StrEnum):
    """State of a job. QUEUED and SCORING are unfinished, all others are final."""

    QUEUED = "QUEUED"
    SCORING = "SCORING"
    SCORED = "SCORED"
    REJECTED = "REJECTED"
    REFUSED = "REFUSED"
    ERROR = "ERROR"
    CANCELLED = "CANCELLED"


class Series(StrEnum):
    """Which guesses standings take into account: none, those accepted before the last midnight, or all."""

    WITHOUT_GUESSES = "without_guesses"
    DAILY = "daily"
    ALL_GUESSES = "all_guesses"


def id_column() -> Mapped[UUID]:
    return mapped_column(primary_key=True, default=uuid4)


def inserted_at_column() -> Mapped[datetime]:
    """Return a column with the insertion time by the database's clock."""
    return mapped_column(server_default=sql("clock_timestamp()"))


class LeasedJob:
    """Columns of jobs that a worker leases and finishes once.

    Jobs are evaluations, guesses, rejudgements, threshold reports and stale standings.
    """

    max_backoff: ClassVar[timedelta] = timedelta(minutes=1)
    """Longest pause before a job that was released uncounted can be claimed again."""

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    state: Mapped[State] = mapped_column(Text, default=State.QUEUED)
    attempt: Mapped[int] = mapped_column(default=0)
    excused: Mapped[int] = mapped_column(default=0, server_default=sql("0"))
    """Attempts that failed because a worker lacked something that another may have; they do not count."""
    not_before: Mapped[datetime | None]
    """No worker claims the job before this time, the end of a backoff."""
    missing_since: Mapped[datetime | None]
    """When a worker with a reachable store first found one of the job's files missing or damaged."""
    leased_until: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=sql("clock_timestamp()"))
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    failure: Mapped[CodedMessage | None]
    """Reason for the state ERROR, or for the last time that a worker released the job unfinished."""
    traceback: Mapped[str | None]
    """Where the code of a track or of the service failed; only for organizers."""


class JudgingJob(LeasedJob):
    """Columns of jobs that judge a guess."""

    correct: Mapped[int | None]
    outcome: Mapped[dict[str, Any] | None]
    risk: Mapped[float | None]
    """The outcome's value adjusted for chance, in [0, 1], which boards compare (``Outcome.risk``)."""
    refusal: Mapped[dict[str, Any] | None]
    """The problems of a guess in the state REFUSED (``InvalidUpload.to_json``)."""


UNFINISHED = sql("state IN ('QUEUED', 'SCORING')")


class User(Base):
    """A person's account. One that was closed stays, with another name, because results refer to it."""

    __tablename__ = "users"
    privileges = WRITE, READ

    id: Mapped[UUID] = id_column()
    name: Mapped[str]
    name_key: Mapped[str] = mapped_column(unique=True)
    """Case-insensitive form for look-up (``app.core.identity.names.build_key``)."""
    password_hash: Mapped[str]
    role: Mapped[Role] = mapped_column(Text)
    created_at: Mapped[datetime] = inserted_at_column()
    closed_at: Mapped[datetime | None]


class Token(Base):
    """An API token or a browser session: 256 random bits, of which only the digest is stored."""

    __tablename__ = "tokens"
    privileges = ALL, NONE

    id: Mapped[UUID] = id_column()
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    kind: Mapped[TokenKind] = mapped_column(Text)
    name: Mapped[str]
    digest: Mapped[bytes] = mapped_column(unique=True)
    scopes: Mapped[list[str]]
    created_at: Mapped[datetime] = inserted_at_column()
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    confirmed_at: Mapped[datetime | None]
    """When the owner, who has no password, last signed in again with a provider in this session."""

    user: Mapped[User] = relationship(lazy="raise")


class EmailAddress(Base):
    """A user's address for mail. It identifies nobody and is shown to nobody else.

    The id is in the link that stops mail about competitions, so no page shows it.
    """

    __tablename__ = "email_addresses"
    privileges = ALL, "SELECT, UPDATE, DELETE"

    id: Mapped[UUID] = id_column()
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), unique=True)
    address: Mapped[str]
    language: Mapped[str]
    digests: Mapped[list[bytes]] = mapped_column(ARRAY(LargeBinary), server_default=sql("'{}'"))
    """Digests of the codes that confirm the address, one of each mail that was sent for it."""
    subscribed: Mapped[bool] = mapped_column(default=True)
    """Whether mail about competitions is sent to it."""
    created_at: Mapped[datetime] = inserted_at_column()
    confirmed_at: Mapped[datetime | None]
    outcome: Mapped[str | None]
    """Result of the last attempt to send mail."""


class Team(Base):
    """A team. Once it has sent nothing and has no members, it is deleted with what belongs to it."""

    __tablename__ = "teams"
    privileges = ALL, READ
    __table_args__ = (UniqueConstraint("competition_id", "name_key"),)

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"))
    name: Mapped[str]
    name_key: Mapped[str]
    created_at: Mapped[datetime] = inserted_at_column()
    disqualified_at: Mapped[datetime | None]
    disqualification_reason: Mapped[str | None]
    """Reason of the disqualification, visible to the team."""
    method_description: Mapped[str | None]
    """The team's description of its method, public once the contest has closed."""
    baseline: Mapped[bool] = mapped_column(default=False)
    """Whether the organizers added it for comparison: without members, rank and target."""


class Member(Base):
    """Membership of a user in a team. The primary key allows one team per competition."""

    __tablename__ = "members"
    privileges = ALL, READ

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"), primary_key=True)
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"), index=True)
    terms_accepted_at: Mapped[datetime | None]
    """When the user accepted the terms; None if there were none."""


class Competition(Base):
    __tablename__ = "competitions"
    privileges = WRITE, "SELECT, UPDATE"

    id: Mapped[UUID] = id_column()
    slug: Mapped[str] = mapped_column(unique=True)
    file: Mapped[str]
    """The current competition.toml as the organizer wrote it."""
    created_at: Mapped[datetime] = inserted_at_column()
    published_at: Mapped[datetime | None]
    """When the organizers published it. Until then it is a draft, of which nobody else may know."""

    rounds: Mapped[list["Round"]] = relationship(
        viewonly=True,
        primaryjoin="and_(Round.competition_id == Competition.id, Round.removed_at.is_(None))",
        order_by="Round.position",
    )

    @property
    def title(self) -> Mapping[str, str]:
        """The title by language, even if the rest of the file cannot be read, or else the slug."""
        try:
            return read_stored(lambda file: file.title, self.file)
        except CompetitionUnavailable:
            return {"en": self.slug}

    @property
    def description(self) -> Description:
        """The organizers' text about the competition. Raises CompetitionUnavailable."""
        return read_stored(lambda file: next(iter(file.rules.values())).description, self.file)

    @property
    def round_settings(self) -> list[RoundSettings]:
        """What the file says about each round besides its rules. Raises CompetitionUnavailable."""
        return read_stored(lambda file: [entry.settings for entry in file.rounds.values()], self.file)


class Round(Base):
    """A round of a competition: its data, its scoring and the state of its phases."""

    __tablename__ = "rounds"
    privileges = WRITE, "SELECT, UPDATE"
    __table_args__ = (
        Index(
            "uq_rounds_competition_id_name",
            "competition_id",
            "name",
            unique=True,
            postgresql_where=sql("removed_at IS NULL"),
        ),
        Index("ix_rounds_competition_id", "competition_id"),
    )

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"))
    name: Mapped[str] = mapped_column(default="", server_default=sql("''"))
    """Name in the competition's file; empty if the file has no rounds."""
    position: Mapped[int] = mapped_column(default=0, server_default=sql("0"))
    """Position in the competition's file, from 0."""
    removed_at: Mapped[datetime | None]
    """When the organizers removed or reset the round; nobody can see it afterwards."""
    scales: Mapped[dict[str, Any]]
    """Scales of the utility scores, from the file or computed from the original."""
    scored_by: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """Name and version of each measure and attacker that counts; empty before the first submission."""
    original: Mapped[dict[str, Any]]
    """SHA-256 of each uploaded file of the original; some may still be missing."""
    shared_files: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """SHA-256 of the files that the service has allocated to all teams together."""
    allocation: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """What the service allocates; {} if nothing. ``files``: names of the files. ``each_team``: whether every
    team gets its own. ``truth``: names of the organizers' files from which they are made. ``draws_lots``:
    whether they are drawn, not only assigned by these files."""
    original_rows: Mapped[int | None]
    """Number of individuals, once the original is complete."""
    paused_at: Mapped[datetime | None]
    """When the open phase was paused; nothing is accepted until it is resumed."""
    allocated_at: Mapped[datetime | None]
    """When the first team files were allocated; their source data cannot change afterwards."""
    frozen_at: Mapped[datetime | None]
    """When the finals were frozen; the targets cannot change afterwards."""
    published_at: Mapped[datetime | None]
    """When the files of all targets were complete and became downloadable."""
    closed_at: Mapped[datetime | None]
    """When the last guess was scored and every score became visible."""
    reveal_not_before: Mapped[datetime | None]
    """When the notice of a nearer end has run; the secrets stay hidden until then."""
    revealed_at: Mapped[datetime | None]
    """When the secrets of the targets were published."""
    seed_commitment: Mapped[str | None]
    """SHA-256 of the seed; None until the clock has created it."""

    competition: Mapped[Competition] = relationship(lazy="joined", innerjoin=True)

    @property
    def address(self) -> str:
        """The competition's slug, and behind a dot the round's name if it has one."""
        return f"{self.competition.slug}.{self.name}" if self.name else self.competition.slug

    @property
    def file(self) -> str:
        """The round's rules as a competition file without rounds.

        It is the whole file if this version cannot read it, so that its reader finds the problem.
        """
        try:
            return self._read(lambda file: file.round_texts)
        except CompetitionUnavailable:
            return self.competition.file

    @property
    def rules(self) -> Rules:
        """The rules in force, with the scales and scoring versions that are stored outside of the file.

        The scoring versions may not be installed. Raises CompetitionUnavailable if the file cannot be read.
        """
        return replace(self._read(lambda file: file.rules), scales=self.scales, scored_by=self.scored_by)

    @property
    def track(self) -> AnyTrack:
        return TRACKS[self._read(lambda file: file.rules).track]

    @property
    def over_at(self) -> datetime | None:
        """The time at which it closed or, without a second phase, at which the finals were published."""
        return self.published_at if self.rules.phase("reidentification") is None else self.closed_at

    @property
    def timetable(self) -> Timetable:
        """The phases, readable even without the code of measures. Raises CompetitionUnavailable."""
        return self._read(lambda file: file.timetables)

    @property
    def settings(self) -> RoundSettings:
        """What the file says about the round besides its rules. Raises CompetitionUnavailable."""
        return self._read(lambda file: file.rounds).settings

    def _read(self, part: Callable[[CompetitionFile], Mapping[str, ResultT]]) -> ResultT:
        """Return what a part of the competition's file has for the round."""
        by_round = read_stored(part, self.competition.file)
        if self.name not in by_round:
            raise CompetitionUnavailable("the competition has no round {name!r}", name=self.name)
        return by_round[self.name]

    @property
    def public_files(self) -> dict[str, str]:
        """SHA-256 of each file that all teams get: the original, and the files allocated to all."""
        return {**self.shared_files, **self.original}

    @property
    def listed_files(self) -> list[FileSpec]:
        """The original's files that teams get or, before it is uploaded, may get."""
        names = {*self.public_files, *self.unallocated_files}
        files = self.track.original_files
        return [file for file in files if self.original_rows is None or file.name in names]

    @property
    def unallocated_files(self) -> tuple[str, ...]:
        """Names of the files to be allocated to all teams that do not exist yet."""
        if not self.allocation or self.allocation["each_team"]:
            return ()
        return tuple(name for name in self.allocation["files"] if name not in self.public_files)


class Organizer(Base):
    __tablename__ = "organizers"
    privileges = ALL, NONE

    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)


class ThresholdReport(LeasedJob, Base):
    """A report of the threshold advisor on a round's data, computed in the background."""

    __tablename__ = "threshold_reports"
    privileges = ADD, "SELECT, UPDATE"
    __table_args__ = (
        Index("ix_threshold_reports_unfinished", "created_at", postgresql_where=UNFINISHED),
        # One at a time, so that a round with many reports does not occupy every process for reports.
        Index(
            "uq_threshold_reports_scoring_round_id",
            "round_id",
            unique=True,
            postgresql_where=sql("state = 'SCORING'"),
        ),
    )

    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"), index=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    file: Mapped[str]
    """The competition's file when the report was requested; ``original``: SHA-256 of its data then."""
    original: Mapped[dict[str, Any]]
    question: Mapped[dict[str, Any]]
    report: Mapped[dict[str, Any] | None]


class Announcement(Base):
    """A public announcement by the organizers or the service, with its text by language."""

    __tablename__ = "announcements"
    privileges = ALL, ADD

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    """The author; None for the service itself (the clock)."""
    at: Mapped[datetime] = inserted_at_column()
    text: Mapped[dict[str, Any]]
    coded_message: Mapped[CodedMessage | None]
    """The text of an announcement by the service itself, for translation; None for one by organizers."""


class AuditEntry(Base):
    """An entry of the audit log, with the state before and after. Written with the action, never changed.

    People are stored by id only, so that the name of a closed account is nowhere.
    """

    __tablename__ = "audit_entries"
    privileges = ADD, ADD

    number: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    at: Mapped[datetime] = inserted_at_column()
    competition_id: Mapped[UUID | None] = mapped_column(ForeignKey("competitions.id"), index=True)
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    """None for the service itself (the clock)."""
    action: Mapped[str]
    person_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    """The person that the action is about."""
    thing: Mapped[str]
    """What the action is about, if it is not a person."""
    before: Mapped[dict[str, Any] | None]
    after: Mapped[dict[str, Any] | None]

    if TYPE_CHECKING:
        actor: Mapped[str]
        subject: Mapped[str]


def _select_name(user_id: InstrumentedAttribute[UUID | None]) -> ScalarSelect[str]:
    return select(User.name).where(User.id == user_id).scalar_subquery()


AuditEntry.actor = column_property(func.coalesce(_select_name(AuditEntry.user_id), "anoncup"))
AuditEntry.subject = column_property(func.coalesce(_select_name(AuditEntry.person_id), AuditEntry.thing))


class NotificationUrl(Base):
    """A URL of apprise to which phase changes and announcements of a competition are sent, such as a chat."""

    __tablename__ = "notification_urls"
    privileges = "SELECT, INSERT, DELETE", READ

    id: Mapped[UUID] = id_column()
    competition_id: Mapped[UUID] = mapped_column(ForeignKey("competitions.id"), index=True)
    url: Mapped[str] = mapped_column(deferred=True)
    """It contains secrets, such as the key of a chat."""


class Delivery(Base):
    """An event for a notification URL or e-mail address, written in the transaction of the event.

    It has ids; texts are made later.
    """

    __tablename__ = "deliveries"
    privileges = ADD, ALL
    __table_args__ = (
        CheckConstraint("num_nonnulls(notification_url_id, email_address_id) = 1", name="one_receiver"),
        UniqueConstraint("notification_url_id", "key"),
        UniqueConstraint("email_address_id", "key"),
        Index("ix_deliveries_unfinished", "next_attempt_at", postgresql_where=sql("finished_at IS NULL")),
    )

    id: Mapped[UUID] = id_column()
    notification_url_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("notification_urls.id", ondelete="CASCADE")
    )
    email_address_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("email_addresses.id", ondelete="CASCADE")
    )
    event: Mapped[str]
    subject_id: Mapped[UUID | None]
    """The round or announcement that the event is about."""
    change: Mapped[str | None]
    """What has changed, if the event is a phase change."""
    phase: Mapped[str | None]
    key: Mapped[str | None]
    """Identifies an event that is recorded again and again, but sent once."""
    created_at: Mapped[datetime] = inserted_at_column()
    attempt: Mapped[int] = mapped_column(server_default=sql("0"))
    next_attempt_at: Mapped[datetime] = mapped_column(server_default=sql("clock_timestamp()"))
    finished_at: Mapped[datetime | None]

    notification_url: Mapped[NotificationUrl] = relationship(lazy="raise")
    email_address: Mapped[EmailAddress] = relationship(lazy="raise")


class Heartbeat(Base):
    """When a regular task last completed."""

    __tablename__ = "heartbeats"
    privileges = WRITE, WRITE

    task: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]


class OrganizerFile(Base):
    """A file that only organizers have. A replacement is a new row."""

    __tablename__ = "organizer_files"
    privileges = "SELECT, INSERT, DELETE", READ

    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    commitment: Mapped[str]
    """SHA-256 of the salt and the file; the salt is sealed with the file."""
    size: Mapped[int]
    """Size in bytes."""
    created_at: Mapped[datetime] = inserted_at_column()


class Adjustment(Base):
    """A penalty or bonus of a team in a round by the organizers. Ranking formulas can add it up.

    ``withdrawn_at``: when it ceased to count.
    """

    __tablename__ = "adjustments"
    privileges = WRITE, READ

    id: Mapped[UUID] = id_column()
    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"), index=True)
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    points: Mapped[float]
    reason: Mapped[str]
    created_at: Mapped[datetime] = inserted_at_column()
    withdrawn_at: Mapped[datetime | None]

    team: Mapped[Team] = relationship(lazy="raise")


class Submission(Base):
    """A team's submission: its public files by content hash, and metadata."""

    __tablename__ = "submissions"
    privileges = WRITE, READ
    __table_args__ = (
        Index("ix_submissions_round_id_received_at", "round_id", "received_at"),
        UniqueConstraint("team_id", "idempotency_key"),
    )

    id: Mapped[UUID] = id_column()
    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"))
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"), index=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    received_at: Mapped[datetime]
    comment: Mapped[str]
    files: Mapped[dict[str, Any]]
    """SHA-256 of each public file as stored."""
    uploaded_sha256: Mapped[dict[str, Any]]
    """SHA-256 of each public file as uploaded, which differs from ``files`` if the service shuffles rows."""
    rows: Mapped[int]
    sizes: Mapped[dict[str, Any]]
    """Counts of the release and of the original."""
    remarks: Mapped[list[dict[str, Any]]]
    commitment: Mapped[str]
    """SHA-256 of the salt and the secret file; the salt is sealed with the secret."""
    quota_left: Mapped[dict[str, Any]]
    """Remaining amount of each cap after this submission; part of the receipt."""
    idempotency_key: Mapped[str | None]
    fingerprint: Mapped[str | None]
    """SHA-256 of the complete upload under the idempotency key."""
    final: Mapped[bool] = mapped_column(default=False)
    """Whether the team marked it as its final."""
    disqualified_at: Mapped[datetime | None]
    disqualification_reason: Mapped[str | None]
    """Reason of the disqualification, visible to the team."""

    if TYPE_CHECKING:
        number: Mapped[int]
        """Number among the team's submissions of the round in the order of receipt, from 1."""

    team: Mapped[Team] = relationship(lazy="raise")
    evaluation: Mapped["Evaluation"] = relationship(
        lazy="raise",
        viewonly=True,
        primaryjoin="and_(Evaluation.submission_id == Submission.id, Evaluation.current)",
    )

    @property
    def is_qualified(self) -> bool:
        """Whether neither it nor its team is disqualified."""
        return self.disqualified_at is None and self.team.disqualified_at is None

    @property
    def parsed_remarks(self) -> list[schemas.Notice]:
        """The remarks as schema objects."""
        return [schemas.Notice.model_validate(remark) for remark in self.remarks]


_submissions_so_far = Submission.__table__.alias("up_to_this")
Submission.number = column_property(
    select(func.count())
    .select_from(_submissions_so_far)
    .where(_submissions_so_far.c.team_id == Submission.team_id)
    .where(_submissions_so_far.c.round_id == Submission.round_id)
    .where(
        tuple_(_submissions_so_far.c.received_at, _submissions_so_far.c.id)
        <= tuple_(Submission.received_at, Submission.id)
    )
    .scalar_subquery(),
    deferred=True,
)


class Secret(Base):
    """The secret of a submission (the source index), sealed to the workers' key.

    Web processes can insert one but not read it (``app.core.db.privileges``).
    """

    __tablename__ = "secrets"
    privileges = "INSERT", READ

    submission_id: Mapped[UUID] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    key_id: Mapped[str]
    sealed: Mapped[bytes]


class Rescore(Base):
    """A rescore: all submissions are scored by changed rules, compared, and then applied or cancelled."""

    __tablename__ = "rescores"
    privileges = WRITE, READ
    __table_args__ = (
        Index(
            "uq_rescores_open_round_id",
            "round_id",
            unique=True,
            postgresql_where=sql("applied_at IS NULL AND cancelled_at IS NULL"),
        ),
    )

    id: Mapped[UUID] = id_column()
    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"), index=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    file: Mapped[str]
    """The changed rules of the round, as a competition file without rounds."""
    competition_file: Mapped[str]
    """The competition's file with the changed rules."""
    scales: Mapped[dict[str, Any]]
    scored_by: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=sql("'{}'"))
    """Name and version of each measure and attacker that counts under the changed rules."""
    replaces: Mapped[str]
    """SHA-256 of the competition's file in force when the rescore began."""
    created_at: Mapped[datetime] = inserted_at_column()
    applied_at: Mapped[datetime | None]
    cancelled_at: Mapped[datetime | None]

    @property
    def rules(self) -> Rules:
        """The changed rules, with their scales and scoring versions. Raises CompetitionUnavailable."""
        return replace(read_rules(self.file), scales=self.scales, scored_by=self.scored_by)


class Evaluation(LeasedJob, Base):
    """One evaluation of one submission. Scoring it again adds a row and changes no earlier one."""

    __tablename__ = "evaluations"
    privileges = WRITE, "SELECT, UPDATE"
    __table_args__ = (
        Index(
            "uq_evaluations_current_submission_id",
            "submission_id",
            unique=True,
            postgresql_where=sql("current"),
        ),
        Index("ix_evaluations_unfinished", "created_at", postgresql_where=UNFINISHED),
        Index(None, "round_id", "started_at"),
        Index(None, "round_id", "party_id", "started_at"),
        UniqueConstraint("rescore_id", "submission_id"),
    )

    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"))
    party_id: Mapped[UUID]
    """Unit of fair scheduling within the round: the team, or the whole rescore."""

    submission_id: Mapped[UUID] = mapped_column(ForeignKey("submissions.id"), index=True)
    rescore_id: Mapped[UUID | None] = mapped_column(ForeignKey("rescores.id"))
    """The rescore whose rules apply; None for the rules in force."""
    current: Mapped[bool] = mapped_column(default=True)
    step: Mapped[int] = mapped_column(default=0)
    steps: Mapped[int] = mapped_column(default=0)
    step_name: Mapped[str] = mapped_column(default="")

    if TYPE_CHECKING:
        scorer: Mapped[str | None]
        verdict: Mapped[dict[str, Any] | None]

    submission: Mapped[Submission] = relationship(lazy="raise", viewonly=True)

    @property
    def parsed_verdict(self) -> schemas.Verdict | None:
        """The verdict as a schema object."""
        return schemas.parse_verdict(self.verdict) if self.verdict else None


class RecordedVerdict(Base):
    """The verdict of an evaluation. Web processes cannot insert it (``app.core.db.privileges``)."""

    __tablename__ = "verdicts"
    privileges = READ, ADD

    evaluation_id: Mapped[UUID] = mapped_column(ForeignKey("evaluations.id"), primary_key=True)
    scorer: Mapped[str]
    """Version of the scorer that computed it."""
    content: Mapped[dict[str, Any]]


_of_evaluation = RecordedVerdict.evaluation_id == Evaluation.id
Evaluation.scorer = column_property(select(RecordedVerdict.scorer).where(_of_evaluation).scalar_subquery())
Evaluation.verdict = column_property(select(RecordedVerdict.content).where(_of_evaluation).scalar_subquery())


class Target(Base):
    """A release that the other teams may attack: a final of the first phase."""

    __tablename__ = "targets"
    privileges = READ, WRITE
    __table_args__ = (UniqueConstraint("round_id", "name"),)

    id: Mapped[UUID] = id_column()
    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"))
    submission_id: Mapped[UUID] = mapped_column(ForeignKey("submissions.id"), unique=True)
    name: Mapped[str]
    rows: Mapped[int]
    sizes: Mapped[dict[str, Any]]
    files: Mapped[dict[str, Any] | None]
    """SHA-256 of each file written by the service; None before that."""

    submission: Mapped[Submission] = relationship(lazy="raise", viewonly=True)
    opening: Mapped["Opening | None"] = relationship(lazy="raise", viewonly=True)

    @classmethod
    def from_submission(cls, submission: Submission, name: str) -> "Target":
        """Return a new target without files, which a worker writes."""
        return cls(
            round_id=submission.round_id,
            submission_id=submission.id,
            name=name,
            rows=submission.rows,
            sizes=submission.sizes,
        )


class Opening(Base):
    """The opened secret of a target in a closed round, shown from the reveal on.

    Web processes cannot insert it (``app.core.db.privileges``).
    """

    __tablename__ = "openings"
    privileges = READ, ADD

    target_id: Mapped[UUID] = mapped_column(ForeignKey("targets.id"), primary_key=True)
    salt: Mapped[bytes]
    secret: Mapped[str]
    """SHA-256 of the secret file in the store."""


class Guess(JudgingJob, Base):
    """A team's attempt to answer a question about a target.

    Its result is the one in force: applying a rescore replaces it (``Rejudgement``).
    """

    __tablename__ = "guesses"
    privileges = WRITE, "SELECT, UPDATE"
    __table_args__ = (
        Index("ix_guesses_round_id_received_at", "round_id", "received_at"),
        Index("ix_guesses_unfinished", "created_at", postgresql_where=UNFINISHED),
        Index(None, "round_id", "started_at"),
        Index(None, "round_id", "team_id", "started_at"),
        UniqueConstraint("team_id", "idempotency_key"),
    )

    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"))
    target_id: Mapped[UUID] = mapped_column(ForeignKey("targets.id"), index=True)
    team_id: Mapped[UUID] = mapped_column(ForeignKey("teams.id"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    received_at: Mapped[datetime]
    question: Mapped[str]
    file: Mapped[str]
    """SHA-256 of the guess file."""
    answered: Mapped[int]
    """Number of individuals for which the guess gives an answer."""
    guesses_left: Mapped[int]
    """Remaining guesses on this target after this one; part of the receipt."""
    idempotency_key: Mapped[str | None]
    fingerprint: Mapped[str | None]

    target: Mapped[Target] = relationship(lazy="raise", viewonly=True)
    team: Mapped[Team] = relationship(lazy="raise", viewonly=True)

    @property
    def parsed_outcome(self) -> schemas.GuessOutcome | None:
        """The outcome as a schema object."""
        return schemas.GuessOutcome.model_validate(self.outcome) if self.outcome else None

    @property
    def parsed_refusal(self) -> InvalidUpload | None:
        return InvalidUpload.from_json(self.refusal) if self.refusal else None


class Rejudgement(JudgingJob, Base):
    """A guess that is judged by the changed rules of a rescore. Its result counts once that is applied."""

    __tablename__ = "rejudgements"
    privileges = WRITE, "SELECT, UPDATE"
    __table_args__ = (
        Index("ix_rejudgements_unfinished", "created_at", postgresql_where=UNFINISHED),
        Index(None, "round_id", "started_at"),
        Index(None, "round_id", "rescore_id", "started_at"),
        UniqueConstraint("rescore_id", "guess_id"),
    )

    round_id: Mapped[UUID] = mapped_column(ForeignKey("rounds.id"))
    rescore_id: Mapped[UUID] = mapped_column(ForeignKey("rescores.id"))
    guess_id: Mapped[UUID] = mapped_column(ForeignKey("guesses.id"), index=True)

    guess: Mapped[Guess] = relationship(lazy="raise", viewonly=True)


class StaleStanding(LeasedJob, Base):
    """The job of computing the standings of a round from ``since`` on, see the module ``standing_updates``.

    They were up to date for the last time when it was created. There is no foreign key, see ``TeamStanding``.
    """

    __tablename__ = "stale_standings"
    privileges = ALL, ALL
    max_backoff = timedelta(minutes=15)
    """Longer, because a function may loop each time until its limit."""

    round_id: Mapped[UUID] = mapped_column(unique=True)
    since: Mapped[datetime | None]
    claimed_since: Mapped[datetime | None]


def load_metadata() -> MetaData:
    """Return the tables of all features, whose models are imported first."""
    for path in sorted(_APP_FOLDER.glob("*/models.py")):
        import_module(f"app.{path.parent.name}.models")
    return Base.metadata


def list_privileges() -> Mapping[str, tuple[str, str]]:
    """Return the privileges of the web role, and of the role of workers and clock, by table."""
    load_metadata()
    mappers = Base.registry.mappers
    return {mapper.class_.__tablename__: mapper.class_.privileges for mapper in mappers} | {
        "alembic_version": (READ, READ)
    }
