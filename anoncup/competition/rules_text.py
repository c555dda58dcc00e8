"""Change the weights in the text of a competition file, and keep everything else."""

from collections.abc import Mapping

from anoncup.errors import InvalidCompetition
from anoncup.rules.toml_text import format_table, parse_toml, replace_tables


def set_weights(text: str, weights: Mapping[str, float]) -> str:
    """Return the file with these weights; other settings and other measures are unchanged."""
    parent = _get_table(parse_toml(text), "measures")
    measures = {name: _get_table(parent, name) for name in parent}
    for name, weight in weights.items():
        measures[name] = {**measures.get(name, {}), "weight": float(weight)}
    tables = [format_table(f"measures.{name}", content) for name, content in measures.items()]
    return replace_tables(text, "measures", "\n\n".join(tables))


def _get_table(parent: Mapping[str, object], key: str) -> dict[str, object]:
    table = parent.get(key, {})
    if not isinstance(table, dict):
        raise InvalidCompetition("{key} must be a table", code="wrong_type", key=key)
    return table
