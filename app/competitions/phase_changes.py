"""Changes to phases by organizers: extend, pause and resume them, or begin a practice round again."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from sqlalchemy import func, update
from sqlalchemy.orm import Session

from anoncup.competition.parser import parse_rounds
from anoncup.errors import Conflict, InvalidInput, NotFound
from anoncup.messages import Message
from anoncup.rules.rounds import replace_round_phases
from anoncup.rules.settings import Phase
from app.competitions import competitions, reveal_notice, revisions
from app.competitions.phases import (
    ANONYMIZATION,
    REIDENTIFICATION,
    build_fixed_error,
    get_fixed_at,
    get_status,
)
from app.core import audit, outbox
from app.core.db.models import Evaluation, Round, State
from app.core.db.transaction import read_clock
from app.core.identity.principal import Principal
from app.core.outbox import PhaseChange
from app.jobs.leases import UNFINISHED

_END_YEAR_LIMIT = 3000


def extend(
    session: Session, principal: Principal, slug: str, name: str, end: datetime, *, move_following: bool
) -> Round:
    """Move the end of a phase that can still be changed, later or earlier, but not into the past.

    ``move_following``: later phases move by the same amount; otherwise the phase must not overlap them.
    """
    round_ = competitions.lock_for_organizer(session, principal, slug)
    phase = find_changeable_phase(round_, name)
    _require_near_end(end)
    if end <= max(phase.start, read_clock(session)):
        raise InvalidInput("the new end must lie ahead, after the phase's start", code="end_passed")
    new_phases = _shift_phases(round_, phase, end - phase.end, move_following=move_following)
    _save_phases(session, principal, round_, new_phases, action="phase.extend", subject=name)
    return round_


def pause(session: Session, principal: Principal, slug: str, name: str) -> Round:
    """Pause the open phase: the competition's clock stops, and uploads are refused until it is resumed."""
    round_ = competitions.lock_for_organizer(session, principal, slug)
    status = get_status(session, round_)
    if status.paused:
        raise Conflict("the phase is paused already", code="phase_paused")
    status.require_open(_require_phase_name(name))
    round_.paused_at = status.now
    audit.record(session, principal, "phase.pause", round_.competition_id, subject=name)
    outbox.add_phase_change(session, round_.competition_id, round_.id, "paused", phase=name)
    return round_


def resume(session: Session, principal: Principal, slug: str, name: str) -> Round:
    """Resume a paused phase; all later starts and ends move by the length of the pause."""
    round_ = competitions.lock_for_organizer(session, principal, slug)
    status = get_status(session, round_)
    if round_.paused_at is None or status.state != _require_phase_name(name):
        raise Conflict("the phase is not paused", code="phase_not_paused")
    find_changeable_phase(round_, name)
    scheduled_phases = round_.timetable.phases
    new_phases = _shift_moments(scheduled_phases, round_.paused_at, status.now - round_.paused_at)
    round_.paused_at = None
    _save_phases(session, principal, round_, new_phases, action="phase.resume", subject=name)
    return round_


def reset(session: Session, principal: Principal, slug: str, *, start: datetime | None = None) -> Round:
    """Remove a practice round and add it again with the same rules and original data.

    ``start``: move its phases so that the first one begins then. What was sent to the round stays in the
    records, and nobody can see it afterwards. Data that the service has drawn are drawn again.
    """
    round_ = competitions.lock_for_organizer(session, principal, slug)
    if not round_.settings.practice:
        raise Conflict("only a practice round can be reset", code="not_practice")
    principal.require_reauthentication()
    old_round, old_phases = round_, round_.rules.phases
    new_phases = old_phases
    if start is not None and old_phases:
        new_phases = _shift_moments(old_phases, old_phases[0].start, start - old_phases[0].start)
        _require_near_end(new_phases[-1].end)
    if new_phases and new_phases[0].end <= read_clock(session):
        raise InvalidInput("the first phase would be over: give a later start", code="end_passed")
    file = replace_round_phases(round_.competition.file, old_round.name, new_phases)
    parse_rounds(file)  # refuse an unreadable file here, before it is stored
    old_round.removed_at = read_clock(session)
    _cancel_unfinished(session, old_round)
    session.flush()  # names are unique among the rounds that are not removed
    round_.competition.file = file
    new_round = competitions.add_round(round_.competition, round_.rules, old_round.position)
    new_round.original, new_round.original_rows = old_round.original, old_round.original_rows
    new_round.scales = old_round.scales
    session.add(new_round)
    session.flush()
    session.expire(round_.competition, ["rounds"])
    audit.record(
        session,
        principal,
        "phase.reset",
        round_.competition_id,
        subject=new_round.address,
        before=_format_phases(old_phases),
        after=_format_phases(new_phases),
    )
    return new_round


def _cancel_unfinished(session: Session, round_: Round) -> None:
    """Cancel the evaluations that no worker has finished."""
    values = {"state": State.CANCELLED, "finished_at": func.clock_timestamp(), "leased_until": None}
    unfinished = Evaluation.round_id == round_.id, Evaluation.state.in_(UNFINISHED)
    session.execute(update(Evaluation).where(*unfinished).values(values))


def _require_near_end(end: datetime) -> None:
    if end.year >= _END_YEAR_LIMIT:
        raise InvalidInput(
            "a phase ends before the year {year}", code="end_too_far", year=str(_END_YEAR_LIMIT)
        )


def _require_phase_name(name: str) -> str:
    if name not in (ANONYMIZATION, REIDENTIFICATION):
        raise NotFound("phases are anonymization and reidentification", code="no_such_phase")
    return name


def find_changeable_phase(round_: Round, name: str) -> Phase:
    """Return a phase whose results have not been frozen yet; raises NotFound or Conflict."""
    phase = round_.timetable.phase(_require_phase_name(name))
    if phase is None:
        raise NotFound("the competition has no {phase} phase", code="no_such_phase", phase=Message(name))
    if get_fixed_at(round_, name) is not None:
        raise build_fixed_error(name)
    return phase


def _shift_phases(
    round_: Round, phase: Phase, offset: timedelta, *, move_following: bool
) -> tuple[Phase, ...]:
    """Move the end of ``phase`` by ``offset`` and, with ``move_following``, what later phases do after it."""
    scheduled_phases = round_.timetable.phases
    position = scheduled_phases.index(phase)
    earlier, later = scheduled_phases[:position], scheduled_phases[position + 1 :]
    moved_phase = replace(phase, end=phase.end + offset)
    return *earlier, moved_phase, *(_shift_moments(later, phase.end, offset) if move_following else later)


def _shift_moments(
    scheduled_phases: tuple[Phase, ...], moment: datetime, offset: timedelta
) -> tuple[Phase, ...]:
    """Move the starts and ends at or after ``moment``."""

    def shift(scheduled: datetime) -> datetime:
        return scheduled + offset if scheduled >= moment else scheduled

    try:
        return tuple(
            replace(phase, start=shift(phase.start), end=shift(phase.end)) for phase in scheduled_phases
        )
    except OverflowError:
        raise InvalidInput("a later phase would move too far into the future", code="end_too_far") from None


def _save_phases(
    session: Session,
    principal: Principal,
    round_: Round,
    new_phases: tuple[Phase, ...],
    *,
    action: str,
    subject: str,
) -> None:
    """Write the phases into the competition's file and into the audit log."""
    old_values = _format_phases(round_.timetable.phases)
    if any(later.start < earlier.end for earlier, later in pairwise(new_phases)):
        raise Conflict("the phase would overlap with the next one: move that as well", code="phases_overlap")
    file = replace_round_phases(round_.competition.file, round_.name, new_phases)
    parse_rounds(file)  # refuse an unreadable file here, before it is stored
    revisions.require_step_up_for_earlier_end(session, principal, round_, new_phases)
    reveal_notice.record_new_ends(session, round_, new_phases, round_.timetable.reveal_notice)
    round_.competition.file = file
    audit.record(
        session,
        principal,
        action,
        round_.competition_id,
        subject=subject,
        before=old_values,
        after=_format_phases(new_phases),
    )
    change: PhaseChange = "resumed" if action == "phase.resume" else "moved"
    outbox.add_phase_change(session, round_.competition_id, round_.id, change, phase=subject)


def _format_phases(phases: tuple[Phase, ...]) -> dict[str, list[str]]:
    return {phase.name: [phase.start.isoformat(), phase.end.isoformat()] for phase in phases}
