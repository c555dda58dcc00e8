"""The ``Track`` interface: the files, answers, questions, measures and attackers of one kind of contest."""

from __future__ import annotations  # the numeric types are imported for type checkers only

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from anoncup.rules.parameters import Parameter, Roles
from anoncup.tables.files import Remark
from anoncup.tracks.files import FileSpec
from anoncup.tracks.outcomes import Outcome, Rate, outcome_to_rate
from anoncup.tracks.parts import Attacker, Distance, Measure, Method

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from numpy.random import Generator
    from pandas import DataFrame

    from anoncup.geometry.arrays import FloatArray, IntArray
    from anoncup.rules.model import Rules
    from anoncup.rules.settings import Columns
    from anoncup.rules.toml_values import TomlTable

Files = Mapping[str, bytes]
Tables = Any
"""The track's own data type for an original or a release: one table, or several."""
Sizes = Mapping[str, int]
"""Counts of an original and of a release: ``originals`` and ``rows``."""


@dataclass(frozen=True, slots=True)
class ReleaseContext:
    """Context in which the file of an answer or of a guess is read.

    ``original()`` returns the original tables and reads them on first use. ``release`` is None where only its
    sizes are known. ``organizer_files`` holds the organizers' secret files and ``generator(purpose)`` returns
    the random generator of the release's team (see ``Allocation``); both are set only in the workers, when
    they score, judge or publish.
    """

    rules: Rules
    sizes: Sizes
    original: Callable[[], Tables]
    release: Tables | None = None
    organizer_files: Files = field(default_factory=dict)
    generator: Callable[[str], Generator] | None = None


def _no_remarks(answer: Any) -> list[Remark]:  # noqa: ARG001
    return []


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """The secret of a release: who became whom. Only the team that made the release knows it.

    ``file`` describes the file format. ``read(content, context)`` parses the file; its InvalidUpload never
    repeats cells. ``write`` returns the file; equal answers give equal bytes. ``check(answer, sizes)`` raises
    InvalidInput if the answer cannot belong to a release of these sizes. ``remarks`` returns warnings about
    what the order of the published rows reveals. ``reads_without_release``: ``read`` is also called without
    the release, to find the errors that do not depend on it; the context then has neither ``release`` nor
    ``rows`` in its sizes.
    """

    file: FileSpec
    read: Callable[[bytes, ReleaseContext], Any]
    write: Callable[[Any], bytes]
    check: Callable[[Any, Sizes], None]
    remarks: Callable[[Any], list[Remark]] = _no_remarks
    reads_without_release: bool = False


def _keep_prediction(prediction: Any, rng: Generator) -> Any:  # noqa: ARG001
    return prediction


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a target. ``file`` describes the format of a guess.

    ``read(content, context)`` parses a guess and raises InvalidUpload; ``write`` returns it as a file, equal
    guesses as equal bytes. ``count_answered`` returns the number of lines that are not left open.
    ``judge(guess, answer, sizes, **parameters)`` returns the outcome. ``perfect_guess`` returns the guess of
    someone who knows the answer. An ``optional`` question is only asked if the competition file has a table
    ``[questions.NAME]``, which may set the ``parameters``. ``asks_identity``: the value is the share of a
    target's individuals that are guessed right, and ``correct`` is their number; boards then show counts,
    otherwise only risks. Built-in attackers return a guess, or a prediction with more information. ``rate``
    judges such a prediction; ``resolve_guess(prediction, rng)`` turns it into a guess, or returns None if
    nobody could submit one. ``hit_probabilities(prediction, answer)`` gives the probability of a hit for each
    individual of the release, where the answer names one original individual for each. ``blind_guess`` makes
    a guess from the sizes alone, whose expected value is the baseline; None where E is not adjusted for
    chance. ``remarks(guess)`` returns warnings about well-formed guesses that look like mistakes.
    """

    name: str
    file: FileSpec
    read: Callable[[bytes, ReleaseContext], Any]
    write: Callable[[Any], bytes]
    count_answered: Callable[[Any], int]
    judge: Callable[..., Outcome]
    perfect_guess: Callable[[Any], Any]
    rate: Callable[..., Rate] | None = None
    resolve_guess: Callable[[Any, Generator], Any | None] = _keep_prediction
    parameters: tuple[Parameter, ...] = ()
    optional: bool = False
    asks_identity: bool = False
    blind_guess: Callable[[ReleaseContext, Generator], Any] | None = None
    hit_probabilities: Callable[[Any, Any], FloatArray] | None = None
    remarks: Callable[[Any], list[Remark]] = _no_remarks

    def rate_prediction(self, prediction: Any, answer: Any, sizes: Sizes, **parameters: Any) -> Rate:
        """Rate the prediction of a built-in attacker."""
        if self.rate is not None:
            return self.rate(prediction, answer, sizes, **parameters)
        return outcome_to_rate(self.judge(prediction, answer, sizes, **parameters))


_TargetWriter = Callable[[Tables, Any, ReleaseContext, "Generator"], dict[str, bytes]]
"""Returns the files of a target from a release, its answer, the context of the release and a generator."""

Risks = Mapping[str, Sequence[float]]
"""Risk of each team's best guess of one target, by question, largest first; empty without guesses."""


def largest_risk(risks: Risks) -> float:
    """Return the largest risk over all questions; 0 if there is none."""
    return max((risk for question_risks in risks.values() for risk in question_risks), default=0.0)


def _single_table(table: Tables) -> Sequence[DataFrame]:
    """Return the only table of a single-table track."""
    return (table,)


def _accept_rules(rules: Rules) -> None:
    """Accept all rules: no combination of tables in the competition file is invalid."""


def _accept_first_file(files: Files, rules: Rules) -> None:
    """Accept all files: the first file can belong to any original."""


def _no_data_units(original: Any) -> float:  # noqa: ARG001
    """Return 0: no measure of the track is in data units."""
    return 0.0


def _keep_order(release: Tables, answer: Any, *, rng: Generator) -> tuple[Tables, Any]:  # noqa: ARG001
    """Keep the order of the release: it does not matter in this track."""
    return release, answer


def _reject_without_distances(*_: Any) -> Any:
    raise TypeError("a track that knows no distances has no groups and parts")


def _no_columns(rules: Rules) -> tuple[Sequence[str], Sequence[str]]:  # noqa: ARG001
    return (), ()


@dataclass(frozen=True, slots=True)
class Track:
    """A kind of contest: its data and all that is measured, attacked and offered. See docs/tracks.md."""

    name: str

    # Files. The rows of the first file of an original, and of a release, are the individuals.
    original_files: tuple[FileSpec, ...]
    release_files: tuple[FileSpec, ...]
    parse_original: Callable[[Files, Rules], tuple[Tables, list[Remark]]]
    parse_release: Callable[[Files, Tables, Rules], tuple[Tables, list[Remark]]]
    files_of: Callable[[Tables], dict[str, bytes]]
    """Writes a release, or an original, as files."""
    count_individuals: Callable[[Tables], int]

    # The secret answer, and the questions that attackers answer.
    answer_spec: AnswerSpec
    questions: Mapping[str, Question]

    # Measures, attackers and methods. An original is prepared once for all of its releases.
    prepare: Callable[[Tables, Rules], Any]
    """Prepares an original, once for all of its releases; ``rows`` is the number of individuals."""
    attack_view: Callable[[Any, Tables], Any]
    """Returns the data for attackers from a prepared original and a release, without the answer."""
    measure_view: Callable[[Any, Tables, Any], Any]
    """Returns the data for measures: the same with the answer. Its ``target`` is the data for attackers."""
    measures: Mapping[str, Measure]
    attackers: Mapping[str, Attacker]
    methods: Mapping[str, Method]
    anonymize: Callable[..., tuple[Tables, Any]]
    """``(method, original, rules, rng, parameters)`` returns a release and its answer.

    If the service allocates the answers, ``answer=`` passes one.
    """
    roles: Callable[[Columns | None, Any], Roles]
    """Returns the columns that parameters may name, by role, from columns and settings."""

    # Names, templates and example data.
    title: str = ""
    """In English; pages use the label ``track_NAME``."""
    individual: str = "row"
    templates: Mapping[str, Traversable] = field(default_factory=dict)
    """Complete competition files. One with the track's own name replaces a file that only names the track."""
    example_method: str = ""
    """The method that makes the example release of a kit: fast on any data, with few changes."""
    make_example_data: Callable[[int | None, int], dict[str, bytes]] | None = None
    """``(rows, seed)`` returns the files of an example original and its organizers; None: the usual size."""
    known_datasets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Data sets of known origin by name, as the SHA-256 of each file."""
    build_frames: Callable[[Tables], Sequence[DataFrame]] = _single_table
    """Returns the table of each file of an original, as organizers see it."""

    # The competition file.
    has_columns: bool = False
    """The competition file assigns roles to columns in its table ``[columns]``."""
    read_settings: Callable[[TomlTable], Any] | None = None
    """Reads the table with the track's name; raises InvalidCompetition."""
    infer_settings: Callable[[bytes, Rules], str] | None = None
    """Returns that table as TOML for an uploaded first file whose columns differ from the stated ones."""
    check_rules: Callable[[Rules], None] = _accept_rules
    """Rejects tables that contradict each other."""
    check_first_file: Callable[[Files, Rules], None] = _accept_first_file
    """Rejects a first file of an original that cannot belong to any original."""

    # Publication of a release, and its scores.
    write_canonical_files: Callable[[Tables], dict[str, bytes]] | None = None
    """Writes files that reveal nothing but the release; equal releases give equal bytes.

    None: ``files_of`` does so.
    """
    target_files_of: _TargetWriter | None = None
    """Returns the files that others get, see ``target_files``; default: the canonical files."""
    target_files: tuple[FileSpec, ...] = ()
    """Empty if target files have the format of release files."""
    parse_target: Callable[[Files, Tables, Rules], Tables] | None = None
    """Parses target files as far as attackers need them; None: they are parsed as a release."""
    seals_release: bool = False
    """The release files reveal the answer, so only the workers may read them."""
    allocation: Allocation | None = None
    rival_risk: Callable[[Risks], float] = largest_risk
    """Combines the risks of several questions into one in [0, 1], of teams or of a built-in attacker."""
    utility: Literal["mean", "largest"] = "mean"
    """Combination of scores into U. With "largest", weights only select the scores that count."""

    # Capabilities that only some tracks have.
    allows_deletion: bool = False
    """A release may lack individuals, down to ``limits.min_rows_kept``."""
    shuffle: Callable[..., tuple[Tables, Any]] = _keep_order
    """Returns a release and its answer in random order."""
    identity_release: Callable[[Any], Any] | None = None
    """Returns the unchanged original as a release."""
    null_release: Callable[[Any, int], Any] | None = None
    """Returns a release that keeps only the marginal distributions; scales come from it (§4)."""
    largest_cell: Callable[[Any], float] = _no_data_units
    """Returns the largest amount in the original; rounding tolerances in data units are a share of it."""
    signatures: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Measures and attackers that each kind of method changes; see ``fingerprint``."""
    distances: Mapping[str, Distance] = field(default_factory=dict)
    """The first is the default. With any, there are limits against excessive anonymization."""
    group_individuals: Callable[[Any, Sequence[str]], IntArray] = _reject_without_distances
    """Returns the group number of every individual by the given columns."""
    group_columns: Callable[[Rules], tuple[Sequence[str], Sequence[str]]] = _no_columns
    """Returns the available columns and the default ones."""
    subset: Callable[[Any, IntArray], Tables] = _reject_without_distances
    """Returns the tables of the given individuals."""

    @property
    def release_file_names(self) -> tuple[str, ...]:
        return tuple(spec.name for spec in self.release_files)

    @property
    def original_file_names(self) -> tuple[str, ...]:
        return tuple(spec.name for spec in self.original_files)

    @property
    def target_file_names(self) -> tuple[str, ...]:
        return tuple(spec.name for spec in self.target_files or self.release_files)

    @property
    def allocates_answer(self) -> bool:
        """Whether the service allocates each team's answer, so that teams upload no secret with a release."""
        team_files = self.allocation.files if self.allocation and self.allocation.per_team else ()
        return self.answer_spec.file.name in {spec.name for spec in team_files}

    def select_questions(self, rules: Rules) -> dict[str, Question]:
        """Return the questions of a competition, the default one first."""
        configured = rules.questions
        return {
            name: question
            for name, question in self.questions.items()
            if not question.optional or name in configured
        }

    def hit_probabilities(self, rules: Rules) -> Callable[[Any, Any], FloatArray] | None:
        """Return ``hit_probabilities`` of the only question; None if it has none or there are several."""
        questions = list(self.select_questions(rules).values())
        return questions[0].hit_probabilities if len(questions) == 1 else None

    @property
    def can_shuffle(self) -> bool:
        return self.shuffle is not _keep_order

    def asks_identity(self, rules: Rules) -> bool:
        """Whether the only question asks who the individuals are; boards then count them."""
        questions = self.select_questions(rules).values()
        return len(questions) == 1 and all(question.asks_identity for question in questions)

    def write_canonical(self, release: Tables) -> dict[str, bytes]:
        """Write a release as files; equal releases give equal bytes."""
        return (self.write_canonical_files or self.files_of)(release)

    def identify_dataset(self, digests: Mapping[str, str]) -> str | None:
        """Return the name of the known data set that an original is, ignoring other files; else None."""
        return next(
            (name for name, dataset in self.known_datasets.items() if dataset.items() <= digests.items()),
            None,
        )

    def read_target(self, files: Files, original: Tables, rules: Rules) -> Tables:
        """Parse the files of a target into the data for attackers."""
        if self.parse_target is not None:
            return self.parse_target(files, original, rules)
        return self.parse_release(files, original, rules)[0]

    def sizes(self, original: Tables, release: Tables) -> Sizes:
        return {"originals": self.count_individuals(original), "rows": self.count_individuals(release)}


def _never_shared(rules: Rules) -> bool:  # noqa: ARG001
    return False


@dataclass(frozen=True, slots=True)
class Allocation:
    """Files that the service allocates by lot, from a seed that is committed to first and revealed later.

    ``make_files(original, organizer_files, rules, generator)`` returns the contents of ``files`` by name.
    ``generator(purpose)``, where the purpose is the name of a file or one of ``purposes``, depends only on
    the seed, the team and the attempt. With ``per_team``, every team gets its own files and nobody else sees
    them. They are made again while an earlier team has the same ones, unless ``allows_shared(rules)``. If one
    of them is the file of the track's answer, it is the answer, and teams upload no secret. Otherwise the
    files are made once for all teams: those files of the original that the organizers left out.
    ``organizer_files`` are uploaded by the organizers and shown to nobody;
    ``required_organizer_files(rules)`` returns the names that a competition needs, if not all of them.
    ``check_organizer_file(name, content, original, rules)`` raises InvalidUpload, which never repeats cells.
    """

    files: tuple[FileSpec, ...]
    per_team: bool
    make_files: Callable[[Tables, Files, Rules, Callable[[str], Generator]], dict[str, bytes]]
    organizer_files: tuple[FileSpec, ...] = ()
    allows_shared: Callable[[Rules], bool] = _never_shared
    check_organizer_file: Callable[[str, bytes, Tables, Rules], None] | None = None
    purposes: tuple[str, ...] = ()
    required_organizer_files: Callable[[Rules], Collection[str]] | None = None

    def requested_organizer_files(self, rules: Rules) -> tuple[FileSpec, ...]:
        """Return the files that the organizers of a competition must upload."""
        return tuple(
            spec
            for spec in self.organizer_files
            if self.required_organizer_files is None or spec.name in self.required_organizer_files(rules)
        )

    @property
    def generator_purposes(self) -> tuple[str, ...]:
        """All purposes that a generator is requested for."""
        return (*(spec.name for spec in self.files), *self.purposes)
