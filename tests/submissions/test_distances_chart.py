"""The histogram shows the individuals by distance, and where the threshold is."""

from typing import Literal

import pytest

from anoncup.rules.settings import Excessive
from anoncup.schemas.verdicts import Excess, Histogram
from app.core.locale.language import load_translator
from app.core.pages.vega import Chart, draw_rules
from app.submissions.distances_chart import draw_distances
from app.submissions.verdict_parts import ThresholdComparison

EN, JA = load_translator("en"), load_translator("ja")
X = {
    "field": "low",
    "type": "quantitative",
    "title": "Gower’s distance",
    "scale": {"domain": [0, 0.5], "nice": False, "padding": 0},
}
Y = {
    "field": "count",
    "type": "quantitative",
    "title": "Individuals",
    "scale": {"domain": [0, 6.5], "nice": False, "padding": 0},
    "axis": {"tickMinStep": 1},
}


def build_excess(counts: list[int], threshold: float | None = 0.3) -> Excess:
    return Excess(
        distance="gower",
        mean=0.125,
        max=0.5,
        threshold=threshold,
        histogram=Histogram(counts=counts, end=0.5),
    )


def build_comparison(distance: Literal["mean", "largest"] | None) -> ThresholdComparison:
    return ThresholdComparison(
        Excessive(), compared_distance=distance, value=0.125, percent=None, is_over=False
    )


def build_bar(low: float, high: float, count: int, text: str, *, beyond: bool = False) -> dict[str, object]:
    return {"low": low, "high": high, "count": count, "beyond": beyond, "description": text}


def test_histogram_is_one_specification() -> None:
    chart = draw_distances(build_excess([5, 0, 2, 1]), build_comparison("largest"), EN)
    bars = [
        build_bar(0.0, 0.125, 5, "0 – 0.125: 5"),
        build_bar(0.25, 0.3, 2, "0.25 – 0.3: 2"),
        build_bar(0.3, 0.375, 2, "0.3 – 0.375: 2", beyond=True),
        build_bar(0.375, 0.5, 1, "0.375 – 0.5: 1", beyond=True),
    ]
    assert chart == Chart(
        "distances",
        "Individuals by their distance to their own original",
        "8 individuals, at distances from 0 to 0.5.",
        {
            "height": 240,
            "layer": [
                {
                    "data": {"values": bars},
                    "mark": "bar",
                    "encoding": {
                        "x": X | {"bin": "binned"},
                        "x2": {"field": "high"},
                        "y": Y,
                        "color": {
                            "condition": {"test": "datum.beyond", "value": "var(--data-2)"},
                            "value": "var(--data-1)",
                        },
                        "fillOpacity": {"condition": {"test": "datum.beyond", "value": 0.45}, "value": 0.75},
                        "tooltip": {"field": "description"},
                        "description": {"field": "description"},
                    },
                },
                *draw_rules(X, {"Threshold 0.3": 0.3, "Mean 0.125": 0.125}),
            ],
        },
        head=("Gower’s distance", "Individuals"),
        rows=[("0 – 0.125", 5), ("0.25 – 0.375", 2), ("0.375 – 0.5", 1)],
    )


@pytest.mark.parametrize(
    ("distance", "labels"), [("mean", ["しきい値 0.3", "平均 0.125"]), (None, ["平均 0.125"])]
)
def test_threshold_of_other_distances_divides_no_bar(
    distance: Literal["mean"] | None, labels: list[str]
) -> None:
    chart = draw_distances(build_excess([5, 0, 2, 1]), build_comparison(distance), JA)
    assert chart is not None
    bars, rule, _ = chart.specification["layer"]
    assert [bar["beyond"] for bar in bars["data"]["values"]] == [False] * 3
    assert [value["label"] for value in rule["data"]["values"]] == labels


def test_nothing_is_drawn_without_individuals() -> None:
    assert draw_distances(build_excess([0, 0], threshold=None), build_comparison(None), EN) is None
