"""What the words of all charts have: how a language writes numbers."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeVar

from app.charts.axes import number
from app.locale.language import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartWords:
    """``signs``: puts those of a language into a number that is written as in English."""

    signs: Callable[[str], str] = str

    def number(self, value: float | None) -> str:
        return self.signs(number(value))


OfChart = TypeVar("OfChart", bound=ChartWords)
TEXTLESS = {each.name for each in fields(ChartWords)}


def worded(kind: type[OfChart], t: Words, **given: str) -> OfChart:
    """The texts of a chart in ``t``'s language: ``kind`` has their English as defaults; ``given`` ones stay."""
    own = {each.name: t(str(each.default)) for each in fields(kind) if each.name not in TEXTLESS}
    return kind(**{**own, **given}, signs=t.written)
