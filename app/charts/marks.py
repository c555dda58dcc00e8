"""The shapes of single values: told apart by form, not by colour alone."""

import math
from typing import Protocol

from markupsafe import Markup

from app.charts.svg import short, tag


class Shape(Protocol):
    """A mark around a place of the picture."""

    def __call__(self, x: float, y: float) -> Markup: ...


def dot(x: float, y: float, size: float = 4.5, **more: str) -> Markup:
    return tag("circle", cx=x, cy=y, r=size, **more)


def diamond(x: float, y: float, size: float = 7.5, **more: str) -> Markup:
    return closed(x, y, ((0, -size), (size, 0), (0, size), (-size, 0)), **more)


def square(x: float, y: float, size: float = 4.5, **more: str) -> Markup:
    return closed(x, y, ((-size, -size), (size, -size), (size, size), (-size, size)), **more)


def triangle(x: float, y: float, size: float = 6.0, **more: str) -> Markup:
    return closed(x, y, ((0, -size), (size, 0.8 * size), (-size, 0.8 * size)), **more)


def arrow(x: float, y: float, across: int, up: int, size: float = 6.0, **more: str) -> Markup:
    """A triangle that points out of the picture, right (``across``) or up, or between both."""
    turned = math.hypot(across, up) or 1.0
    right, down = size * across / turned, -size * up / turned
    return closed(
        x, y, ((right, down), (-right - down, -down + right), (-right + down, -down - right)), **more
    )


def cross(x: float, y: float, size: float = 4.5, **more: str) -> Markup:
    """Two strokes, in a path that can be hit between them too."""
    arms = f"M{short(x - size)} {short(y - size)}L{short(x + size)} {short(y + size)}"
    return tag(
        "path", d=f"{arms}M{short(x + size)} {short(y - size)}L{short(x - size)} {short(y + size)}", **more
    )


def closed(x: float, y: float, corners: tuple[tuple[float, float], ...], **more: str) -> Markup:
    places = (f"{short(x + right)} {short(y + down)}" for right, down in corners)
    return tag("path", d=f"M{'L'.join(places)}Z", **more)


def swatch(series: str, *shapes: Markup) -> Markup:
    """A mark of the legend, in a box of 20 × 20 around the origin."""
    return tag(
        "svg", tag("g", *shapes, class_=series), class_="swatch", viewBox="-10 -10 20 20", aria_hidden="true"
    )
