"""Memoize derived values in a dictionary that belongs to the object they are derived from."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from anoncup.geometry.arrays import CACHED_ROWS

ValueT = TypeVar("ValueT")
Memo = dict[tuple[Any, ...], Any]


@runtime_checkable
class _HasMemo(Protocol):
    @property
    def memo(self) -> Memo: ...


def get_memo(owner: object) -> Memo:
    """Return the memo of an object. It is new and empty if the object's track keeps none."""
    return owner.memo if isinstance(owner, _HasMemo) else {}


def memoize(memo: Memo, key: tuple[Any, ...], compute: Callable[[], ValueT]) -> ValueT:
    """Return the value stored under ``key``; compute and store it on first use."""
    if key not in memo:
        memo[key] = compute()
    return cast(ValueT, memo[key])


def memoize_if_small(memo: Memo, key: tuple[Any, ...], rows: int, compute: Callable[[], ValueT]) -> ValueT:
    """Memoize like :func:`memoize` if there are few rows; otherwise compute each time to save memory."""
    return memoize(memo, key, compute) if rows <= CACHED_ROWS else compute()
