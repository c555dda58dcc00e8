"""The next start or end of a phase, which the head of every page names."""

from datetime import UTC, datetime

from anoncup.competition.parser import parse_competition
from app.competitions.phases import PhaseBoundary, PhaseStatus, find_next_boundary
from tests.support.competition_texts import add_phases


def test_deadline_is_named_where_the_next_phase_begins_at_it() -> None:
    start, deadline, end = (f"2030-01-0{day}T00:00:00Z" for day in (1, 2, 3))
    text = add_phases(("anonymization", start, deadline), ("reidentification", deadline, end))
    boundary = find_next_boundary(
        parse_competition(text),
        PhaseStatus(datetime(2030, 1, 1, 12, tzinfo=UTC), "anonymization", paused=False),
    )
    assert boundary == PhaseBoundary("anonymization", "end", datetime(2030, 1, 2, tzinfo=UTC))
