"""A chart's words in the reader's language."""

from dataclasses import fields
from typing import TypeVar

from app.charts.words import ChartWords
from app.locale.language import Words

OfChart = TypeVar("OfChart", bound=ChartWords)
TEXTLESS = {each.name for each in fields(ChartWords)}


def worded(kind: type[OfChart], t: Words, **given: str) -> OfChart:
    """The texts of a chart in ``t``'s language: ``kind`` has their English as defaults; ``given`` ones stay."""
    own = {each.name: t(str(each.default)) for each in fields(kind) if each.name not in TEXTLESS}
    return kind(**{**own, **given}, signs=t.written)
