"""Find what differs between two competition files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

_SERVICE_TABLES = ("scales", "scored_by")
"""Tables that the service adds to a file."""


@dataclass(frozen=True, slots=True)
class Change:
    """A key of a competition file, such as ``excessive.threshold``. A value is None where it is missing."""

    key: str
    old: object
    new: object


def list_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Return the keys of two parsed files that differ.

    Tables that the service adds to a file are compared only if the new file has them.
    """
    kept = {name: table for name, table in old.items() if name not in _SERVICE_TABLES or name in new}
    return list(_compare("", kept, new))


def _compare(key: str, old: object, new: object) -> Iterator[Change]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            yield from _compare(f"{key}.{name}" if key else name, old.get(name), new.get(name))
    elif _is_list_of_tables(old) and _is_list_of_tables(new) and len(old) == len(new):
        for index, (old_table, new_table) in enumerate(zip(old, new, strict=True)):
            yield from _compare(f"{key}[{index}]", old_table, new_table)
    elif old != new:
        yield Change(key, old, new)


def _is_list_of_tables(value: object) -> TypeGuard[list[Mapping[str, object]]]:
    return isinstance(value, list) and all(isinstance(item, Mapping) for item in value)
