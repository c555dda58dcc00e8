"""Errors in formulas, with their positions."""

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
    """The formula ``key`` of a competition file is wrong, at a number of the character in it, from 1."""

    def __init__(self, key: str, error: FormulaError) -> None:
        position = (error.position or 0) + 1
        message = Message(
            "{key}: {reason} (at character {position})", key=key, reason=error.message, position=position
        )
        super().__init__(message, code="invalid_formula")
