"""What a track is: its files, its answers, what is asked and drawn, and the registries of its parts."""

from __future__ import annotations  # its types are those of numbers, which descriptions do not need

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from anoncup.rules.parameters import Parameter, Roles
from anoncup.tables.files import Remark
from anoncup.tracks.files import FileSpec
from anoncup.tracks.outcomes import Outcome, Rate, rate_of_outcome
from anoncup.tracks.parts import Attacker, Distance, Measure, Method

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from numpy.random import Generator
    from pandas import DataFrame

    from anoncup.geometry.arrays import FloatArray, IntArray
    from anoncup.rules.model import Rules
    from anoncup.rules.settings import Columns
    from anoncup.rules.toml_values import Table

Files = Mapping[str, bytes]
Tables = Any
"""A track's own type of data: a table, or several."""
Sizes = Mapping[str, int]
"""What is counted of an original and of a release of it."""


@dataclass(frozen=True, slots=True)
class About:
    """What the file of an answer or of a guess is read against.

    ``original()``: its tables, read when somebody asks; ``release``: None where only its sizes are at hand.
    Where a worker scores, judges or publishes, and there only, ``truth`` is what the organizers hold, and
    ``generator(purpose)`` draws what the service draws for the release's team (``Draw``).
    """

    rules: Rules
    sizes: Sizes
    original: Callable[[], Tables]
    release: Tables | None = None
    truth: Files = field(default_factory=dict)
    generator: Callable[[str], Generator] | None = None


def unremarkable(answer: Any) -> list[Remark]:  # noqa: ARG001
    return []


@dataclass(frozen=True, slots=True)
class Answers:
    """What only the makers of a release know: what became of whom. ``file``: how they write it.

    ``read(content, about)``: from their file; InvalidUpload never repeats what it holds. ``write``: as a
    file, equal ones as equal bytes. ``remarks``: what the order tells in which the release is published.
    ``check(answer, sizes)``: InvalidInput if it cannot belong to a release of these sizes. ``read_alone``:
    ``read`` also finds what is wrong whatever the release is; there is none then, nor ``rows`` of its sizes.
    """

    file: FileSpec
    read: Callable[[bytes, About], Any]
    write: Callable[[Any], bytes]
    check: Callable[[Any, Sizes], None]
    remarks: Callable[[Any], list[Remark]] = unremarkable
    read_alone: bool = False


def as_said(said: Any, rng: Generator) -> Any:  # noqa: ARG001
    return said


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about a target. ``file``: how a guess is written.

    ``read(content, about)``: a guess from its file, InvalidUpload; ``write``: as a file, equal ones as equal
    bytes; ``answered``: on how many of its lines it says anything;
    ``judge(guess, answer, sizes, **parameters)``: what it came to. ``perfect``: the guess of whoever holds
    the answer. ``optional``: it is asked where the competition file has a table ``[questions.NAME]``, which
    may hold the ``parameters``.
    ``counts``: its value is the share of a target's individuals that are told rightly, and ``correct`` how
    many they are; boards then say so, and else speak of risk only. Attackers that are built in say a guess;
    where they may say more, ``rate`` judges that in the same way, and ``guess_of(said, rng)`` is a guess that
    follows from it, None if nobody could make it. ``right(said, answer)``: where an answer says which one of
    the original each individual of a release is, of each the probability that this was told. ``blind``: a
    guess of whoever knows the sizes only, whose value is the baseline but for chance; None where E takes
    nothing off for chance. ``remarks(guess)``: what is well-formed and still looks like a mistake.
    """

    name: str
    file: FileSpec
    read: Callable[[bytes, About], Any]
    write: Callable[[Any], bytes]
    answered: Callable[[Any], int]
    judge: Callable[..., Outcome]
    perfect: Callable[[Any], Any]
    rate: Callable[..., Rate] | None = None
    guess_of: Callable[[Any, Generator], Any | None] = as_said
    parameters: tuple[Parameter, ...] = ()
    optional: bool = False
    counts: bool = False
    blind: Callable[[About, Generator], Any] | None = None
    right: Callable[[Any, Any], FloatArray] | None = None
    remarks: Callable[[Any], list[Remark]] = unremarkable

    def rated(self, said: Any, answer: Any, sizes: Sizes, **parameters: Any) -> Rate:
        """What a built-in attacker said came to."""
        if self.rate is not None:
            return self.rate(said, answer, sizes, **parameters)
        return rate_of_outcome(self.judge(said, answer, sizes, **parameters))


Published = Callable[[Tables, Any, About, "Generator"], dict[str, bytes]]
"""Of a release, its answer and what this was read against: a target's files."""

Risks = Mapping[str, Sequence[float]]
"""What teams found in one target, by each question that is asked: the risk of each team's best guess, the
largest first; of a question that nobody has answered, none."""


def largest(found: Risks) -> float:
    """The largest risk of all; of none, 0."""
    return max((risk for each in found.values() for risk in each), default=0.0)


def alone(table: Tables) -> Sequence[DataFrame]:
    """The tables of a track that has one."""
    return (table,)


def any_rules(rules: Rules) -> None:
    """Whatever the tables of a competition file hold, they agree."""


def nothing_to_check(files: Files, rules: Rules) -> None:
    """A first file could belong to any original."""


def no_cells(original: Any) -> float:  # noqa: ARG001
    """Nothing is measured in data units."""
    return 0.0


def as_sent(release: Tables, answer: Any, *, rng: Generator) -> tuple[Tables, Any]:  # noqa: ARG001
    """The order of a release is none of a contest's business."""
    return release, answer


def of_distances(*_: Any) -> Any:
    raise TypeError("a track that knows no distances has no groups and parts")


def no_columns(rules: Rules) -> tuple[Sequence[str], Sequence[str]]:  # noqa: ARG001
    return (), ()


@dataclass(frozen=True, slots=True)
class Track:
    """A kind of contest: its data, and all that is measured, run and offered in it. See docs/tracks.md."""

    name: str

    # Files: of the original and of a release; of each the rows of the first are individuals.
    original: tuple[FileSpec, ...]
    release: tuple[FileSpec, ...]
    parse_original: Callable[[Files, Rules], tuple[Tables, list[Remark]]]
    parse_release: Callable[[Files, Tables, Rules], tuple[Tables, list[Remark]]]
    files_of: Callable[[Tables], dict[str, bytes]]
    """A release, or an original, as files."""
    individuals: Callable[[Tables], int]

    # What is known and asked.
    answers: Answers
    questions: Mapping[str, Question]

    # What is measured: an original is prepared once for all of its releases.
    prepare: Callable[[Tables, Rules], Any]
    """What they are measured with; its ``rows`` are as many as there are individuals."""
    target_of: Callable[[Any, Tables], Any]
    """Of a prepared original and a release: what attackers get, which has no place for an answer."""
    release_of: Callable[[Any, Tables, Any], Any]
    """The same with the answer: what measures get; its ``target`` is what attackers get."""
    measures: Mapping[str, Measure]
    attackers: Mapping[str, Attacker]
    methods: Mapping[str, Method]
    anonymize: Callable[..., tuple[Tables, Any]]
    """``(method, original, rules, rng, parameters)``: a release and its answer; where the service draws the
    answers, ``answer=`` names one."""
    roles: Callable[[Columns | None, Any], Roles]
    """Of columns and settings: which columns parameters may name."""

    # What it is called, and what is there to start from.
    title: str = ""
    """In English; pages take the words of ``track_NAME``."""
    individual: str = "row"
    templates: Mapping[str, Traversable] = field(default_factory=dict)
    """Complete competition files; one of the track's own name stands for a file that has nothing but its
    track."""
    example: str = ""
    """The method of a kit's example: quick on any data and changing little."""
    example_data: Callable[[int | None, int], dict[str, bytes]] | None = None
    """``(rows, seed)``: files of an original that is made up, with what else its organizer holds; None: as
    many rows as are usual."""
    shipped: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By name data whose source is known, as the SHA-256 of each file."""
    frames: Callable[[Tables], Sequence[DataFrame]] = alone
    """The tables of each file of an original, as organizers see them."""

    # The competition file.
    has_columns: bool = False
    """Its table ``[columns]`` says which columns play which role."""
    settings: Callable[[Table], Any] | None = None
    """Reads the table of the track's name; InvalidCompetition."""
    fitted: Callable[[bytes, Rules], str] | None = None
    """That table as TOML, for a first file of the original with other columns than the table states."""
    check_rules: Callable[[Rules], None] = any_rules
    """Refuses tables that do not go together."""
    check_part: Callable[[Files, Rules], None] = nothing_to_check
    """Refuses a first file that could belong to no original."""

    # What becomes of a release.
    canonical_files: Callable[[Tables], dict[str, bytes]] | None = None
    """Files that say nothing but the release: equal ones are equal bytes; None: ``files_of`` says no more."""
    published: Published | None = None
    """What others get of it, the files ``targets``; None: its canonical files, whatever the answer."""
    targets: tuple[FileSpec, ...] = ()
    """None: files like the release's."""
    parse_target: Callable[[Files, Tables, Rules], Tables] | None = None
    """Reads these as far as attackers look at them; None: as a release."""
    seals_release: bool = False
    """Its files tell the answer, so nobody but the workers reads them."""
    draw: Draw | None = None
    rivals: Callable[[Risks], float] = largest
    """What E takes of the risks found by question, in [0, 1]: of all teams' guesses, and of those of one
    built-in attacker."""
    utility: Literal["mean", "largest"] = "mean"
    """How U comes of the scores that weigh; the largest takes a weight for no more than whether one does."""

    # What not every track has.
    deletes: bool = False
    """A release may lack individuals, down to ``limits.min_rows_kept``."""
    shuffle: Callable[..., tuple[Tables, Any]] = as_sent
    """A release and its answer in another order."""
    untouched: Callable[[Any], Any] | None = None
    """The original released as it is."""
    null_release: Callable[[Any, int], Any] | None = None
    """With nothing but its marginals, which scales come from (§4)."""
    largest_cell: Callable[[Any], float] = no_cells
    """What rounding in data units is a share of."""
    signatures: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """What each kind of method changes, see ``fingerprint``."""
    distances: Mapping[str, Distance] = field(default_factory=dict)
    """With any, the first the default, there is a rule against excessive anonymization, and what follows."""
    groups: Callable[[Any, Sequence[str]], IntArray] = of_distances
    """The group of every individual by some columns."""
    group_columns: Callable[[Rules], tuple[Sequence[str], Sequence[str]]] = no_columns
    """Which there are, and the usual ones."""
    part: Callable[[Any, IntArray], Tables] = of_distances
    """The tables of some individuals."""

    @property
    def files(self) -> tuple[str, ...]:
        """The names of a release's files."""
        return tuple(file.name for file in self.release)

    @property
    def original_files(self) -> tuple[str, ...]:
        return tuple(file.name for file in self.original)

    @property
    def target_files(self) -> tuple[str, ...]:
        """The names of a target's files."""
        return tuple(file.name for file in self.targets or self.release)

    @property
    def draws_answer(self) -> bool:
        """Whether the service draws each team's answer, so that nothing secret is sent with a release."""
        own = self.draw.files if self.draw and self.draw.each_team else ()
        return self.answers.file.name in {file.name for file in own}

    def asked(self, rules: Rules) -> dict[str, Question]:
        """The questions of a competition, the usual one first."""
        settled = rules.questions
        return {name: one for name, one in self.questions.items() if not one.optional or name in settled}

    def right(self, rules: Rules) -> Callable[[Any, Any], FloatArray] | None:
        """That of the only question; None where it is not asked which individual is which."""
        asked = list(self.asked(rules).values())
        return asked[0].right if len(asked) == 1 else None

    @property
    def shuffles(self) -> bool:
        """Whether it knows another order of a release."""
        return self.shuffle is not as_sent

    def counts(self, rules: Rules) -> bool:
        """Whether all that is asked is who the individuals are: boards then count them."""
        asked = self.asked(rules).values()
        return len(asked) == 1 and all(one.counts for one in asked)

    def canonical(self, release: Tables) -> dict[str, bytes]:
        """A release as files, equal ones as equal bytes."""
        return (self.canonical_files or self.files_of)(release)

    def shipped_as(self, digests: Mapping[str, str]) -> str | None:
        """The name of the data that an original is, whatever is given beside them; of others None."""
        return next((name for name, one in self.shipped.items() if one.items() <= digests.items()), None)

    def read_target(self, files: Files, original: Tables, rules: Rules) -> Tables:
        """What attackers get of a target's files."""
        if self.parse_target is not None:
            return self.parse_target(files, original, rules)
        return self.parse_release(files, original, rules)[0]

    def sizes(self, original: Tables, release: Tables) -> Sizes:
        """What is counted of both."""
        return {"originals": self.individuals(original), "rows": self.individuals(release)}


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
