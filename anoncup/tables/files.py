"""Limits of files, errors about whole files, and remarks on accepted files."""

from dataclasses import dataclass

from anoncup.errors import FileProblem, TooLarge
from anoncup.messages import Message

MAX_ROWS = 1_000_000
MAX_CELL_LENGTH = 1_000
"""Maximum number of characters of a cell."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A warning: a ``code``, which stays the same, and a ``message``, whose ``str`` is English."""

    code: str
    message: Message


def build_missing_file_problem(name: str) -> FileProblem:
    message = Message("the request has no file named {name}", name=name)
    return FileProblem(name, None, None, "missing_file", message)


def build_too_large_error(file: str, max_mb: int) -> TooLarge:
    return TooLarge("{file} is larger than {most_mb} MB", file=file, most_mb=max_mb)
