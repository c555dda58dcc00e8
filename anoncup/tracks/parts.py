"""What a measure, an attacker, a method and a distance are: entries of the registries of a track."""

from __future__ import annotations  # its types are those of numbers, which descriptions do not need

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anoncup.rules.parameters import Parameter

if TYPE_CHECKING:
    from anoncup.geometry.arrays import FloatArray, IntArray
    from anoncup.geometry.assignment import Lists


@dataclass(frozen=True, slots=True)
class Measure:
    """A number about a release. ``compute(release, **parameters)`` returns it.

    ``details``: further numbers behind it, by name (of each sensitive column, or with its sign).
    ``in_data_units``: it has the unit of the cells. ``weighs``: 0 is best and it may have a weight in U; the
    others are only reported. ``reads_secret`` False: its value is a function of the original and the
    anonymized table alone, so that who has both can compute it (docs/publication.md).
    ``scale``: what its value is held against in U, above 0; or that of a prepared original; None: what it is
    in the mean of null releases. ``crosses``: the parameter that names the columns of the cross-table whose
    cells it compares, if it does.
    """

    name: str
    version: int
    compute: Callable[..., float]
    parameters: tuple[Parameter, ...] = ()
    details: Callable[[Any], dict[str, float]] | None = None
    in_data_units: bool = False
    weighs: bool = False
    higher_is_better: bool = False
    reads_secret: bool = True
    scale: float | Callable[[Any], float] | None = None
    crosses: str | None = None


@dataclass(frozen=True, slots=True)
class Attacker:
    """``attack(target, **parameters)`` returns what its ``question`` can rate; if there are several, by
    question. ``Track.rivals`` says what E takes of those that are asked: the largest, or their mean.

    ``may_count`` False: it presumes what an attacker cannot know, and never counts towards E. ``by_default``:
    it counts where a competition file does not name it, as none does that a package brings to a track.
    ``reads_secret`` False: how often it is right is the same whatever the secret, which else decides it.
    """

    name: str
    version: int
    attack: Callable[..., Any]
    parameters: tuple[Parameter, ...] = ()
    may_count: bool = True
    by_default: bool = True
    reads_secret: bool = True
    question: str | tuple[str, ...] = "link"

    @property
    def questions(self) -> tuple[str, ...]:
        return (self.question,) if isinstance(self.question, str) else self.question


Strengths = Callable[[int, Sequence[str]], Sequence[Mapping[str, Any]]]
"""Of the number of individuals and the group columns: the parameters of one method, weak to strong."""


def as_usual(rows: int, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG001
    """The defaults alone."""
    return ({},)


@dataclass(frozen=True, slots=True)
class Method:
    """``apply(...)`` returns a release and its answer; see ``Track.anonymize``.

    ``strengths``: the parameters that the advisor tries it with as honest work, the middle ones also as a
    cover for cheats; none of a method that cheats itself.
    """

    name: str
    apply: Callable[..., tuple[Any, Any]]
    parameters: tuple[Parameter, ...] = ()
    strengths: Strengths = as_usual


@dataclass(frozen=True, slots=True)
class Distance:
    """How far an individual's anonymized data are from the original ones.

    ``to_source(release)`` (n',): from every anonymized individual to its own original; ``to_others(release)``
    (n',): to the nearest other original, infinite where there is none; ``nearest_other(original)`` (n,): from
    every original individual to the nearest other one; ``matrix(original)`` (n, n): between all of them;
    ``pairs(original, rows, others)``: between those given, one by one;
    ``others(original, rows, length)``: the others nearest to these individuals, about so many of each, if
    bounds are told of individuals whose distances cannot all be held: of a symmetric distance. ``bounded``:
    it lies in [0, 1], so that a deleted individual can count 1."""

    name: str
    to_source: Callable[[Any], FloatArray]
    to_others: Callable[[Any], FloatArray]
    nearest_other: Callable[[Any], FloatArray]
    matrix: Callable[[Any], FloatArray]
    pairs: Callable[[Any, IntArray, IntArray], FloatArray]
    bounded: bool = True
    version: int = 1
    others: Callable[[Any, IntArray, int], Lists] | None = None
