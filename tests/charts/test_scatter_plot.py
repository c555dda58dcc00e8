"""The scatter plot of utility loss and risk, and the data of its interactive view."""

import json
import math
from statistics import quantiles
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.charts.figure import Figure
from app.charts.scatter_figure import ScatterPoint, ScatterWords, build_scatter
from app.charts.text import translate_words
from tests.support.chart_samples import (
    EN,
    HOSTILE_NAMES,
    JA,
    find_marks,
    list_corners,
    parse_markup,
    render_figure,
)

WORDS = translate_words(ScatterWords, EN)
CROWDED_POINTS = [
    ScatterPoint(f"team {n}", 0.2 + n % 10 / 100, 0.3 + n // 10 / 100, rank=n + 2) for n in range(60)
]


def read_view_data(figure: Figure) -> Any:
    """Return the view data as a browser reads them from the page."""
    return json.loads(parse_markup(render_figure(figure)).attrib["data-view"])


def list_name_labels(figure: Figure) -> list[str | None]:
    return [label.text for label in parse_markup(figure.svg).findall(".//g[@class='names']/text")]


def test_teams_at_one_point_share_a_mark_with_all_names() -> None:
    """A baseline at the same point keeps its own mark; the own team is named first, then by rank."""
    ranks = (5, 1, None, 3)
    same = [ScatterPoint(f"t{n}", 0.3, 0.4, rank=rank, own=n == 3) for n, rank in enumerate(ranks)]
    figure = build_scatter(
        [*same, ScatterPoint("noise", 0.3, 0.4, baseline=True), ScatterPoint("far", 0.6, 0.2)], WORDS
    )
    (stack,) = find_marks(figure, "own")
    assert (
        stack.attrib["aria-label"]
        == "t3 (Rank 3), t1 (Rank 1), t0 (Rank 5), t2: utility loss 0.3000, risk 0.4000"
    )
    assert [label.text for label in parse_markup(figure.svg).findall(".//text[@class='count middle']")] == [
        "4"
    ]
    assert len(find_marks(figure, "baseline")) == len(find_marks(figure, "others")) == 1
    assert list_name_labels(figure) == ["1. t3 +3"]
    assert sum(len(mark["names"]) for mark in read_view_data(figure)["marks"]) == 6


def test_podium_and_own_team_are_labelled_with_ranks() -> None:
    ranks = [1, 2, 2, 4, 3, 9]
    points = [ScatterPoint(f"t{n}", 0.1 + n / 10, 0.7 - n / 10, rank=rank) for n, rank in enumerate(ranks)]
    figure = build_scatter([*points, ScatterPoint("ours", 0.5, 0.7, own=True, rank=10)], WORDS)
    assert set(list_name_labels(figure)) == {"1. t0", "2. t1", "2. t2", "3. t4", "10. ours"}
    labels = {mark["label"] for mark in read_view_data(figure)["marks"] if mark["required"]}
    assert labels == set(list_name_labels(figure))


def test_outliers_are_arrows_outside_the_window() -> None:
    """The window covers the teams, without baselines, that lie within Tukey's outer fences."""
    outliers = [ScatterPoint("lost", 0.95, 0.3, rank=61), ScatterPoint("same", 0.0, 1.0, baseline=True)]
    figure = build_scatter([*CROWDED_POINTS, *outliers], WORDS)
    x_min, x_max, y_min, y_max = read_view_data(figure)["home"]
    assert 0.15 < x_min < 0.2
    assert 0.29 < x_max < 0.35
    assert 0.25 < y_min < 0.3
    assert 0.35 < y_max < 0.4
    first, _, third = quantiles(
        [point.utility for point in [*CROWDED_POINTS, outliers[0]]], n=4, method="inclusive"
    )
    assert third + 3 * (third - first) < 0.95
    arrows = [mark for mark in find_marks(figure, "others") if mark.tag == "path"]
    assert [mark.attrib["aria-label"].split(" (")[0] for mark in arrows] == ["lost"]
    assert figure.description.endswith("Points beyond the edge, where arrows stand: 2.")
    full_window = read_view_data(figure)["full"]
    assert -0.031 < full_window[0] < 0 <= x_min < x_max < 0.95 <= full_window[1] <= 1.03
    assert 1 < full_window[3] <= 1.03


def test_description_states_shared_values_once() -> None:
    equal_points = [ScatterPoint(f"t{n}", 0.123456, 1.0, rank=1) for n in range(3)]
    assert build_scatter(equal_points, WORDS).description == "Teams: 3. Utility loss 0.1235, risk 1.0000."
    description = build_scatter(
        [*equal_points, ScatterPoint("ours", 0.0170649, 0.75, own=True)], WORDS
    ).description
    assert "Utility loss from 0.0171 to 0.1235, risk from 0.7500 to 1.0000." in description
    assert description.endswith("ours: utility loss 0.0171, risk 0.7500.")
    rounded = [ScatterPoint(f"t{n}", 0.1 * n, 1.0, rounding_error=0.005) for n in range(3)]
    description = build_scatter([*rounded, ScatterPoint("ours", 0.15, 0.3, own=True)], WORDS).description
    assert description.endswith(
        "from 0.00 to 0.20, risk from 0.3000 to 1.00. ours: utility loss 0.1500, risk 0.3000."
    )


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30),
    st.sampled_from([0, 0.005]),
)
def test_window_is_within_the_scores_and_well_filled(pairs: list[tuple[float, float]], blur: float) -> None:
    points = [ScatterPoint(str(n), *pair, rounding_error=blur, rank=1) for n, pair in enumerate(pairs)]
    x_min, x_max, y_min, y_max = read_view_data(build_scatter(points, WORDS))["home"]
    for (lower, upper), values in (
        ((x_min, x_max), [x for x, _ in pairs]),
        ((y_min, y_max), [y for _, y in pairs]),
    ):
        assert -0.031 * upper <= lower < upper <= 1 + 0.031 * (1 - max(lower, 0))
        assert lower <= min(values) <= max(values) <= upper
        covered = max(values) - min(values) + 2 * blur
        assert covered >= 0.8 * (upper - lower) or upper - lower <= max(0.1, 0.2 * upper)


def test_score_lines_connect_points_of_equal_score() -> None:
    leader = ScatterPoint("a", 0.25, 0.31, rank=1, overall=0.28)
    figure = build_scatter([*CROWDED_POINTS, leader], WORDS, with_score_levels=True)
    x_min, x_max = read_view_data(figure)["home"][:2]
    box = next(iter(parse_markup(figure.svg).findall(".//path[@class='axis']"))).attrib["d"]
    x0, x1 = float(box[1:].split()[0]), float(box.rpartition("H")[2])
    ticks = [(float(element.attrib["y"]), float(element.text or 0)) for element in list_y_ticks(figure)]
    (y0, t0), (y1, t1) = ticks[0], ticks[-1]
    lines = parse_markup(figure.svg).findall(".//g[@class='series levels']/path")
    assert len(lines) >= 3
    scores = []
    for line in lines:
        ends = list_corners(line.attrib["d"])
        sums = [
            (x_min + (x - x0) / (x1 - x0) * (x_max - x_min) + t0 + (y - y0) / (y1 - y0) * (t1 - t0)) / 2
            for x, y in ends
        ]
        assert sums[0] == pytest.approx(sums[1], abs=3e-4)
        scores.append(sums[0])
    texts = {
        element.text for element in parse_markup(figure.svg).findall(".//g[@class='series levels']/text")
    }
    assert "0.2800" in texts
    assert scores[-1] == pytest.approx(0.28, abs=3e-4), "the leader's is the last"
    assert all(math.isclose(score, round(score, 2), abs_tol=3e-4) for score in scores)
    assert [element.name for element in figure.legend].count("levels") == 2


def list_y_ticks(figure: Figure) -> list[Any]:
    return parse_markup(figure.svg).findall(".//text[@class='tick end']")


def test_view_data_has_raw_names_and_labels() -> None:
    points = [
        ScatterPoint(name, 0.1 + n / 20, 0.9 - n / 20, rank=n + 1) for n, name in enumerate(HOSTILE_NAMES)
    ]
    for t in (EN, JA):
        figure = build_scatter(points, translate_words(ScatterWords, t), with_score_levels=True)
        content = read_view_data(figure)
        assert [mark["names"][0] for mark in content["marks"]] == [
            name.replace("\x00", "\ufffd").replace("\x1b", "\ufffd") for name in HOSTILE_NAMES
        ]
        labels = {
            element.attrib["aria-label"] for element in parse_markup(figure.svg).findall(".//*[@role='img']")
        }
        assert {mark["description"] for mark in content["marks"]} == labels
        assert content["words"]["x_title"] == t("Utility loss (lower is better)")
