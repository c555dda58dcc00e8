"""Memoize derived values in a dictionary that belongs to the object they are derived from."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, runtime_checkable

Memo = dict[tuple[Any, ...], Any]


@runtime_checkable
class HasMemo(Protocol):
    """An object that keeps values derived from it. They can be pickled with it."""

    @property
    def memo(self) -> Memo: ...


_P = ParamSpec("_P")
_ResultT = TypeVar("_ResultT")
_OwnerT = TypeVar("_OwnerT", bound=HasMemo)


def get_memo(owner: object) -> Memo:
    """Return the memo of an object. It is new and empty if the object's track keeps none."""
    return owner.memo if isinstance(owner, HasMemo) else {}


def memoize(
    function: Callable[Concatenate[_OwnerT, _P], _ResultT],
) -> Callable[Concatenate[_OwnerT, _P], _ResultT]:
    """Store the results of a function in the memo of its first argument, one for each set of other arguments.

    These must be hashable or lists. Results are shared, so callers must not change them.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def call(owner: _OwnerT, /, *arguments: _P.args, **keywords: _P.kwargs) -> _ResultT:
        key = (name, *map(_freeze, arguments), *(_freeze(item) for item in keywords.items()))
        if key not in owner.memo:
            owner.memo[key] = function(owner, *arguments, **keywords)
        return cast(_ResultT, owner.memo[key])

    return call


def _freeze(value: object) -> object:
    """Return a value with all lists as tuples, which can be part of a key."""
    return tuple(map(_freeze, value)) if isinstance(value, list | tuple) else value
