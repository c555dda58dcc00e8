"""Errors in formulas, with their positions."""

import re
from typing import Self

from anoncup.errors import InvalidCompetition
from anoncup.messages import Message


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

    ``text`` is the formula and ``position`` the number of the character in it, from 1. ``line`` and
    ``column`` tell the place in the file, if the file is known.
    """

    def __init__(
        self, key: str, text: str, error: FormulaError, place: tuple[int, int] | None = None
    ) -> None:
        self.key = key
        self.text = text
        self.error = error
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
        return type(self)(self.key, self.text, self.error, self._find_place(file))

    def _find_place(self, file: str) -> tuple[int, int] | None:
        """Return line and column, from 1, of the character in a TOML file; None if the text has escapes."""
        name = self.key.rpartition(".")[2]
        pattern = rf"^[^#\n]*\b{name}[ \t]*=[ \t]*(\"\"\"\n?|'''\n?|\"|'){re.escape(self.text)}[\"']"
        match = re.search(pattern, file, re.MULTILINE)
        if match is None:
            return None
        start = match.end(1) + (self.error.position or 0)
        text_before = file[:start]
        return text_before.count("\n") + 1, start - text_before.rfind("\n")
