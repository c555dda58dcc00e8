"""The reader of stored competition files. It parses a text once, because files change rarely."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from anoncup.competition.parser import parse_competition
from anoncup.errors import CompetitionUnavailable, InvalidCompetition
from anoncup.rules.model import Rules

ResultT = TypeVar("ResultT")


@lru_cache(maxsize=4096)
def parse_once(parse: Callable[[str], object], text: str) -> Any:
    """Parse an uploaded or stored competition file; raises InvalidCompetition."""
    return parse(text)


def read_stored(parse: Callable[[str], ResultT], text: str) -> ResultT:
    """Parse a stored competition file.

    Raises CompetitionUnavailable if this version cannot read a file that an earlier version accepted.
    """
    try:
        result: ResultT = parse_once(parse, text)
    except InvalidCompetition as problem:
        raise CompetitionUnavailable(problem.message) from None
    return result


def read_rules(text: str) -> Rules:
    """Return the rules in a stored file without rounds; raises CompetitionUnavailable."""
    return read_stored(parse_competition, text)
