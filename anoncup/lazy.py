"""Functions that stand in by name until they are called: the numbers under them load then.

numpy, pandas, Arrow, scipy and numba take seconds to import and 200 MB, and most processes need none of them:
not the clock, not a worker's parent, not a page that shows rules. So whatever only describes what is computed
(the registries), or computes for some requests only, names the function by its path::

    "sort": Attacker("sort", 1, deferred("anoncup.tracks.microdata.attackers.ranks.sort"), ("sensitive",))

Where its types are wanted, a type checker is shown the function itself::

    if TYPE_CHECKING:
        from anoncup.evaluation.scales import scales
    else:
        scales = deferred("anoncup.evaluation.scales.scales")
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from threading import RLock
from typing import Any

_loading = RLock()
"""Two threads that import parts of one cycle of modules at once would see them half made."""


@dataclass(frozen=True, slots=True)
class Deferred:
    """Calls the function, or makes an object of the class, at ``path``; picklable."""

    path: str

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.__wrapped__(*arguments, **named)

    @property
    def __wrapped__(self) -> Any:
        """The function itself, loaded; ``inspect.signature`` looks here."""
        module, _, name = self.path.rpartition(".")
        with _loading:
            return getattr(import_module(module), name)


def deferred(path: str) -> Any:
    """The function at a dotted path, which is imported at its first call."""
    return Deferred(path)


def deferred_in(package: str) -> Callable[[str], Any]:
    """:func:`deferred` for a registry: paths within its own package."""
    return lambda path: Deferred(f"{package}.{path}")
