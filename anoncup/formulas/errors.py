"""Errors in formulas, with their positions."""

import re
from typing import Self

from anoncup.errors import InvalidCompetition
from anoncup.messages import Message

_ROUND_KEY = re.compile(r"rounds\[(\d+)\]\.(.*)")
_ROUND_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*rounds[ \t]*\]\]", re.MULTILINE)


class FormulaError(Exception):
    """A formula is wrong.

    ``position`` is the index of the character in its text, or None if only the caller knows it.
    """

    def __init__(self, message: Message, position: int | None = None) -> None:
        super().__init__(str(message))
        self.message = message
        self.position = position


class InvalidFormula(InvalidCompetition):
    """The formula ``key`` of a competition file is wrong.

    ``position`` is the number of the character in the formula, from 1. ``line`` and ``column`` tell the place
    in the file, if the file is known.
    """

    def __init__(self, key: str, error: FormulaError, place: tuple[int, int] | None = None) -> None:
        self.key, self.error = key, error
        position = (error.position or 0) + 1
        message = Message(
            "{key}: {reason} (at character {position})", key=key, reason=error.message, position=position
        )
        if place is not None:
            message = Message(
                "{key}: {reason} (at character {position}, which is at line {line}, column {column})",
                key=key,
                reason=error.message,
                position=position,
                line=place[0],
                column=place[1],
            )
        super().__init__(message, code="invalid_formula")

    def locate(self, file: str) -> Self:
        """Return the error with its place in the competition file, if the formula is found there."""
        return type(self)(self.key, self.error, _find_place(file, self.key, self.error.position or 0))


def _find_place(file: str, key: str, position: int) -> tuple[int, int] | None:
    """Return line and column, from 1, of a character of the text ``key`` = "table.name" of a TOML file.

    The text must be written without escapes in a table with its own header; otherwise the result is None.
    A key of a round is "rounds[0].table.name".
    """
    begin, prefix = 0, ""
    if match := _ROUND_KEY.fullmatch(key):
        headers = list(_ROUND_HEADER.finditer(file))
        begin, prefix, key = headers[int(match[1])].end() if headers else len(file), r"rounds\.", match[2]
    table, _, name = key.partition(".")
    table = prefix + table
    header, assignment = rf"^[ \t]*\[[ \t]*{table}[ \t]*\]", rf"^[ \t]*{name}[ \t]*=[ \t]*"
    pattern = rf"{header}(?:(?!^[ \t]*\[).)*?{assignment}(\"\"\"\n?|'''\n?|\"|')"
    if not (match := re.compile(pattern, re.MULTILINE | re.DOTALL).search(file, begin)):
        return None
    start = match.end() + position
    text_before = file[:start]
    return text_before.count("\n") + 1, start - text_before.rfind("\n")
