"""The jobs of the runner: what each needs, and the type of its result."""

from functools import cache
from typing import Annotated, Any, ClassVar, Generic, TypeAlias, TypeVar, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    SerializationInfo,
    ValidationInfo,
)

from anoncup.lazy import LazyFunction, lazy_in
from anoncup.runner.protocol import MAX_FILES_BYTES
from anoncup.runner.results import AdviceForm, JudgeResult, ScoreResult
from anoncup.tracks.ranking_board import Ranked, RankingBoard

ResultT = TypeVar("ResultT")
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
def _build_result_model(result_type: Any) -> type[_ReturnedValue[Any]]:
    return cast("type[_ReturnedValue[Any]]", cast("Any", _ReturnedValue)[result_type])


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


class TargetFilesJob(Job[Files]):
    """Write the files of a target, as other teams get them.

    ``secret`` is None unless the files depend on it.
    """

    handler = _score("write_target_files")
    max_result_bytes = MAX_FILES_BYTES
    raises_errors = False
    is_single = True

    file_names: tuple[str, ...]
    files: SentFiles
    secret: bytes | None = None
    inputs: WorkerInputs = WorkerInputs()

    def check_result(self, result: Files) -> None:
        if result.keys() != set(self.file_names):
            raise ValueError("other files than those of a target")


class AllocateJob(Job[Files]):
    """Make the files of a team, or of all, from the original and the workers' inputs.

    There are no files if the organizers have assigned none to the team.
    """

    handler = _score("allocate")
    max_result_bytes = MAX_FILES_BYTES
    raises_errors = False
    is_single = True

    file_names: tuple[str, ...]
    inputs: WorkerInputs

    def check_result(self, result: Files) -> None:
        if result and result.keys() != set(self.file_names):
            raise ValueError("other files than those to be allocated")


class RankJob(Job[tuple[Ranked, ...]]):
    """Rank a board by the ranking function PACKAGE:NAME. The caller checks that the result fits the board."""

    handler = _score("rank")
    raises_errors = False
    is_single = True

    competition_file: str = ""
    function: str
    board: RankingBoard
