"""What people ask the rules of a competition."""

from dataclasses import replace
from datetime import UTC, datetime

from anoncup.competition.parser import parse_competition
from anoncup.rules.settings import AttackerSettings, MeasureSettings, Phase
from tests.scoring.competition_texts import LEAST

RULES = parse_competition(LEAST)


def test_what_the_file_does_not_name_has_the_settings_of_everything_else() -> None:
    assert RULES.measure("mean_mae") == MeasureSettings()
    assert RULES.attacker("euc1") == AttackerSettings()
    assert RULES.weight("mean_mae") == 0.0


def test_only_what_weighs_has_a_weight_in_u() -> None:
    rules = replace(RULES, measures={"cor_mae": MeasureSettings(2.0), "mean_mae": MeasureSettings(0.0)})
    assert rules.weights == {"cor_mae": 2.0}
    assert rules.weight("cor_mae") == 2.0


def test_a_phase_that_the_file_does_not_have_is_none() -> None:
    opened = Phase("anonymization", datetime(2027, 1, 1, tzinfo=UTC), datetime(2027, 1, 2, tzinfo=UTC))
    rules = replace(RULES, phases=(opened,))
    assert rules.phase("anonymization") == opened
    assert rules.phase("reidentification") is None
