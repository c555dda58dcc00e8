"""The jobs of the scoring child: their inputs, the files it may fetch, and the check of its answers.

The parent writes each job as a request, from which the child reads it. The name of a job's class is its kind.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from anoncup.lazy import lazy_module

if TYPE_CHECKING:
    from workers import job_schema
else:
    job_schema = lazy_module("workers.job_schema")  # pydantic, which the child does not need


@dataclass(frozen=True, slots=True)
class WorkerInputs:
    """Inputs that only workers have.

    ``organizer_files`` maps the names of the organizers' files to their content, decoded as Latin-1. ``keys``
    maps each purpose to the hexadecimal key of a team's random draws (``anoncup.tracks.generators``).
    ``team`` is the name of that team, and ``own_files`` maps the names of its own files to SHA-256 digests.
    """

    organizer_files: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    team: str = ""
    own_files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job(ABC):
    """A job about a competition's original data.

    ``original`` maps file names to SHA-256 digests.
    """

    max_answer_bytes: ClassVar[int] = 2**22
    """Maximum bytes of one line from the child.

    It exceeds the longest verdict but stays small: parsing many short values may take thirty bytes of memory
    for each byte.
    """

    competition_file: str
    original: dict[str, str]

    @property
    def fetchable_digests(self) -> Collection[str]:
        """SHA-256 digests of the files that the child may fetch."""
        return set(self.original.values())

    @abstractmethod
    def is_valid_answer(self, content: dict[str, Any]) -> bool:
        """Return whether an answer has a valid form. This does not show that it is true."""


@dataclass(frozen=True, slots=True)
class ReleaseJob(Job):
    """A job about a release as well. ``files`` maps its file names to SHA-256 digests.

    ``sealed_for`` is the id of the submission that the files are sealed for, or None.
    """

    files: dict[str, str]
    sealed_for: str | None = field(default=None, kw_only=True)
    inputs: WorkerInputs = field(default_factory=WorkerInputs, kw_only=True)

    @property
    def fetchable_digests(self) -> Collection[str]:
        return {*self.original.values(), *self.files.values(), *self.inputs.own_files.values()}


class FilesAnswerMixin:
    """Mixin for a job whose answer is files with the names ``file_names``."""

    __slots__ = ()
    max_answer_bytes: ClassVar[int] = 2**28
    """Files may be as large as a release. Parsing such long strings takes only a few bytes for each byte."""
    file_names: tuple[str, ...]

    def is_valid_answer(self, content: dict[str, Any]) -> bool:
        return job_schema.is_valid_files(content) and content["files"].keys() == set(self.file_names)


@dataclass(frozen=True, slots=True)
class ScoreJob(ReleaseJob):
    """Score a submission. ``secret`` is in clear text."""

    secret: str

    def is_valid_answer(self, content: dict[str, Any]) -> bool:
        return job_schema.is_valid_verdict(content)


@dataclass(frozen=True, slots=True)
class TargetFilesJob(FilesAnswerMixin, ReleaseJob):
    """Write the files of a target, as other teams get them.

    ``secret`` is in clear text. It is None unless the files depend on it.
    """

    file_names: tuple[str, ...]
    secret: str | None = None


@dataclass(frozen=True, slots=True)
class AllocateJob(FilesAnswerMixin, Job):
    """Make the files of a team, or of all, from the original and the workers' inputs.

    There are no files if the organizers have assigned none to the team.
    """

    file_names: tuple[str, ...]
    inputs: WorkerInputs

    def is_valid_answer(self, content: dict[str, Any]) -> bool:
        return job_schema.is_valid_files(content) and content["files"].keys() in (set(self.file_names), set())


@dataclass(frozen=True, slots=True)
class AdviceJob(Job):
    """Answer a question about a competition's data for a threshold report."""

    question: dict[str, Any]

    def is_valid_answer(self, content: dict[str, Any]) -> bool:
        return job_schema.is_plain_json(content)


@dataclass(frozen=True, slots=True)
class JudgeJob(Job):
    """Compare a guess with a target's secret. ``guess`` is a SHA-256 digest.

    ``inputs`` are about the target's team; ``guesser`` is the name of the team that guesses, and
    ``guesser_files`` maps the names of its own files to SHA-256 digests.
    """

    guess: str
    secret: str
    question: str
    sizes: dict[str, int]
    guesser: str
    guesser_files: dict[str, str]
    inputs: WorkerInputs = field(default_factory=WorkerInputs)

    @property
    def fetchable_digests(self) -> Collection[str]:
        own_files = (*self.guesser_files.values(), *self.inputs.own_files.values())
        return {self.guess, *self.original.values(), *own_files}

    def is_valid_answer(self, content: dict[str, Any]) -> bool:
        if "refused" in content:
            return job_schema.is_valid_refusal(content)
        return job_schema.is_valid_outcome(content, max_correct=max(self.sizes.values()))


@dataclass(frozen=True, slots=True)
class RankJob(Job):
    """Rank a board by the ranking function PACKAGE:NAME. ``board`` is a ``RankingBoard`` as JSON.

    Neither the competition's file nor its data are needed.
    """

    function: str
    board: dict[str, Any]

    def is_valid_answer(self, content: dict[str, Any]) -> bool:
        return job_schema.is_valid_ranking(content)


def write_request(job: Job) -> dict[str, Any]:
    """Return the message that gives a job to the child."""
    return {"kind": type(job).__name__, **asdict(job)}


def read_request(request: dict[str, Any], job_classes: Iterable[type[Job]]) -> Job:
    """Return the job in a message. It must be of one of these classes."""
    classes_by_kind = {job_class.__name__: job_class for job_class in job_classes}
    values = {name: value for name, value in request.items() if name != "kind"}
    if "inputs" in values:
        values["inputs"] = WorkerInputs(**values["inputs"])
    return classes_by_kind[request["kind"]](**values)
