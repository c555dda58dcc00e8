"""Competitions: their file, their original data, the phase they are in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING
from uuid import UUID

from sqlalchemy import Exists, exists, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.db.models import AuditEntry, Organizer, Rescore, Submission
from app.db.models import Competition as CompetitionRow
from app.deferred import deferred
from app.errors import CompetitionUnavailable, Conflict, InvalidCompetition, NotAllowed, NotFound
from app.roles import Role
from app.scoring.competition import Competition, Phase
from app.scoring.competition_file import SLUG, parse_competition, parse_title
from app.scoring.counted import Versions, what_counts
from app.scoring.files import Remark
from app.scoring.registry import Tables
from app.scoring.toml_text import loaded, with_scales
from app.scoring.toml_writing import with_scored_by
from app.scoring.tracks import TRACKS
from app.services import audit, phases
from app.services.accounts import Principal
from app.services.audit import Wanted
from app.storage import digest_of, store

if TYPE_CHECKING:
    from app.scoring.scales import scales
else:
    scales = deferred("app.scoring.scales.scales")

Pairs = tuple[tuple[str, str], ...]


@lru_cache(maxsize=1024)
def parsed(text: str) -> Competition:
    """What somebody sends; InvalidCompetition. Once per text: it is read far more often than it changes."""
    return parse_competition(text)


def read_file(text: str) -> Competition:
    """What is stored. CompetitionUnavailable: this version cannot read it, though an earlier one could."""
    try:
        return parsed(text)
    except InvalidCompetition as problem:
        raise CompetitionUnavailable(problem.detail) from None


def title_of(row: CompetitionRow) -> Mapping[str, str]:
    """The title by language; of a file that cannot be read, what of it can, or the competition's name."""
    try:
        return parse_title(row.file)
    except InvalidCompetition:
        return {"en": row.slug}


def listed(session: Session) -> list[CompetitionRow]:
    return list(session.scalars(select(CompetitionRow).order_by(CompetitionRow.created_at)))


def find(session: Session, slug: str) -> CompetitionRow:
    known = SLUG.fullmatch(slug) is not None
    row = session.scalar(select(CompetitionRow).where(CompetitionRow.slug == slug)) if known else None
    if row is None:
        raise NotFound(f"there is no competition {slug[:63]!r}", code="no_such_competition")
    return row


def is_organizer(session: Session, competition_id: UUID, principal: Principal) -> bool:
    if principal.role == Role.ADMINISTRATOR:
        return True
    return session.get(Organizer, (competition_id, principal.user_id)) is not None


def require_organizer(session: Session, competition_id: UUID, principal: Principal) -> None:
    principal.require("organize")
    if not is_organizer(session, competition_id, principal):
        raise NotAllowed("only this competition's organizers may do that", code="not_organizer")


def require_creator(principal: Principal) -> None:
    principal.require("organize")
    if principal.role == Role.PARTICIPANT:
        raise NotAllowed("only organizers create competitions", code="not_organizer")


def create(session: Session, principal: Principal, text: str) -> CompetitionRow:
    """A new competition from its file; whoever creates it organizes it."""
    require_creator(principal)
    text = sent_file(text)
    competition = hostable(text)
    row = CompetitionRow(slug=competition.slug, file=text, scales={}, original={})
    session.add(row)
    try:
        session.flush()
    except IntegrityError:
        raise Conflict(f"there is a competition {competition.slug!r} already", code="slug_taken") from None
    session.add(Organizer(competition_id=row.id, user_id=principal.user_id))
    audit.record(
        session,
        principal,
        "competition.create",
        competition_id=row.id,
        subject=row.slug,
        after={"sha256": sha256_of(text)},
    )
    return row


def sha256_of(text: str) -> str:
    return digest_of(text.encode())


def sent_file(text: str) -> str:
    """A file as somebody sends it, without ``[scored_by]``: the service writes that and keeps it beside."""
    return with_scored_by(text, {}) if "scored_by" in tables_of(text) else text


def hostable(text: str) -> Competition:
    """A competition file that also has what a contest on this service needs."""
    competition = parsed(text)
    if not any(settings.weight for settings in competition.measures.values()):
        raise InvalidCompetition("no measure has a weight, so nothing could be ranked", code="no_weights")
    return competition


@dataclass(frozen=True, slots=True)
class Revision:
    """A new state of a competition's file and data, computed from the state it replaces."""

    file: str
    original: dict[str, str]
    original_rows: int | None
    scales: dict[str, float]
    replaces: tuple[str, dict[str, str]]
    remarks: tuple[Remark, ...] = ()


def revision_of_file(row: CompetitionRow, file: str) -> Revision:
    """The same data under a new file; data of other columns are dropped. Needs no session."""
    file = sent_file(file)
    after = hostable(file)
    kept = row.original if takes_same_data(row, after) else {}
    return revision(row, file, {name: store().get(digest) for name, digest in kept.items()})


def takes_same_data(row: CompetitionRow, after: Competition) -> bool:
    """Whether the data can stay; where the present file cannot be read, it has to fit into the new one."""
    try:
        before = read_file(row.file)
    except CompetitionUnavailable:
        return set(row.original) <= set(TRACKS[after.track].original_files)
    return (before.track, before.columns) == (after.track, after.columns)


def revision_of_original(row: CompetitionRow, name: str, content: bytes) -> Revision:
    """The same file with a new file of the original. Needs no session.

    The others are read against the first: it has to be there, and a new one drops them.
    """
    first = TRACKS[read_file(row.file).track].original_files[0]
    if name != first and first not in row.original:
        raise Conflict(f"{first}.csv comes first: {name}.csv is read against it", code="first_file_missing")
    kept = {} if name == first else row.original
    contents = {other: store().get(digest) for other, digest in kept.items()}
    return revision(row, row.file, contents | {name: content})


def revision(row: CompetitionRow, file: str, contents: dict[str, bytes]) -> Revision:
    """``file`` with the original ``contents``: stored, and, once complete, parsed and its scales computed."""
    replaces = (row.file, dict(row.original))
    competition = parsed(file)
    track = TRACKS[competition.track]
    missing = [name for name in track.original_files if name not in contents]
    if missing:
        if contents:
            track.check_part(contents, competition)
        stored = {name: store().put(content) for name, content in contents.items()}
        return Revision(file, stored, None, {}, replaces, tuple(map(awaited, missing)) if stored else ())
    tables, remarks = track.parse_original(contents, competition)
    computed = scales(track, track.prepare(tables, competition), competition.measures)
    stored = {name: store().put(content) for name, content in contents.items()}
    found = {**computed, **competition.scales}
    return Revision(file, stored, track.individuals(tables), found, replaces, tuple(remarks))


def part_of_original(row: CompetitionRow, file: str) -> str:
    """The part of the original that a file of this name holds."""
    names = {f"{name}.csv": name for name in TRACKS[read_file(row.file).track].original_files}
    if file not in names:
        raise NotFound("the original consists of " + ", ".join(names), code="no_such_file")
    return names[file]


def awaited(name: str) -> Remark:
    return Remark("file_missing", f"{name}.csv is still to be uploaded; until then nobody sees the data")


def for_revision(session: Session, principal: Principal, slug: str) -> CompetitionRow:
    """The competition as it stands, for one of its organizers to revise."""
    row = find(session, slug)
    require_organizer(session, row.id, principal)
    return row


def revise(session: Session, principal: Principal, slug: str, new: Revision) -> CompetitionRow:
    """Put a revision in force; once somebody has submitted, what is measured stands."""
    row = locked(session, slug)
    require_organizer(session, row.id, principal)
    if (row.file, row.original) != new.replaces:
        raise Conflict("the competition has changed meanwhile; try again", code="changed_meanwhile")
    check_fixed_parts(session, row, new)
    require_confirmed_ends(session, principal, row, parsed(new.file).phases)
    note_revision(session, principal, row, new)
    row.file, row.scales = new.file, new.scales
    row.original, row.original_rows = new.original, new.original_rows
    return row


def note_revision(session: Session, principal: Principal, row: CompetitionRow, new: Revision) -> None:
    """Put in the audit log what the revision exchanges: the file, the data, or both."""
    if row.file != new.file:
        audit.record(
            session,
            principal,
            "competition.revise",
            competition_id=row.id,
            subject=row.slug,
            before={"sha256": sha256_of(row.file)},
            after={"sha256": sha256_of(new.file), "changed": changed_parts(row.file, new.file)},
        )
    if row.original != new.original:
        audit.record(
            session,
            principal,
            "original.upload" if new.original else "original.drop",
            competition_id=row.id,
            subject=row.slug,
            before=dict(row.original),
            after=dict(new.original),
        )


def changed_parts(before: str, after: str) -> list[str]:
    """The top-level keys and tables of the file that say something else now."""
    old, new = tables_of(before), tables_of(after)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def tables_of(file: str) -> dict[str, object]:
    """Its keys and tables; none of a text that is no TOML."""
    try:
        return loaded(file)
    except InvalidCompetition:
        return {}


def history(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    after: int | None,
    limit: int,
    wanted: Wanted = audit.EVERYTHING,
) -> Sequence[AuditEntry]:
    """A competition's audit entries, newest first, those below number ``after``; for its organizers."""
    row = for_revision(session, principal, slug)
    return audit.page(session, row.id, after=after, limit=limit, wanted=wanted)


def require_confirmed_ends(
    session: Session, principal: Principal, row: CompetitionRow, after: tuple[Phase, ...]
) -> None:
    """An end that moves nearer, once the contest has begun, needs the password; so does one that is gone.

    Of a file that cannot be read nobody knows what was nearer.
    """
    try:
        begun = phases.standing(session, row).state != "draft"
    except CompetitionUnavailable:
        return
    ends = {phase.name: phase.end for phase in after}
    before = phases.timetable_of(row).phases
    if begun and any(phase.name not in ends or ends[phase.name] < phase.end for phase in before):
        principal.require_confirmed()


def check_fixed_parts(session: Session, row: CompetitionRow, new: Revision) -> None:
    after = parsed(new.file)
    try:
        before = read_file(row.file)
    except CompetitionUnavailable:
        check_repair(session, row, new, after)
        return
    if (before.slug, before.track) != (after.slug, after.track):
        raise Conflict("slug and track of a competition are fixed", code="fixed")
    for name, turned_at in (("anonymization", row.frozen_at), ("reidentification", row.closed_at)):
        if turned_at is not None and window(before, name) != window(after, name):
            raise Conflict(f"the {name} phase has ended and turned", code="phase_turned")
    if row.paused_at is not None and before.phases != after.phases:
        raise Conflict("a phase is paused: resume it before its windows are changed", code="phase_paused")
    if session.scalar(select(open_rescore(row.id))):
        raise Conflict("there is an open re-score set: apply or cancel it first", code="rescore_open")
    if notice_of(after) < notice_of(before) and has_submissions(session, row.id):
        raise Conflict(
            "there are submissions: the notice before an early reveal can only become longer",
            code="fixed",
        )
    same = row.original == new.original and rules_of(before, row.scales) == rules_of(after, new.scales)
    if not same and has_submissions(session, row.id):
        raise Conflict(
            "there are submissions: data and columns are fixed, the rules change only by a re-score set",
            code="fixed",
        )


def notice_of(competition: Competition) -> int:
    return competition.publication.reveal_notice_hours


def check_repair(session: Session, row: CompetitionRow, new: Revision, after: Competition) -> None:
    """What replaces a file that cannot be read keeps to what stands beside the file."""
    if after.slug != row.slug:
        raise Conflict("the slug of a competition is fixed", code="fixed")
    for name, turned_at in (("anonymization", row.frozen_at), ("reidentification", row.closed_at)):
        ended = window(after, name)
        if turned_at is not None and (ended is None or ended[1] > turned_at):
            raise Conflict(f"the {name} phase has ended and turned", code="phase_turned")
    if session.scalar(select(open_rescore(row.id))):
        raise Conflict("there is an open re-score set: apply or cancel it first", code="rescore_open")
    if row.original != new.original and has_submissions(session, row.id):
        raise Conflict("there are submissions: the data are fixed", code="fixed")


def window(competition: Competition, name: str) -> tuple[datetime, datetime] | None:
    return next(((phase.start, phase.end) for phase in competition.phases if phase.name == name), None)


def open_rescore(competition_id: UUID) -> Exists:
    """Whether a re-score set is neither applied nor cancelled."""
    ended = Rescore.applied_at.is_not(None) | Rescore.cancelled_at.is_not(None)
    return exists().where(Rescore.competition_id == competition_id, ~ended)


def published_file(row: CompetitionRow) -> str:
    """competition.toml as everybody reads it and every worker scores by: with its scales and what counts."""
    return completed(row.file, row.scales, row.scored_by)


def completed(file: str, scales: Mapping[str, float], scored_by: Versions) -> str:
    """A stored file with what is kept beside it; as it stands if it is no TOML: its readers find out."""
    return written_out(file, tuple(scales.items()), tuple(scored_by.items()))


@lru_cache(maxsize=64)
def written_out(file: str, scales: tuple[tuple[str, float], ...], scored_by: Pairs) -> str:
    """Once per text: every claim of a worker asks for it."""
    try:
        file = with_scales(file, dict(scales)) if scales else file
        return with_scored_by(file, dict(scored_by)) if scored_by else file
    except InvalidCompetition:
        return file


def in_force(row: CompetitionRow) -> Competition:
    """The rules with what is kept beside the file, though what counts may not be installed.

    CompetitionUnavailable if the file itself cannot be read.
    """
    return replace(read_file(row.file), scales=row.scales, scored_by=row.scored_by)


def fix_what_counts(row: CompetitionRow) -> None:
    """At the first submission, under the exclusive lock; later it changes by a re-score set alone."""
    if not row.scored_by:
        row.scored_by = what_counts(read_file(row.file))


def rules_of(competition: Competition, in_force: dict[str, float]) -> tuple[object, ...]:
    """All that a verdict depends on; of the scales, those in force, whoever wrote them into the file."""
    return (
        competition.columns,
        competition.measures,
        competition.attackers,
        in_force,
        competition.excessive,
        competition.limits.min_rows_kept,
    )


def locked(session: Session, slug: str) -> CompetitionRow:
    """The row under the exclusive lock that keeps acceptance out meanwhile."""
    row = find(session, slug)
    session.refresh(row, with_for_update=True)
    return row


def organizers_row(session: Session, principal: Principal, slug: str) -> CompetitionRow:
    """The row under the lock that keeps acceptance and the clock out, for one of its organizers."""
    row = locked(session, slug)
    require_organizer(session, row.id, principal)
    return row


def has_submissions(session: Session, competition_id: UUID) -> bool:
    return bool(session.scalar(select(exists().where(Submission.competition_id == competition_id))))


@lru_cache(maxsize=4)
def original_tables(digests: tuple[tuple[str, str], ...], file: str) -> Tables:
    """The original; a few are kept, for every upload is checked against one."""
    competition = read_file(file)
    contents = {name: store().get(digest) for name, digest in digests}
    return TRACKS[competition.track].parse_original(contents, competition)[0]
