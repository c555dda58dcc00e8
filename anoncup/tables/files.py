"""Limits of files, and remarks on files that are accepted."""

from __future__ import annotations

from dataclasses import dataclass

from anoncup.errors import Problem, TooLarge
from anoncup.messages import Message

MAX_ROWS = 1_000_000
MAX_CELL = 1_000
"""Characters."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something worth knowing about an upload that is accepted all the same."""

    code: str
    message: Message


def missing_file(name: str) -> Problem:
    message = Message("the request has no file named {name}", name=name)
    return Problem(name, None, None, "missing_file", message)


def too_large(file: str, most_mb: int) -> TooLarge:
    return TooLarge("{file} is larger than {most_mb} MB", file=file, most_mb=most_mb)
