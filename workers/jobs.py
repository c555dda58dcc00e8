"""The jobs of the scoring child: their inputs, the files it may fetch, and the check of its answers."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from workers import job_schema

MAX_ANSWER_BYTES, MAX_FILES_ANSWER_BYTES = 2**22, 2**28
"""Maximum bytes of an answer without and with files.

The first exceeds the longest verdict but stays small: parsing may take thirty bytes of memory for each byte.
"""


class Job(Protocol):
    """A dataclass that is sent to the child. Its class name is the kind of job."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def max_answer_bytes(self) -> int:
        """Maximum bytes of one line from the child."""

    @property
    def fetchable_digests(self) -> Collection[str]:
        """SHA-256 digests of the files that the child may fetch."""

    def validates(self, content: dict[str, Any]) -> bool:
        """Return whether an answer has a valid form. This does not show that it is true."""


@dataclass(frozen=True, slots=True)
class WorkerInputs:
    """Inputs that only workers have.

    ``organizer_files`` maps the names of the organizers' files to their content, decoded as Latin-1. ``keys``
    maps each purpose to the hexadecimal key of a team's random draws (``anoncup.tracks.generators``).
    """

    organizer_files: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OriginalJob:
    """A job about a competition's original data. ``original`` maps file names to SHA-256 digests."""

    competition_file: str
    original: dict[str, str]

    @property
    def max_answer_bytes(self) -> int:
        return MAX_ANSWER_BYTES

    @property
    def fetchable_digests(self) -> Collection[str]:
        return set(self.original.values())


@dataclass(frozen=True, slots=True)
class ReleaseJob(OriginalJob):
    """A job about a release as well. ``files`` maps its file names to SHA-256 digests.

    ``sealed_for`` is the id of the submission that the files are sealed for, or None.
    """

    files: dict[str, str]
    sealed_for: str | None = field(default=None, kw_only=True)

    @property
    def fetchable_digests(self) -> Collection[str]:
        return {*self.original.values(), *self.files.values()}


@dataclass(frozen=True, slots=True)
class ScoreJob(ReleaseJob):
    """Score a submission. ``secret`` is in clear text."""

    secret: str
    inputs: WorkerInputs = field(default_factory=WorkerInputs)

    def validates(self, content: dict[str, Any]) -> bool:
        return job_schema.is_valid_verdict(content)


@dataclass(frozen=True, slots=True)
class TargetFilesJob(ReleaseJob):
    """Write the files ``names`` of a target, as other teams get them.

    ``secret`` is in clear text. It is None unless the files depend on it.
    """

    names: tuple[str, ...]
    secret: str | None = None
    inputs: WorkerInputs = field(default_factory=WorkerInputs)

    @property
    def max_answer_bytes(self) -> int:
        return MAX_FILES_ANSWER_BYTES

    def validates(self, content: dict[str, Any]) -> bool:
        return job_schema.is_valid_files(content) and content["files"].keys() == set(self.names)


@dataclass(frozen=True, slots=True)
class AllocateJob(OriginalJob):
    """Draw the files ``names`` from the original and the workers' inputs."""

    names: tuple[str, ...]
    inputs: WorkerInputs

    @property
    def max_answer_bytes(self) -> int:
        return MAX_FILES_ANSWER_BYTES

    def validates(self, content: dict[str, Any]) -> bool:
        return job_schema.is_valid_files(content) and content["files"].keys() == set(self.names)


@dataclass(frozen=True, slots=True)
class SampleJob(OriginalJob):
    """Make a release with a sample method: the files ``names``, including its secret."""

    method: str
    seed: int
    names: tuple[str, ...]

    @property
    def max_answer_bytes(self) -> int:
        return MAX_FILES_ANSWER_BYTES

    def validates(self, content: dict[str, Any]) -> bool:
        return job_schema.is_valid_files(content) and content["files"].keys() == set(self.names)


@dataclass(frozen=True, slots=True)
class AttackJob(ReleaseJob):
    """Attack a target with a built-in attacker.

    The answer has a file for each of the ``questions`` that the attacker answers.
    """

    attacker: str
    seed: int
    questions: tuple[str, ...]

    @property
    def max_answer_bytes(self) -> int:
        return MAX_FILES_ANSWER_BYTES

    def validates(self, content: dict[str, Any]) -> bool:
        return job_schema.is_valid_files(content) and content["files"].keys() <= set(self.questions)


@dataclass(frozen=True, slots=True)
class AdviceJob(OriginalJob):
    """Answer a question about a competition's data for a threshold report."""

    question: dict[str, Any]

    def validates(self, content: dict[str, Any]) -> bool:
        return job_schema.is_plain_json(content)


@dataclass(frozen=True, slots=True)
class JudgeJob:
    """Compare a guess with a target's secret. ``guess`` is a SHA-256 digest."""

    competition_file: str
    original: dict[str, str]
    guess: str
    secret: str
    question: str
    sizes: dict[str, int]
    inputs: WorkerInputs = field(default_factory=WorkerInputs)

    @property
    def max_answer_bytes(self) -> int:
        return MAX_ANSWER_BYTES

    @property
    def fetchable_digests(self) -> Collection[str]:
        return {self.guess, *self.original.values()}

    def validates(self, content: dict[str, Any]) -> bool:
        return job_schema.is_valid_outcome(content, max_correct=max(self.sizes.values()))
