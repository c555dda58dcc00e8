"""Resets of practice rounds: the round begins again, without the submissions, targets and guesses it had."""

from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import func, update
from sqlalchemy.orm import Session

from anoncup.competition.parser import parse_rounds
from anoncup.errors import Conflict, InvalidInput
from anoncup.rules.rounds import replace_round_phases
from anoncup.rules.settings import Phase
from app.competitions import competitions
from app.competitions.contest import Contest
from app.competitions.phase_changes import END_YEAR_LIMIT, format_phases
from app.core import audit
from app.core.db.models import Evaluation, Round, State
from app.core.db.now import read_clock
from app.core.identity.principal import Principal
from app.jobs.leases import UNFINISHED


def reset(session: Session, principal: Principal, slug: str, *, start: datetime | None = None) -> Contest:
    """Remove a practice round and add it again with the same rules and original data.

    ``start``: move its phases so that the first one begins then. What was sent to the round stays in the
    records, and nobody can see it afterwards. Data that the service has drawn are drawn again.
    """
    contest = competitions.lock_for_organizer(session, principal, slug)
    if not contest.settings.practice:
        raise Conflict("only a practice round can be reset", code="not_practice")
    principal.require_reauthentication()
    old_round, old_phases = contest.round, contest.rules.phases
    new_phases = _move_phases(old_phases, start)
    if new_phases and new_phases[0].end <= read_clock(session):
        raise InvalidInput("the first phase would be over: give a later start", code="end_passed")
    file = replace_round_phases(contest.competition.file, old_round.name, new_phases)
    parse_rounds(file)  # refuse an unreadable file here, before it is stored
    old_round.removed_at = read_clock(session)
    _cancel_unfinished(session, old_round)
    session.flush()  # names are unique among the rounds that are not removed
    contest.competition.file = file
    new_round = competitions.add_round(contest.competition, contest.rules, old_round.position)
    new_round.original, new_round.original_rows = old_round.original, old_round.original_rows
    new_round.scales = old_round.scales
    session.add(new_round)
    session.flush()
    session.expire(contest.competition, ["rounds"])
    audit.record(
        session,
        principal,
        "phase.reset",
        contest.id,
        subject=new_round.address,
        before=format_phases(old_phases),
        after=format_phases(new_phases),
    )
    return Contest(new_round)


def _move_phases(scheduled: tuple[Phase, ...], start: datetime | None) -> tuple[Phase, ...]:
    """Move all phases by the same time so that the first one begins at ``start``; None leaves them."""
    if start is None or not scheduled:
        return scheduled
    offset: timedelta = start - scheduled[0].start
    try:
        moved = tuple(
            replace(phase, start=phase.start + offset, end=phase.end + offset) for phase in scheduled
        )
    except OverflowError:
        raise InvalidInput("a later phase would move too far into the future", code="end_too_far") from None
    if moved[-1].end.year >= END_YEAR_LIMIT:
        raise InvalidInput(
            "a phase ends before the year {year}", code="end_too_far", year=str(END_YEAR_LIMIT)
        )
    return moved


def _cancel_unfinished(session: Session, round_: Round) -> None:
    """Cancel the evaluations that no worker has finished."""
    values = {"state": State.CANCELLED, "finished_at": func.clock_timestamp(), "leased_until": None}
    unfinished = Evaluation.round_id == round_.id, Evaluation.state.in_(UNFINISHED)
    session.execute(update(Evaluation).where(*unfinished).values(values))
