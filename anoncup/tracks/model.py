"""The ``Track`` interface: the files, answers, questions, measures and attackers of one kind of contest."""

from __future__ import annotations  # the numeric types are imported for type checkers only

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from anoncup.rules.parameters import Parameter, Roles
from anoncup.tables.files import Remark
from anoncup.tracks.files import FileSpec
from anoncup.tracks.outcomes import Outcome, Rate, convert_to_rate
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
"""An original or a release in the track's own data type, which holds one table or several."""
Sizes = Mapping[str, int]
"""Numbers of individuals: ``originals`` in the original and ``rows`` in the release."""


@dataclass(frozen=True, slots=True)
class ReleaseContext:
    """Context for parsing the file of an answer or of a guess.

    ``original()`` returns the original tables and reads them on first use. ``release`` is None if only its
    sizes are known. ``organizer_files`` holds the organizers' secret files. ``generator(purpose)`` returns
    the random generator of the release's team (see ``Allocation``). Both are set only in workers that score,
    judge or publish.
    """

    rules: Rules
    sizes: Sizes
    original: Callable[[], Tables]
    release: Tables | None = None
    organizer_files: Files = field(default_factory=dict)
    generator: Callable[[str], Generator] | None = None


def _find_no_remarks(answer: Any) -> list[Remark]:  # noqa: ARG001
    return []


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """The secret of a release, such as the original row of each released row; only its team knows it.

    - ``file`` describes the file format.
    - ``read(content, context)`` parses the file; InvalidUpload never repeats cells.
    - ``write(answer)`` returns the file; equal answers give equal bytes.
    - ``check(answer, sizes)`` raises InvalidInput if the answer cannot belong to a release of these sizes.
    - ``find_remarks(answer)`` returns warnings about what the order of the published rows reveals.
    - ``reads_without_release`` is true if ``read`` can also find the errors that do not depend on the
      release; the context then has no ``release``, and its sizes have no ``rows``.
    """

    file: FileSpec
    read: Callable[[bytes, ReleaseContext], Any]
    write: Callable[[Any], bytes]
    check: Callable[[Any, Sizes], None]
    find_remarks: Callable[[Any], list[Remark]] = _find_no_remarks
    reads_without_release: bool = False


def _keep_prediction(prediction: Any, rng: Generator) -> Any:  # noqa: ARG001
    return prediction


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a target, which attackers answer with a guess.

    - ``file`` describes the format of a guess.
    - ``read(content, context)`` parses a guess and raises InvalidUpload.
    - ``write(guess)`` returns it as a file; equal guesses give equal bytes.
    - ``count_answered(guess)`` returns the number of lines that are not left open.
    - ``judge(guess, answer, sizes, **parameters)`` returns the outcome.
    - ``make_perfect_guess(answer)`` returns the guess of an attacker who knows the answer.
    - ``make_blind_guess(context, rng)`` makes a guess from the sizes alone, whose expected value is the
      baseline. It is None if E is not adjusted for chance.
    - ``optional``: the question is only asked if the competition file has a table ``[questions.NAME]``.
    - ``parameters`` can be set in that table.
    - ``asks_identity``: the value is the share of a target's individuals that are guessed right, and
      ``correct`` is their number. Boards then show counts, otherwise only risks.
    - ``find_remarks(guess)`` returns warnings about well-formed guesses that look like mistakes.

    Built-in attackers return a guess, or a prediction with more information:

    - ``rate(prediction, answer, sizes, **parameters)`` judges a prediction.
    - ``resolve_guess(prediction, rng)`` turns it into a guess, or returns None if nobody could submit one.
    - ``compute_hit_probabilities(prediction, answer)`` returns the probability of a hit for each individual
      of the release. It needs an answer with one original individual for each.
    """

    name: str
    file: FileSpec
    read: Callable[[bytes, ReleaseContext], Any]
    write: Callable[[Any], bytes]
    count_answered: Callable[[Any], int]
    judge: Callable[..., Outcome]
    make_perfect_guess: Callable[[Any], Any]
    rate: Callable[..., Rate] | None = None
    resolve_guess: Callable[[Any, Generator], Any | None] = _keep_prediction
    parameters: tuple[Parameter, ...] = ()
    optional: bool = False
    asks_identity: bool = False
    make_blind_guess: Callable[[ReleaseContext, Generator], Any] | None = None
    compute_hit_probabilities: Callable[[Any, Any], FloatArray] | None = None
    find_remarks: Callable[[Any], list[Remark]] = _find_no_remarks

    def rate_prediction(self, prediction: Any, answer: Any, sizes: Sizes, **parameters: Any) -> Rate:
        """Rate the prediction of a built-in attacker."""
        if self.rate is not None:
            return self.rate(prediction, answer, sizes, **parameters)
        return convert_to_rate(self.judge(prediction, answer, sizes, **parameters))


_TargetWriter = Callable[[Tables, Any, ReleaseContext, "Generator"], dict[str, bytes]]
"""Writes the files of a target from a release, its answer, the context of the release and a generator."""

Risks = Mapping[str, Sequence[float]]
"""The risks of all teams' best guesses of one target, by question, largest first; empty without guesses."""


def find_largest_risk(risks: Risks) -> float:
    """Return the largest risk over all questions, or 0 without guesses."""
    return max((risk for risks_of_question in risks.values() for risk in risks_of_question), default=0.0)


def _wrap_single_table(table: Tables) -> Sequence[DataFrame]:
    """Return the only table of a single-table track."""
    return (table,)


def _accept_rules(rules: Rules) -> None:
    """Accept all rules, because no combination of tables in the competition file is invalid."""


def _accept_first_file(files: Files, rules: Rules) -> None:
    """Accept all files, because the first file can belong to any original."""


def _return_zero(original: Any) -> float:  # noqa: ARG001
    """Return 0, because no measure of the track is in data units."""
    return 0.0


def _keep_order(release: Tables, answer: Any, *, rng: Generator) -> tuple[Tables, Any]:  # noqa: ARG001
    """Keep the order of the release, because it does not matter in this track."""
    return release, answer


def _reject_without_distances(*_: Any) -> Any:
    raise TypeError("a track that knows no distances has no groups and parts")


def _offer_no_columns(rules: Rules) -> tuple[Sequence[str], Sequence[str]]:  # noqa: ARG001
    return (), ()


@dataclass(frozen=True, slots=True)
class Track:
    """A kind of contest: its files, questions, measures, attackers and methods. See ``docs/tracks.md``."""

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
    """Prepares an original; the result has the number of individuals as ``rows``."""
    attack_view: Callable[[Any, Tables], Any]
    """Returns the data for attackers from a prepared original and a release, without the answer."""
    measure_view: Callable[[Any, Tables, Any], Any]
    """Returns the data for measures, with the answer; its ``target`` is the data for attackers."""
    measures: Mapping[str, Measure]
    attackers: Mapping[str, Attacker]
    methods: Mapping[str, Method]
    anonymize: Callable[..., tuple[Tables, Any]]
    """``(method, original, rules, rng, parameters)`` returns a release and its answer.

    If the service allocates the answers, ``answer=`` passes one.
    """
    list_columns_by_role: Callable[[Columns | None, Any], Roles]
    """Returns the columns that parameters may name, by role, from columns and settings."""

    # Names, templates and example data.
    title: str = ""
    """The name in English; pages use the label ``track_NAME`` instead."""
    individual: str = "row"
    templates: Mapping[str, Traversable] = field(default_factory=dict)
    """Complete competition files by name. One named like the track replaces a file that only names it."""
    example_method: str = ""
    """The method that makes the example release of a kit: fast on any data, with few changes."""
    make_example_data: Callable[[int | None, int], dict[str, bytes]] | None = None
    """``(rows, seed)`` returns the files of an example original and of its organizers.

    With ``rows`` None, the original has its usual size.
    """
    known_datasets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Data sets of known origin by name, as the SHA-256 of each file."""
    build_frames: Callable[[Tables], Sequence[DataFrame]] = _wrap_single_table
    """Returns the table of each file of an original, as organizers see it."""

    # The competition file.
    has_columns: bool = False
    """The competition file assigns roles to columns in its table ``[columns]``."""
    read_settings: Callable[[TomlTable], Any] | None = None
    """Reads the table with the track's name; raises InvalidCompetition."""
    infer_settings: Callable[[bytes, Rules], str] | None = None
    """Returns that table as TOML for an uploaded first file with other columns than the table states."""
    check_rules: Callable[[Rules], None] = _accept_rules
    """Raises InvalidCompetition if tables of the competition file contradict each other."""
    check_first_file: Callable[[Files, Rules], None] = _accept_first_file
    """Raises InvalidUpload if the first file of an original cannot belong to any original."""

    # Publication of a release, and its scores.
    write_canonical_files: Callable[[Tables], dict[str, bytes]] | None = None
    """Writes files that reveal nothing but the release; equal releases give equal bytes.

    It is None if ``files_of`` already does so.
    """
    target_files_of: _TargetWriter | None = None
    """Returns the files that other teams get, see ``target_files``; by default the canonical files."""
    target_files: tuple[FileSpec, ...] = ()
    """The files of a target; empty if they have the format of the release files."""
    parse_target: Callable[[Files, Tables, Rules], Tables] | None = None
    """Parses target files as far as attackers need them; if it is None, they are parsed as a release."""
    seals_release: bool = False
    """The release files reveal the answer, so only the workers may read them."""
    allocation: Allocation | None = None
    rival_risk: Callable[[Risks], float] = find_largest_risk
    """Combines the risks of several questions, by teams or by a built-in attacker, into one in [0, 1]."""
    utility: Literal["mean", "largest"] = "mean"
    """How scores are combined into U. With "largest", weights only select the scores that count."""

    # Capabilities that only some tracks have.
    allows_deletion: bool = False
    """A release may lack individuals, down to ``limits.min_rows_kept``."""
    shuffle: Callable[..., tuple[Tables, Any]] = _keep_order
    """Returns a release and its answer in random order."""
    identity_release: Callable[[Any], Any] | None = None
    """Returns the unchanged original as a release."""
    null_release: Callable[[Any, int], Any] | None = None
    """Returns a random release, for a seed, that keeps only the marginal distributions.

    The scale of a measure is its mean over such releases.
    """
    largest_cell: Callable[[Any], float] = _return_zero
    """Returns the largest amount in the original; rounding tolerances in data units are a share of it."""
    signatures: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Measures and attackers that each kind of method changes; see ``fingerprint``."""
    distances: Mapping[str, Distance] = field(default_factory=dict)
    """Distances for the rule against excessive anonymization, the default first; empty without the rule."""
    group_individuals: Callable[[Any, Sequence[str]], IntArray] = _reject_without_distances
    """Returns the group number of every individual by the given columns."""
    group_columns: Callable[[Rules], tuple[Sequence[str], Sequence[str]]] = _offer_no_columns
    """Returns the columns that individuals can be grouped by, and the default ones among them."""
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

    def select_hit_probabilities(self, rules: Rules) -> Callable[[Any, Any], FloatArray] | None:
        """Return the only question's ``compute_hit_probabilities``; None if unset or with more questions."""
        questions = list(self.select_questions(rules).values())
        return questions[0].compute_hit_probabilities if len(questions) == 1 else None

    @property
    def can_shuffle(self) -> bool:
        return self.shuffle is not _keep_order

    def asks_identity(self, rules: Rules) -> bool:
        """Whether there is one question only and it asks who the individuals are; boards then show counts."""
        questions = self.select_questions(rules).values()
        return len(questions) == 1 and all(question.asks_identity for question in questions)

    def write_release_canonically(self, release: Tables) -> dict[str, bytes]:
        """Write a release as files; equal releases give equal bytes."""
        return (self.write_canonical_files or self.files_of)(release)

    def identify_dataset(self, digests: Mapping[str, str]) -> str | None:
        """Return the name of the known data set with these files (SHA-256 by name), or None.

        Further files are ignored.
        """
        return next(
            (name for name, dataset in self.known_datasets.items() if dataset.items() <= digests.items()),
            None,
        )

    def read_target(self, files: Files, original: Tables, rules: Rules) -> Tables:
        """Parse the files of a target into the data for attackers."""
        if self.parse_target is not None:
            return self.parse_target(files, original, rules)
        return self.parse_release(files, original, rules)[0]

    def count_sizes(self, original: Tables, release: Tables) -> Sizes:
        return {"originals": self.count_individuals(original), "rows": self.count_individuals(release)}


def _forbid_sharing(rules: Rules) -> bool:  # noqa: ARG001
    return False


@dataclass(frozen=True, slots=True)
class Allocation:
    """Files that the service allocates by lot, from a seed that is committed to first and revealed later.

    - ``files`` are the files that the service makes.
    - ``make_files(original, organizer_files, rules, generator)`` returns their contents by name.
      ``generator(purpose)`` depends only on the seed, the team and the attempt; the purpose is the name of a
      file or one of ``purposes``.
    - ``per_team``: every team gets its own files, and nobody else sees them. If one of them is the file of
      the track's answer, teams upload no secret. Without ``per_team``, the files are made once for all teams;
      they are those files of the original that the organizers left out.
    - ``allows_shared(rules)``: two teams may get the same files. Otherwise a team's files are made again
      until no earlier team has the same ones.
    - ``organizer_files`` are uploaded by the organizers and shown to nobody.
    - ``list_required_organizer_files(rules)`` returns the names of those that a competition needs; if it is
      None, all of them are needed.
    - ``check_organizer_file(name, content, original, rules)`` raises InvalidUpload, without repeating cells.
    """

    files: tuple[FileSpec, ...]
    per_team: bool
    make_files: Callable[[Tables, Files, Rules, Callable[[str], Generator]], dict[str, bytes]]
    organizer_files: tuple[FileSpec, ...] = ()
    allows_shared: Callable[[Rules], bool] = _forbid_sharing
    check_organizer_file: Callable[[str, bytes, Tables, Rules], None] | None = None
    purposes: tuple[str, ...] = ()
    list_required_organizer_files: Callable[[Rules], Collection[str]] | None = None

    def select_organizer_files(self, rules: Rules) -> tuple[FileSpec, ...]:
        """Return the files that the organizers of a competition must upload."""
        return tuple(
            spec
            for spec in self.organizer_files
            if self.list_required_organizer_files is None
            or spec.name in self.list_required_organizer_files(rules)
        )

    @property
    def generator_purposes(self) -> tuple[str, ...]:
        """All purposes that a generator is requested for."""
        return (*(spec.name for spec in self.files), *self.purposes)
