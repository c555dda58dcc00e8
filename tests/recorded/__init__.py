"""A stored verdict and responses of the service."""

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

FOLDER = Path(__file__).parent
VERDICT: Json = json.loads((FOLDER / "verdict.json").read_text())
REPORT: Json = json.loads((FOLDER / "report.json").read_text("utf-8"))
RESPONSES: dict[str, Json] = json.loads((FOLDER / "answers.json").read_text())
"""One response of each type to which later services may add values."""


def build_verdict(**changes: Any) -> Json:
    """Return the recorded verdict with some parts replaced."""
    return VERDICT | changes
