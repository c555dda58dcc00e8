"""Rows as older versions of the service stored them, and answers as they gave them."""

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

VERDICTS: list[Json] = [
    json.loads(line) for line in Path(__file__).with_name("verdicts.jsonl").read_text().splitlines()
]
"""Of one release: each of a version that stored more, and none of one that said the format."""


ANSWERS: list[Json] = [
    json.loads(line) for line in Path(__file__).with_name("answers.jsonl").read_text().splitlines()
]
"""What the service answered before sentences had values: the name of each type of the wire, and the body."""


def verdict(**parts: Any) -> Json:
    """A whole verdict with other parts."""
    return VERDICTS[-1] | parts


def attackers(**rates: float) -> Json:
    """Of a verdict: these attackers alone, with these rates."""
    one = VERDICTS[-1]["attackers"]["euc1"]
    return {name: one | {"rate": rate} for name, rate in rates.items()}
