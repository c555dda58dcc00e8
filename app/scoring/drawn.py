"""What the service draws in a track: an entry of its registry."""

from __future__ import annotations  # its types are those of numbers, which descriptions do not need

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.scoring.files import FileSpec

if TYPE_CHECKING:
    from numpy.random import Generator

    from anoncup.rules.model import Rules
    from app.scoring.registry import Files, Tables


def never(rules: Rules) -> bool:  # noqa: ARG001
    return False


@dataclass(frozen=True, slots=True)
class Draw:
    """What the service draws by a seed that it commits to before and shows at the reveal (``draws``).

    ``make(original, truth, rules, generator)``: the contents of ``files`` by name; ``generator(purpose)``,
    with the name of a file or one of ``purposes``, depends on nothing but seed, team and attempt.
    ``each_team``: every team has its own, and nobody else sees them; drawn again while an earlier team has
    the same, unless ``shared(rules)``. If one is named as the track's answer, it is the answer, and nothing
    secret is sent with a release. Else they are drawn once, for all: those of the original's files that the
    organizers left out. ``truth``: what the organizers hold and nobody sees, of these ``holds(rules)`` if not
    all are asked for; ``check_truth(name, content, original, rules)``: InvalidUpload, which never repeats
    what it holds.
    """

    files: tuple[FileSpec, ...]
    each_team: bool
    make: Callable[[Tables, Files, Rules, Callable[[str], Generator]], dict[str, bytes]]
    truth: tuple[FileSpec, ...] = ()
    shared: Callable[[Rules], bool] = never
    check_truth: Callable[[str, bytes, Tables, Rules], None] | None = None
    purposes: tuple[str, ...] = ()
    holds: Callable[[Rules], Collection[str]] | None = None

    def truth_of(self, rules: Rules) -> tuple[FileSpec, ...]:
        """The files of truth that a competition asks its organizers for."""
        return tuple(one for one in self.truth if self.holds is None or one.name in self.holds(rules))

    @property
    def drawn_for(self) -> tuple[str, ...]:
        """All purposes that a generator is asked for."""
        return (*(file.name for file in self.files), *self.purposes)
