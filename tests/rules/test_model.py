"""Look-ups in the rules of a competition."""

from dataclasses import replace
from datetime import UTC, datetime

from anoncup.competition.parser import parse_competition
from anoncup.rules.settings import AttackerSettings, MeasureSettings, Phase
from tests.support.competition_texts import MINIMAL

RULES = parse_competition(MINIMAL)


def test_missing_entries_have_default_settings() -> None:
    assert RULES.measure_settings("mean_mae") == MeasureSettings()
    assert RULES.attacker_settings("euc1") == AttackerSettings()
    assert RULES.weight("mean_mae") == 0.0


def test_only_weighted_measures_have_a_weight() -> None:
    rules = replace(RULES, measures={"cor_mae": MeasureSettings(2.0), "mean_mae": MeasureSettings(0.0)})
    assert rules.weights == {"cor_mae": 2.0}
    assert rules.weight("cor_mae") == 2.0


def test_missing_phase_is_none() -> None:
    phase = Phase("anonymization", datetime(2027, 1, 1, tzinfo=UTC), datetime(2027, 1, 2, tzinfo=UTC))
    rules = replace(RULES, phases=(phase,))
    assert rules.phase("anonymization") == phase
    assert rules.phase("reidentification") is None
