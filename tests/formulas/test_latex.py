"""Formulas in LaTeX keep the order of the operations."""

import ast

import pytest
from latex2mathml.converter import convert

from anoncup.formulas.latex import format_latex
from anoncup.formulas.syntax import parse_formula


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("utility + security * 2", r"U + E \cdot 2"),
        ("(utility + security) * 2", r"\left(U + E\right) \cdot 2"),
        ("utility - (security - 1)", r"U - \left(E - 1\right)"),
        ("utility - security - 1", "U - E - 1"),
        ("(utility + 1) / 2", r"\frac{U + 1}{2}"),
        ("-(utility + 1)", r"-\left(U + 1\right)"),
        ("-utility ** 2", "-{U}^{2}"),
        ("(-utility) ** 2", r"{\left(-U\right)}^{2}"),
        ("2 ** -utility", "{2}^{-U}"),
        ("1 - -utility", r"1 - \left(-U\right)"),
        ("2 * -utility + 1", r"2 \cdot \left(-U\right) + 1"),
        ("-utility + 1", "-U + 1"),
        ("-(utility * 2)", r"-U \cdot 2"),
        ("abs(utility)", r"\left|U\right|"),
        ("min(utility, 1 - security)", r"\min\left(U, 1 - E\right)"),
        ("where(utility <= 1, 0.5, 2)", r"\mathrm{where}\left(U \le 1, 0.5, 2\right)"),
        ("rank(mean_mae)", r"\mathrm{rank}\left(\mathrm{mean\_mae}\right)"),
        ("strongest('link')", r"\mathrm{strongest}\left(\mathrm{link}\right)"),
    ],
)
def test_operations_have_the_brackets_that_they_need(text: str, latex: str) -> None:
    assert format_latex(parse_formula(text)) == latex
    assert "<math" in convert(latex)


def test_names_can_be_shown_as_numbers() -> None:
    numbers = {"utility": "0.25", "security": "-0.5"}
    formula = parse_formula("utility + security ** 2")
    latex = format_latex(formula, lambda node: numbers.get(node.id) if isinstance(node, ast.Name) else None)
    assert latex == r"0.25 + {\left(-0.5\right)}^{2}"
