"""How the loops that numpy cannot do are compiled.

No fastmath and no contraction: floating-point results are those of the plain loops, operation by operation,
whatever the machine, so that ties fall the same way everywhere.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar, cast

from app.deferred import deferred

Function = TypeVar("Function", bound=Callable[..., Any])

njit = deferred("numba.njit")
dispatcher = deferred("numba.types.Dispatcher")


def compiled(function: Function) -> Function:
    """The function compiled by numba on its first call, kept on disk. A division by zero does not raise."""
    return cast(Function, Compiled(function))


class Compiled:
    """A loop, and what numba makes of it; numba is loaded no sooner."""

    kept = True
    """Whether what is compiled is written to the disk."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    @cached_property
    def loop(self) -> Any:
        return njit(cache=self.kept, error_model="numpy")(self.function)

    def stays_here(self) -> None:
        """What is compiled for other types from now on is not written."""
        if "loop" in vars(self):
            self.loop._cache.disable()

    @property
    def _numba_type_(self) -> Any:
        """Numba looks here for what one loop finds when it calls another."""
        return dispatcher(self.loop)

    def __call__(self, *arguments: Any) -> Any:
        return self.loop(*arguments)
