"""The picture of both errors of a threshold: honest releases that it rejects, cheats that it lets through."""

from itertools import pairwise

import pytest

from app.charts.figure import Figure
from app.charts.text import worded
from app.charts.threshold_errors import ErrorWords, Release, Simulated, errors, passing_at, rejected_at
from tests.web.figures import EN, corners, marks_of, middle, parsed, value_at

RELEASES = [Release("a", 0.1), Release("b", 0.2), Release("c", 0.2), Release("d", 0.4)]
CHEATS = {"shift": Simulated([1, 3], [0.3, 0.4, 0.5]), "group": Simulated([4, 0], [0.2, 0.3, 0.4])}


def test_both_errors_stand_at_their_thresholds_each_in_a_band_of_its_own() -> None:
    figure = errors(RELEASES, RELEASES[:2], CHEATS, worded(ErrorWords, EN), threshold=0.25)
    assert rejected_at(RELEASES)[1::2] == [(0.1, 1.0), (0.2, 0.75), (0.2, 0.5), (0.4, 0.25)]
    assert dict(passing_at(CHEATS)) == {0.2: 0.0, 0.3: 1.0, 0.4: 1.0, 0.5: 1.0}
    assert CHEATS["shift"].below(0.45) == pytest.approx(0.625)
    for series, expected in (("honest", RELEASES), ("mixed", RELEASES[:2])):
        found = [value_at(figure, middle(each)[0]) for each in marks_of(figure, series)]
        assert found == pytest.approx([one.mean for one in expected], abs=0.005)
    heights = []
    for band in parsed(figure.svg).findall("./g[@class]"):
        places = [float(each.attrib["cy"]) for each in band.iter("circle")]
        for each in band.iter("path"):
            places += [y for _, y in corners(each.attrib["d"])]
        if band.attrib["class"].startswith("series"):
            heights.append((min(places), max(places)))
    assert len(heights) == 4
    assert all(upper[1] < lower[0] for upper, lower in pairwise(heights))
    titles = [
        float(each.attrib["y"]) for each in parsed(figure.svg).findall("./g[@class]/text[@class='label']")
    ]
    line = parsed(figure.svg).findall(".//g[@class='rule threshold']/path")[0].attrib["d"]
    spans = [[y for _, y in corners(f"M{part}")] for part in line.split("M")[1:]]
    assert len(titles) == 4
    assert not [y for y in titles for begin, end in spans if begin < y < end]
    assert value_at(figure, 0) < 0 <= min(value_at(figure, x) for x, _ in corners_of_areas(figure))


def corners_of_areas(figure: Figure) -> list[tuple[float, float]]:
    areas = parsed(figure.svg).findall(".//path[@class='area']")
    return [place for each in areas for place in corners(each.attrib["d"])]


def test_where_nothing_was_simulated_one_error_is_shown() -> None:
    figure = errors(RELEASES, [], {}, worded(ErrorWords, EN))
    assert len(parsed(figure.svg).findall(".//path[@class='area']")) == 1
    assert [entry.name for entry in figure.legend] == ["honest"]
