"""Registry entries of a track: measures, attackers, methods and distances."""

from __future__ import annotations  # the numeric types are imported for type checkers only

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anoncup.rules.parameters import Parameter

if TYPE_CHECKING:
    from anoncup.geometry.arrays import FloatArray, IntArray
    from anoncup.geometry.assignment import CandidateLists


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that describes a release.

    - ``compute(release, **parameters)`` returns the number.
    - ``details(release)`` returns further numbers by name, such as one for each sensitive column.
    - ``in_data_units``: the value has the unit of the cells.
    - ``weighs``: 0 is best, and the measure may have a weight in U. Other measures are only reported.
    - ``reads_secret`` is false if the value depends only on the original and the anonymized table, so that
      anyone who has both can compute it (``docs/publication.md``).
    - ``scale`` divides the value in U. It is a number above 0 or a function of the prepared original; None
      means the mean value of null releases.
    - ``cross_table_parameter`` names the parameter with the columns of a cross-table, if the measure compares
      the cells of one.
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
    cross_table_parameter: str | None = None


@dataclass(frozen=True, slots=True)
class Attacker:
    """A built-in attacker of a track.

    - ``attack(target, **parameters)`` returns a prediction that the ``question`` can rate. With several
      questions it returns one prediction for each, and ``Track.rival_risk`` combines their risks.
    - ``may_count`` is false if the attack assumes knowledge that no attacker has; it never counts towards E.
    - ``counts_by_default``: the attacker counts even if the competition file does not name it. It is false
      for attackers that a package adds to another package's track.
    - ``reads_secret`` is false if the success rate is the same for every secret.
    """

    name: str
    version: int
    attack: Callable[..., Any]
    parameters: tuple[Parameter, ...] = ()
    may_count: bool = True
    counts_by_default: bool = True
    reads_secret: bool = True
    question: str | tuple[str, ...] = "link"

    @property
    def questions(self) -> tuple[str, ...]:
        return (self.question,) if isinstance(self.question, str) else self.question


Strengths = Callable[[int, Sequence[str]], Sequence[Mapping[str, Any]]]
"""Returns parameters of a method, from weak to strong, for a number of individuals and the group columns."""


def _list_default_strengths(rows: int, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG001
    """Return the default parameters only."""
    return ({},)


@dataclass(frozen=True, slots=True)
class Method:
    """A sample anonymization method.

    ``apply(...)`` returns a release and its answer; see ``Track.anonymize``. ``strengths(rows, columns)``
    returns the parameters with which the advisor on thresholds tries the method as honest work; it combines
    the middle ones with cheating permutations. It is empty for methods that cheat themselves.
    """

    name: str
    apply: Callable[..., tuple[Any, Any]]
    parameters: tuple[Parameter, ...] = ()
    strengths: Strengths = _list_default_strengths


@dataclass(frozen=True, slots=True)
class Distance:
    """Distance between the anonymized data of an individual and the original data.

    - ``to_source(release)`` (n',): from every anonymized individual to its own original.
    - ``to_others(release)`` (n',): from every anonymized individual to the nearest other original; infinite
      if there is none.
    - ``nearest_other(original)`` (n,): from every original individual to the nearest other one; infinite if
      there is none.
    - ``matrix(original)`` (n, n): between all originals.
    - ``pairs(original, rows, others)``: between the given originals, pair by pair.
    - ``nearest_others(original, rows, length)``: lists of about ``length`` nearest others of each given
      individual, for a symmetric distance; needed for bounds if not all distances fit into memory.
    - ``bounded``: the distance lies in [0, 1], so that a deleted individual can count as 1.
    """

    name: str
    to_source: Callable[[Any], FloatArray]
    to_others: Callable[[Any], FloatArray]
    nearest_other: Callable[[Any], FloatArray]
    matrix: Callable[[Any], FloatArray]
    pairs: Callable[[Any, IntArray, IntArray], FloatArray]
    bounded: bool = True
    version: int = 1
    nearest_others: Callable[[Any, IntArray, int], CandidateLists] | None = None
