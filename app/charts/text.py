"""Base class of the texts of a chart, and their translation."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeVar

from app.charts.numbers import format_number
from app.locale.language import Translator


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartWords:
    """Base class of the texts of a chart; ``localize`` converts a number from English notation."""

    localize: Callable[[str], str] = str

    def format_number(self, value: float | None) -> str:
        return self.localize(format_number(value))

    def fill(self, template: str, **values: str | float | None) -> str:
        """Fill in the values of a text; numbers are formatted."""
        return template.format(
            **{
                name: value if isinstance(value, str) else self.format_number(value)
                for name, value in values.items()
            }
        )


WordsT = TypeVar("WordsT", bound=ChartWords)
_NON_TEXT_FIELDS = {field.name for field in fields(ChartWords)}


def translate_words(kind: type[WordsT], t: Translator, **overrides: str) -> WordsT:
    """Return the texts of a chart, translated by ``t``.

    The English texts are the defaults of the fields of ``kind``. ``overrides`` are used as they are.
    """
    texts = {
        field.name: t(str(field.default)) for field in fields(kind) if field.name not in _NON_TEXT_FIELDS
    }
    return kind(**{**texts, **overrides}, localize=t.localize_numbers)
