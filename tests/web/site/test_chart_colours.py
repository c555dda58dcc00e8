"""Chart colours are legible in light and dark mode and distinct with colour vision deficiency."""

import math
import re
from functools import cache
from itertools import combinations

import pytest

from app.web.site.pages import WEB_ROOT

Colour = tuple[float, float, float]
COLOUR_VISION: dict[str, tuple[Colour, Colour, Colour]] = {  # full deficiency: Machado et al. 2009
    "everybody": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}


@cache
def load_palette(is_dark: bool) -> dict[str, Colour]:
    """Return the site's colours in linear RGB."""
    sheet = (WEB_ROOT / "site" / "static" / "tokens.css").read_text()
    declarations = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", sheet)
    return {name: linearize(colours[is_dark]) for name, *colours in declarations}


def linearize(code: str) -> Colour:
    parts = [int(code[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in parts
    )
    return red, green, blue


def contrast(first: Colour, second: Colour) -> float:
    light, dark = sorted((0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (first, second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def convert_to_oklab(colour: Colour) -> Colour:
    r, g, b = colour
    cones = (
        0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
        0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
        0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
    )
    long, mid, close = (math.copysign(abs(cone) ** (1 / 3), cone) for cone in cones)
    return (
        0.2104542553 * long + 0.7936177850 * mid - 0.0040720468 * close,
        1.9779984951 * long - 2.4285922050 * mid + 0.4505937099 * close,
        0.0259040371 * long + 0.7827717662 * mid - 0.8086757660 * close,
    )


def convert_from_oklab(lab: Colour) -> Colour:
    a, b, c = lab
    long = (a + 0.3963377774 * b + 0.2158037573 * c) ** 3
    mid = (a - 0.1055613458 * b - 0.0638541728 * c) ** 3
    close = (a - 0.0894841775 * b - 1.2914855480 * c) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * mid + 0.2309699292 * close,
        -1.2684380046 * long + 2.6097574011 * mid - 0.3413193965 * close,
        -0.0041960863 * long - 0.7034186147 * mid + 1.7076147010 * close,
    )


@pytest.mark.parametrize("is_dark", [False, True])
def test_cell_numbers_are_legible_on_every_colour(is_dark: bool) -> None:
    colours = load_palette(is_dark)
    low, high = convert_to_oklab(colours["heat-low"]), convert_to_oklab(colours["heat-high"])
    for step in range(11):
        blended = tuple(a + (b - a) * step / 10 for a, b in zip(low, high, strict=True))
        assert contrast(convert_from_oklab(blended), colours["ink"]) >= 4.5  # type: ignore[arg-type]


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("vision", COLOUR_VISION)
def test_series_colours_differ_for_colour_blind_readers(is_dark: bool, vision: str) -> None:
    """A distance of 0.1 in OKLab is several times the just noticeable difference."""
    colours = [load_palette(is_dark)[f"data-{number}"] for number in (1, 2, 3, 4)]
    perceived = [
        convert_to_oklab(
            tuple(  # type: ignore[arg-type]
                sum(a * b for a, b in zip(row, colour, strict=True)) for row in COLOUR_VISION[vision]
            )
        )
        for colour in colours
    ]
    assert min(math.dist(first, second) for first, second in combinations(perceived, 2)) > 0.1
    assert all(contrast(colour, load_palette(is_dark)["paper"]) >= 3 for colour in colours)
    assert contrast(load_palette(is_dark)["data-2"], load_palette(is_dark)["paper"]) >= 4.5, (
        "names are written in it"
    )
