"""The windows and caps of submissions and guesses, as the clock has noted them from the competition's file.

The database refuses both by these and not by the file: the web process can write the file, but not these.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from app.config import get_settings
from app.db.models import Competition, GuessTerms, Submission, SubmissionTerms
from app.services.accounts import audit
from app.services.contests import phases

Terms = GuessTerms | SubmissionTerms
Values = Mapping[str, Any]

NAMES: Mapping[type[Any], tuple[str, ...]] = {
    SubmissionTerms: ("starts_at", "ends_at", "valid_per_day", "valid_total", "timezone", "grace_s"),
    GuessTerms: ("starts_at", "ends_at", "guesses_per_target", "grace_s"),
}
PHASES = {SubmissionTerms: phases.ANONYMIZATION, GuessTerms: phases.REIDENTIFICATION}
RAISED = {SubmissionTerms: "submissions.raise", GuessTerms: "guesses.raise"}
"""The audit log's word for a later end or a higher cap, once there are submissions, or targets."""
RAISABLE = ("ends_at", "valid_per_day", "valid_total", "guesses_per_target")


def read_terms(row: Competition, kind: type[Any]) -> dict[str, Any] | None:
    """Return what the competition's file says; None without that phase. CompetitionUnavailable."""
    timetable = phases.timetable_of(row)
    phase = timetable.phase(PHASES[kind])
    if phase is None:
        return None
    said = {
        **timetable.limits,
        "starts_at": phase.start,
        "ends_at": phase.end,
        "timezone": timetable.zone.key,
        "grace_s": get_settings().grace_s,
    }
    return {name: said[name] for name in NAMES[kind]}


def list_noted(session: Session, competition_ids: Iterable[UUID]) -> dict[UUID, list[Terms]]:
    """Return the noted terms by competition."""
    same = SubmissionTerms.competition_id == GuessTerms.competition_id
    either = func.coalesce(SubmissionTerms.competition_id, GuessTerms.competition_id)
    query = select(either, SubmissionTerms, GuessTerms).join(GuessTerms, same, full=True)
    rows = session.execute(query.where(either.in_(list(competition_ids))))
    return {
        identifier: [terms for terms in (of_submissions, of_guesses) if terms]
        for identifier, of_submissions, of_guesses in rows
    }


def is_outdated(row: Competition, noted: Iterable[Terms]) -> bool:
    """Return whether the file says something else than what is noted."""
    known = {type(terms): values_of(terms) for terms in noted}
    return any(differ(kind, read_terms(row, kind), known.get(kind)) for kind in NAMES)


def differ(kind: type[Any], terms: Values | None, noted: Values | None) -> bool:
    """Return whether ``terms`` are to be noted in place of ``noted``.

    Where none are noted submissions are held to nothing: these stay when the phase leaves the file.
    """
    return terms != noted and not (kind is SubmissionTerms and terms is None)


def values_of(noted: Terms) -> dict[str, Any]:
    return {name: getattr(noted, name) for name in NAMES[type(noted)]}


def note(session: Session, competition_id: UUID) -> bool:
    """Note what the file says now; return whether that is new.

    A later end or a higher cap, once there are submissions, or targets, is written into the audit log.
    """
    row = session.get_one(Competition, competition_id, with_for_update=True, populate_existing=True)
    changed = [note_kind(session, row, kind) for kind in NAMES]
    return any(changed)


def note_kind(session: Session, row: Competition, kind: type[Any]) -> bool:
    noted = session.get(kind, row.id)
    before, terms = None if noted is None else values_of(noted), read_terms(row, kind)
    if not differ(kind, terms, before):
        return False
    if terms is None:
        session.delete(noted)
        return True
    if before is not None and has_begun(session, row, kind):
        audit_raise(session, row, RAISED[kind], before=before, after=terms)
    session.merge(kind(competition_id=row.id, **terms))
    return True


def has_begun(session: Session, row: Competition, kind: type[Any]) -> bool:
    """Return whether there is something that the web process could not take back."""
    if kind is GuessTerms:
        return row.published_at is not None
    return bool(session.scalar(select(exists().where(Submission.competition_id == row.id))))


def audit_raise(session: Session, row: Competition, action: str, *, before: Values, after: Values) -> None:
    raised = [name for name in RAISABLE if name in after and after[name] > before[name]]
    if raised:
        was, now = ({name: str(terms[name]) for name in raised} for terms in (before, after))
        audit.record(session, None, action, competition_id=row.id, subject=row.slug, before=was, after=now)
