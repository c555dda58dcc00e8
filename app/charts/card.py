"""Link preview of a contest: one standalone SVG with its title, phase, podium and scatter plot."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.charts.frame import PICTURE_WIDTH
from app.charts.scatter_plot import SCATTER_HEIGHT
from app.charts.svg import estimate_text_width, shorten, tag

_CARD_WIDTH, _CARD_HEIGHT = 1200, 630
_LEFT_MARGIN, _COLUMN_WIDTH = 56.0, 340.0
FONT_FAMILIES = "IBM Plex Sans, Noto Sans, Liberation Sans, DejaVu Sans, sans-serif"
_JAPANESE_FONT_FAMILIES = "Noto Sans CJK JP, Noto Sans JP, IPAexGothic, IPAGothic, sans-serif"
"""Fonts for texts with Japanese characters, which would otherwise get an arbitrary fallback font."""
_ARROW_SPAN = '<tspan font-family="DejaVu Sans">↙</tspan>'
"""The arrow has an element of its own, as its fallback font would otherwise apply to the whole text."""
_JAPANESE_TEXT_ELEMENT = re.compile(r"<text (?=[^>]*>[^<]*[\u3040-\u9fff])")
_WORD_PATTERN = re.compile(
    r"[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]\s*|[^\s\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]+\s*"
)
_STYLESHEET = """
text { fill: $ink; font-size: 12.5px; }
.middle { text-anchor: middle; } .end { text-anchor: end; }
.tick, .better, .aside { fill: $quiet; font-size: 11px; }
.title, .label, .count { font-weight: 600; }
.label, .aside { paint-order: stroke; stroke: $paper; stroke-width: 3px; stroke-linejoin: round; }
.best { fill: $ink; } .count { fill: $paper; font-size: 11px; }
.grid, .axis, .line, .reach, .equal, .leader { fill: none; }
.grid { stroke: $line; } .axis, .leader { stroke: $quiet; }
.equal { stroke: $strong-line; stroke-dasharray: 1.5 3; } .equal.best { stroke: $ink; stroke-dasharray: 5 3; }
.line { stroke: $data-1; stroke-width: 1.4px; } .reach { stroke: $data-1; stroke-dasharray: 2 3; }
.others circle { fill: $data-1; fill-opacity: .55; } .front circle { fill: $data-1; stroke: $paper; }
.others path { fill: $data-1; fill-opacity: .55; }
.baseline path { fill: $paper; stroke: $quiet; stroke-width: 1.4px; } .baseline .count { fill: $quiet; }
.blurs rect { fill: $data-1; fill-opacity: .1; }
"""


@dataclass(frozen=True, slots=True)
class PodiumRow:
    """A formatted row of the podium."""

    rank: str
    name: str
    score: str


@dataclass(frozen=True, slots=True)
class PreviewCard:
    """The contents of a link preview. ``scatter_plot`` is the picture of the scatter plot, None if it is hidden."""

    title: str
    phase: str
    podium: Sequence[PodiumRow] = ()
    scatter_plot: Markup | None = None


def draw_card(card: PreviewCard, colours: Mapping[str, str]) -> Markup:
    """Draw the link preview; ``colours`` maps names of the palette to colours."""
    stylesheet = re.sub(r"\$([\w-]+)", lambda name: colours[name[1]], _STYLESHEET)
    parts = [
        tag("style", Markup(stylesheet)),  # noqa: S704
        tag("rect", width=_CARD_WIDTH, height=_CARD_HEIGHT, fill=colours["paper"]),
        tag("rect", width=14, height=_CARD_HEIGHT, fill=colours["accent"]),
        _draw_text("anoncup", _LEFT_MARGIN, 84, 26, fill=colours["accent"], weight=600),
    ]
    has_plot = card.scatter_plot is not None
    font_size, max_width = (40.0, _COLUMN_WIDTH) if has_plot else (64.0, _CARD_WIDTH - 2 * _LEFT_MARGIN)
    lines = wrap_text(card.title, max_width, font_size, max_lines=3)
    top = 150.0 if has_plot else 230.0
    parts += [
        _draw_text(line, _LEFT_MARGIN, top + index * 1.25 * font_size, font_size, weight=600)
        for index, line in enumerate(lines)
    ]
    pill_y = top + (len(lines) - 0.45) * 1.25 * font_size
    parts.append(_draw_pill(card.phase, pill_y, colours["accent"]))
    parts += [
        _draw_podium_row(podium_row, 400 + 64 * index, colours)
        for index, podium_row in enumerate(card.podium)
    ]
    if card.scatter_plot is not None:
        plot_width = _CARD_WIDTH - _LEFT_MARGIN - _COLUMN_WIDTH - 60
        placement = f'x="{_LEFT_MARGIN + _COLUMN_WIDTH + 36:.0f}" y="44" width="{plot_width:.0f}" height="{plot_width * SCATTER_HEIGHT / PICTURE_WIDTH:.0f}"'
        plot = str(card.scatter_plot).replace("<svg ", f"<svg {placement} ", 1).replace("↙", _ARROW_SPAN)
        parts.append(Markup(plot))  # noqa: S704
    elements = _JAPANESE_TEXT_ELEMENT.sub(
        f'<text font-family="{_JAPANESE_FONT_FAMILIES}" ', Markup("").join(parts)
    )
    return tag(
        "svg",
        Markup(elements),  # noqa: S704
        xmlns="http://www.w3.org/2000/svg",
        width=_CARD_WIDTH,
        height=_CARD_HEIGHT,
        viewBox=f"0 0 {_CARD_WIDTH} {_CARD_HEIGHT}",
        font_family=FONT_FAMILIES,
    )


def _draw_text(
    content: str, x: float, y: float, font_size: float, *, weight: int = 400, **styles: str
) -> Markup:
    """Draw a text with its own size; the stylesheet sets that of all other texts."""
    style = f"font-size: {font_size:g}px; font-weight: {weight}" + "".join(
        f"; {key}: {value}" for key, value in styles.items()
    )
    return tag("text", content, x=x, y=y, style=style.replace("text_anchor", "text-anchor"))


def _draw_pill(content: str, y: float, colour: str) -> Markup:
    label = shorten(content, _COLUMN_WIDTH - 32, 21)
    outline = tag(
        "rect",
        x=_LEFT_MARGIN,
        y=y,
        rx=19,
        width=estimate_text_width(label, 21) + 32,
        height=38,
        fill="none",
        stroke=colour,
        stroke_width=2,
    )
    middle = _LEFT_MARGIN + estimate_text_width(label, 21) / 2 + 16
    return outline + _draw_text(label, middle, y + 26.5, 21, fill=colour, text_anchor="middle")


def _draw_podium_row(podium_row: PodiumRow, y: float, colours: Mapping[str, str]) -> Markup:
    """Draw rank, name and score of a team."""
    disc = tag("circle", cx=_LEFT_MARGIN + 18, cy=y - 9, r=19, fill=colours["accent"])
    rank = _draw_text(
        podium_row.rank,
        _LEFT_MARGIN + 18,
        y - 1,
        22,
        weight=600,
        fill=colours["on-accent"],
        text_anchor="middle",
    )
    score = _draw_text(podium_row.score, _LEFT_MARGIN + _COLUMN_WIDTH, y, 24, weight=600, text_anchor="end")
    max_width = _COLUMN_WIDTH - 50 - 0.6 * 24 * len(podium_row.score) - 10
    return disc + rank + _draw_text(shorten(podium_row.name, max_width, 22), _LEFT_MARGIN + 50, y, 22) + score


def wrap_text(content: str, max_width: float, font_size: float, *, max_lines: int) -> list[str]:
    """Break the text into at most ``max_lines`` lines; the last one is shortened if needed."""
    lines = list(_iter_lines(content, max_width, font_size))
    if len(lines) > max_lines:
        lines[max_lines - 1 :] = [shorten("".join(lines[max_lines - 1 :]), max_width, font_size)]
    return [shorten(line.rstrip(), max_width, font_size) for line in lines]


def _iter_lines(content: str, max_width: float, font_size: float) -> Iterator[str]:
    """Yield lines, broken between words or, in Japanese, between any two characters."""
    line = ""
    for word in _WORD_PATTERN.findall(content):
        if line and estimate_text_width((line + word).rstrip(), font_size) > max_width:
            yield line
            line = ""
        line += word
    if line:
        yield line
