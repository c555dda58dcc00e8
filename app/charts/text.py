"""Texts shared by all charts: how a language writes numbers."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeVar

from app.charts.axes import write_number
from app.locale.language import Translator


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartWords:
    """``localize`` converts a number from English notation to that of a language."""

    localize: Callable[[str], str] = str

    def format_number(self, value: float | None) -> str:
        return self.localize(write_number(value))


WordsT = TypeVar("WordsT", bound=ChartWords)
_NON_TEXT_FIELDS = {item.name for item in fields(ChartWords)}


def translate_words(kind: type[WordsT], t: Translator, **overrides: str) -> WordsT:
    """Return the texts of a chart translated by ``t``.

    The English defaults come from the fields of ``kind``; ``overrides`` are used as they are.
    """
    translated = {
        item.name: t(str(item.default)) for item in fields(kind) if item.name not in _NON_TEXT_FIELDS
    }
    return kind(**{**translated, **overrides}, localize=t.localize_numbers)
