"""Formulas equal plain arithmetic."""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.formulas.evaluation import TeamNumbers, evaluate_formula
from anoncup.formulas.syntax import parse_formula

Number = float | None
"""None is missing."""

NUMBERS = [None, 0.0, -0.0, 1.0, -1.0, 0.5, 0.1, 0.2, 0.1 + 0.2, 3.0, 1e308, -1e308, 5e-324, 1e-10]
NAMES = ("a", "b")


def keep_finite(number: float) -> Number:
    return number if math.isfinite(number) else None


def compute_strictly(function: Callable[..., float], *arguments: Number) -> Number:
    """Apply a function to numbers. The result is missing if one of them is, or if it is not finite."""
    numbers = [argument for argument in arguments if argument is not None]
    if len(numbers) < len(arguments):
        return None
    try:
        result = function(*numbers)
    except (ArithmeticError, ValueError):
        return None
    return None if isinstance(result, complex) else keep_finite(float(result))


@dataclass(frozen=True)
class Term:
    """A part of a formula: its text, and its number for a team by the names."""

    text: str
    compute: Callable[[dict[str, Number]], Number]


OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
FUNCTIONS: dict[str, tuple[int, Callable[..., float]]] = {
    "min": (2, min),
    "max": (3, max),
    "abs": (1, abs),
    "clip": (3, lambda value, low, high: min(max(value, low), high)),
    "where": (3, lambda condition, value, alternative: value if condition else alternative),
}
LEAVES = st.sampled_from(
    [Term(name, lambda row, name=name: row[name]) for name in NAMES]  # type: ignore[misc]
    + [Term(text, lambda _, text=text: float(text)) for text in ("0", "2", "0.5", "1e300")]  # type: ignore[misc]
)


@st.composite
def combine(draw: st.DrawFn, terms: st.SearchStrategy[Term]) -> Term:
    kind = draw(st.sampled_from(["operator", "negation", "function", "if_missing"]))
    if kind == "operator":
        symbol, left, right = draw(st.sampled_from(sorted(OPERATORS))), draw(terms), draw(terms)
        return Term(
            f"({left.text} {symbol} {right.text})",
            lambda row: compute_strictly(OPERATORS[symbol], left.compute(row), right.compute(row)),
        )
    if kind == "negation":
        term = draw(terms)
        return Term(f"(-{term.text})", lambda row: compute_strictly(operator.neg, term.compute(row)))
    if kind == "if_missing":
        term, replacement = draw(terms), draw(terms)
        return Term(
            f"if_missing({term.text}, {replacement.text})",
            lambda row: replacement.compute(row) if term.compute(row) is None else term.compute(row),
        )
    name = draw(st.sampled_from(sorted(FUNCTIONS)))
    count, function = FUNCTIONS[name]
    parts = [draw(terms) for _ in range(count)]
    return Term(
        f"{name}({', '.join(part.text for part in parts)})",
        lambda row: compute_strictly(function, *(part.compute(row) for part in parts)),
    )


def build_teams(rows: Sequence[dict[str, Number]]) -> list[TeamNumbers]:
    return [
        TeamNumbers({name: math.nan if number is None else number for name, number in row.items()})
        for row in rows
    ]


def evaluate(text: str, teams: Sequence[TeamNumbers], **rounding: float) -> list[Number]:
    values = evaluate_formula(parse_formula(text), teams, rounding)
    return [None if math.isnan(value) else value for value in values]


ROWS = st.lists(st.fixed_dictionaries({name: st.sampled_from(NUMBERS) for name in NAMES}), max_size=5)


@given(st.recursive(LEAVES, combine, max_leaves=8), ROWS)
def test_formulas_equal_arithmetic_team_by_team(term: Term, rows: list[dict[str, Number]]) -> None:
    expected = [term.compute(row) for row in rows]
    computed = evaluate(term.text, build_teams(rows))
    assert [number is None for number in computed] == [number is None for number in expected], term.text
    assert [number for number in computed if number is not None] == pytest.approx(
        [number for number in expected if number is not None], rel=1e-15, abs=0
    )


RANKED = st.lists(st.sampled_from([None, 0.0, 1e-12, -1e-12, 0.25, 0.25 + 1e-12, 0.5, -1.0]), max_size=7)


@given(RANKED)
def test_ranks_count_the_teams_ahead(numbers: list[Number]) -> None:
    """Ranks of numbers that differ by rounding errors only are equal."""
    rounded = [None if number is None else round(number, 6) for number in numbers]
    teams = build_teams([{"a": number, "b": None if number is None else -number} for number in numbers])
    for direction, is_ahead in (("ascending", operator.lt), ("descending", operator.gt)):
        expected = [
            None
            if number is None
            else 1.0 + sum(is_ahead(rival, number) for rival in rounded if rival is not None)
            for number in rounded
        ]
        assert evaluate(f"rank('a', '{direction}')", teams) == expected
    assert evaluate("rank('a') + rank('b')", teams) == evaluate("rank('a') + rank('a', 'descending')", teams)


def test_values_below_the_rounding_of_the_measure_count_as_0_in_ranks() -> None:
    teams = build_teams([{"a": number} for number in (4e-4, 0.0, 12.0, 12.0 + 5e-10, 12.0004)])
    assert evaluate("rank('a')", teams, a=5e-4) == [1.0, 1.0, 3.0, 3.0, 5.0]
    assert evaluate("rank('a')", teams) == [2.0, 1.0, 3.0, 3.0, 5.0]


def test_ties_are_not_transitive_over_small_steps() -> None:
    """In units of 1e-9, the tolerance: 0.8 counts as 0, 1.6 starts a new group, and 2.4 ties with 1.6."""
    teams = build_teams([{"a": number} for number in (1.6e-9, 0.8e-9, 2.4e-9)])
    assert evaluate("rank('a')", teams) == [2.0, 1.0, 2.0]
