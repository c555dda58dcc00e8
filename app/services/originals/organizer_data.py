"""Organizers' own files: checked, sealed with the workers' public key, and never returned to anybody."""

from dataclasses import dataclass

from sqlalchemy import func, update
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, NotFound
from anoncup.plugins import TRACKS
from app.config import get_settings
from app.crypto import sealing
from app.db.models import OrganizerFile, Round
from app.processes import parser_process
from app.services.accounts import audit
from app.services.accounts.principal import Principal
from app.services.contests import competitions, revisions, sealed_inputs
from app.services.contests.contest import Contest, parse_stored_rules

_FileDigests = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CheckedOrganizerFile:
    """An organizer file that was checked against the competition file and data in ``replaces``.

    It is kept in memory only.
    """

    name: str
    content: bytes
    replaces: revisions.FileAndDigests


def find_organizer_file(contest: Contest, file_name: str) -> str:
    """Return the name of the organizer file for this file name; raises NotFound if there is none."""
    names: dict[str, str] = {f"{name}.csv": name for name in contest.round.allocation.get("truth", ())}
    if file_name not in names:
        raise NotFound("the organizers' own files are {names}", code="no_such_file", names=tuple(names))
    return names[file_name]


def check_organizer_file(contest: Contest, name: str, content: bytes) -> CheckedOrganizerFile:
    """Check an organizer file; raises InvalidUpload, without quoting the content. Needs no session."""
    round_ = contest.round
    _require_not_allocated(round_)
    if round_.original_rows is None:
        raise Conflict("the competition has no original data yet", code="no_original")
    digests = tuple(sorted(round_.original.items()))
    parser_process.call_with_files(
        parser_process.ORIGINALS,
        round_.original.values(),
        _check_content,
        digests,
        round_.file,
        name,
        content,
    )
    return CheckedOrganizerFile(name, content, (round_.file, dict(round_.original)))


def _check_content(digests: _FileDigests, file: str, name: str, content: bytes) -> None:
    rules = parse_stored_rules(file)
    allocation = TRACKS[rules.track].allocation
    if allocation is not None and allocation.check_organizer_file is not None:
        allocation.check_organizer_file(name, content, competitions.load_original(digests, file), rules)


def _require_not_allocated(round_: Round) -> None:
    if round_.allocated_at is not None:
        raise Conflict(revisions.ALREADY_ALLOCATED, code="drawn_already")


def store_sealed(
    session: Session,
    principal: Principal,
    slug: str,
    checked_file: CheckedOrganizerFile,
) -> Contest:
    """Seal and store a checked file, replacing an earlier one; only before the first allocation."""
    contest = competitions.lock_for_organizer(session, principal, slug)
    round_ = contest.round
    _require_not_allocated(round_)
    revisions.require_unchanged((round_.file, round_.original), checked_file.replaces)
    binding_id = sealed_inputs.compute_binding_id(round_.id, checked_file.name)
    sealed = sealing.seal(get_settings().sealing_key_file, bound_to=binding_id, secret=checked_file.content)
    values = {"key_id": sealed.key_id, "sealed": sealed.box, "commitment": sealed.commitment}
    conditions = OrganizerFile.round_id == round_.id, OrganizerFile.name == checked_file.name
    new_values = {**values, "size": len(checked_file.content), "created_at": func.clock_timestamp()}
    # The web application has no permission to read the replaced row.
    updated = session.execute(
        update(OrganizerFile).where(*conditions).values(**new_values).returning(OrganizerFile.name)
    )
    if updated.first() is None:
        session.add(
            OrganizerFile(
                round_id=round_.id,
                name=checked_file.name,
                size=len(checked_file.content),
                **values,
            )
        )
        session.flush()
    audit.record(
        session,
        principal,
        "truth.upload",
        round_.competition_id,
        subject=checked_file.name,
        after={"commitment": sealed.commitment},
    )
    return contest
