"""Revisions of a competition's file and data: compute one, check that it is allowed, and apply it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from anoncup.competition.parser import read_file
from anoncup.competition.ranking_formulas import check_ranking
from anoncup.errors import CompetitionUnavailable, Conflict, NotFound
from anoncup.messages import N_
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Phase
from anoncup.runner.originals import ParseOriginalJob
from anoncup.tables.files import Remark
from app.competitions import competitions, phases, reveal_notice
from app.core import audit
from app.core.db.models import Competition, OrganizerFile, Rescore, Round
from app.core.db.transaction import read_clock
from app.core.identity.principal import Principal
from app.core.processes import parsing
from app.core.storage import get_store

ALREADY_ALLOCATED = N_("the teams' data have been drawn: their source can no longer be changed")

CompetitionState = tuple[str, dict[str, dict[str, str]]]
"""A competition's file and the digests of the original data of each round by its id."""


@dataclass(frozen=True, slots=True)
class RoundRevision:
    """A new state of a round's rules and data.

    ``round_id``: None for a new round. ``file``: its rules as a competition file without rounds.
    """

    round_id: UUID | None
    file: str
    rules: Rules
    original: dict[str, str]
    original_rows: int | None
    scales: dict[str, float]
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class Revision:
    """A new state of a competition's file and data, computed from the state it replaces.

    ``rounds``: the state of each round in the order of the file.
    """

    file: str
    rounds: tuple[RoundRevision, ...]
    replaces: CompetitionState
    remarks: tuple[Remark, ...] = ()

    def find_round(self, round_: Round) -> RoundRevision | None:
        """Return the new state of a round; None if the new file does not have it."""
        return next((revision for revision in self.rounds if revision.round_id == round_.id), None)


def compute_file_revision(round_: Round, file: str) -> Revision:
    """Compute a revision with a new file and the same data, without a session.

    The data are dropped if the new file reads them differently.
    """
    return compute_revision(round_, competitions.read_hostable_file(file).text, None)


def drops_original(competition: Competition, file: str) -> bool:
    """Return whether a round has data that the new file reads differently, so that they are dropped."""
    new_rules = competitions.read_hostable_file(file).rules
    stored_rounds = match_rounds(competition.rounds, list(new_rules))
    return any(
        round_.original and not _is_data_kept(round_, new_rules[name])
        for name, round_ in stored_rounds.items()
    )


def _is_data_kept(round_: Round, new_rules: Rules) -> bool:
    """Return whether the data of the round can be kept under the new rules.

    If the present file cannot be read, the names of the data files must exist in the new track.
    """
    try:
        return _build_parsing_key(round_.rules) == _build_parsing_key(new_rules)
    except CompetitionUnavailable:
        return set(round_.original) <= set(TRACKS[new_rules.track].original_file_names)


def _build_parsing_key(rules: Rules) -> tuple[object, ...]:
    """Return the parts of the rules on which parsing the data depends."""
    return rules.track, rules.columns, rules.settings


def compute_original_revision(round_: Round, name: str, content: bytes, file: str | None = None) -> Revision:
    """Compute a revision with a new file of the original data, without a session.

    ``file``: new competition file; None keeps the present one. The other files of the original are checked
    against the first one, so it must be uploaded first, and replacing it drops the others.
    """
    require_own_data(round_)
    first_name = round_.track.original_file_names[0]
    if name != first_name and first_name not in round_.original:
        raise Conflict(
            "upload {first}.csv first: {name}.csv is checked against it",
            code="first_file_missing",
            first=first_name,
            name=name,
        )
    kept_digests = {} if name == first_name else round_.original
    contents = competitions.load_contents(kept_digests) | {name: content}
    return compute_revision(round_, round_.competition.file if file is None else file, contents)


def require_own_data(round_: Round) -> None:
    """Raise Conflict for a round that has the data of the previous one."""
    if round_.settings.data == "previous":
        raise Conflict("this round has the data of the previous one", code="previous_data")


def compute_revision(round_: Round, file: str, contents: dict[str, bytes] | None) -> Revision:
    """Compute a revision with a new file, and with new ``contents`` as the original data of one round.

    None keeps the data that the new file reads as before. A round without data of its own has those of the
    previous one.
    """
    competition = round_.competition
    rounds = competition.rounds
    new_file = read_file(file)
    stored_rounds = match_rounds(rounds, list(new_file.rounds))
    round_revisions: list[RoundRevision] = []
    remarks: tuple[Remark, ...] = ()
    for name, entry in new_file.rounds.items():
        stored, rules = stored_rounds.get(name), new_file.rules[name]
        if entry.settings.data == "previous":
            round_contents = competitions.load_contents(round_revisions[-1].original)
        elif stored is round_ and contents is not None:
            round_contents = contents
        elif stored is not None and _is_data_kept(stored, rules):
            round_contents = competitions.load_contents(stored.original)
        else:
            round_contents = {}
        round_revision = _compute_round(stored, new_file.round_texts[name], rules, round_contents)
        round_revisions.append(round_revision)
        remarks = round_revision.remarks if stored is round_ else remarks
    return Revision(file, tuple(round_revisions), describe_state(competition), remarks)


def match_rounds(rounds: Sequence[Round], names: Sequence[str]) -> dict[str, Round]:
    """Return the stored rounds by their names in a new file. A single round may get another name."""
    if len(rounds) == 1 and rounds[0].name not in names:
        return {names[0]: rounds[0]}
    return {round_.name: round_ for round_ in rounds if round_.name in names}


def _compute_round(
    stored: Round | None, file: str, rules: Rules, contents: dict[str, bytes]
) -> RoundRevision:
    """Parse and store the original data of a round; compute the scales once all files are present."""
    in_use = stored is not None and bool(stored.scored_by)
    job = ParseOriginalJob(competition_file=file, original=contents, in_use=in_use)
    parsed_original = parsing.read_original(job, rules.track)
    digests = {name: get_store().save(content) for name, content in contents.items()}
    return RoundRevision(
        stored.id if stored else None,
        file,
        rules,
        digests,
        parsed_original.individuals,
        parsed_original.scales,
        parsed_original.remarks,
    )


def describe_state(competition: Competition) -> CompetitionState:
    """Return the file and data that a revision replaces."""
    return competition.file, {str(round_.id): dict(round_.original) for round_ in competition.rounds}


def find_original_part(round_: Round, file_name: str) -> str:
    """Return the name of the original's part that is uploaded under this file name; raises NotFound."""
    names = {f"{name}.csv": name for name in round_.track.original_file_names}
    if file_name not in names:
        raise NotFound("the original consists of {names}", code="no_such_file", names=tuple(names))
    return names[file_name]


def apply_revision(session: Session, principal: Principal, slug: str, revision: Revision) -> Round:
    """Apply a revision; after the first submission, data and scoring rules can no longer change.

    Another file then needs the password: what it shows to others cannot be taken back.
    """
    round_ = competitions.lock_for_organizer(session, principal, slug, all_rounds=True)
    competition = round_.competition
    require_unchanged(describe_state(competition), revision.replaces)
    for sibling in competition.rounds:
        round_revision = revision.find_round(sibling)
        if round_revision is None:
            _remove_round(session, sibling)
        else:
            rules = round_revision.rules
            _check_fixed_parts(session, sibling, round_revision)
            require_step_up_for_earlier_end(session, principal, sibling, rules.phases)
            notice = timedelta(hours=rules.publication.reveal_notice_hours)
            reveal_notice.record_new_ends(session, sibling, rules.phases, notice)
    if competition.file != revision.file and competitions.has_any_submission(session, competition):
        principal.require_reauthentication()
    _audit_revision(session, principal, competition, revision)
    for position, round_revision in enumerate(revision.rounds):
        _apply_to_round(session, competition, position, round_revision)
    competition.file = revision.file
    session.flush()
    session.expire(competition, ["rounds"])
    is_removed = round_.removed_at is not None
    return competitions.find(session, principal, competition.slug) if is_removed else round_


def _remove_round(session: Session, round_: Round) -> None:
    """Remove a round that the new file does not have, unless it has begun."""
    if round_.allocated_at is not None or phases.has_contest_begun(session, round_):
        raise Conflict("a round that has begun cannot be removed", code="fixed")
    round_.removed_at = read_clock(session)


def _apply_to_round(
    session: Session, competition: Competition, position: int, revision: RoundRevision
) -> None:
    if revision.round_id is None:
        round_ = competitions.add_round(competition, revision.rules, position)
        session.add(round_)
    else:
        round_ = session.get_one(Round, revision.round_id)
        if not _keeps_allocation_inputs(round_, revision):
            _discard_allocation(session, round_)
        round_.allocation = competitions.describe_allocation(revision.rules)
    round_.name, round_.position, round_.scales = revision.rules.round, position, revision.scales
    round_.original, round_.original_rows = revision.original, revision.original_rows


def _discard_allocation(session: Session, round_: Round) -> None:
    """Drop the files allocated to all teams, and delete the organizers' sealed files.

    They were made from, or checked against, data or rules that change.
    """
    round_.shared_files = {}
    if round_.allocation.get("truth"):
        session.execute(delete(OrganizerFile).where(OrganizerFile.round_id == round_.id))


def _keeps_allocation_inputs(round_: Round, revision: RoundRevision) -> bool:
    try:
        is_same_key = _build_allocation_key(round_.rules) == _build_allocation_key(revision.rules)
    except CompetitionUnavailable:
        is_same_key = False
    return is_same_key and round_.original == revision.original


def _build_allocation_key(rules: Rules) -> tuple[object, ...]:
    """Return the rules on which an allocation depends, besides the data and the seed."""
    return *_build_parsing_key(rules), rules.questions


def build_team_files_key(rules: Rules) -> tuple[object, ...]:
    """Return the rules on which the teams' own files depend; measures and questions have no influence."""
    return *_build_parsing_key(rules), competitions.describe_allocation(rules)


def require_unchanged(current: object, replaced: object) -> None:
    """Raise Conflict if the file or the data of the competition have changed since they were read."""
    if current != replaced:
        raise Conflict("the competition has changed meanwhile; try again", code="changed_meanwhile")


def _audit_revision(
    session: Session, principal: Principal, competition: Competition, revision: Revision
) -> None:
    """Record changes of the file and of the data in the audit log."""
    if competition.file != revision.file:
        audit.record(
            session,
            principal,
            "competition.revise",
            competition.id,
            subject=competition.slug,
            before={"sha256": competitions.compute_text_digest(competition.file)},
            after={
                "sha256": competitions.compute_text_digest(revision.file),
                "changed": competitions.find_changed_parts(competition.file, revision.file),
            },
        )
    for round_revision in revision.rounds:
        stored = next((row for row in competition.rounds if row.id == round_revision.round_id), None)
        original = stored.original if stored else {}
        if original != round_revision.original:
            audit.record(
                session,
                principal,
                "original.upload" if round_revision.original else "original.drop",
                competition.id,
                subject=round_revision.rules.address,
                before=dict(original),
                after=dict(round_revision.original),
            )


def require_step_up_for_earlier_end(
    session: Session, principal: Principal, round_: Round, new_phases: tuple[Phase, ...]
) -> None:
    """Require the password for an earlier or removed end of a phase once the contest has begun.

    The ends in an unreadable file are unknown.
    """
    try:
        is_under_way = phases.has_contest_begun(session, round_)
    except CompetitionUnavailable:
        return
    new_ends = {phase.name: phase.end for phase in new_phases}
    current_phases = round_.timetable.phases
    if is_under_way and any(
        phase.name not in new_ends or new_ends[phase.name] < phase.end for phase in current_phases
    ):
        principal.require_reauthentication()


def _check_fixed_parts(session: Session, round_: Round, revision: RoundRevision) -> None:
    new_rules = revision.rules
    try:
        current_rules = round_.rules
    except CompetitionUnavailable:
        _check_unreadable_replacement(session, round_, revision)
        return
    if (current_rules.slug, current_rules.track) != (new_rules.slug, new_rules.track):
        raise Conflict("address and track of a competition are fixed", code="fixed")
    for name in (phases.ANONYMIZATION, phases.REIDENTIFICATION):
        is_changed = current_rules.phase(name) != new_rules.phase(name)
        if is_changed and phases.get_fixed_at(round_, name) is not None:
            raise phases.build_fixed_error(name)
    if round_.allocated_at is not None and (
        round_.original != revision.original
        or _build_allocation_key(current_rules) != _build_allocation_key(new_rules)
    ):
        raise Conflict(ALREADY_ALLOCATED, code="drawn_already")
    if round_.paused_at is not None and current_rules.phases != new_rules.phases:
        raise Conflict("a phase is paused: resume it before changing the schedule", code="phase_paused")
    check_ranking(replace(new_rules, scored_by=round_.scored_by))
    require_no_open_rescore(session, round_.id)
    require_no_shorter_notice(session, round_, current_rules, new_rules)
    is_same_scoring = round_.original == revision.original and build_scoring_key(
        current_rules, round_.scales
    ) == build_scoring_key(new_rules, revision.scales)
    if not is_same_scoring and competitions.has_submissions(session, round_.id):
        raise Conflict(
            "there are submissions: data and columns are fixed, the rules change only by a re-score set",
            code="fixed",
        )


def _get_notice_hours(rules: Rules) -> int:
    return rules.publication.reveal_notice_hours


def require_no_shorter_notice(
    session: Session, round_: Round, current_rules: Rules, new_rules: Rules
) -> None:
    if _get_notice_hours(new_rules) < _get_notice_hours(current_rules) and competitions.has_submissions(
        session, round_.id
    ):
        raise Conflict(
            "there are submissions: the notice before an early reveal can only become longer",
            code="notice_fixed",
        )


def _check_unreadable_replacement(session: Session, round_: Round, revision: RoundRevision) -> None:
    """Check the replacement of an unreadable file against the facts stored outside of it."""
    if revision.rules.slug != round_.competition.slug:
        raise Conflict("the address of a competition is fixed", code="fixed")
    for name in (phases.ANONYMIZATION, phases.REIDENTIFICATION):
        fixed_at, phase = phases.get_fixed_at(round_, name), revision.rules.phase(name)
        if fixed_at is not None and (phase is None or phase.end > fixed_at):
            raise phases.build_fixed_error(name)
    require_no_open_rescore(session, round_.id)
    if round_.original != revision.original and round_.allocated_at is not None:
        raise Conflict(ALREADY_ALLOCATED, code="drawn_already")
    if round_.original != revision.original and competitions.has_submissions(session, round_.id):
        raise Conflict("there are submissions: the data are fixed", code="fixed")


def find_open_rescore(session: Session, round_id: UUID) -> Rescore | None:
    """Return the rescore that is neither applied nor cancelled, or None."""
    return session.scalar(
        select(Rescore).where(
            Rescore.round_id == round_id, Rescore.applied_at.is_(None), Rescore.cancelled_at.is_(None)
        )
    )


def require_no_open_rescore(session: Session, round_id: UUID) -> None:
    if find_open_rescore(session, round_id) is not None:
        raise Conflict("there is an open re-score set: apply or cancel it first", code="rescore_open")


def build_scoring_key(rules: Rules, effective_scales: dict[str, float]) -> tuple[object, ...]:
    """Return everything on which a verdict depends, and the ranking functions, whose versions count too.

    ``effective_scales`` are the stored scales, which may differ from scales written in the file.
    """
    return (
        *_build_parsing_key(rules),
        rules.measures,
        rules.attackers,
        rules.questions,
        effective_scales,
        rules.excessive,
        rules.limits.min_rows_kept,
        rules.ranking.collect_value_names() & TRACKS[rules.track].measures.keys(),
        rules.ranking.list_functions(),
    )
