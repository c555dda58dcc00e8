"""Charts of a team: the histogram of distances with its threshold, and the scores over time."""

from datetime import UTC, datetime
from typing import Literal

import pytest

from anoncup.rules.settings import Excessive
from anoncup.schemas.verdicts import Excess, Histogram
from app.core.locale.language import load_translator
from app.core.pages.vega import Chart
from app.submissions.charts import draw_distances
from app.submissions.verdict_parts import ThresholdComparison

EN = load_translator("en")
START = datetime(2026, 7, 1, tzinfo=UTC)


def draw_counts(
    counts: list[int], distance: Literal["mean", "largest"] | None = None, language: str = "ja"
) -> Chart | None:
    """Draw individuals at distances up to 0.5, with a mean of 0.125 and a threshold of 0.3."""
    histogram = Histogram(counts=counts, end=0.5)
    excess = Excess(distance="gower", mean=0.125, max=0.5, threshold=0.3, histogram=histogram)
    comparison = ThresholdComparison(
        Excessive(), compared_distance=distance, value=0.125, percent=None, is_over=False
    )
    return draw_distances(excess, comparison, load_translator(language))


@pytest.mark.parametrize(
    ("distance", "labels"), [("mean", ["しきい値 0.3", "平均 0.125"]), (None, ["平均 0.125"])]
)
def test_distances_are_bars_with_lines_at_threshold_and_mean(
    distance: Literal["mean"] | None, labels: list[str]
) -> None:
    chart = draw_counts([5, 0, 2, 1], distance)
    assert chart is not None
    bars, rule, _ = chart.specification["layer"]
    assert [tuple(bar.values()) for bar in bars["data"]["values"]] == [
        (0.0, 0.125, 5, "0 – 0.125: 5"),
        (0.25, 0.375, 2, "0.25 – 0.375: 2"),
        (0.375, 0.5, 1, "0.375 – 0.5: 1"),
    ]
    assert [bars["encoding"][axis]["scale"]["domain"] for axis in "xy"] == [[0, 0.5], [0, 6.5]]
    assert [value["label"] for value in rule["data"]["values"]] == labels
    assert chart.head == ("Gower 距離", "人数")
    assert chart.rows == [("0 – 0.125", 5), ("0.25 – 0.375", 2), ("0.375 – 0.5", 1)]


def test_nothing_is_drawn_without_individuals() -> None:
    assert draw_counts([0, 0]) is None
