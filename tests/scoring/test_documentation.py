"""The numbers in docs/scoring.md are the program's own."""

from pathlib import Path

import numpy as np
import pytest

from app.scoring.competition_file import parse_competition
from app.scoring.evaluate import Verdict, evaluate
from app.scoring.methods import METHODS
from app.scoring.ranking import NOTHING
from app.scoring.release import prepare
from app.scoring.scales import scales
from app.scoring.synthetic import household_columns, household_table
from app.scoring.templates import template
from app.scoring.utility import UTILITIES

PAGE = (Path(__file__).parents[2] / "docs" / "scoring.md").read_text()


@pytest.fixture(scope="module")
def example() -> tuple[Verdict, dict[str, float], float]:
    rules, original = parse_competition(template(2015)), prepare(household_table(), household_columns())
    rng = np.random.default_rng(1)
    anonymized, source = METHODS["swap_within_classes"].apply(household_table(), household_columns(), rng=rng)
    largest = float(np.abs(original.values).max())
    return evaluate(rules, original, anonymized, source), scales(original, rules.measures), largest


def test_the_page_shows_the_utility_scores(example: tuple[Verdict, dict[str, float], float]) -> None:
    verdict, found, largest = example
    for name, scale in found.items():
        value = verdict.measures[name].value
        tiny = NOTHING * largest if UTILITIES[name].in_data_units else NOTHING
        value = 0.0 if value < tiny else value
        assert f"| {name} | {value:.6g} | {scale:.6g} | {min(1.0, value / scale):.6g} |" in PAGE


def test_the_page_shows_the_attackers(example: tuple[Verdict, dict[str, float], float]) -> None:
    for name, result in example[0].attackers.items():
        assert f"| {name} | {result.rate.correct:.0f} | {result.rate.rate:.6g} |" in PAGE


def test_the_page_shows_the_scores(example: tuple[Verdict, dict[str, float], float]) -> None:
    verdict = example[0]
    assert f"= {verdict.utility:.6g}." in PAGE
    assert f"that count: {verdict.security:.6g}." in PAGE
    assert f"= {verdict.overall:.6g};" in PAGE
