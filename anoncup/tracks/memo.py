"""Values that are derived once and kept."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from anoncup.geometry.arrays import FEW

Value = TypeVar("Value")
Memo = dict[tuple[Any, ...], Any]


def once(kept: Memo, key: tuple[Any, ...], make: Callable[[], Value]) -> Value:
    """The value kept under ``key``, made if it is not there yet."""
    if key not in kept:
        kept[key] = make()
    return cast(Value, kept[key])


def kept_of_few(kept: Memo, key: tuple[Any, ...], rows: int, make: Callable[[], Value]) -> Value:
    """As :func:`once`; of more than a few rows, made whenever it is asked for."""
    return once(kept, key, make) if rows <= FEW else make()
