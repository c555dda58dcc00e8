"""The window and the cap of guesses, as the clock has noted them from the competition's file.

The database refuses guesses by these and not by the file: the web process can write the file, but not these.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import get_settings
from app.db.models import Competition, GuessTerms
from app.services.contest import phases
from app.services.people import audit

NAMES = ("starts_at", "ends_at", "guesses_per_target", "grace_s")
RAISED = "guesses.raise"
"""The audit log's word for a later end or a higher cap, once there are targets."""


def read_terms(row: Competition) -> dict[str, Any] | None:
    """Return what the competition's file says; None without a second phase. CompetitionUnavailable."""
    timetable = phases.timetable_of(row)
    phase = timetable.phase(phases.REIDENTIFICATION)
    if phase is None:
        return None
    return {
        "starts_at": phase.start,
        "ends_at": phase.end,
        "guesses_per_target": timetable.guesses_per_target,
        "grace_s": get_settings().grace_s,
    }


def list_noted(session: Session, competition_ids: Iterable[UUID]) -> dict[UUID, GuessTerms]:
    """Return the noted terms by competition."""
    wanted = GuessTerms.competition_id.in_(list(competition_ids))
    return {terms.competition_id: terms for terms in session.scalars(select(GuessTerms).where(wanted))}


def is_outdated(row: Competition, noted: GuessTerms | None) -> bool:
    """Return whether the file says something else than what is noted."""
    terms = read_terms(row)
    return terms != (None if noted is None else values_of(noted))


def values_of(noted: GuessTerms) -> dict[str, Any]:
    return {name: getattr(noted, name) for name in NAMES}


def note(session: Session, competition_id: UUID) -> bool:
    """Note what the file says now; return whether that is new.

    A later end or a higher cap, once there are targets, is written into the audit log.
    """
    row = session.get_one(Competition, competition_id, with_for_update=True, populate_existing=True)
    noted = session.get(GuessTerms, competition_id)
    if not is_outdated(row, noted):
        return False
    terms = read_terms(row)
    if noted is not None and terms is not None and row.published_at is not None:
        audit_raise(session, row, before=values_of(noted), after=terms)
    if terms is not None:
        session.merge(GuessTerms(competition_id=competition_id, **terms))
    elif noted is not None:
        session.delete(noted)
    return True


def audit_raise(session: Session, row: Competition, *, before: dict[str, Any], after: dict[str, Any]) -> None:
    raised = [name for name in ("ends_at", "guesses_per_target") if after[name] > before[name]]
    if raised:
        was, now = ({name: str(terms[name]) for name in raised} for terms in (before, after))
        audit.record(session, None, RAISED, competition_id=row.id, subject=row.slug, before=was, after=now)
