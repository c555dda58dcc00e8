"""Verdicts of the 2015 and 2016 tracks equal recorded ones.

They were recorded before tracks without counts and distances were supported.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import evaluate
from anoncup.plugins import TRACKS
from anoncup.tracks.microdata.example import generate_households
from anoncup.tracks.transactions.example import load_tc400
from tests.support.originals import make_original

RECORDED_VERDICTS = json.loads(Path(__file__).with_name("recorded_verdicts.json").read_text())


@pytest.mark.parametrize("case", RECORDED_VERDICTS)
def test_verdicts_equal_the_recorded_ones(case: str) -> None:
    year, _, method = case.split()
    rules, rng = parse_competition(template(int(year))), np.random.default_rng(5)
    track = TRACKS[rules.track]
    tables = generate_households(300, seed=3) if year == "2015" else load_tc400()
    original = make_original(tables, rules)
    release = track.anonymize(track.methods[method], original, rules, rng, {})
    verdict = evaluate(rules, original, *track.shuffle(*release, rng=rng)).to_json()
    recorded_verdict = RECORDED_VERDICTS[case]
    for part in ("measures", "attackers"):  # later versions may have more of them
        verdict[part] = {name: verdict[part][name] for name in recorded_verdict[part]}
    assert describe_types(verdict) == describe_types(recorded_verdict), (
        "the same keys, in the same order, of the same types"
    )
    assert list_numbers(verdict) == pytest.approx(list_numbers(recorded_verdict), rel=1e-9, abs=1e-12)


def describe_types(value: Any) -> Any:
    match value:
        case dict():
            return [(name, describe_types(item)) for name, item in value.items()]
        case list():
            return [describe_types(item) for item in value]
        case int() | float():
            return type(value)
        case _:
            return value


def list_numbers(value: Any) -> list[float]:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (
        [value]
        if isinstance(value, int | float)
        else [number for part in parts for number in list_numbers(part)]
    )
