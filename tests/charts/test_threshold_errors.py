"""The chart of both errors of a threshold: honest releases it rejects and cheats it lets through."""

from itertools import pairwise

import pytest

from app.charts.figure import Figure
from app.charts.text import translate_words
from app.charts.threshold_errors import (
    ErrorWords,
    SampleRelease,
    SimulatedCheats,
    build_threshold_errors,
    compute_acceptance_curve,
    compute_rejection_curve,
)
from tests.support.chart_samples import (
    EN,
    find_center,
    find_marks,
    list_corners,
    parse_markup,
    read_axis_value,
)

RELEASES = [
    SampleRelease("a", 0.1),
    SampleRelease("b", 0.2),
    SampleRelease("c", 0.2),
    SampleRelease("d", 0.4),
]
CHEATS = {
    "shift": SimulatedCheats([1, 3], [0.3, 0.4, 0.5]),
    "group": SimulatedCheats([4, 0], [0.2, 0.3, 0.4]),
}


def test_both_errors_are_drawn_in_separate_bands() -> None:
    figure = build_threshold_errors(
        RELEASES, RELEASES[:2], CHEATS, translate_words(ErrorWords, EN), threshold=0.25
    )
    assert compute_rejection_curve(RELEASES)[1::2] == [(0.1, 1.0), (0.2, 0.75), (0.2, 0.5), (0.4, 0.25)]
    assert dict(compute_acceptance_curve(CHEATS)) == {0.2: 0.0, 0.3: 1.0, 0.4: 1.0, 0.5: 1.0}
    assert CHEATS["shift"].share_below(0.45) == pytest.approx(0.625)
    for series, expected in (("honest", RELEASES), ("mixed", RELEASES[:2])):
        positions = [
            read_axis_value(figure, find_center(element)[0]) for element in find_marks(figure, series)
        ]
        assert positions == pytest.approx([release.mean for release in expected], abs=0.005)
    heights = []
    for band in parse_markup(figure.svg).findall("./g[@class]"):
        ys = [float(element.attrib["cy"]) for element in band.iter("circle")]
        for element in band.iter("path"):
            ys += [y for _, y in list_corners(element.attrib["d"])]
        if band.attrib["class"].startswith("series"):
            heights.append((min(ys), max(ys)))
    assert len(heights) == 4
    assert all(upper[1] < lower[0] for upper, lower in pairwise(heights))
    titles = [
        float(element.attrib["y"])
        for element in parse_markup(figure.svg).findall("./g[@class]/text[@class='label']")
    ]
    line = parse_markup(figure.svg).findall(".//g[@class='rule threshold']/path")[0].attrib["d"]
    spans = [[y for _, y in list_corners(f"M{part}")] for part in line.split("M")[1:]]
    assert len(titles) == 4
    assert not [y for y in titles for begin, end in spans if begin < y < end]
    assert (
        read_axis_value(figure, 0)
        < 0
        <= min(read_axis_value(figure, x) for x, _ in list_area_corners(figure))
    )


def list_area_corners(figure: Figure) -> list[tuple[float, float]]:
    areas = parse_markup(figure.svg).findall(".//path[@class='area']")
    return [point for area in areas for point in list_corners(area.attrib["d"])]


def test_without_simulation_one_error_is_shown() -> None:
    figure = build_threshold_errors(RELEASES, [], {}, translate_words(ErrorWords, EN))
    assert len(parse_markup(figure.svg).findall(".//path[@class='area']")) == 1
    assert [entry.name for entry in figure.legend] == ["honest"]
