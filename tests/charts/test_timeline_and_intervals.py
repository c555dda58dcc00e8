"""Marks of timelines, intervals and strips are at the positions of their values."""

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from app.charts.intervals import AttackRate, IntervalWords, build_intervals
from app.charts.strip import StripWords, build_strip
from app.charts.text import translate_words
from app.charts.timeline import EntryState, TimelineEntry, TimelineWords, build_timeline
from tests.support.chart_samples import (
    EN,
    JA,
    find_center,
    find_marks,
    list_corners,
    parse_markup,
)


def test_timeline_steps_down_at_each_improvement() -> None:
    start = datetime(2026, 7, 1, tzinfo=UTC)
    scores: list[tuple[float | None, EntryState]] = [
        (0.5, "accepted"),
        (0.3, "rejected"),
        (0.45, "accepted"),
        (None, "error"),
        (0.6, "accepted"),
        (0.2, "accepted"),
    ]
    entries = [
        TimelineEntry(f"#{n}", start + timedelta(hours=5 * n), score, state)
        for n, (score, state) in enumerate(scores)
    ]
    figure = build_timeline(entries[::-1], translate_words(TimelineWords, EN), zone="UTC")
    accepted = sorted(find_center(mark) for mark in find_marks(figure, "accepted"))
    (line,) = parse_markup(figure.svg).findall(".//path[@class='line']")
    line_points = list_corners(line.attrib["d"])
    best = [accepted[0], accepted[1], accepted[3]]
    assert [point for point in dict.fromkeys(line_points) if point in accepted] == best
    assert len(find_marks(figure, "rejected")) == len(find_marks(figure, "error")) == 1
    assert "First accepted score: 0.5; best: 0.2." in figure.description
    spans = [later[0] - earlier[0] for earlier, later in pairwise(accepted)]
    assert spans == pytest.approx([spans[0], spans[0], spans[0] / 2], abs=0.2)


def test_interval_spans_its_ends_on_the_common_axis() -> None:
    rates = [
        AttackRate(0.3, low=0.2, high=0.5, baseline=0.1),
        AttackRate(0.4, standard_deviation=0.1),
        AttackRate(0.0),
        AttackRate(float("nan")),
    ]
    result = build_intervals(rates, translate_words(IntervalWords, JA))
    assert result.axis_end == "0.5"
    pictures = [parse_markup(cell) for cell in result.cells]
    axis_start, axis_end = (float(x) for x in re.findall(r"[-\d.]+", pictures[0][0].attrib["d"])[::2])

    def parse_value(x: str) -> float:
        return 0.5 * (float(x) - axis_start) / (axis_end - axis_start)

    whiskers = [picture.findall("./path[@class='whisker']") for picture in pictures]
    ends = [
        [parse_value(x) for x in re.findall(r"M([-\d.]+) ", marks[0].attrib["d"])[1:]]
        for marks in whiskers
        if marks
    ]
    assert ends == [pytest.approx([0.2, 0.5], abs=1e-3), pytest.approx([0.3, 0.5], abs=1e-3)]
    dots = [picture.findall("./circle") for picture in pictures]
    assert [parse_value(marks[0].attrib["cx"]) for marks in dots[:3]] == pytest.approx(
        [0.3, 0.4, 0.0], abs=1e-3
    )
    assert not dots[3]
    labels = [picture.attrib["aria-label"] for picture in pictures]
    assert labels[0] == "0.3（0.2〜0.5）、無作為 0.1"
    assert labels[2] == "0"


def test_strip_marks_minimum_median_maximum_and_own_value() -> None:
    svg = build_strip([3.0, 1.0, 2.0, 10.0], 2.0, translate_words(StripWords, EN))
    root = parse_markup(svg)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == "4 teams: from 1 to 10, median 2.5. This one: 2."
    (median,) = root.findall("./path[@class='median']")
    (own,) = root.findall("./path[@class='mine']")
    assert find_center(median)[0] == pytest.approx(8 + 144 * 1.5 / 9, abs=0.1)
    assert find_center(own)[0] == pytest.approx(8 + 144 / 9, abs=0.1)
    assert len(svg) < 2000
