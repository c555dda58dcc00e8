"""The ``Track`` interface: the files, answers, questions, measures and attackers of one kind of contest."""

from __future__ import annotations  # the numeric types are imported for type checkers only

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, Protocol, TypeAlias, TypeVar, cast

from anoncup.errors import InvalidInput
from anoncup.lazy import lazy
from anoncup.rules.parameters import Parameter
from anoncup.tables.files import Remark
from anoncup.tracks.capabilities import Allocation, Distances, Examples, Scaling, TrackSettings
from anoncup.tracks.files import Files, FileSpec
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.parts import AnyMethod, Attacker, HasRows, Measure, Registry, ScoredRelease

if TYPE_CHECKING:
    from numpy.random import Generator, default_rng
    from pandas import DataFrame

    from anoncup.rules.model import Rules
else:
    default_rng = lazy("numpy.random.default_rng")

OriginalT = TypeVar("OriginalT", bound=HasRows)
ReleaseT = TypeVar("ReleaseT")
TargetT = TypeVar("TargetT")
AnswerT = TypeVar("AnswerT")
GuessT = TypeVar("GuessT")
_OriginalT_co = TypeVar("_OriginalT_co", covariant=True)
_OriginalT_contra = TypeVar("_OriginalT_contra", bound=HasRows, contravariant=True)
_ReleaseT_co = TypeVar("_ReleaseT_co", covariant=True)
_ReleaseT_contra = TypeVar("_ReleaseT_contra", contravariant=True)
Sizes = Mapping[str, int]
"""Numbers of individuals: ``originals`` in the original and ``rows`` in the release."""


@dataclass(frozen=True, slots=True)
class TeamData:
    """A team by its name, and its own files: those that the service has allocated to it alone."""

    name: str = ""
    own_files: Files = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReleaseContext(Generic[_OriginalT_co, _ReleaseT_co]):
    """Context for reading an answer or a guess, for judging a guess and for writing a target.

    ``original()`` returns the original and reads it on first use. ``release`` is None if only its
    sizes are known. ``organizer_files`` holds the organizers' secret files. ``generator(purpose)`` returns
    the random generator of the release's team (see ``Allocation``). Both are set only in workers that score,
    judge or publish. ``team`` is the team of the release, if the service allocates files to teams; its name
    is empty for baselines, and wherever others must not know it. ``guesser`` is the team whose guess is read
    or judged.
    """

    rules: Rules
    sizes: Sizes
    original: Callable[[], _OriginalT_co]
    release: _ReleaseT_co | None = None
    organizer_files: Files = field(default_factory=dict)
    generator: Callable[[str], Generator] | None = None
    team: TeamData = field(default_factory=TeamData)
    guesser: TeamData | None = None


@dataclass(frozen=True, slots=True)
class AnswerSpec(Generic[_OriginalT_contra, _ReleaseT_contra, AnswerT]):
    """The secret of a release, such as the original row of each released row; only its team knows it.

    - ``file`` describes the file format.
    - ``read(content, context)`` parses the file; InvalidUpload never repeats cells.
    - ``write(answer)`` returns the file; equal answers give equal bytes.
    - ``check(answer, sizes)`` raises InvalidInput if the answer cannot belong to a release of these sizes.
    - ``normalize(answer)`` returns an answer that a program has made in the form that ``read`` returns.
    - ``find_remarks(answer)`` returns warnings about what the order of the published rows reveals.
    - ``reads_without_release`` is true if ``read`` can also find the errors that do not depend on the
      release; the context then has no ``release``, and its sizes have no ``rows``.
    """

    file: FileSpec
    read: Callable[[bytes, ReleaseContext[_OriginalT_contra, _ReleaseT_contra]], AnswerT]
    write: Callable[[AnswerT], bytes]
    check: Callable[[AnswerT, Sizes], None]
    normalize: Callable[[AnswerT], AnswerT] = lambda answer: answer
    find_remarks: Callable[[AnswerT], list[Remark]] = lambda _: []
    reads_without_release: bool = False


@dataclass(frozen=True, slots=True)
class Question(Generic[_OriginalT_contra, _ReleaseT_contra, AnswerT, GuessT]):
    """A question about a target, which attackers answer with a guess.

    - ``file`` describes the format of a guess.
    - ``read(content, context)`` parses a guess and raises InvalidUpload. It is called when the guess is sent,
      and again when it is judged, then with the organizers' files.
    - ``write(guess)`` returns it as a file; equal guesses give equal bytes.
    - ``count_answered(guess)`` returns the number of lines that are not left open.
    - ``judge(guess, answer, context, **parameters)`` returns the outcome. If it raises InvalidUpload, the
      guess is refused: it does not count, and its team is told the problems.
    - ``make_perfect_guess(answer)`` returns the guess of an attacker who knows the answer.
    - ``make_blind_guess(context, rng)`` makes a guess from the sizes alone, whose expected value is the
      baseline. It is None if E is not adjusted for chance.
    - ``optional``: the question is only asked if the competition file has a table ``[questions.NAME]``.
    - ``parameters`` can be set in that table.
    - ``asks_identity``: the value is the share of a target's individuals that are guessed right, and
      ``correct`` is their number. Boards then show counts, otherwise only risks.
    - ``find_remarks(guess)`` returns warnings about well-formed guesses that look like mistakes.
    """

    name: str
    file: FileSpec
    read: Callable[[bytes, ReleaseContext[_OriginalT_contra, _ReleaseT_contra]], GuessT]
    write: Callable[[GuessT], bytes]
    count_answered: Callable[[GuessT], int]
    judge: Callable[
        Concatenate[GuessT, AnswerT, ReleaseContext[_OriginalT_contra, _ReleaseT_contra], ...], Outcome
    ]
    make_perfect_guess: Callable[[AnswerT], GuessT]
    parameters: tuple[Parameter, ...] = ()
    optional: bool = False
    asks_identity: bool = False
    make_blind_guess: (
        Callable[[ReleaseContext[_OriginalT_contra, _ReleaseT_contra], Generator], GuessT] | None
    ) = None
    find_remarks: Callable[[GuessT], list[Remark]] = lambda _: []


AnyQuestion: TypeAlias = Question[Any, Any, Any, Any]
AnyContext: TypeAlias = ReleaseContext[Any, Any]


@dataclass(frozen=True, slots=True)
class ShownAnswer(Generic[OriginalT, ReleaseT, AnswerT]):
    """The part of the answer that the files of a target show.

    - ``extract(answer, context)`` returns that part; two equal parts compare as equal.
    - ``vary_rest(answer, context, rng)`` returns another possible answer of the same release with the same
      shown part. The contract test requires that the files are the same for both.
    """

    extract: Callable[[AnswerT, ReleaseContext[OriginalT, ReleaseT]], object]
    vary_rest: Callable[[AnswerT, ReleaseContext[OriginalT, ReleaseT], Generator], AnswerT]


@dataclass(frozen=True, slots=True)
class TargetFiles(Generic[OriginalT, ReleaseT, TargetT, AnswerT]):
    """The files in which a release is published as a target.

    - ``write_canonically(release)`` returns files that reveal nothing but the release; equal releases give
      equal bytes. It is None if ``Track.files_of`` already does so.
    - ``specs`` describe the files of a target; they are empty if these have the format of the release files.
    - ``write(release, answer, context, rng)`` returns the files that other teams get. If it is None, they get
      the canonical files. ``rng`` differs each time, so use it for the order of rows only; what is sampled
      once comes from the generators of the context.
    - ``parse(files, original, rules)`` returns the target. If it is None, the files are read as a release.
    - ``shown_answer`` declares the part of the answer that the files show. If it is None, they show none.
    - ``seals_release``: the release files reveal the answer, so only the workers may read them.
    """

    write_canonically: Callable[[ReleaseT], dict[str, bytes]] | None = None
    specs: tuple[FileSpec, ...] = ()
    write: (
        Callable[[ReleaseT, AnswerT, ReleaseContext[OriginalT, ReleaseT], Generator], dict[str, bytes]] | None
    ) = None
    parse: Callable[[Files, OriginalT, Rules], TargetT] | None = None
    shown_answer: ShownAnswer[OriginalT, ReleaseT, AnswerT] | None = None
    seals_release: bool = False


class Shuffle(Protocol[ReleaseT, AnswerT]):
    """Returns a release and its answer in random order."""

    def __call__(
        self, release: ReleaseT, answer: AnswerT, /, *, rng: Generator
    ) -> tuple[ReleaseT, AnswerT]: ...


@dataclass(frozen=True, slots=True)
class Track(Generic[OriginalT, ReleaseT, TargetT, AnswerT]):
    """A kind of contest: its files, questions, measures, attackers and methods. See ``docs/tracks.md``.

    The types are those of an original, of the release that a team sends, of the target that attackers see of
    it, and of its secret answer.
    """

    name: str

    # Files. The rows of the first file of an original, and of a release, are the individuals.
    original_files: tuple[FileSpec, ...]
    release_files: tuple[FileSpec, ...]
    parse_original: Callable[[Files, Rules], tuple[OriginalT, list[Remark]]]
    parse_release: Callable[[Files, OriginalT, Rules, Files], tuple[ReleaseT, list[Remark]]]
    """``(files, original, rules, own_files)`` returns a release and the remarks on it.

    ``own_files`` are those of the release's team. They are empty for others who read a published release.
    """
    files_of: Callable[[ReleaseT], dict[str, bytes]]
    """Writes a release as files."""
    count_individuals: Callable[[ReleaseT], int]
    build_frames: Callable[[OriginalT], Sequence[DataFrame]]
    """Returns the table of each file of an original, as organizers see it."""

    # The secret answer, and the questions that attackers answer.
    answer_spec: AnswerSpec[OriginalT, ReleaseT, AnswerT]
    questions: Mapping[str, Question[OriginalT, ReleaseT, AnswerT, Any]]

    # Measures, attackers and methods.
    attack_view: Callable[[OriginalT, ReleaseT], TargetT] | None
    """Returns what built-in attackers see of a release, without the answer.

    If it is None, they see what ``target_files.parse`` reads from the files that other teams get.
    """
    measures: Mapping[str, Measure[OriginalT, ScoredRelease[ReleaseT, TargetT, AnswerT]]]
    attackers: Mapping[str, Attacker[TargetT, Any]]
    methods: Mapping[str, AnyMethod]
    anonymize: Callable[
        Concatenate[AnyMethod, OriginalT, Rules, Generator, Mapping[str, Any], ...], tuple[ReleaseT, AnswerT]
    ]
    """``(method, original, rules, rng, parameters)`` returns a release and its answer.

    If the service allocates the answers, ``answer=`` passes one.
    """

    # Names and examples.
    title: str = ""
    """The name in English; pages use the label ``track_NAME`` instead."""
    individual: str = "row"
    examples: Examples = field(default_factory=Examples)

    # Rules and scores.
    settings: TrackSettings = field(default_factory=TrackSettings)
    check_first_file: Callable[[Files, Rules], None] = lambda *_: None
    """Raises InvalidUpload if the first file of an original cannot belong to any original."""
    allows_deletion: bool = False
    """A release may lack individuals, down to ``limits.min_rows_kept``."""
    security: Literal["largest", "mean"] = "largest"
    """How the risks of several questions are combined, those of teams and those of built-in attackers."""
    utility: Literal["mean", "largest"] = "mean"
    """How scores are combined into U. With "largest", weights only select the scores that count."""

    # Capabilities that only some tracks have.
    shuffle_rows: Shuffle[ReleaseT, AnswerT] | None = None
    """None if the order of a release does not matter."""
    target_files: TargetFiles[OriginalT, ReleaseT, TargetT, AnswerT] = field(default_factory=TargetFiles)
    allocation: Allocation[OriginalT] | None = None
    scaling: Scaling[OriginalT, ScoredRelease[ReleaseT, TargetT, AnswerT]] = field(default_factory=Scaling)
    distances: Distances[OriginalT, ScoredRelease[ReleaseT, TargetT, AnswerT]] = field(
        default_factory=Distances
    )

    def __post_init__(self) -> None:
        for kind in ("measures", "attackers", "methods"):
            object.__setattr__(self, kind, Registry(getattr(self, kind)))

    @property
    def summary(self) -> tuple[list[str], str]:
        originals, releases = (
            [f"{spec.name}.csv" for spec in specs if spec.required]
            for specs in (self.original_files, self.release_files)
        )
        return originals, f"a release is {', '.join(releases)}; questions: {', '.join(self.questions)}"

    @property
    def release_file_names(self) -> tuple[str, ...]:
        return tuple(spec.name for spec in self.release_files)

    @property
    def original_file_names(self) -> tuple[str, ...]:
        return tuple(spec.name for spec in self.original_files)

    @property
    def target_file_names(self) -> tuple[str, ...]:
        return tuple(spec.name for spec in self.target_files.specs or self.release_files)

    @property
    def allocates_answer(self) -> bool:
        """Whether the service allocates each team's answer, so that teams upload no secret with a release."""
        team_files = self.allocation.files if self.allocation and self.allocation.per_team else ()
        return self.answer_spec.file.name in {spec.name for spec in team_files}

    def select_questions(self, rules: Rules) -> dict[str, Question[OriginalT, ReleaseT, AnswerT, Any]]:
        """Return the questions of a competition, the default one first."""
        configured = rules.questions
        return {
            name: question
            for name, question in self.questions.items()
            if not question.optional or name in configured
        }

    def require_question(self, rules: Rules, name: str) -> Question[OriginalT, ReleaseT, AnswerT, Any]:
        """Return a question of a competition; raise InvalidInput if the competition does not ask it."""
        questions = self.select_questions(rules)
        if name not in questions:
            raise InvalidInput(
                "the questions asked here are {known}", code="unknown_question", known=tuple(questions)
            )
        return questions[name]

    def combine_risks(self, risks: Mapping[str, float], rules: Rules) -> float:
        """Return the risk of guesses on several questions, in [0, 1]; one without a guess counts as 0."""
        asked = [risks.get(name, 0.0) for name in self.select_questions(rules)]
        return fsum(asked) / len(asked) if self.security == "mean" else max(asked, default=0.0)

    @property
    def can_shuffle(self) -> bool:
        return self.shuffle_rows is not None

    def shuffle(self, release: ReleaseT, answer: AnswerT, *, rng: Generator) -> tuple[ReleaseT, AnswerT]:
        """Return a release and its answer in random order, or as they are if the order does not matter."""
        return self.shuffle_rows(release, answer, rng=rng) if self.shuffle_rows else (release, answer)

    def asks_identity(self, rules: Rules) -> bool:
        """Whether there is one question only and it asks who the individuals are; boards then show counts."""
        questions = self.select_questions(rules).values()
        return len(questions) == 1 and all(question.asks_identity for question in questions)

    def write_release_canonically(self, release: ReleaseT) -> dict[str, bytes]:
        """Write a release as files; equal releases give equal bytes."""
        return (self.target_files.write_canonically or self.files_of)(release)

    def parse_target(self, files: Files, original: OriginalT, rules: Rules) -> TargetT:
        """Parse the files of a target into what attackers see."""
        if self.target_files.parse is not None:
            return self.target_files.parse(files, original, rules)
        if self.attack_view is None:
            raise TypeError(
                f"{self.name} says neither how attackers see a release nor how they read a target"
            )
        return self.attack_view(original, self.parse_release(files, original, rules, {})[0])

    def write_target(
        self, answer: AnswerT, context: ReleaseContext[OriginalT, ReleaseT], rng: Generator
    ) -> dict[str, bytes]:
        """Write the files that other teams get of the context's release."""
        release = cast("ReleaseT", context.release)
        if self.target_files.write is None:
            return self.write_release_canonically(release)
        return self.target_files.write(release, answer, context, rng)

    def build_target(self, answer: AnswerT, context: ReleaseContext[OriginalT, ReleaseT]) -> TargetT:
        """Return what built-in attackers see of the context's release; it is the same each time."""
        if self.attack_view is not None:
            return self.attack_view(context.original(), cast("ReleaseT", context.release))
        files = self.write_target(answer, context, default_rng(0))
        return self.parse_target(files, context.original(), context.rules)

    def build_context(
        self, rules: Rules, original: OriginalT, release: ReleaseT, *, team: TeamData | None = None
    ) -> ReleaseContext[OriginalT, ReleaseT]:
        """Return the context of a release without what only workers have."""
        sizes = self.count_sizes(original, release)
        return ReleaseContext(rules, sizes, lambda: original, release, team=team or TeamData())

    def count_sizes(self, original: OriginalT, release: ReleaseT) -> Sizes:
        return {"originals": original.rows, "rows": self.count_individuals(release)}

    def read_allocated_answer(self, content: bytes, original: OriginalT, rules: Rules) -> AnswerT:
        """Read an answer that the service has allocated. No release is needed."""
        sizes = {"originals": original.rows, "rows": original.rows}
        team = TeamData(own_files={self.answer_spec.file.name: content})
        return self.answer_spec.read(content, ReleaseContext(rules, sizes, lambda: original, team=team))

    def add_answer(
        self, answer: AnswerT, context: ReleaseContext[OriginalT, ReleaseT]
    ) -> ScoredRelease[ReleaseT, TargetT, AnswerT]:
        """Return the context's release with its answer, for measures."""
        normalized = self.answer_spec.normalize(answer)
        target = self.build_target(normalized, context)
        return ScoredRelease(cast("ReleaseT", context.release), target, normalized)


AnyTrack: TypeAlias = Track[Any, Any, Any, Any]
"""A track of any types. Registries hold tracks of different types, so their callers do not know them."""
