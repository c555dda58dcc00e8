"""Revisions of a competition's file and data: computed, checked against what stands, put in force."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from anoncup.errors import CompetitionUnavailable, Conflict, NotFound
from anoncup.lazy import deferred
from anoncup.messages import N_, Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Phase
from anoncup.tables.files import Remark
from anoncup.tracks.files import FileSpec
from app.db.models import Competition, Rescore, Truth
from app.processes import parser_process
from app.services.accounts import audit
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, phases, rehearsal_schedule
from app.services.contests.contest import Contest, parsed, read_file
from app.services.contests.disclosure import discloses_more
from app.storage import store

if TYPE_CHECKING:
    from anoncup.evaluation.scales import check_scales, scales
    from anoncup.tables.profile.header_guess import check_first_line
else:
    check_first_line = deferred("anoncup.tables.profile.header_guess.check_first_line")
    check_scales = deferred("anoncup.evaluation.scales.check_scales")
    scales = deferred("anoncup.evaluation.scales.scales")

DRAWN_ALREADY = N_("the teams' data have been drawn: their source can no longer be changed")

State = tuple[str, dict[str, str]]
"""A competition's file, and the digests of its original."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A new state of a competition's file and data, computed from the state it replaces."""

    file: str
    original: dict[str, str]
    original_rows: int | None
    scales: dict[str, float]
    replaces: State
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedOriginal:
    """What a parser finds in an original; ``individuals``: None while a file is missing."""

    individuals: int | None
    scales: dict[str, float]
    remarks: tuple[Remark, ...]


def revision_of_file(contest: Contest, file: str) -> Revision:
    """The same data under a new file; data of other columns are dropped. Needs no session."""
    file = competitions.sent_file(file)
    after = competitions.hostable(file)
    kept = contest.row.original if takes_same_data(contest, after) else {}
    return revision(contest.row, file, competitions.contents_of(kept))


def takes_same_data(contest: Contest, after: Rules) -> bool:
    """Whether the data can stay; where the present file cannot be read, it has to fit into the new one."""
    try:
        before = contest.rules
    except CompetitionUnavailable:
        return set(contest.row.original) <= set(TRACKS[after.track].original_files)
    return read_as(before) == read_as(after)


def read_as(rules: Rules) -> tuple[object, ...]:
    """What the reading of the data depends on."""
    return rules.track, rules.columns, rules.settings


def revision_of_original(contest: Contest, name: str, content: bytes, file: str | None = None) -> Revision:
    """The same competition file, or ``file``, with a new file of the original. Needs no session.

    The others are read against the first: it has to be there, and a new one drops them.
    """
    first = contest.track.original_files[0]
    if name != first and first not in contest.row.original:
        raise Conflict(
            "upload {first}.csv first: {name}.csv is checked against it",
            code="first_file_missing",
            first=first,
            name=name,
        )
    spec = next(each for each in contest.track.original if each.name == name)
    parser_process.call(parser_process.ORIGINALS, check_header, content, name, names_in(spec, contest.rules))
    kept = {} if name == first else contest.row.original
    contents = competitions.contents_of(kept) | {name: content}
    return revision(contest.row, contest.row.file if file is None else file, contents)


def names_in(spec: FileSpec, rules: Rules) -> tuple[str, ...]:
    """The columns that the file must have, or else those of the competition."""
    required = spec.header(rules)
    if required is not None or rules.columns is None:
        return required or ()
    return (*rules.columns.quasi_identifiers, *rules.columns.sensitive)


def check_header(content: bytes, name: str, names: tuple[str, ...]) -> None:
    check_first_line(content, name, names)


def revision(row: Competition, file: str, contents: dict[str, bytes]) -> Revision:
    """Parse and store ``file`` with the original ``contents``; compute the scales once it is complete."""
    parsed_original = parser_process.call(
        parser_process.ORIGINALS, parse_original, file, contents, in_use=bool(row.scored_by)
    )
    return Revision(
        file,
        {name: store().put(content) for name, content in contents.items()},
        parsed_original.individuals,
        parsed_original.scales,
        (row.file, dict(row.original)),
        parsed_original.remarks,
    )


def parse_original(file: str, contents: dict[str, bytes], *, in_use: bool) -> ParsedOriginal:
    """Parse the files of an original by a competition's file; called in the parser.

    ``in_use``: somebody has been scored by it.
    """
    rules = parsed(file)
    track = TRACKS[rules.track]
    missing = [file.name for file in track.original if file.required and file.name not in contents]
    if missing:
        if contents:
            track.check_part(contents, rules)
        return ParsedOriginal(None, {}, tuple(map(awaited, missing)) if contents else ())
    tables, remarks = track.parse_original(contents, rules)
    original = track.prepare(tables, rules)
    found = {**scales(track, original, rules.measures), **rules.scales}
    if not in_use:
        check_scales(track, original, rules, found)
    return ParsedOriginal(track.individuals(tables), found, tuple(remarks))


def part_of_original(contest: Contest, file: str) -> str:
    """The part of the original that a file of this name holds."""
    names = {f"{name}.csv": name for name in contest.track.original_files}
    if file not in names:
        raise NotFound("the original consists of {names}", code="no_such_file", names=tuple(names))
    return names[file]


def awaited(name: str) -> Remark:
    message = Message("{name}.csv is not uploaded yet; until then nobody sees the data", name=name)
    return Remark("file_missing", message)


def revise(session: Session, principal: Principal, slug: str, new: Revision) -> Contest:
    """Put a revision in force; once somebody has submitted, what is measured stands."""
    contest = competitions.locked_for_organizer(session, principal, slug)
    row = contest.row
    require_unchanged(row, new)
    check_fixed_parts(session, contest, new)
    require_confirmed_ends(session, principal, row, parsed(new.file).phases)
    require_confirmed_disclosure(session, principal, contest, parsed(new.file))
    note_revision(session, principal, row, new)
    let_go_of_truth(session, row, new)
    row.drawn, row.drawing = drawn_after(row, new), competitions.drawing(parsed(new.file))
    row.file, row.scales = new.file, new.scales
    row.original, row.original_rows = new.original, new.original_rows
    rehearsal_schedule.follow(session, row)
    return contest


def let_go_of_truth(session: Session, row: Competition, new: Revision) -> None:
    """What organizers hold was found right for data and rules that are replaced."""
    if row.drawing.get("truth") and not is_drawn_from_same(row, new):
        session.execute(delete(Truth).where(Truth.competition_id == row.id))


def is_drawn_from_same(row: Competition, new: Revision) -> bool:
    try:
        same = drawn_by(read_file(row.file)) == drawn_by(parsed(new.file))
    except CompetitionUnavailable:
        same = False
    return same and row.original == new.original


def drawn_after(row: Competition, new: Revision) -> dict[str, str]:
    """What stays of what was drawn for all: everything, or nothing if it was drawn from something else."""
    return row.drawn if is_drawn_from_same(row, new) else {}


def drawn_by(rules: Rules) -> tuple[object, ...]:
    """What a draw depends on beside the data and the seed."""
    return *read_as(rules), rules.questions


def held_by(rules: Rules) -> tuple[object, ...]:
    """What teams' own files are drawn from, whatever is measured or asked of them."""
    return *read_as(rules), competitions.drawing(rules)


def require_unchanged(row: Competition, new: Revision) -> None:
    """The competition has to stand as it stood when the revision was computed."""
    if (row.file, row.original) != new.replaces:
        raise Conflict("the competition has changed meanwhile; try again", code="changed_meanwhile")


def note_revision(session: Session, principal: Principal, row: Competition, new: Revision) -> None:
    """Put in the audit log what the revision exchanges: the file, the data, or both."""
    if row.file != new.file:
        audit.record(
            session,
            principal,
            "competition.revise",
            competition_id=row.id,
            subject=row.slug,
            before={"sha256": competitions.sha256_of(row.file)},
            after={"sha256": competitions.sha256_of(new.file), "changed": changed_parts(row.file, new.file)},
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
    old, new = competitions.tables_of(before), competitions.tables_of(after)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def require_confirmed_ends(
    session: Session, principal: Principal, row: Competition, after: tuple[Phase, ...]
) -> None:
    """An end that moves nearer, once the contest has begun, needs the password; so does one that is gone.

    Of a file that cannot be read nobody knows what was nearer: see ``require_confirmed_disclosure``.
    """
    try:
        begun = phases.has_begun(session, row)
    except CompetitionUnavailable:
        return
    ends = {phase.name: phase.end for phase in after}
    before = phases.timetable_of(row).phases
    if begun and any(phase.name not in ends or ends[phase.name] < phase.end for phase in before):
        principal.require_confirmed()


def require_confirmed_disclosure(
    session: Session, principal: Principal, contest: Contest, after: Rules
) -> None:
    """Once somebody has submitted, to show others more, or to let teams guess more often, needs the password.

    So does a longer notice, which never becomes shorter again, and what replaces a file that cannot be read:
    nobody knows what it kept back, nor until when.
    """
    try:
        before = contest.rules
        more = discloses_more(before, after) or notice_of(after) > notice_of(before)
    except CompetitionUnavailable:
        more = True
    if more and competitions.has_submissions(session, contest.id):
        principal.require_confirmed()


def check_fixed_parts(session: Session, contest: Contest, new: Revision) -> None:
    row, after = contest.row, parsed(new.file)
    try:
        before = contest.rules
    except CompetitionUnavailable:
        check_repair(session, row, new, after)
        return
    if (before.slug, before.track) != (after.slug, after.track):
        raise Conflict("address and track of a competition are fixed", code="fixed")
    for name, turned_at in (("anonymization", row.frozen_at), ("reidentification", row.closed_at)):
        if turned_at is not None and before.phase(name) != after.phase(name):
            raise Conflict(
                "the {phase} phase has ended and can no longer be changed",
                code="phase_turned",
                phase=Message(name),
            )
    if row.drawn_at is not None and (row.original != new.original or drawn_by(before) != drawn_by(after)):
        raise Conflict(DRAWN_ALREADY, code="drawn_already")
    if row.paused_at is not None and before.phases != after.phases:
        raise Conflict("a phase is paused: resume it before changing the schedule", code="phase_paused")
    require_no_open_rescore(session, row.id)
    require_notice(session, row, before, after)
    same = row.original == new.original and rules_of(before, row.scales) == rules_of(after, new.scales)
    if not same and competitions.has_submissions(session, row.id):
        raise Conflict(
            "there are submissions: data and columns are fixed, the rules change only by a re-score set",
            code="fixed",
        )


def notice_of(rules: Rules) -> int:
    return rules.publication.reveal_notice_hours


def require_notice(session: Session, row: Competition, before: Rules, after: Rules) -> None:
    if notice_of(after) < notice_of(before) and competitions.has_submissions(session, row.id):
        raise Conflict(
            "there are submissions: the notice before an early reveal can only become longer",
            code="notice_fixed",
        )


def check_repair(session: Session, row: Competition, new: Revision, after: Rules) -> None:
    """What replaces a file that cannot be read keeps to what stands beside the file."""
    if after.slug != row.slug:
        raise Conflict("the address of a competition is fixed", code="fixed")
    for name, turned_at in (("anonymization", row.frozen_at), ("reidentification", row.closed_at)):
        phase = after.phase(name)
        if turned_at is not None and (phase is None or phase.end > turned_at):
            raise Conflict(
                "the {phase} phase has ended and can no longer be changed",
                code="phase_turned",
                phase=Message(name),
            )
    require_no_open_rescore(session, row.id)
    if row.original != new.original and row.drawn_at is not None:
        raise Conflict(DRAWN_ALREADY, code="drawn_already")
    if row.original != new.original and competitions.has_submissions(session, row.id):
        raise Conflict("there are submissions: the data are fixed", code="fixed")


def open_rescore(session: Session, competition_id: UUID) -> Rescore | None:
    """The re-score set that is neither applied nor cancelled."""
    return session.scalar(
        select(Rescore).where(
            Rescore.competition_id == competition_id,
            Rescore.applied_at.is_(None),
            Rescore.cancelled_at.is_(None),
        )
    )


def require_no_open_rescore(session: Session, competition_id: UUID) -> None:
    if open_rescore(session, competition_id) is not None:
        raise Conflict("there is an open re-score set: apply or cancel it first", code="rescore_open")


def rules_of(rules: Rules, in_force: dict[str, float]) -> tuple[object, ...]:
    """All that a verdict depends on; of the scales, those in force, whoever wrote them into the file."""
    return (
        *read_as(rules),
        rules.measures,
        rules.attackers,
        rules.questions,
        in_force,
        rules.excessive,
        rules.limits.min_rows_kept,
    )
