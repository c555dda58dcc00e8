"""How the loops that numpy cannot do are compiled.

No fastmath and no contraction: floating-point results are those of the plain loops, operation by operation,
whatever the machine, so that ties fall the same way everywhere.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function compiled by numba on its first call, kept on disk. A division by zero does not raise."""
    return cast(Function, njit(cache=True, error_model="numpy")(function))
