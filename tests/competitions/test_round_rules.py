"""Tests of a round's row combined with the rules of its file."""

from datetime import UTC, datetime

import pytest

from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.errors import CompetitionUnavailable
from anoncup.plugins import TRACKS
from app.core.db.models import Competition, Round
from tests.support.competition_texts import MINIMAL, add_phases

NOW = datetime(2027, 1, 1, tzinfo=UTC)


def make_round(file: str = MINIMAL, **columns: object) -> Round:
    competition = Competition(slug="demo", file=file)
    return Round(competition=competition, **{"name": "", "scales": {}, "scored_by": {}, **columns})


def test_rules_include_scales_and_versions_stored_in_the_row() -> None:
    demo = make_round(scales={"mean_mae": 2.0}, scored_by={"attackers.euc1": "1"})
    assert demo.rules.scales == {"mean_mae": 2.0}
    assert counts_towards_security(demo.rules, "euc1")
    assert not counts_towards_security(demo.rules, "euc2")
    assert demo.track is TRACKS["microdata"]


def test_round_with_an_unreadable_file_keeps_its_row() -> None:
    demo = make_round("format = 0")
    assert demo.address == "demo"
    with pytest.raises(CompetitionUnavailable):
        demo.rules  # noqa: B018
    with pytest.raises(CompetitionUnavailable):
        demo.track  # noqa: B018


def test_round_without_second_phase_is_over_once_published() -> None:
    assert make_round().over_at is None
    assert make_round(published_at=NOW).over_at == NOW


def test_round_with_second_phase_is_over_once_closed() -> None:
    start, middle, end = (f"2027-01-0{day}T00:00:00Z" for day in (1, 2, 3))
    two_phases = add_phases(("anonymization", start, middle), ("reidentification", middle, end))
    assert make_round(two_phases, published_at=NOW).over_at is None
    assert make_round(two_phases, published_at=NOW, closed_at=NOW).over_at == NOW
