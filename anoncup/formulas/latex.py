"""Formulas in LaTeX, for pages."""

import ast
from collections.abc import Callable
from typing import cast

from anoncup.formulas.syntax import Formula, FormulaCall

NodeText = Callable[[ast.expr], str | None]
"""Returns the LaTeX of a part of the formula that is shown in another way, or None."""

_SYMBOLS: dict[type[ast.AST], tuple[str, int]] = {
    ast.Lt: ("<", 1),
    ast.LtE: (r"\le", 1),
    ast.Gt: (">", 1),
    ast.GtE: (r"\ge", 1),
    ast.Eq: ("=", 1),
    ast.NotEq: (r"\ne", 1),
    ast.Add: ("+", 2),
    ast.Sub: ("-", 2),
    ast.Mult: (r"\cdot", 3),
}
"""The symbol of an operation and how tightly it binds."""
_NEGATION, _PRODUCT, _POWER, _ATOM = 2, 3, 4, 5
"""A negative number needs brackets after another operation, as a sum does."""
_NAMES = {"utility": "U", "security": "E"}
_FUNCTIONS = {"min": r"\min", "max": r"\max", "sum": r"\sum"}


def format_latex(formula: Formula, find_text: NodeText = lambda _: None) -> str:
    """Return a formula in LaTeX; ``find_text`` may replace its names and calls, for example by numbers."""
    return _format(formula.tree, find_text)[0]


def _format(node: ast.expr, find_text: NodeText) -> tuple[str, int]:
    """Return a part of a formula, and how tightly its outermost operation binds."""
    if (text := find_text(node)) is not None:
        return text, _NEGATION if text.startswith("-") else _ATOM
    match node:
        case ast.Constant(value=value):
            result = (_escape(value) if isinstance(value, str) else repr(value)), _ATOM
        case ast.Name(id=name):
            result = _NAMES.get(name, _escape(name)), _ATOM
        case ast.UnaryOp(op=sign, operand=operand):
            symbol = "-" if isinstance(sign, ast.USub) else "+"
            result = symbol + _enclose(operand, find_text, _PRODUCT), _NEGATION
        case ast.BinOp():
            result = _format_operation(node, find_text)
        case ast.Compare():
            result = _join(type(node.ops[0]), node.left, node.comparators[0], find_text)
        case _:
            result = _format_call(cast(FormulaCall, node), find_text), _ATOM
    return result


def _format_operation(node: ast.BinOp, find_text: NodeText) -> tuple[str, int]:
    if isinstance(node.op, ast.Div):
        return rf"\frac{{{_format(node.left, find_text)[0]}}}{{{_format(node.right, find_text)[0]}}}", _ATOM
    if isinstance(node.op, ast.Pow):
        base, exponent = _enclose(node.left, find_text, _ATOM), _format(node.right, find_text)[0]
        return f"{{{base}}}^{{{exponent}}}", _POWER
    return _join(type(node.op), node.left, node.right, find_text)


def _join(operator: type[ast.AST], left: ast.expr, right: ast.expr, find_text: NodeText) -> tuple[str, int]:
    symbol, strength = _SYMBOLS[operator]
    # The operations group from the left, so that an equally strong one on the right needs brackets.
    parts = _enclose(left, find_text, strength), symbol, _enclose(right, find_text, strength + 1)
    return " ".join(parts), strength


def _format_call(node: FormulaCall, find_text: NodeText) -> str:
    arguments = [_format(argument, find_text)[0] for argument in node.args]
    if node.func.id == "abs":
        return rf"\left|{arguments[0]}\right|"
    name = _FUNCTIONS.get(node.func.id, _escape(node.func.id))
    return rf"{name}\left({', '.join(arguments)}\right)"


def _enclose(node: ast.expr, find_text: NodeText, strength: int) -> str:
    """Return a part of a formula, in brackets if it binds less tightly than ``strength``."""
    text, own_strength = _format(node, find_text)
    return text if own_strength >= strength else rf"\left({text}\right)"


def _escape(text: str) -> str:
    return r"\mathrm{" + "".join(rf"\{char}" if char in "_%&#$" else char for char in text) + "}"
