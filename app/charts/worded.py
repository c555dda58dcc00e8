"""A chart's words in the reader's language."""

from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

from app.language import Words

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

OfChart = TypeVar("OfChart", bound="DataclassInstance")


def worded(kind: type[OfChart], t: Words, **given: str) -> OfChart:
    """The texts of a chart in ``t``'s language: ``kind`` has their English as defaults; ``given`` ones stay."""
    own = {each.name: t(str(each.default)) for each in fields(kind)}
    return kind(**{**own, **given})
