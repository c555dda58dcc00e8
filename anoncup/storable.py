"""Values of other processes that can be stored and shown."""

import math
from typing import Any

MAX_DEPTH, MAX_TEXT_LENGTH, MAX_ENTRIES, INTEGER_LIMIT = 10, 10_000, 1_000, 2**63


def is_storable(value: Any, depth: int = 0) -> bool:
    """Return whether a value from JSON is of a size that can be stored and shown.

    PostgreSQL cannot store NUL, and charts convert integers to floats. Lone surrogates are no JSON.
    """
    match value:
        case list() | dict():
            entries = [*value, *value.values()] if isinstance(value, dict) else value
            is_small = depth < MAX_DEPTH and len(value) <= MAX_ENTRIES
            return is_small and all(is_storable(entry, depth + 1) for entry in entries)
        case str():
            return len(value) <= MAX_TEXT_LENGTH and "\0" not in value
        case int() | float():
            return abs(value) < (INTEGER_LIMIT if isinstance(value, int) else math.inf)
    return value is None


def require_storable(value: Any) -> Any:
    if not is_storable(value):
        raise ValueError("it cannot be stored")
    return value
