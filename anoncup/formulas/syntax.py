"""The syntax of formulas: Python's expressions, restricted to arithmetic, comparisons and calls.

Only ``ast`` parses a formula, after its length and its brackets have been checked. Nothing is compiled.
"""

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from anoncup.errors import InvalidCompetition
from anoncup.messages import Message

MAX_CHARACTERS = 2_000
MAX_DEPTH = 50
"""Maximum number of nested operations. A sum of 50 values has 49."""
_ALLOWED_NODES = (
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Name, ast.Constant, ast.Load),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.UAdd, ast.USub),
    *(ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
)
_TOKEN = re.compile(r"'[^'\\\n]*'|\"[^\"\\\n]*\"|[A-Za-z0-9_.\s+\-*/<>=!,]|(?P<open>\()|(?P<close>\))")


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


class FormulaCall(ast.Call):
    """The call of a function by its name, for type checkers."""

    func: ast.Name


@dataclass(frozen=True, slots=True)
class Formula:
    """A parsed formula. Formulas with the same text are equal."""

    text: str
    tree: ast.expr = field(compare=False, repr=False)

    @property
    def compares_teams(self) -> bool:
        """Whether it ranks values, so that the value of each team depends on those of others."""
        return any(call.func.id == "rank" for call in self.list_calls())

    def list_names(self) -> list[ast.Name]:
        """Return the names of values, without those of functions."""
        functions = {call.func for call in self.list_calls()}
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.Name) and node not in functions]

    def collect_value_names(self) -> set[str]:
        """Return the names of the values that it uses, also those that it ranks."""
        ranked = {
            argument.value
            for call in self.list_calls()
            if call.func.id == "rank"
            for argument in call.args[:1]
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        }
        return ranked | {node.id for node in self.list_names()}

    def list_calls(self) -> list[FormulaCall]:
        return [cast(FormulaCall, node) for node in ast.walk(self.tree) if isinstance(node, ast.Call)]


def parse_formula(text: str) -> Formula:
    """Parse a formula of a file; raise FormulaError with the position of the first problem."""
    if len(text) > MAX_CHARACTERS:
        raise FormulaError(
            Message("a formula has at most {most:,} characters", most=MAX_CHARACTERS), MAX_CHARACTERS
        )
    return parse_any_length(text)


def parse_any_length(text: str) -> Formula:
    """Parse a formula of any length. Those that the program writes may be longer than a person's."""
    _check_characters(text)
    # Line breaks are blanks, and the first character is at column 0, so that columns are positions.
    stripped_text = re.sub(r"\s", " ", text).strip()
    indent = len(text) - len(text.lstrip())
    try:
        tree = ast.parse(stripped_text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        offset = max((getattr(problem, "offset", None) or 1) - 1, 0)
        raise FormulaError(Message("this is not an expression"), min(indent + offset, len(text))) from None
    for node in ast.walk(tree):  # ast counts bytes from the first character; make these positions in ``text``
        if hasattr(node, "col_offset"):
            node.col_offset = indent + len(stripped_text.encode()[: node.col_offset].decode())
    for node in _iter_nodes(tree):
        _check_node(node)
    return Formula(text, tree)


def _check_characters(text: str) -> None:
    """Raise FormulaError at the first character that is not part of a formula, or at too many brackets."""
    position, depth = 0, 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise FormulaError(Message("this character is not part of a formula"), position)
        depth += (token["open"] is not None) - (token["close"] is not None)
        if depth > MAX_DEPTH:
            raise FormulaError(_describe_depth(), position)
        position = token.end()


def _describe_depth() -> Message:
    return Message("more than {most} operations are nested here", most=MAX_DEPTH)


def _iter_nodes(tree: ast.expr) -> Iterator[ast.AST]:
    """Yield all nodes, outer ones first; raise FormulaError at one that is nested too deeply."""
    remaining: list[tuple[ast.AST, int]] = [(tree, 1)]
    while remaining:
        node, depth = remaining.pop()
        if depth > MAX_DEPTH:
            raise FormulaError(_describe_depth(), get_position(node))
        yield node
        remaining += [(child, depth + 1) for child in ast.iter_child_nodes(node)]


def get_position(node: ast.AST) -> int:
    return int(getattr(node, "col_offset", 0))


def _check_node(node: ast.AST) -> None:
    if not hasattr(node, "col_offset"):  # an operator, which has been checked with its operation
        return
    if not all(isinstance(part, _ALLOWED_NODES) for part in (node, *_list_operators(node))):
        message = Message("only numbers, names, + - * / **, comparisons and functions are allowed")
    elif isinstance(node, ast.Constant) and not _is_text_or_number(node.value):
        message = Message("this is neither a finite number nor a text in quotes")
    elif isinstance(node, ast.Compare) and len(node.ops) > 1:
        message = Message("a comparison has two sides")
    elif isinstance(node, ast.Call) and (node.keywords or not isinstance(node.func, ast.Name)):
        message = Message("a function has a name, and its arguments have none")
    else:
        return
    raise FormulaError(message, get_position(node))


def _list_operators(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.Compare):
        return list(node.ops)
    return [node.op] if isinstance(node, ast.BinOp | ast.UnaryOp) else []


def _is_text_or_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    try:
        return isinstance(value, str) or math.isfinite(value)
    except OverflowError:
        return False
