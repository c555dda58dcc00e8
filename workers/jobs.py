"""What a scoring child is asked, what it may fetch for it, and what an answer looks like."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from workers import job_schema

LONGEST, LONGEST_FILES = 2**22, 2**28
"""Bytes of an answer: more than the longest verdict has, yet few, for each may become thirty in the memory of
who reads it; and more than a target's files."""


class Work(Protocol):
    """A dataclass whose name says of what kind it is, and whose fields are sent."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def longest(self) -> int:
        """The bytes that a line of the child's may have."""

    @property
    def fetched(self) -> Collection[str]:
        """The SHA-256 of what the child may ask for."""

    def admits(self, content: dict[str, Any]) -> bool:
        """Whether that can be an answer, by its form: nothing tells whether it is true."""


@dataclass(frozen=True, slots=True)
class Aids:
    """What only workers have besides. ``truth``: the bytes of each file that organizers hold, as Latin-1;
    ``keys``: by purpose what a team's draws follow from, in hexadecimal (``anoncup.tracks.generators``)."""

    truth: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OfOriginal:
    """What is asked about a competition's data: its files, by their SHA-256."""

    competition_file: str
    original: dict[str, str]

    @property
    def longest(self) -> int:
        return LONGEST

    @property
    def fetched(self) -> Collection[str]:
        return set(self.original.values())


@dataclass(frozen=True, slots=True)
class OfRelease(OfOriginal):
    """What is asked about a release, too: its files, by their SHA-256.

    ``sealed_for``: the submission that its files are sealed for, if they are.
    """

    files: dict[str, str]
    sealed_for: str | None = field(default=None, kw_only=True)

    @property
    def fetched(self) -> Collection[str]:
        return {*self.original.values(), *self.files.values()}


@dataclass(frozen=True, slots=True)
class Request(OfRelease):
    """A submission to be scored, with its secret in clear."""

    secret: str
    aids: Aids = field(default_factory=Aids)

    def admits(self, content: dict[str, Any]) -> bool:
        return job_schema.is_verdict(content)


@dataclass(frozen=True, slots=True)
class Rewriting(OfRelease):
    """A release of which files ``names`` are to be written, as others get them.

    ``secret``: in clear, where what they get depends on it.
    """

    names: tuple[str, ...]
    secret: str | None = None
    aids: Aids = field(default_factory=Aids)

    @property
    def longest(self) -> int:
        return LONGEST_FILES

    def admits(self, content: dict[str, Any]) -> bool:
        return job_schema.are_files(content) and content["files"].keys() == set(self.names)


@dataclass(frozen=True, slots=True)
class Drawing(OfOriginal):
    """Files ``names`` that are to be drawn from the original and what workers have besides."""

    names: tuple[str, ...]
    aids: Aids

    @property
    def longest(self) -> int:
        return LONGEST_FILES

    def admits(self, content: dict[str, Any]) -> bool:
        return job_schema.are_files(content) and content["files"].keys() == set(self.names)


@dataclass(frozen=True, slots=True)
class Sampling(OfOriginal):
    """A sample method's release, with its secret: the files ``names``."""

    method: str
    seed: int
    names: tuple[str, ...]

    @property
    def longest(self) -> int:
        return LONGEST_FILES

    def admits(self, content: dict[str, Any]) -> bool:
        return job_schema.are_files(content) and content["files"].keys() == set(self.names)


@dataclass(frozen=True, slots=True)
class Attack(OfRelease):
    """A target on which a built-in attacker is to guess: a file for each question of ``names`` that it
    answers."""

    attacker: str
    seed: int
    names: tuple[str, ...]

    @property
    def longest(self) -> int:
        return LONGEST_FILES

    def admits(self, content: dict[str, Any]) -> bool:
        return job_schema.are_files(content) and content["files"].keys() <= set(self.names)


@dataclass(frozen=True, slots=True)
class Inquiry(OfOriginal):
    """A question to the advisor about a competition's data."""

    question: dict[str, Any]

    def admits(self, content: dict[str, Any]) -> bool:
        return job_schema.is_plain(content)


@dataclass(frozen=True, slots=True)
class Trial:
    """A guess to be held against a target's secret."""

    competition_file: str
    original: dict[str, str]
    guess: str
    secret: str
    question: str
    sizes: dict[str, int]
    aids: Aids = field(default_factory=Aids)

    @property
    def longest(self) -> int:
        return LONGEST

    @property
    def fetched(self) -> Collection[str]:
        return {self.guess, *self.original.values()}

    def admits(self, content: dict[str, Any]) -> bool:
        return job_schema.is_outcome(content, most=max(self.sizes.values()))
