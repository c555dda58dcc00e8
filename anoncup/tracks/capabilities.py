"""Capabilities that only some tracks have. Each is one object of the functions that work together."""

from __future__ import annotations  # the numeric types are imported for type checkers only

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from anoncup.rules.parameters import ParameterValue, Roles
from anoncup.tracks.files import Files, FileSpec
from anoncup.tracks.parts import Distance

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from numpy.random import Generator

    from anoncup.geometry.arrays import IntArray
    from anoncup.rules.model import Rules
    from anoncup.rules.settings import Columns
    from anoncup.rules.toml_values import TomlTable

OriginalT = TypeVar("OriginalT")
ScoredT = TypeVar("ScoredT")


@dataclass(frozen=True, slots=True)
class Examples:
    """Templates, example data and the sample method of a kit.

    - ``templates`` are complete competition files by name. One named like the track replaces a file that only
      names it.
    - ``method`` makes the example release of a kit: fast on any data, with few changes.
    - ``make_data(rules, rows, seed)`` returns the files of an example original and of its organizers, for a
      competition with these rules. With ``rows`` None, the original has its usual size.
    - ``known_datasets`` are data sets of known origin by name, as the SHA-256 of each file.
    """

    templates: Mapping[str, Traversable] = field(default_factory=dict)
    method: str = ""
    make_data: Callable[[Rules, int | None, int], dict[str, bytes]] | None = None
    known_datasets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def identify_dataset(self, digests: Mapping[str, str]) -> str | None:
        """Return the name of the known data set with these files (SHA-256 by name), or None.

        Further files are ignored.
        """
        return next(
            (name for name, dataset in self.known_datasets.items() if dataset.items() <= digests.items()),
            None,
        )


@dataclass(frozen=True, slots=True)
class TrackSettings:
    """The tables of a competition file that only some tracks have.

    - ``has_columns``: the table ``[columns]`` assigns roles to columns.
    - ``list_columns_by_role(columns, settings)`` returns the columns that parameters may name, by role.
    - ``read(table)`` reads the table with the track's name; raises InvalidCompetition.
    - ``infer(content, roles, rules)`` returns that table as TOML for an uploaded first file with columns in
      these roles.
    - ``check(rules)`` raises InvalidCompetition if tables of the competition file contradict each other.
    - ``list_shown(settings)`` returns the settings that the rules page shows, by name; pages use the label
      ``parameter_NAME``. ``shown_names`` are all names that it may return.
    """

    has_columns: bool = False
    list_columns_by_role: Callable[[Columns | None, object], Roles] = lambda *_: {}
    read: Callable[[TomlTable], object] | None = None
    infer: Callable[[bytes, Mapping[str, str], Rules], str] | None = None
    check: Callable[[Rules], None] = lambda _: None
    list_shown: Callable[[Any], Mapping[str, ParameterValue]] = lambda _: {}
    shown_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scaling(Generic[OriginalT, ScoredT]):
    """What the values of measures are compared with.

    - ``null_release(original, seed)`` returns a random release that keeps only the marginal distributions.
      The scale of a measure is its mean over such releases.
    - ``identity_release(original)`` returns the unchanged original as a release, with one individual for each
      of the original's. Its measures that may have a weight are 0.
    """

    null_release: Callable[[OriginalT, int], ScoredT] | None = None
    identity_release: Callable[[OriginalT], ScoredT] | None = None


def _reject_without_distances(*_: object) -> NoReturn:
    raise TypeError("a track that knows no distances has no groups and parts")


@dataclass(frozen=True, slots=True, eq=False)
class Distances(Mapping[str, Distance[OriginalT, ScoredT]], Generic[OriginalT, ScoredT]):
    """Distances by name for the rule against excessive anonymization, the default first; empty without it.

    - ``group_columns(rules)`` returns the columns that individuals can be grouped by, and the default ones
      among them.
    - ``group_individuals(original, columns)`` returns the group number of every individual.
    - ``subset(original, rows)`` returns the original of the given individuals.
    """

    by_name: Mapping[str, Distance[OriginalT, ScoredT]] = field(default_factory=dict)
    group_columns: Callable[[Rules], tuple[Sequence[str], Sequence[str]]] = lambda _: ((), ())
    group_individuals: Callable[[OriginalT, Sequence[str]], IntArray] = _reject_without_distances
    subset: Callable[[OriginalT, IntArray], OriginalT] = _reject_without_distances

    def __getitem__(self, name: str) -> Distance[OriginalT, ScoredT]:
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)


@dataclass(frozen=True, slots=True)
class AllocationContext:
    """Context for making the files of one team.

    ``generator(purpose)`` depends only on a seed, the team and the attempt; the purpose is the name of a file
    or one of ``Allocation.purposes``. ``team`` is the name of the team. It is empty for the baselines, which
    all get the same files, and for files for all teams.
    """

    rules: Rules
    organizer_files: Files
    generator: Callable[[str], Generator]
    team: str = ""


@dataclass(frozen=True, slots=True)
class Allocation(Generic[OriginalT]):
    """Files that the service allocates, by lot or as the organizers assign them.

    The seed of the lots is committed to first and revealed later.

    - ``files`` are the files that the service makes.
    - ``make_files(original, context)`` returns their contents by name, or nothing if the organizers have
      assigned nothing to the team. Teams may get what the baselines got, which are no targets.
    - ``per_team``: every team gets its own files, and nobody else sees them. If one of them is the file of
      the track's answer, teams upload no secret. Without ``per_team``, the files are made once for all teams;
      they are those files of the original that the organizers left out.
    - ``allows_shared(rules)``: two teams may get the same files. Otherwise a team's files are made again
      until no earlier team has the same ones.
    - ``organizer_files`` are uploaded by the organizers and shown to nobody. A competition needs those that
      have columns under its rules: for one that it does not need, ``FileSpec.header`` returns ``()``.
    - ``check_organizer_file(name, content, original, rules)`` raises InvalidUpload, without repeating cells.
    - ``draws_lots`` is false if ``make_files`` asks for no generator, because the organizers' file assigns
      everything. They may then replace it as long as no team gets other files than it has.
    """

    files: tuple[FileSpec, ...]
    per_team: bool
    make_files: Callable[[OriginalT, AllocationContext], dict[str, bytes]]
    organizer_files: tuple[FileSpec, ...] = ()
    allows_shared: Callable[[Rules], bool] = lambda _: False
    check_organizer_file: Callable[[str, bytes, OriginalT, Rules], None] | None = None
    purposes: tuple[str, ...] = ()
    draws_lots: bool = True

    def select_organizer_files(self, rules: Rules) -> tuple[FileSpec, ...]:
        """Return the files that the organizers of a competition must upload."""
        return tuple(spec for spec in self.organizer_files if spec.header(rules) != ())

    @property
    def generator_purposes(self) -> tuple[str, ...]:
        """All purposes that a generator is requested for."""
        return (*(spec.name for spec in self.files), *self.purposes)
