"""Terms of uploads: period and caps of submissions and guesses, as the clock has read them from the file.

The database enforces the recorded terms instead of the competition's file, because the web process can write
the file but not the terms.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.config import get_settings
from app.db.models import GuessTerms, Round, SubmissionTerms
from app.services.accounts import audit
from app.services.contests import competitions, phases
from app.services.contests.contest import get_timetable

_Terms = GuessTerms | SubmissionTerms
_TermValues = Mapping[str, Any]

_TERM_NAMES: Mapping[type[Any], tuple[str, ...]] = {
    SubmissionTerms: ("starts_at", "ends_at", "valid_per_day", "valid_total", "timezone", "grace_s"),
    GuessTerms: ("starts_at", "ends_at", "guesses_per_target", "grace_s"),
}
_PHASE_NAMES = {SubmissionTerms: phases.ANONYMIZATION, GuessTerms: phases.REIDENTIFICATION}
RAISE_ACTIONS = {SubmissionTerms: "submissions.raise", GuessTerms: "guesses.raise"}
"""Audit actions for a later end or a higher cap after the first submission or the publication of targets."""
_RAISABLE_TERMS = ("ends_at", "valid_per_day", "valid_total", "guesses_per_target")


def _read_terms(round_: Round, kind: type[Any]) -> dict[str, Any] | None:
    """Return the terms in the competition's file; None without that phase.

    Raises CompetitionUnavailable if the file cannot be read.
    """
    timetable = get_timetable(round_)
    phase = timetable.phase(_PHASE_NAMES[kind])
    if phase is None:
        return None
    values = {
        **timetable.limits,
        "starts_at": phase.start,
        "ends_at": phase.end,
        "timezone": timetable.zone.key,
        "grace_s": get_settings().grace_s,
    }
    return {name: values[name] for name in _TERM_NAMES[kind]}


def list_recorded(session: Session, round_ids: Iterable[UUID]) -> dict[UUID, list[_Terms]]:
    """Return the recorded terms by competition."""
    join_condition = SubmissionTerms.round_id == GuessTerms.round_id
    round_id = func.coalesce(SubmissionTerms.round_id, GuessTerms.round_id)
    query = select(round_id, SubmissionTerms, GuessTerms).join(GuessTerms, join_condition, full=True)
    rows = session.execute(query.where(round_id.in_(list(round_ids))))
    return {
        recorded_id: [terms for terms in (submission_terms, guess_terms) if terms]
        for recorded_id, submission_terms, guess_terms in rows
    }


def is_outdated(round_: Round, recorded: Iterable[_Terms]) -> bool:
    """Whether the recorded terms differ from those in the competition's file."""
    recorded_values = {type(terms): _get_values(terms) for terms in recorded}
    return any(
        _needs_update(kind, _read_terms(round_, kind), recorded_values.get(kind)) for kind in _TERM_NAMES
    )


def _needs_update(kind: type[Any], terms: _TermValues | None, recorded: _TermValues | None) -> bool:
    """Whether ``recorded`` must be replaced by ``terms``.

    Without recorded terms, submissions would be unrestricted: their terms are kept when the phase is removed
    from the file.
    """
    return terms != recorded and not (kind is SubmissionTerms and terms is None)


def _get_values(recorded: _Terms) -> dict[str, Any]:
    return {name: getattr(recorded, name) for name in _TERM_NAMES[type(recorded)]}


def record_terms(session: Session, round_id: UUID) -> bool:
    """Record the terms of the present file; return whether anything changed.

    A later end or a higher cap is written into the audit log after the first submission or the publication
    of targets.
    """
    round_ = competitions.lock(session, round_id)
    changed = [_record_terms_of_kind(session, round_, kind) for kind in _TERM_NAMES]
    return any(changed)


def _record_terms_of_kind(session: Session, round_: Round, kind: type[Any]) -> bool:
    recorded = session.get(kind, round_.id)
    previous, terms = None if recorded is None else _get_values(recorded), _read_terms(round_, kind)
    if not _needs_update(kind, terms, previous):
        return False
    if terms is None:
        session.delete(recorded)
        return True
    if previous is not None and _is_irrevocable(session, round_, kind):
        _audit_raise(session, round_, RAISE_ACTIONS[kind], previous=previous, current=terms)
    session.merge(kind(round_id=round_.id, **terms))
    return True


def _is_irrevocable(session: Session, round_: Round, kind: type[Any]) -> bool:
    """Whether there are submissions, or published targets for guesses, which cannot be undone."""
    if kind is GuessTerms:
        return round_.published_at is not None
    return competitions.has_submissions(session, round_.id)


def _audit_raise(
    session: Session, round_: Round, action: str, *, previous: _TermValues, current: _TermValues
) -> None:
    raised_names = [name for name in _RAISABLE_TERMS if name in current and current[name] > previous[name]]
    if raised_names:
        old_values, new_values = (
            {name: str(terms[name]) for name in raised_names} for terms in (previous, current)
        )
        audit.record(
            session,
            None,
            action,
            round_.competition_id,
            subject=round_.address,
            before=old_values,
            after=new_values,
        )
