"""Charts as Vega-Lite specifications, and the encodings that they share.

A page includes ``/static/charts.css`` and the module ``/static/vega_charts.js``, and writes
``{{ chart(figure) }}`` of ``site/chart.html``. Colours are CSS variables, so that they follow the theme.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Spec = dict[str, Any]
"""A Vega-Lite specification or a part of one."""
Cell = str | float | None

DATA, OWN, INK, PAPER, QUIET = "var(--data-1)", "var(--data-2)", "var(--ink)", "var(--paper)", "var(--quiet)"
DESCRIBED: Spec = {"tooltip": {"field": "description"}, "description": {"field": "description"}}
"""Shows the field ``description`` of a row at the pointer and to screen readers."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with its description in sentences and its numbers as a table.

    ``identifier`` is unique on the page. A large chart fills the width of its column. Its
    parameter ``zoom``, an interval, is bound to the scales.
    """

    identifier: str
    title: str
    description: str
    specification: Spec
    head: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    is_large: bool = False


def encode_number(
    field: str, title: str | None = None, ends: Sequence[float] | None = None, **options: Any
) -> Spec:
    """Encode a number on a scale between two ends, or else over the range of the data."""
    scale = {"zero": False} if ends is None else {"domain": list(ends), "nice": False}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, **options}


def encode_kind(kinds: Sequence[str], values: Sequence[str]) -> Spec:
    """Encode the field ``kind`` by the value at the place of each kind, with a legend."""
    legend = {"orient": "bottom", "title": None, "columns": {"signal": "width < 600 ? 2 : 4"}}
    return {"field": "kind", "scale": {"domain": list(kinds), "range": list(values)}, "legend": legend}


def choose(test: str, value: Any, otherwise: Any) -> Spec:
    """Encode one of two values by a test of the row, such as ``datum.own``."""
    return {"condition": {"test": test, "value": value}, "value": otherwise}


BESIDE_POINTS = ("top-right", "bottom-left", "right", "bottom-right", "top-left", "left")
AT_ENDS_OF_LINES = ("right", "top-right", "bottom-right")


def place_labels(
    layer: str, anchors: Sequence[str], avoided_layers: Sequence[str] = (), **options: Any
) -> Spec:
    """Return what ``usermeta`` of a specification tells ``vega_charts.js`` to do with the labels of a layer.

    Labels are placed by their field ``order``; those without room are left out.
    """
    avoided_marks = [f"{avoided_layer}_marks" for avoided_layer in avoided_layers]
    return {layer: {"anchor": list(anchors), "avoidMarks": avoided_marks, **options}}


def isolate(name: str) -> str:
    """Return a name for use in a text, whose order a right-to-left name then does not change."""
    return f"\u2068{name}\u2069"
