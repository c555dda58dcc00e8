"""Lazy imports: functions that are named by a dotted path and imported on the first call.

Importing numpy, pandas, Arrow, scipy and numba takes seconds and 200 MB. Often none of them is needed, as in
the clock, the parent process of a worker, and pages that show rules. Registries, and modules that only
compute for some requests, therefore name functions by their path::

    "sort": Attacker("sort", 1, lazy("anoncup.tracks.microdata.attackers.official.sort"), ("sensitive",))

Where types matter, the type checker sees the module itself::

    if TYPE_CHECKING:
        from anoncup.evaluation import scales as _scales
    else:
        _scales = lazy_module("anoncup.evaluation.scales")
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from threading import RLock
from typing import Any

_import_lock = RLock()
"""Allows one import at a time: threads that enter an import cycle together would see incomplete modules."""


@dataclass(frozen=True, slots=True)
class LazyFunction:
    """A picklable callable that imports and calls the function or class at ``path``."""

    path: str

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.__wrapped__(*arguments, **keywords)

    @property
    def __wrapped__(self) -> Any:
        """The imported function; also used by ``inspect.signature``."""
        module, _, name = self.path.rpartition(".")
        with _import_lock:
            return getattr(import_module(module), name)


def lazy(path: str) -> Any:
    """Return a stand-in for the function at a dotted path, imported on the first call."""
    return LazyFunction(path)


@dataclass(frozen=True, slots=True)
class LazyModule:
    """A stand-in for a module of functions: every attribute is a lazy function, even a constant."""

    path: str

    def __getattr__(self, name: str) -> LazyFunction:
        if name.startswith("__") and name.endswith("__"):  # looked up by Python itself
            raise AttributeError(name)
        return LazyFunction(f"{self.path}.{name}")


def lazy_module(path: str) -> Any:
    """Return a stand-in for a module whose functions are imported on the first call."""
    return LazyModule(path)


def lazy_in(package: str) -> Callable[[str], Any]:
    """Return a function that takes a path relative to ``package``, such as ``parts.compute_loss``.

    It returns a stand-in for the function at that path, which is imported on the first call.
    """
    return lambda path: LazyFunction(f"{package}.{path}")
