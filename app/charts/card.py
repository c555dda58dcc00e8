"""A picture for previews of links: a contest, where it stands, who leads, and the plane, as one SVG of its own."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.charts.frame import WIDTH
from app.charts.plane import HEIGHT
from app.charts.svg import fitted, tag, width_of

WIDE, TALL = 1200, 630
LEFT, COLUMN = 56.0, 340.0
FAMILIES = "IBM Plex Sans, Noto Sans, Liberation Sans, DejaVu Sans, sans-serif"
JAPANESE = "Noto Sans CJK JP, Noto Sans JP, IPAexGothic, IPAGothic, sans-serif"
"""First where such letters are: else a font is taken for them that happens to have them."""
ARROW = '<tspan font-family="DejaVu Sans">↙</tspan>'
"""Apart: a font that is taken for it would be taken for the whole text."""
TEXT = re.compile(r"<text (?=[^>]*>[^<]*[\u3040-\u9fff])")
WORD = re.compile(
    r"[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]\s*|[^\s\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]+\s*"
)
SHEET = """
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
class Place:
    """A row of the podium as it is written."""

    rank: str
    name: str
    score: str


@dataclass(frozen=True, slots=True)
class Card:
    """``plane``: the picture of a scatter; None where there is none to be seen."""

    title: str
    phase: str
    podium: Sequence[Place] = ()
    plane: Markup | None = None


def card(shown: Card, colours: Mapping[str, str]) -> Markup:
    """The picture; ``colours``: of the palette, by name."""
    sheet = re.sub(r"\$([\w-]+)", lambda name: colours[name[1]], SHEET)
    parts = [
        tag("style", Markup(sheet)),  # noqa: S704
        tag("rect", width=WIDE, height=TALL, fill=colours["paper"]),
        tag("rect", width=14, height=TALL, fill=colours["accent"]),
        written("anoncup", LEFT, 84, 26, fill=colours["accent"], weight=600),
    ]
    wide = shown.plane is not None
    letter, room = (40.0, COLUMN) if wide else (64.0, WIDE - 2 * LEFT)
    lines = wrapped(shown.title, room, letter, most=3)
    top = 150.0 if wide else 230.0
    parts += [
        written(line, LEFT, top + row * 1.25 * letter, letter, weight=600) for row, line in enumerate(lines)
    ]
    below = top + (len(lines) - 0.45) * 1.25 * letter
    parts.append(pill(shown.phase, below, colours["accent"]))
    parts += [step(one, 400 + 64 * row, colours) for row, one in enumerate(shown.podium)]
    if shown.plane is not None:
        wide_plane = WIDE - LEFT - COLUMN - 60
        box = f'x="{LEFT + COLUMN + 36:.0f}" y="44" width="{wide_plane:.0f}" height="{wide_plane * HEIGHT / WIDTH:.0f}"'
        plane = str(shown.plane).replace("<svg ", f"<svg {box} ", 1).replace("↙", ARROW)
        parts.append(Markup(plane))  # noqa: S704
    letters = TEXT.sub(f'<text font-family="{JAPANESE}" ', Markup("").join(parts))
    return tag(
        "svg",
        Markup(letters),  # noqa: S704
        xmlns="http://www.w3.org/2000/svg",
        width=WIDE,
        height=TALL,
        viewBox=f"0 0 {WIDE} {TALL}",
        font_family=FAMILIES,
    )


def written(words: str, x: float, y: float, letter: float, *, weight: int = 400, **more: str) -> Markup:
    """A text whose size the sheet does not change."""
    style = f"font-size: {letter:g}px; font-weight: {weight}" + "".join(
        f"; {key}: {value}" for key, value in more.items()
    )
    return tag("text", words, x=x, y=y, style=style.replace("text_anchor", "text-anchor"))


def pill(words: str, y: float, colour: str) -> Markup:
    name = fitted(words, COLUMN - 32, 21)
    outline = tag(
        "rect",
        x=LEFT,
        y=y,
        rx=19,
        width=width_of(name, 21) + 32,
        height=38,
        fill="none",
        stroke=colour,
        stroke_width=2,
    )
    middle = LEFT + width_of(name, 21) / 2 + 16
    return outline + written(name, middle, y + 26.5, 21, fill=colour, text_anchor="middle")


def step(one: Place, y: float, colours: Mapping[str, str]) -> Markup:
    """Rank, name and score of a team."""
    disc = tag("circle", cx=LEFT + 18, cy=y - 9, r=19, fill=colours["accent"])
    rank = written(
        one.rank, LEFT + 18, y - 1, 22, weight=600, fill=colours["on-accent"], text_anchor="middle"
    )
    score = written(one.score, LEFT + COLUMN, y, 24, weight=600, text_anchor="end")
    room = COLUMN - 50 - 0.6 * 24 * len(one.score) - 10
    return disc + rank + written(fitted(one.name, room, 22), LEFT + 50, y, 22) + score


def wrapped(words: str, room: float, letter: float, *, most: int) -> list[str]:
    """The words on so many lines at most, cut short where they are more."""
    lines = list(lines_of(words, room, letter))
    if len(lines) > most:
        lines[most - 1 :] = [fitted("".join(lines[most - 1 :]), room, letter)]
    return [fitted(line.rstrip(), room, letter) for line in lines]


def lines_of(words: str, room: float, letter: float) -> Iterator[str]:
    """Broken between words, and between letters of scripts that know no spaces."""
    line = ""
    for word in WORD.findall(words):
        if line and width_of((line + word).rstrip(), letter) > room:
            yield line
            line = ""
        line += word
    if line:
        yield line
