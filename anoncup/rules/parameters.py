"""What a measure, an attacker or a method may be told, in the same words in file, form, page and command."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from anoncup.messages import Message
from anoncup.rules.toml_values import choice, count, names_of, number, share, wrong

Kind = Literal["columns", "column", "choice", "whole", "amount", "share"]
Roles = Mapping[str, tuple[str, ...]]
"""A contest's columns by the role that they have in its track."""
Value = tuple[str, ...] | str | float | None

NUMBERS: Mapping[str, Callable[[object, str], float]] = {"whole": count, "amount": number, "share": share}

LONGEST_WHOLE = 10
"""Digits: beyond any limit."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """``among``: the role of the columns that it may name, or the choices, the usual one first.

    ``default``: what it is where nobody says; of columns their names, or how many of the role's first, None:
    all of them; of one column always the first; of a number None if the part finds it itself.
    """

    name: str
    kind: Kind
    among: str | tuple[str, ...] = ()
    default: Value = None

    @property
    def is_number(self) -> bool:
        return self.kind in NUMBERS

    @property
    def is_list(self) -> bool:
        return self.kind == "columns"

    def allowed(self, roles: Roles) -> tuple[str, ...]:
        """The names that it may have; of a number none."""
        return roles.get(self.among, ()) if isinstance(self.among, str) else self.among

    def usual(self, roles: Roles) -> Value:
        """What it is where nobody says."""
        if self.is_number:
            return self.default
        allowed = self.allowed(roles)
        if not self.is_list:
            return next(iter(allowed), None)
        if isinstance(self.default, tuple):
            return self.default
        return allowed if self.default is None else allowed[: int(self.default)]

    def read(self, value: object, path: str, roles: Roles) -> Value:
        """A value of a competition file; InvalidCompetition names the path."""
        allowed = self.allowed(roles)
        match self.kind:
            case "columns":
                return names_of(allowed)(value, path)
            case "column":
                return names_of(allowed)([value], path)[0]
            case "choice":
                return choice(*allowed)(value, path)
        return NUMBERS[self.kind](value, path)

    def typed(self, text: str, roles: Roles) -> Value:
        """A value as people type it, commas between columns; InvalidCompetition names the parameter."""
        if self.is_number:
            return self.read(number_in(text), self.name, roles)
        if self.kind == "column" and not text.strip():
            raise wrong(self.name, Message("the name of a column"))
        return self.read(text.split(",") if self.is_list else text, self.name, roles)

    def fitted(self, value: Value, roles: Roles) -> Value:
        """The value without the names that these columns do not know; None if nothing is left."""
        if self.is_number:
            return value
        allowed = self.allowed(roles)
        if isinstance(value, tuple):
            return tuple(name for name in allowed if name in value) or None
        return value if value in allowed else None


def number_in(text: str) -> float | str:
    """The number that a text is; another text as it is, for its reader to refuse."""
    if text.isascii() and text.isdecimal() and len(text) < LONGEST_WHOLE:
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text
