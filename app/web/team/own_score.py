"""The ranking's formula as mathematics, with the numbers of a submission filled in."""

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from anoncup.formulas.filled_formula import FilledFormula
from anoncup.formulas.latex import format_latex
from app.locale.language import Translator
from app.web.site.mathematics import typeset, typeset_once
from app.web.site.notation import format_number


@dataclass(frozen=True, slots=True)
class ScoreFormula:
    """A formula of the ranking under its key in the competition file.

    ``filled`` has the numbers in place of the names, and the value if it is shown.
    """

    key: str
    symbolic: Markup
    filled: Markup


def typeset_score(formulas: Mapping[str, FilledFormula], t: Translator) -> list[ScoreFormula]:
    return [
        ScoreFormula(key, typeset(format_latex(filled.formula)), typeset_once(_format_filled(filled, t)))
        for key, filled in formulas.items()
    ]


def _format_filled(filled: FilledFormula, t: Translator) -> str:
    def find_text(node: ast.AST) -> str | None:
        return _format_number(filled.numbers[node], t) if node in filled.numbers else None

    value = "" if filled.value is None else f" = {_format_number(filled.value, t)}"
    return f"= {format_latex(filled.formula, find_text)}{value}"


def _format_number(number: float, t: Translator) -> str:
    """Return a number in LaTeX. Its sign is an operator, which powers put in brackets."""
    if math.isnan(number):
        missing = t.pgettext("number", "missing")
        return rf"\text{{{missing}}}"
    text = t.localize_numbers(format_number(abs(number)))
    return ("-" if number < 0 else "") + rf"\text{{{text}}}"
