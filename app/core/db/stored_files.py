"""Read stored competition files."""

from collections.abc import Callable
from typing import TypeVar

from anoncup.competition.parser import CompetitionFile, read_file
from anoncup.errors import CompetitionUnavailable, InvalidCompetition
from anoncup.rules.model import Rules

ResultT = TypeVar("ResultT")


def read_stored(part: Callable[[CompetitionFile], ResultT], text: str) -> ResultT:
    """Return a part of a stored competition file.

    Raises CompetitionUnavailable if this version cannot read a file that an earlier version accepted.
    """
    try:
        return part(read_file(text))
    except InvalidCompetition as problem:
        raise CompetitionUnavailable(problem.message) from None


def read_rules(text: str) -> Rules:
    """Return the rules in the stored file of a single round; raises CompetitionUnavailable."""
    return read_stored(lambda file: file.only_rules, text)
