"""Parameters of measures, attackers, methods and questions, for files, forms, pages and commands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from anoncup.messages import Message
from anoncup.rules.toml_values import (
    build_value_error,
    make_choice_reader,
    make_names_reader,
    read_count,
    read_number,
    read_share,
)

ParameterKind = Literal["columns", "column", "choice", "whole", "amount", "share"]
"""The kinds of a ``Parameter``, which explains them."""
Roles = Mapping[str, tuple[str, ...]]
"""The columns of a contest by role."""
ParameterValue = tuple[str, ...] | str | float | None

_NUMBER_READERS: Mapping[str, Callable[[object, str], float]] = {
    "whole": read_count,
    "amount": read_number,
    "share": read_share,
}

_WHOLE_DIGIT_LIMIT = 10
"""Texts of fewer digits are parsed as whole numbers. Longer numbers exceed every limit anyway."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a measure, attacker, method or question.

    ``role_or_choices``: the role of the allowed columns, or the allowed choices. The roles are
    ``quasi_identifiers`` and ``sensitive`` on microdata, ``master`` on transactions, and ``columns``,
    ``numeric`` and ``categorical`` on membership.

    ``kind`` is one of these; another one is a ValueError:

    - ``columns``: a tuple of columns of the role. ``default`` contains their names, the number of leading
      columns of the role, or None for all columns of the role.
    - ``column``: a column of the role; the default is the first.
    - ``choice``: one of the choices; the default is the first.
    - ``whole``: a whole number from 1 to 1,000,000. ``amount``: a number from 0. ``share``: a number from 0
      to 1. ``default`` is a number, or None if the measure, attacker or method determines it.

    What a competition file leaves out is not passed, so the function's keyword needs a default that means the
    same.
    """

    name: str
    kind: ParameterKind
    role_or_choices: str | tuple[str, ...] = ()
    default: ParameterValue = None

    def __post_init__(self) -> None:
        if self.kind not in (kinds := get_args(ParameterKind)):
            raise ValueError(f"{self.name}: a parameter is one of {', '.join(kinds)}, not {self.kind!r}")

    @property
    def is_number(self) -> bool:
        return self.kind in _NUMBER_READERS

    @property
    def is_list(self) -> bool:
        return self.kind == "columns"

    def allowed_names(self, roles: Roles) -> tuple[str, ...]:
        """Return the allowed column names or choices; empty for numbers."""
        return (
            roles.get(self.role_or_choices, ())
            if isinstance(self.role_or_choices, str)
            else self.role_or_choices
        )

    def resolve_default(self, roles: Roles) -> ParameterValue:
        """Return the value that is used if none is given."""
        if self.is_number:
            return self.default
        allowed = self.allowed_names(roles)
        if not self.is_list:
            return next(iter(allowed), None)
        if isinstance(self.default, tuple):
            return self.default
        return allowed if self.default is None else allowed[: int(self.default)]

    def read(self, value: object, path: str, roles: Roles) -> ParameterValue:
        """Read a value from a competition file; raise InvalidCompetition with its path if it is invalid."""
        allowed = self.allowed_names(roles)
        match self.kind:
            case "columns":
                return make_names_reader(allowed)(value, path)
            case "column":
                return make_names_reader(allowed)([value], path)[0]
            case "choice":
                return make_choice_reader(*allowed)(value, path)
        return _NUMBER_READERS[self.kind](value, path)

    def parse_text(self, text: str, roles: Roles) -> ParameterValue:
        """Parse a typed value, with commas between columns; raise InvalidCompetition if it is not allowed."""
        if self.is_number:
            return self.read(_parse_number(text), self.name, roles)
        if self.kind == "column" and not text.strip():
            raise build_value_error(self.name, Message("the name of a column"))
        return self.read(text.split(",") if self.is_list else text, self.name, roles)

    def drop_unknown_columns(self, value: object, roles: Roles) -> object:
        """Return a value of a file without column names that are in no role; None if nothing is left."""
        if self.is_number:
            return value
        allowed = self.allowed_names(roles)
        if isinstance(value, list):
            return [name for name in value if name in allowed] or None
        return value if value in allowed else None


def _parse_number(text: str) -> float | str:
    """Parse a number. Other text is returned unchanged, and the reader then rejects it."""
    if text.isascii() and text.isdecimal() and len(text) < _WHOLE_DIGIT_LIMIT:
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def describe_parameters(parameters: Mapping[str, object]) -> str:
    """Return the parameters of a method as a text, such as ``columns=sex+age``."""
    texts = {
        name: "+".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in parameters.items()
    }
    return ", ".join(f"{name}={text}" for name, text in texts.items())
