"""How the loops that numpy cannot do are compiled.

No fastmath and no contraction: floating-point results are those of the plain loops, operation by operation,
whatever the machine, so that ties fall the same way everywhere.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar, cast

from anoncup.lazy import deferred

Function = TypeVar("Function", bound=Callable[..., Any])

njit = deferred("numba.njit")
dispatcher = deferred("numba.types.Dispatcher")


def compiled(function: Function) -> Function:
    """The function compiled by numba on its first call, kept on disk. A division by zero does not raise."""
    return cast(Function, Compiled(function))


class LoopsNotLoaded(Exception):
    """This process was started without the compiled loops."""


class Compiled:
    """A loop, and what numba makes of it; numba is loaded no sooner."""

    kept = True
    """Whether what is compiled is written to the disk."""
    refused = False
    """Whether this process does without numba: a sandboxed one cannot load it later."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    @cached_property
    def loop(self) -> Any:
        if self.refused:
            raise LoopsNotLoaded
        return njit(cache=self.kept, error_model="numpy")(self.function)

    def stays_here(self) -> None:
        """What is compiled for other types from now on is not written."""
        if "loop" in vars(self):
            self.loop._cache.disable()

    def open_cache(self) -> None:
        """Load what is in the cache when it is called, and write nothing."""
        self.loop._cache.save_overload = write_nothing

    @property
    def _numba_type_(self) -> Any:
        """Numba looks here for what one loop finds when it calls another."""
        return dispatcher(self.loop)

    def __call__(self, *arguments: Any) -> Any:
        return self.loop(*arguments)


def write_nothing(*_: Any) -> None:
    """In place of what writes to the cache."""
