"""Lazy imports: functions referenced by their dotted path and imported on the first call.

Importing numpy, pandas, Arrow, scipy and numba takes seconds and 200 MB, and most processes need none of
them: the clock, the parent process of a worker, a page that shows rules. Registries, and modules that compute
only for some requests, therefore name a function by its path::

    "sort": Attacker("sort", 1, lazy("anoncup.tracks.microdata.attackers.ranks.sort"), ("sensitive",))

If the types matter, show the type checker the function itself::

    if TYPE_CHECKING:
        from anoncup.evaluation.scales import scales
    else:
        scales = lazy("anoncup.evaluation.scales.scales")
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from threading import RLock
from typing import Any

_import_lock = RLock()
"""Serializes imports: threads that enter an import cycle at the same time would see incomplete modules."""


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


def lazy_in(package: str) -> Callable[[str], Any]:
    """Return a variant of :func:`lazy` for paths relative to ``package``."""
    return lambda path: LazyFunction(f"{package}.{path}")
