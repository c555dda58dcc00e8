"""Lazy compilation of loops with numba.

Fast math and the contraction of operations are off. Floating-point results are therefore the same on every
machine, and ties are broken the same way everywhere.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, TypeVar, cast

from anoncup.lazy import lazy

Function = TypeVar("Function", bound=Callable[..., Any])

njit = lazy("numba.njit")
_dispatcher = lazy("numba.types.Dispatcher")


def compile_loop(function: Function) -> Function:
    """Compile the function with numba on its first call and cache it; division by zero does not raise."""
    return cast(Function, CompiledLoop(function))


class CompiledLoop:
    """A function that numba compiles on its first call. Before that, numba is not even imported."""

    writes_cache = True
    """Whether compiled code is written to disk."""
    all_loops: ClassVar[list["CompiledLoop"]] = []

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.all_loops.append(self)

    @cached_property
    def loop(self) -> Any:
        compile_cached = njit(cache=self.writes_cache, error_model="numpy")
        try:
            return compile_cached(self.function)
        except RuntimeError:  # neither the package's folder nor the user's cache folder can be written
            return njit(error_model="numpy")(self.function)

    def disable_cache(self) -> None:
        """Do not write code to the cache that is compiled from now on."""
        if "loop" in vars(self):
            self.loop._cache.disable()

    @property
    def _numba_type_(self) -> Any:
        """The type with which numba resolves a call from one loop to another."""
        return _dispatcher(self.loop)

    def __call__(self, *arguments: Any, **named_arguments: Any) -> Any:
        return self.loop(*arguments, **named_arguments)
