"""Charts as Vega-Lite specifications, and the encodings that they share.

A page includes ``/static/charts.css`` and the module ``/static/vega_charts.js``, and writes
``{{ chart(figure) }}`` of ``site/chart.html``. Colours are CSS variables, so that they follow the theme.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one."""
Cell = str | float | None

DATA, OWN, INK, PAPER, QUIET = "var(--data-1)", "var(--data-2)", "var(--ink)", "var(--paper)", "var(--quiet)"
DESCRIBED: Spec = {"tooltip": {"field": "description"}, "description": {"field": "description"}}
"""Shows the field ``description`` of a row at the pointer and to screen readers."""

BESIDE_POINTS = ("top-right", "bottom-left", "right", "bottom-right", "top-left", "left")
AT_ENDS_OF_LINES = ("right", "top-right", "bottom-right")
_MIN_RELATIVE_RANGE = 0.1
ZOOM: Spec = {
    "type": "interval",
    "zoom": "wheel![event.ctrlKey || event.metaKey]",
    "translate": "[pointerdown[event.pointerType !== 'touch'], window:pointerup] > window:pointermove!",
}
"""The wheel zooms with Ctrl. Otherwise it scrolls the page, as a finger does."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with its description in sentences and its numbers as a table.

    ``identifier`` is unique on the page. A large chart fills the width of its column. If it can be
    zoomed, a button resets the view.
    """

    identifier: str
    title: str
    description: str
    specification: Spec
    head: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    is_large: bool = False
    can_zoom: bool = False


def encode_number(
    field: str, title: str | None = None, ends: Sequence[float] | None = None, *, padding: float = 0
) -> Spec:
    """Encode a number on a scale between two ends with a padding in pixels, or else over its range."""
    scale = {"zero": False} if ends is None else {"domain": list(ends), "nice": False, "padding": padding}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale}


def find_ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the least and the largest value, at least a tenth of the largest apart."""
    low, high = min(values), max(values)
    missing = (_MIN_RELATIVE_RANGE * abs(high) or _MIN_RELATIVE_RANGE) - (high - low)
    return (low, high) if missing <= 0 else (low - min(missing / 2, abs(low)), high + missing / 2)


def encode_time(ends: Sequence[datetime], zone: str) -> Spec:
    """Encode the field ``at``, a wall-clock time, between two moments."""
    is_brief = ends[1] - ends[0] < timedelta(days=4)
    return {
        "field": "at",
        "type": "temporal",
        "title": zone,
        "axis": {"format": "%m-%d %H:%M" if is_brief else "%m-%d", "grid": False},
        "scale": {"type": "utc", "domain": [format_wall_clock(end, zone) for end in ends]},
    }


def format_wall_clock(moment: datetime, zone: str) -> str:
    """Return the wall-clock time in a zone as if it were UTC. Vega knows no other zones."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%dT%H:%M:%SZ")


def encode_kind(kinds: Sequence[str], values: Sequence[str]) -> Spec:
    """Encode the field ``kind`` by the value at the place of each kind, with a legend."""
    # A number of columns that depends on the width would change the height after the layout.
    legend = {"orient": "bottom", "title": None, "columns": 2}
    return {"field": "kind", "scale": {"domain": list(kinds), "range": list(values)}, "legend": legend}


def choose(test: str, value: Any, otherwise: Any) -> Spec:
    """Encode one of two values by a test of the row, such as ``datum.own``."""
    return {"condition": {"test": test, "value": value}, "value": otherwise}


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


def draw_rules(x: Spec, values: Mapping[str, float]) -> list[Spec]:
    """Draw a vertical line for each label at its value. Labels are at the top, one below the other."""
    data = {
        "values": [
            {"at": at, "label": label, "line": line} for line, (label, at) in enumerate(values.items())
        ]
    }
    position = {"x": {**x, "field": "at"}}
    is_right = "scale('x', datum.at) > width / 2"
    text = {
        "type": "text",
        "color": INK,
        "align": {"expr": f"{is_right} ? 'right' : 'left'"},
        "dx": {"expr": f"{is_right} ? -5 : 5"},
        "y": {"expr": "8 + 18 * datum.line"},
    }
    return [
        {
            "data": data,
            "mark": {"type": "rule", "strokeDash": [7, 3], "strokeWidth": 1.5, "color": INK},
            "encoding": position,
        },
        {"data": data, "mark": text, "encoding": {**position, "text": {"field": "label"}}},
    ]
