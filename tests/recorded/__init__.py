"""A verdict as it is stored, and answers as the service gives them."""

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

FOLDER = Path(__file__).parent
VERDICT: Json = json.loads((FOLDER / "verdict.json").read_text())
ANSWERS: dict[str, Json] = json.loads((FOLDER / "answers.json").read_text())
"""One of each type of the wire whose words a later service may add to."""


def verdict(**parts: Any) -> Json:
    """A whole verdict with other parts."""
    return VERDICT | parts


def attackers(**rates: float) -> Json:
    """Of a verdict: these attackers alone, with these rates."""
    one = VERDICT["attackers"]["euc1"]
    return {name: one | {"rate": rate} for name, rate in rates.items()}
