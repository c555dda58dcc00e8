"""Notice of the reveal: if an end moves nearer, the teams are told, and secrets stay hidden for a while."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from anoncup.errors import CompetitionUnavailable
from anoncup.messages import N_, CodedMessage, Message
from anoncup.rules.settings import Phase
from app.competitions import competitions, phases
from app.core import outbox
from app.core.db.models import Announcement, Round, Team
from app.core.db.transaction import read_clock
from app.core.locale.language import ENGLISH

_END_MOVED = {
    phases.ANONYMIZATION: N_("The anonymization phase ends earlier: at {end}, not at {before} ({zone})."),
    phases.REIDENTIFICATION: N_(
        "The re-identification phase ends earlier: at {end}, not at {before} ({zone}). "
        "The secrets of the targets are revealed at {reveal}. "
        "Until then the end can still be moved: if something is wrong, tell the organizers now."
    ),
}


def find_reveal_time(round_: Round) -> datetime | None:
    """Return the time of the reveal: the end of the last phase, or later if the notice still runs then.

    None without a last phase. Raises CompetitionUnavailable.
    """
    phase = round_.timetable.phase(phases.REIDENTIFICATION)
    return None if phase is None else max(phase.end, round_.reveal_not_before or phase.end)


def is_reveal_due(round_: Round, now: datetime) -> bool:
    """Return whether the last phase has ended and the notice has run; a pause delays the end."""
    has_notice_run = round_.reveal_not_before is None or round_.reveal_not_before <= now
    return has_notice_run and phases.has_phase_ended(round_, phases.REIDENTIFICATION, now)


def record_new_ends(session: Session, round_: Round, new_phases: Iterable[Phase], notice: timedelta) -> None:
    """Announce ends that move nearer, and delay the reveal by the notice.

    Call it before the competition file changes. ``notice`` is the one in the new file. Without submissions
    there are no secrets, and the reveal is not delayed.
    """
    new_ends = {phase.name: phase.end for phase in new_phases}
    try:
        timetable = round_.timetable
    except CompetitionUnavailable:  # the present end is unknown, so the new one may be nearer
        _delay_reveal(session, round_, notice)
        return
    nearer_ends = {
        phase.name: (phase.end, new_ends[phase.name])
        for phase in timetable.phases
        if phase.name in new_ends and new_ends[phase.name] < phase.end
    }
    is_added = timetable.phase(phases.REIDENTIFICATION) is None and phases.REIDENTIFICATION in new_ends
    if is_added or phases.REIDENTIFICATION in nearer_ends:
        _delay_reveal(session, round_, max(notice, timetable.reveal_notice))
    if phases.has_contest_begun(session, round_) and _has_teams(session, round_):
        for name, (before, end) in nearer_ends.items():
            reveal = max(end, round_.reveal_not_before or end)
            _announce(session, round_, name, timetable.zone, before=before, end=end, reveal=reveal)


def _has_teams(session: Session, round_: Round) -> bool:
    teams = exists().where(Team.competition_id == round_.competition_id, Team.baseline.is_(False))
    return bool(session.scalar(select(teams)))


def _delay_reveal(session: Session, round_: Round, notice: timedelta) -> None:
    if competitions.has_submissions(session, round_.id):
        notice_end = read_clock(session) + notice
        round_.reveal_not_before = max(notice_end, round_.reveal_not_before or notice_end)


def _announce(session: Session, round_: Round, phase: str, zone: ZoneInfo, **moments: datetime) -> None:
    times = {name: f"{moment.astimezone(zone):%Y-%m-%d %H:%M}" for name, moment in moments.items()}
    message = Message(_END_MOVED[phase], zone=zone.key, **times)
    announcement = Announcement(
        competition_id=round_.competition_id,
        text={ENGLISH: str(message)},
        coded_message=CodedMessage("end_moved", message),
    )
    session.add(announcement)
    session.flush()
    outbox.add_announcement(session, round_.competition_id, announcement.id)
