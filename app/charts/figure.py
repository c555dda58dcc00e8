"""A chart for a page: its picture, title, description and data table."""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from app.charts.numbers import format_number
from app.charts.svg import isolate_text

_NO_SWATCH = Markup("")
_Cell = str | float | int | None


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """An entry of the legend.

    ``name`` is the CSS class of the series in the picture, and ``swatch`` a small picture of its mark.
    """

    name: str
    text: str
    swatch: Markup = _NO_SWATCH


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its title, a description in a sentence, and its data as a table.

    ``identifier`` is unique on the page and part of all ids in the figure. A chart that is itself a table has
    neither ``head`` nor ``rows``. ``view`` is JSON for the script that replaces the picture by an interactive
    one; a figure with a view is shown large.
    """

    identifier: str
    title: str
    description: str
    svg: Markup
    head: tuple[str, ...]
    rows: tuple[tuple[_Cell, ...], ...]
    legend: tuple[LegendEntry, ...] = ()
    view: str = ""

    def numeric_columns(self) -> tuple[bool, ...]:
        """Return for each column whether it contains only numbers."""
        return tuple(
            not any(isinstance(cell, str) for cell in column) for column in zip(*self.rows, strict=True)
        )

    def format_cell(self, cell: _Cell, localize: Callable[[str], str]) -> str:
        return isolate_text(cell) if isinstance(cell, str) else localize(format_number(cell))
