"""What a chart is to a page: a picture, its name, its meaning in a sentence, its numbers as a table."""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from app.charts.axes import number
from app.charts.svg import lone

NO_SWATCH = Markup("")
Cell = str | float | int | None


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """``name``: the class of the series in the picture; ``swatch``: its mark, drawn small."""

    name: str
    text: str
    swatch: Markup = NO_SWATCH


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its name, what it says in a sentence, and the data behind it as a table.

    ``identifier``: unique on its page, a part of the ids inside. A chart that is a table itself has no
    ``head`` and no ``rows``. ``view``: what a script that takes over from the picture draws, as JSON; such a
    figure is large.
    """

    identifier: str
    title: str
    description: str
    svg: Markup
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    legend: tuple[LegendEntry, ...] = ()
    view: str = ""

    def numeric(self) -> tuple[bool, ...]:
        """Whether each column holds numbers only."""
        return tuple(
            not any(isinstance(cell, str) for cell in column) for column in zip(*self.rows, strict=True)
        )

    def written(self, cell: Cell, signs: Callable[[str], str]) -> str:
        return lone(cell) if isinstance(cell, str) else signs(number(cell))
