"""The chart of a team's submissions over time, shown on the board and on the submissions page."""

from collections.abc import Sequence
from typing import Literal
from zoneinfo import ZoneInfo

from anoncup.rules.model import Rules
from app.charts.figure import Figure
from app.charts.text import translate_words
from app.charts.timeline import TimelineEntry, TimelineWords, build_timeline
from app.db.models import State
from app.locale.language import Translator
from app.services.contests.phases import ANONYMIZATION
from app.services.submissions.summaries import SubmissionSummary

_OUTCOME_BY_STATE: dict[State, Literal["accepted", "rejected", "error"]] = {
    State.SCORED: "accepted",
    State.REJECTED: "rejected",
    State.ERROR: "error",
}


def draw_timeline(summaries: Sequence[SubmissionSummary], t: Translator, rules: Rules) -> Figure | None:
    """Draw the team's finished submissions over time, or return None if there are none.

    Disqualified submissions are left out.
    """
    zone = ZoneInfo(rules.timezone)
    finished = [
        summary for summary in summaries if summary.state in _OUTCOME_BY_STATE and not summary.is_disqualified
    ]
    entries = [
        TimelineEntry(
            summary.received_at.astimezone(zone).strftime("%m-%d %H:%M"),
            summary.received_at,
            summary.overall if summary.state == State.SCORED else None,
            _OUTCOME_BY_STATE[summary.state],
        )
        for summary in finished
    ]
    if not entries:
        return None
    phase = rules.phase(ANONYMIZATION)
    words = translate_words(TimelineWords, t, title=t("Your scores over time"))
    return build_timeline(entries, words, zone=rules.timezone, begin=phase.start if phase else None)
