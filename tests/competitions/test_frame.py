"""The next start or end of a phase, which the head of every page names, and when a round is over."""

from datetime import UTC, datetime

from anoncup.competition.parser import parse_competition
from app.competitions.phases import PhaseBoundary, PhaseStatus, find_next_boundary
from app.core.db.models import Competition, Round
from tests.support.competition_texts import MINIMAL, add_phases

START, DEADLINE, END = (f"2030-01-0{day}T00:00:00Z" for day in (1, 2, 3))
TWO_PHASES = add_phases(("anonymization", START, DEADLINE), ("reidentification", DEADLINE, END))
NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


def test_deadline_is_named_where_the_next_phase_begins_at_it() -> None:
    status = PhaseStatus(NOW, "anonymization", paused=False)
    boundary = find_next_boundary(parse_competition(TWO_PHASES), status)
    assert boundary == PhaseBoundary("anonymization", "end", datetime(2030, 1, 2, tzinfo=UTC))


def test_round_is_over_once_closed_or_published_without_a_second_phase() -> None:
    one_phase, two_phases = (
        Round(competition=Competition(slug="demo", file=file), name="", scales={}, scored_by={})
        for file in (MINIMAL, TWO_PHASES)
    )
    one_phase.published_at = two_phases.published_at = NOW
    assert (one_phase.over_at, two_phases.over_at) == (NOW, None)
    two_phases.closed_at = NOW
    assert two_phases.over_at == NOW
