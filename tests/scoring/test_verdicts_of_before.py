"""What the tracks of 2015 and 2016 said before tracks could do without counts and distances, they say now."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import evaluate
from anoncup.plugins import TRACKS
from anoncup.tracks.microdata.example import household_table
from anoncup.tracks.transactions.example import tc400

BEFORE = json.loads(Path(__file__).with_name("verdicts_of_before.json").read_text())


@pytest.mark.parametrize("said", BEFORE)
def test_a_verdict_is_what_it_was_to_the_last_key(said: str) -> None:
    year, _, method = said.split()
    rules, rng = parse_competition(template(int(year))), np.random.default_rng(5)
    track = TRACKS[rules.track]
    original: Any = household_table(300, seed=3) if year == "2015" else tc400()
    made = track.anonymize(track.methods[method], original, rules, rng, {})
    found = evaluate(rules, track.prepare(original, rules), *track.shuffle(*made, rng=rng)).to_json()
    before = BEFORE[said]
    assert shape(found) == shape(before), "the same keys, in the same order, of the same types"
    assert numbers(found) == pytest.approx(numbers(before), rel=1e-9, abs=1e-12)


def shape(value: Any) -> Any:
    match value:
        case dict():
            return [(name, shape(each)) for name, each in value.items()]
        case list():
            return [shape(each) for each in value]
        case int() | float():
            return type(value)
        case _:
            return value


def numbers(value: Any) -> list[float]:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value] if isinstance(value, int | float) else [one for each in parts for one in numbers(each)]
