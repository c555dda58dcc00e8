"""Registry entries of a track: measures, attackers, methods and distances."""

from __future__ import annotations  # the numeric types are imported for type checkers only

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from inspect import getdoc, isroutine, unwrap
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Protocol, TypeAlias, TypeVar

from anoncup.rules.parameters import Parameter

if TYPE_CHECKING:
    from numpy.random import Generator

    from anoncup.geometry.arrays import FloatArray, IntArray
    from anoncup.tracks.memo import Memo
    from anoncup.tracks.outcomes import Outcome


class HasRows(Protocol):
    """An original, or a release as attackers see it, with a known number of individuals."""

    @property
    def rows(self) -> int: ...


_OriginalT_co = TypeVar("_OriginalT_co", covariant=True)


class HasOriginal(HasRows, Protocol[_OriginalT_co]):
    """A release that knows its original."""

    @property
    def original(self) -> _OriginalT_co: ...


_OriginalT = TypeVar("_OriginalT")
_OriginalT_contra = TypeVar("_OriginalT_contra", contravariant=True)
_ReleaseT_co = TypeVar("_ReleaseT_co", covariant=True)
_TargetT_co = TypeVar("_TargetT_co", covariant=True)
_TargetT_contra = TypeVar("_TargetT_contra", contravariant=True)
_AnswerT_co = TypeVar("_AnswerT_co", covariant=True)
_ScoredT_contra = TypeVar("_ScoredT_contra", contravariant=True)
_AnswerT_contra = TypeVar("_AnswerT_contra", contravariant=True)
_GuessT_co = TypeVar("_GuessT_co", covariant=True)
_ResultT_co = TypeVar("_ResultT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class ScoredRelease(Generic[_ReleaseT_co, _TargetT_co, _AnswerT_co]):
    """A release with its secret answer, for measures. Attackers see its ``target`` only."""

    release: _ReleaseT_co
    """What the team sent, as the track reads it."""
    target: _TargetT_co
    """What attackers see of it. It does not depend on the answer."""
    answer: _AnswerT_co
    """The secret. A measure that reads it, or what follows from it, has ``reads_secret=True``."""
    memo: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self: ScoredRelease[_ReleaseT_co, HasRows, _AnswerT_co]) -> int:
        """The number of released individuals."""
        return self.target.rows

    @property
    def original(self: ScoredRelease[_ReleaseT_co, HasOriginal[_OriginalT], _AnswerT_co]) -> _OriginalT:
        """The original of a target that knows it."""
        return self.target.original


class _Listed(Protocol):
    """A part or a track. ``summary``: the names of its parameters or files, and what it is."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> tuple[Iterable[str], str]: ...


_ListedT = TypeVar("_ListedT", bound=_Listed)


class Registry(dict[str, _ListedT]):
    """Parts or tracks by name, which print as a table in terminals and notebooks."""

    @classmethod
    def from_parts(cls, *parts: _ListedT) -> Registry[_ListedT]:
        return cls({part.name: part for part in parts})

    def __repr__(self) -> str:
        rows = list(self._list_rows())
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self._list_rows())
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    def _list_rows(self) -> Iterator[tuple[str, str, str]]:
        yield "name", "takes", "description"
        for name, part in self.items():
            inputs, description = part.summary
            yield name, ", ".join(inputs), description


def _summarize(parameters: Iterable[Parameter], function: Callable[..., object]) -> tuple[list[str], str]:
    """Return the names of the parameters, and the first line of what the function's author wrote."""
    implementation = unwrap(getattr(function, "func", function))
    description = (getdoc(implementation) or "") if isroutine(implementation) else ""
    return [parameter.name for parameter in parameters], description.partition("\n")[0].replace("``", "")


_InputT = TypeVar("_InputT")
_OutputT = TypeVar("_OutputT")
Configurable: TypeAlias = Callable[[_InputT], _OutputT] | Callable[Concatenate[_InputT, ...], _OutputT]
"""A function of one value, which may take the parameters of a measure or an attacker as keywords."""


@dataclass(frozen=True, slots=True)
class Measure(Generic[_OriginalT_contra, _ScoredT_contra]):
    """A number that describes a release.

    - ``compute(scored, **parameters)`` returns the number that describes a ``ScoredRelease``.
    - ``details(scored)`` returns further numbers by name, such as one for each sensitive column.
    - ``is_exact``: the value is made of counts, so that it has no rounding errors.
    - ``largest_cell(original, **parameters)`` returns the largest absolute value in the columns that the
      measure reads, in the unit of its value. It is None if the value has no unit of the data.
    - ``weighs``: 0 is best, and the measure may have a weight in U. Other measures are only reported.
    - ``reads_secret`` is false if the value depends only on the original and the anonymized table, so that
      anyone who has both can compute it (``docs/publication.md``).
    - ``scale`` divides the value in U. It is a number above 0 or a function of the original; None means the
      mean value of null releases.
    - ``cross_table_parameter`` names the parameter with the columns of a cross-table, if the measure compares
      the cells of one.
    """

    name: str
    version: int
    compute: Configurable[_ScoredT_contra, float]
    parameters: tuple[Parameter, ...] = ()
    details: Callable[[_ScoredT_contra], dict[str, float]] | None = None
    is_exact: bool = False
    largest_cell: Configurable[_OriginalT_contra, float] | None = None
    weighs: bool = False
    higher_is_better: bool = False
    reads_secret: bool = True
    scale: float | Callable[[_OriginalT_contra], float] | None = None
    cross_table_parameter: str | None = None

    @property
    def summary(self) -> tuple[list[str], str]:
        return _summarize(self.parameters, self.compute)


class BuiltInGuess(ABC, Generic[_AnswerT_contra, _GuessT_co]):
    """A guess of a built-in attacker that is more than a team can send, such as a guess at random."""

    @abstractmethod
    def judge(self, answer: _AnswerT_contra, sizes: Mapping[str, int]) -> Outcome:
        """Return the outcome, which is an expectation if the guess is at random."""

    @abstractmethod
    def sample(self, rng: Generator) -> _GuessT_co | None:
        """Return the guess as a team could send it, or None if nobody could."""


@dataclass(frozen=True, slots=True)
class Attacker(Generic[_TargetT_contra, _GuessT_co]):
    """A built-in attacker of a track.

    - ``attack(target, **parameters)`` returns a guess on the ``question`` or a ``BuiltInGuess``. With
      several questions it returns a guess for each, by name; ``Track.security`` combines their risks.
    - ``may_count`` is false if the attack assumes knowledge that no attacker has; it never counts towards E.
    - ``counts_by_default``: the attacker counts even if the competition file does not name it. It is false
      for attackers that a package adds to another package's track.
    - ``reads_secret`` is false if the success rate is the same for every secret.
    """

    name: str
    version: int
    attack: Configurable[_TargetT_contra, _GuessT_co]
    parameters: tuple[Parameter, ...] = ()
    may_count: bool = True
    counts_by_default: bool = True
    reads_secret: bool = True
    question: str | tuple[str, ...] = "link"

    @property
    def summary(self) -> tuple[list[str], str]:
        return _summarize(self.parameters, self.attack)

    @property
    def questions(self) -> tuple[str, ...]:
        return (self.question,) if isinstance(self.question, str) else self.question


Strengths = Callable[[int, Sequence[str]], Sequence[Mapping[str, object]]]
"""Returns parameters of a method, from weak to strong, for a number of individuals and columns."""


@dataclass(frozen=True, slots=True)
class Method(Generic[_ResultT_co]):
    """A sample anonymization method.

    ``apply(...)`` returns what ``Track.anonymize`` makes a release and its answer of. ``strengths(rows,
    columns)`` returns the parameters with which threshold reports try the method. ``columns`` are all group
    columns or, for a method that ``cheats``, those that a cheat keeps. Such a method only exchanges
    individuals.
    """

    name: str
    apply: Callable[..., _ResultT_co]
    parameters: tuple[Parameter, ...] = ()
    strengths: Strengths = lambda *_: ({},)
    cheats: bool = False

    @property
    def summary(self) -> tuple[list[str], str]:
        return _summarize(self.parameters, self.apply)


@dataclass(frozen=True, slots=True)
class Distance(Generic[_OriginalT_contra, _ScoredT_contra]):
    """Distance between the anonymized data of an individual and the original data.

    - ``to_source(scored)`` (n',): from every anonymized individual to its own original.
    - ``to_others(scored)`` (n',): from every anonymized individual to the nearest other original; infinite
      if there is none.
    - ``nearest_other(original)`` (n,): from every original individual to the nearest other one; infinite if
      there is none.
    - ``matrix(original)`` (n, n): between all originals.
    - ``pairs(original, rows, others)``: between the given originals, pair by pair.
    - ``bounded``: the distance lies in [0, 1], so that a deleted individual can count as 1.
    """

    name: str
    to_source: Callable[[_ScoredT_contra], FloatArray]
    to_others: Callable[[_ScoredT_contra], FloatArray]
    nearest_other: Callable[[_OriginalT_contra], FloatArray]
    matrix: Callable[[_OriginalT_contra], FloatArray]
    pairs: Callable[[_OriginalT_contra, IntArray, IntArray], FloatArray]
    bounded: bool = True
    version: int = 1


# Parts of any track: registries of all tracks hold parts of different types.
AnyScoredRelease: TypeAlias = ScoredRelease[Any, Any, Any]
AnyMeasure: TypeAlias = Measure[Any, Any]
AnyAttacker: TypeAlias = Attacker[Any, Any]
AnyMethod: TypeAlias = Method[Any]
AnyDistance: TypeAlias = Distance[Any, Any]
Guesses: TypeAlias = Mapping[str, Any]
"""The guesses of a built-in attacker, by question."""
