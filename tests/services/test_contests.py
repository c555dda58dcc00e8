"""A competition's row with what its file says."""

from datetime import UTC, datetime

import pytest

from anoncup.competition.scoring_versions import attacker_counts
from anoncup.errors import CompetitionUnavailable
from anoncup.plugins import TRACKS
from app.db.models import Competition
from app.services.contests.contest import Contest
from tests.scoring.competition_texts import LEAST, phases

NOW = datetime(2027, 1, 1, tzinfo=UTC)


def contest(file: str = LEAST, **columns: object) -> Contest:
    return Contest(Competition(slug="demo", file=file, **{"scales": {}, "scored_by": {}, **columns}))


def test_the_rules_in_force_have_what_is_kept_beside_the_file() -> None:
    found = contest(scales={"mean_mae": 2.0}, scored_by={"attackers.euc1": "1"})
    assert found.rules.scales == {"mean_mae": 2.0}
    assert attacker_counts(found.rules, "euc1")
    assert not attacker_counts(found.rules, "euc2")
    assert found.track is TRACKS["microdata"]


def test_one_that_cannot_be_read_still_has_a_row() -> None:
    found = contest("format = 0")
    assert found.slug == "demo"
    with pytest.raises(CompetitionUnavailable):
        found.rules  # noqa: B018
    with pytest.raises(CompetitionUnavailable):
        found.track  # noqa: B018


def test_one_without_a_second_phase_is_over_when_it_is_published() -> None:
    assert not contest().is_over
    assert contest(published_at=NOW).is_over


def test_one_with_a_second_phase_is_over_when_it_is_closed() -> None:
    first, turn, last = (f"2027-01-0{day}T00:00:00Z" for day in (1, 2, 3))
    two = phases(("anonymization", first, turn), ("reidentification", turn, last))
    assert not contest(two, published_at=NOW).is_over
    assert contest(two, published_at=NOW, closed_at=NOW).is_over
