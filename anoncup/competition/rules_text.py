"""The rules in a competition file, exchanged: the weights of the measures and the threshold."""

from collections.abc import Mapping

from anoncup.errors import InvalidCompetition
from anoncup.rules.toml_text import loaded, table_text, with_tables


def with_weights(text: str, weights: Mapping[str, float]) -> str:
    """The file with these weights; what else a measure's table says stays, and so do the other measures."""
    measures = tables_of(text, "measures")
    for name, weight in weights.items():
        measures[name] = {**measures.get(name, {}), "weight": float(weight)}
    parts = [table_text(f"measures.{name}", content) for name, content in measures.items()]
    return with_tables(text, "measures", "\n\n".join(parts))


def with_threshold(text: str, threshold: float | None) -> str:
    """The file with this threshold of the excessive rule; None: without one."""
    before = entries_of(loaded(text), "excessive")
    rule = {**before, "threshold": threshold}
    if threshold is None:
        if "threshold" not in before:
            return text
        del rule["threshold"]
    return with_tables(text, "excessive", table_text("excessive", rule))


def tables_of(text: str, name: str) -> dict[str, dict[str, object]]:
    parent = entries_of(loaded(text), name)
    return {key: entries_of(parent, key) for key in parent}


def entries_of(parent: Mapping[str, object], key: str) -> dict[str, object]:
    found = parent.get(key, {})
    if not isinstance(found, dict):
        raise InvalidCompetition("{key} must be a table", code="wrong_type", key=key)
    return found
