"""Course, intervals, bounds, strip: every mark where its number says."""

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from app.charts.bounds import SHAPES, Bound, BoundWords, bounds, in_view
from app.charts.intervals import IntervalWords, Rate, intervals
from app.charts.strip import StripWords, strip
from app.charts.text import worded
from app.charts.timeline import CourseWords, Entry, State, course
from tests.web.figures import DATA, EN, JA, corners, marks_of, middle, parsed, value_at


def test_the_best_falls_at_each_accepted_submission_that_beats_all_before_it() -> None:
    start = datetime(2026, 7, 1, tzinfo=UTC)
    told: list[tuple[float | None, State]] = [
        (0.5, "accepted"),
        (0.3, "rejected"),
        (0.45, "accepted"),
        (None, "error"),
        (0.6, "accepted"),
        (0.2, "accepted"),
    ]
    entries = [
        Entry(f"#{n}", start + timedelta(hours=5 * n), score, state) for n, (score, state) in enumerate(told)
    ]
    figure = course(entries[::-1], worded(CourseWords, EN), zone="UTC")
    accepted = sorted(middle(mark) for mark in marks_of(figure, "accepted"))
    (line,) = parsed(figure.svg).findall(".//path[@class='line']")
    through = corners(line.attrib["d"])
    best = [accepted[0], accepted[1], accepted[3]]
    assert [each for each in dict.fromkeys(through) if each in accepted] == best
    assert len(marks_of(figure, "rejected")) == len(marks_of(figure, "error")) == 1
    assert "First accepted score: 0.5; best: 0.2." in figure.description
    spans = [after[0] - before[0] for before, after in pairwise(accepted)]
    assert spans == pytest.approx([spans[0], spans[0], spans[0] / 2], abs=0.2)


def test_an_interval_reaches_from_its_low_to_its_high_end_on_the_axis_of_all() -> None:
    rates = [Rate(0.3, low=0.2, high=0.5, baseline=0.1), Rate(0.4, sd=0.1), Rate(0.0), Rate(float("nan"))]
    found = intervals(rates, worded(IntervalWords, JA))
    assert found.end == "0.5"
    pictures = [parsed(cell) for cell in found.cells]
    left, right = (float(x) for x in re.findall(r"[-\d.]+", pictures[0][0].attrib["d"])[::2])

    def value(x: str) -> float:
        return 0.5 * (float(x) - left) / (right - left)

    whiskers = [picture.findall("./path[@class='whisker']") for picture in pictures]
    ends = [[value(x) for x in re.findall(r"M([-\d.]+) ", one[0].attrib["d"])[1:]] for one in whiskers if one]
    assert ends == [pytest.approx([0.2, 0.5], abs=1e-3), pytest.approx([0.3, 0.5], abs=1e-3)]
    dots = [picture.findall("./circle") for picture in pictures]
    assert [value(one[0].attrib["cx"]) for one in dots[:3]] == pytest.approx([0.3, 0.4, 0.0], abs=1e-3)
    assert not dots[3]
    said = [picture.attrib["aria-label"] for picture in pictures]
    assert said[0] == "0.3（0.2〜0.5）、無作為 0.1"
    assert said[2] == "0"


def test_intervals_stand_every_number() -> None:
    for values in DATA.values():
        found = intervals([Rate(one, sd=one, baseline=one) for one in values], worded(IntervalWords, EN))
        assert len(found.cells) == len(values)
        drawn = [each.attrib for one in found.cells for each in parsed(one)]
        assert not re.search(r"nan|inf", str(drawn))


def test_bounds_are_shown_around_the_rules_number_and_told_in_full() -> None:
    found = [Bound(fixed, 0.6 - fixed / 1000, 0.7 - fixed / 1000) for fixed in (0, 1, 18, 25, 50, 100, 400)]
    assert [each.fixed for each in in_view(found, 18)] == [0, 1, 18, 25, 50]
    figure = bounds(found, worded(BoundWords, EN), fixed=18, threshold=0.65)
    assert len(figure.rows) == len(found)
    for series, value in (("s_lower", 0.6), ("lower", 0.7)):
        marks = marks_of(figure, series)
        assert [value_at(figure, middle(mark)[0]) for mark in marks] == pytest.approx(
            [0, 1, 18, 25, 50], abs=0.02
        )
        assert marks[0].attrib["aria-label"].endswith(f": {value}")
    assert "the least mean distance is 0.682" in figure.description


def test_bounds_that_are_equal_are_all_to_be_seen() -> None:
    """Each series is drawn over larger marks of those that it would hide."""
    figure = bounds([Bound(0, 0.2, 0.2, 0.2), Bound(9, 0.3, 0.3, 0.3)], worded(BoundWords, EN), fixed=9)
    order = [each.attrib["class"].split()[-1] for each in parsed(figure.svg).findall("./g[@class]")]
    assert [name for name in order if name in SHAPES] == list(SHAPES) == ["upper", "lower", "s_lower"]
    sizes = []
    for name in SHAPES:
        mark = marks_of(figure, name)[0]
        across = [x for x, _ in corners(mark.attrib["d"])] if mark.tag == "path" else []
        sizes.append(max(across) - min(across) if across else 2 * float(mark.attrib["r"]))
    assert sizes[0] > 1.3 * sizes[1] > 1.3 * 1.3 * sizes[2]


def test_a_strip_names_itself_and_marks_least_median_largest_and_own() -> None:
    drawn = strip([3.0, 1.0, 2.0, 10.0], 2.0, worded(StripWords, EN)).svg
    root = parsed(drawn)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == "All teams: least 1, median 2.5, largest 10. Your team: 2."
    (median,) = root.findall("./path[@class='median']")
    (own,) = root.findall("./path[@class='mine']")
    assert middle(median)[0] == pytest.approx(8 + 144 * 1.5 / 9, abs=0.1)
    assert middle(own)[0] == pytest.approx(8 + 144 / 9, abs=0.1)
    assert len(drawn) < 2000
