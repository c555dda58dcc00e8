"""The picture of a team's submissions in their order, on the board and above its list."""

from collections.abc import Sequence
from typing import Literal
from zoneinfo import ZoneInfo

from anoncup.rules.model import Rules
from app.charts.figure import Figure
from app.charts.text import worded
from app.charts.timeline import CourseWords, Entry, course
from app.db.models import State
from app.locale.language import Words
from app.services.contests.phases import ANONYMIZATION
from app.services.submissions.summaries import Summary

COURSE: dict[State, Literal["accepted", "rejected", "error"]] = {
    State.SCORED: "accepted",
    State.REJECTED: "rejected",
    State.ERROR: "error",
}


def course_of(outline: Sequence[Summary], t: Words, rules: Rules) -> Figure | None:
    """Every submission of the team that has ended and stands, where its time and its score put it."""
    zone = ZoneInfo(rules.timezone)
    ended = [one for one in outline if one.state in COURSE and not one.barred]
    entries = [
        Entry(
            one.received_at.astimezone(zone).strftime("%m-%d %H:%M"),
            one.received_at,
            one.overall if one.state == State.SCORED else None,
            COURSE[one.state],
        )
        for one in ended
    ]
    if not entries:
        return None
    phase = rules.phase(ANONYMIZATION)
    words = worded(CourseWords, t, title=t("Your scores over time"))
    return course(entries, words, zone=rules.timezone, begin=phase.start if phase else None)
