"""Marks of timelines are at the positions of their values."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from app.charts.text import translate_words
from app.charts.timeline import EntryState, TimelineEntry, TimelineWords, build_timeline
from tests.support.chart_samples import (
    EN,
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
