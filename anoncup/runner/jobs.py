"""The jobs of the runner: what each needs, and the type of its result."""

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated, Any, ClassVar, Generic, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    SerializationInfo,
    ValidationInfo,
)

from anoncup.competition.parser import parse_competition
from anoncup.errors import CompetitionUnavailable, InvalidCompetition
from anoncup.lazy import LazyFunction, lazy_in
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.runner.protocol import MAX_FILES_BYTES
from anoncup.runner.results import AdviceForm, Count, JudgeResult, Remarks, ScoreResult, Sizes
from anoncup.tables.files import Remark
from anoncup.tracks.model import AnyTrack, TeamData
from anoncup.tracks.ranking_board import Ranked, RankingBoard

ResultT = TypeVar("ResultT")
NO_ANSWER = Remark("no_answer", Message("no line is answered, so the guess finds nobody"))
_MAX_VALUES = 1 << 18
"""Reading a long text takes only a few bytes for each byte, but many short values may take a hundred."""


def _put_beside(content: bytes, info: SerializationInfo) -> bytes | int:
    if info.context is None:
        return content
    info.context.append(content)
    return len(info.context) - 1


def _find_beside(value: Any, info: ValidationInfo) -> Any:
    return value if info.context is None else info.context[value]


Content: TypeAlias = Annotated[bytes, PlainSerializer(_put_beside), BeforeValidator(_find_beside)]
"""The content of a file. In a request it stands beside the JSON, which has its number."""
SentFiles: TypeAlias = dict[str, Content]
Files: TypeAlias = dict[str, bytes]
"""Contents by name."""

_BYTES_AS_BASE64 = ConfigDict(
    frozen=True, strict=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64"
)
_score = lazy_in("anoncup.runner.scoring")


class _ReturnedValue(BaseModel, Generic[ResultT]):
    model_config = _BYTES_AS_BASE64

    value: ResultT


@cache
def _build_result_model(result_type: Any) -> Any:
    return _ReturnedValue[result_type]


@lru_cache(maxsize=8)
def _load_rules(competition_file: str) -> Rules:
    try:
        return parse_competition(competition_file)
    except InvalidCompetition as problem:  # as when a package has been removed meanwhile
        raise CompetitionUnavailable(problem.message) from None


@lru_cache(maxsize=2)
def _load_original(competition_file: str, files: tuple[tuple[str, bytes], ...]) -> Any:
    rules = _load_rules(competition_file)
    return TRACKS[rules.track].parse_original(dict(files), rules)[0]


class Job(BaseModel, Generic[ResultT]):
    """A job about a competition, and usually about its original data.

    ``handler`` gets the job and a ``ProgressCallback``, and does it inside the sandbox. With
    ``raises_errors``, its domain errors are raised in the caller; without, they are failures of the code. A
    child does only one job with ``is_single``.
    """

    model_config = _BYTES_AS_BASE64

    handler: ClassVar[LazyFunction]
    raises_errors: ClassVar[bool] = True
    is_single: ClassVar[bool] = False
    max_result_bytes: ClassVar[int] = 1 << 22

    competition_file: str
    original: SentFiles = {}

    def load(self) -> tuple[Rules, AnyTrack, Any]:
        """Return the rules, the track and the original."""
        rules = self.load_rules()
        return rules, TRACKS[rules.track], self.load_original()

    def load_rules(self) -> Rules:
        return _load_rules(self.competition_file)

    def load_original(self) -> Any:
        """Return the original, which also caches derived values. It is kept for the next jobs of a child."""
        return _load_original(self.competition_file, tuple(sorted(self.original.items())))

    def read_result(self, content: bytes) -> ResultT:
        """Validate a result; raise ValueError for one of another type or with impossible values."""
        if sum(map(content.count, (b",", b"[", b"{"))) > _MAX_VALUES:
            raise ValueError("too many values")
        result_model = _build_result_model(self.find_result_type())
        result: ResultT = result_model.model_validate_json(content, strict=True, extra="forbid").value
        self.check_result(result)
        return result

    def find_result_type(self) -> Any:
        """Return the type that a job's class names in brackets."""
        return next(
            base.__pydantic_generic_metadata__["args"][0]
            for base in type(self).__mro__
            if issubclass(base, Job) and base.__pydantic_generic_metadata__["args"]
        )

    def check_result(self, result: ResultT) -> None:
        """Raise ValueError for a result that does not belong to this job."""


AnyJob: TypeAlias = Job[Any]


@dataclass(frozen=True, slots=True)
class ParsedRelease:
    """A release that was read; ``files``: the shuffled tables, empty if nothing is shuffled.

    ``secret``: unencrypted, kept in memory only.
    """

    files: Files
    sizes: Sizes
    secret: bytes
    remarks: Remarks


class ReadReleaseJob(Job[ParsedRelease]):
    """Read a release and its secret, or the answer that the service has allocated to the team.

    If the competition shuffles targets, a random order is applied to both, so that the same table is scored,
    attacked and published.
    """

    handler = _score("read_release")
    max_result_bytes = MAX_FILES_BYTES

    files: SentFiles
    secret: bytes
    team: TeamData

    def check_result(self, result: ParsedRelease) -> None:
        if "rows" not in result.sizes or not result.files.keys() <= self.files.keys():
            raise ValueError("a release without rows, or with other files")


class CheckReleaseJob(Job[tuple[Count, Remarks]]):
    """Return the number of rows of a release and the remarks on it.

    If files are missing, the others are checked as far as possible, and the number of rows is 0.
    """

    handler = _score("check_release")

    files: SentFiles
    secret: bytes | None
    team: TeamData


@dataclass(frozen=True, slots=True)
class ParsedGuess:
    """A guess that was read: normalized content and the number of lines with an answer."""

    content: bytes
    answered: Count
    remarks: Remarks


class ReadGuessJob(Job[ParsedGuess]):
    """Read the answer to a question."""

    handler = _score("read_guess")
    max_result_bytes = MAX_FILES_BYTES

    guess: Content
    guesser: TeamData
    question: str
    sizes: dict[str, int]


class WorkerInputs(BaseModel):
    """Inputs that only workers have.

    ``keys`` maps each purpose to the hexadecimal key of a team's random draws (see
    ``anoncup.tracks.generators``). ``team`` is the name of that team; ``own_files`` are those that were
    allocated to it.
    """

    model_config = _BYTES_AS_BASE64

    organizer_files: SentFiles = {}
    keys: dict[str, str] = {}
    team: str = ""
    own_files: SentFiles = {}


class ScoreJob(Job[ScoreResult]):
    """Score a release with its secret."""

    handler = _score("score")
    raises_errors = False

    files: SentFiles
    secret: bytes
    inputs: WorkerInputs = WorkerInputs()


class JudgeJob(Job[JudgeResult]):
    """Compare a guess with a target's secret.

    ``inputs`` are about the target's team; ``guesser`` is the name of the team that guesses.
    """

    handler = _score("judge")
    raises_errors = False

    guess: Content
    secret: bytes
    question: str
    sizes: dict[str, int]
    guesser: str
    guesser_files: SentFiles
    inputs: WorkerInputs = WorkerInputs()

    def check_result(self, result: JudgeResult) -> None:
        if len(result) != 1 or result.get("outcome", {}).get("correct", 0) > max(self.sizes.values()):
            raise ValueError("neither an outcome nor a refusal, or more is right than there is")


class AdviceJob(Job[AdviceForm]):
    """Answer a question about a competition's data for a threshold report."""

    handler = _score("advise")
    raises_errors = False

    question: dict[str, Any]


class _FilesJob(Job[Files]):
    """Make files with these names."""

    max_result_bytes = MAX_FILES_BYTES
    raises_errors = False
    is_single = True

    file_names: tuple[str, ...]
    inputs: WorkerInputs = WorkerInputs()

    def check_result(self, result: Files) -> None:
        if result.keys() != set(self.file_names):
            raise ValueError("other files than those to be made")


class TargetFilesJob(_FilesJob):
    """Write the files of a target, as other teams get them.

    ``secret`` is None unless the files depend on it.
    """

    handler = _score("write_target_files")

    files: SentFiles
    secret: bytes | None = None


class AllocateJob(_FilesJob):
    """Make the files of a team, or of all, from the original and the workers' inputs.

    There are no files if the organizers have assigned none to the team.
    """

    handler = _score("allocate")

    def check_result(self, result: Files) -> None:
        if result:
            super().check_result(result)


class RankJob(Job[tuple[Ranked, ...]]):
    """Rank a board by the ranking function PACKAGE:NAME. The caller checks that the result fits the board."""

    handler = _score("rank")
    raises_errors = False
    is_single = True

    competition_file: str = ""
    function: str
    board: RankingBoard
