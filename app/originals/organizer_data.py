"""Organizers' own files: checked, sealed with the workers' public key, and never returned to anybody."""

from dataclasses import dataclass

from sqlalchemy import delete
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, NotFound
from anoncup.messages import Message
from anoncup.runner.originals import CheckOrganizerFileJob
from app.competitions import competitions, revisions
from app.config import get_settings
from app.core import audit, sealing
from app.core.db.models import OrganizerFile, Round
from app.core.identity.principal import Principal
from app.core.processes import parsing
from app.originals import allocated_files, sealed_inputs
from app.originals.models import SealedOrganizerFile

AllocatedDigests = dict[str, dict[str, str]]
"""SHA-256 of the files that are allocated to each team, by name; the baselines have the name ``""``."""


@dataclass(frozen=True, slots=True)
class CheckedOrganizerFile:
    """An organizer file that was checked against the rules and the digests of the data in ``replaces``.

    ``allocated`` are the files that teams had, which stay the same. It is kept in memory only.
    """

    name: str
    content: bytes
    replaces: tuple[str, dict[str, str]]
    allocated: AllocatedDigests


def find_organizer_file(round_: Round, file_name: str) -> str:
    """Return the name of the organizer file for this file name; raises NotFound if there is none."""
    names: dict[str, str] = {f"{name}.csv": name for name in round_.allocation.get("truth", ())}
    if file_name not in names:
        raise NotFound("the organizers' own files are {names}", code="no_such_file", names=tuple(names))
    return names[file_name]


def check_organizer_file(
    round_: Round, name: str, content: bytes, allocated: AllocatedDigests
) -> CheckedOrganizerFile:
    """Check an organizer file; raises InvalidUpload, without quoting the content. Needs no session.

    ``allocated`` are the files that teams already have. Raises Conflict if these would change.
    """
    _require_replaceable(round_)
    if round_.original_rows is None:
        raise Conflict("the competition has no original data yet", code="no_original")
    job = CheckOrganizerFileJob(
        competition_file=round_.file,
        original=competitions.load_contents(round_.original),
        name=name,
        content=content,
        allocated=allocated,
    )
    changed_team = parsing.read_original(job, round_.track.name)
    if changed_team is not None:
        raise Conflict(
            "the data of {team} would change, which has them already",
            code="drawn_already",
            team=changed_team or Message("the baselines"),
        )
    return CheckedOrganizerFile(name, content, (round_.file, dict(round_.original)), allocated)


def is_replaceable(round_: Round) -> bool:
    """Return whether the organizer files can still be uploaded or replaced.

    Once teams have files, only one that alone assigns them can, and only before the first phase ends: the web
    application can then compute whether teams keep theirs. It can open neither the seed nor another file.
    """
    if round_.allocated_at is None:
        return True
    assigns_alone = len(round_.allocation["truth"]) == 1 and not round_.allocation["draws_lots"]
    return assigns_alone and round_.frozen_at is None


def _require_replaceable(round_: Round) -> None:
    if not is_replaceable(round_):
        raise Conflict(revisions.ALREADY_ALLOCATED, code="drawn_already")


def store_sealed(
    session: Session, principal: Principal, slug: str, checked_file: CheckedOrganizerFile
) -> Round:
    """Seal and store a checked file. It may replace an earlier one, whose commitment stays in the audit log.

    Teams that got nothing from the earlier one are allocated files again.
    """
    round_ = competitions.lock_for_organizer(session, principal, slug)
    _require_replaceable(round_)
    revisions.require_unchanged((round_.file, round_.original), checked_file.replaces)
    revisions.require_unchanged(allocated_files.load_by_team(session, round_.id), checked_file.allocated)
    old_commitment = sealed_inputs.load_commitments(session, round_.id).get(checked_file.name)
    binding_id = sealed_inputs.compute_binding_id(round_.id, checked_file.name)
    sealed = sealing.seal(get_settings().sealing_key_file, bound_to=binding_id, secret=checked_file.content)
    key = {"round_id": round_.id, "name": checked_file.name}
    session.execute(delete(OrganizerFile).filter_by(**key))
    session.add(OrganizerFile(**key, commitment=sealed.commitment, size=len(checked_file.content)))
    session.flush()
    session.add(SealedOrganizerFile(**key, key_id=sealed.key_id, sealed=sealed.box))
    audit.record(
        session,
        principal,
        "truth.upload",
        round_.competition_id,
        subject=checked_file.name,
        before={"commitment": old_commitment} if old_commitment else None,
        after={"commitment": sealed.commitment},
    )
    return round_
