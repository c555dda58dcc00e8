"""The plane of utility loss and risk: what it shows of a crowd, and what the view that takes over is told."""

import json
import math
from statistics import quantiles
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.charts.figure import Figure
from app.charts.frame import Box
from app.charts.label_placement import CLEAR, Named, crosses, nearest
from app.charts.scatter import Point, ScatterWords, scatter
from app.charts.text import worded
from tests.web.figures import EN, HOSTILE, JA, corners, marks_of, middle, parsed, rendered

WORDS = worded(ScatterWords, EN)
CROWD = [Point(f"team {n}", 0.2 + n % 10 / 100, 0.3 + n // 10 / 100, rank=n + 2) for n in range(60)]


def told(figure: Figure) -> Any:
    """What the view is told, as a browser reads it from the page."""
    return json.loads(parsed(rendered(figure)).attrib["data-view"])


def names_in(figure: Figure) -> list[str | None]:
    return [each.text for each in parsed(figure.svg).findall(".//g[@class='names']/text")]


def test_teams_at_one_point_are_one_mark_with_their_number_and_all_their_names() -> None:
    """A baseline there stays a mark of its own; the reader's team is named first, then the best."""
    ranks = (5, 1, None, 3)
    same = [Point(f"t{n}", 0.3, 0.4, rank=rank, own=n == 3) for n, rank in enumerate(ranks)]
    figure = scatter([*same, Point("noise", 0.3, 0.4, baseline=True), Point("far", 0.6, 0.2)], WORDS)
    (stack,) = marks_of(figure, "own")
    assert (
        stack.attrib["aria-label"]
        == "t3 (Rank 3), t1 (Rank 1), t0 (Rank 5), t2: utility loss 0.3000, risk 0.4000"
    )
    assert [each.text for each in parsed(figure.svg).findall(".//text[@class='count middle']")] == ["4"]
    assert len(marks_of(figure, "baseline")) == len(marks_of(figure, "others")) == 1
    assert names_in(figure) == ["1. t3 +3"]
    assert sum(len(one["names"]) for one in told(figure)["marks"]) == 6


def test_of_five_hundred_at_one_point_some_names_are_said_and_all_are_told() -> None:
    figure = scatter([Point(f"team {n}", 0.3, 0.4, rank=1) for n in range(500)], WORDS)
    (mark,) = marks_of(figure, "others")
    assert mark.attrib["aria-label"].count("team ") == 20
    assert "480 more: utility loss 0.3000" in mark.attrib["aria-label"]
    (one,) = told(figure)["marks"]
    assert one["names"] == [f"team {n}" for n in range(500)]
    assert len(figure.rows) == 500


def test_the_podium_and_the_own_team_are_named_with_their_ranks_ties_included() -> None:
    ranks = [1, 2, 2, 4, 3, 9]
    points = [Point(f"t{n}", 0.1 + n / 10, 0.7 - n / 10, rank=rank) for n, rank in enumerate(ranks)]
    figure = scatter([*points, Point("ours", 0.5, 0.7, own=True, rank=10)], WORDS)
    assert set(names_in(figure)) == {"1. t0", "2. t1", "2. t2", "3. t4", "10. ours"}
    found = {one["label"] for one in told(figure)["marks"] if one["needed"]}
    assert found == set(names_in(figure))


def test_what_lies_far_off_squeezes_nobody_and_is_pointed_at() -> None:
    """The window holds what Tukey's outer fences hold, without baselines."""
    far = [Point("lost", 0.95, 0.3, rank=61), Point("same", 0.0, 1.0, baseline=True)]
    figure = scatter([*CROWD, *far], WORDS)
    left, right, low, high = told(figure)["home"]
    assert 0.15 < left < 0.2
    assert 0.29 < right < 0.35
    assert 0.25 < low < 0.3
    assert 0.35 < high < 0.4
    first, _, third = quantiles([one.utility for one in [*CROWD, far[0]]], n=4, method="inclusive")
    assert third + 3 * (third - first) < 0.95
    arrows = [each for each in marks_of(figure, "others") if each.tag == "path"]
    assert [each.attrib["aria-label"].split(" (")[0] for each in arrows] == ["lost"]
    assert figure.description.endswith("Points beyond the edge, where arrows stand: 2.")
    whole = told(figure)["whole"]
    assert -0.031 < whole[0] < 0 <= left < right < 0.95 <= whole[1] <= 1.03
    assert 1 < whole[3] <= 1.03


def test_few_teams_are_shown_beside_the_baselines_and_many_are_not_squeezed_by_them() -> None:
    method = Point("add_noise", 0.1, 0.9, baseline=True)
    for number, shown in ((1, True), (3, True), (4, False)):
        teams = [Point(f"t{n}", 0.5 + n / 100, 0.5, rank=n + 1) for n in range(number)]
        left, right, low, high = told(scatter([*teams, method], WORDS))["home"]
        assert (left <= 0.1 <= right and low <= 0.9 <= high) is shown, number


def test_what_all_share_is_said_once_and_numbers_have_the_decimals_of_boards() -> None:
    alike = [Point(f"t{n}", 0.123456, 1.0, rank=1) for n in range(3)]
    assert scatter(alike, WORDS).description == "Teams: 3. Utility loss 0.1235, risk 1.0000."
    said = scatter([*alike, Point("ours", 0.0170649, 0.75, own=True)], WORDS).description
    assert "Utility loss from 0.0171 to 0.1235, risk from 0.7500 to 1.0000." in said
    assert said.endswith("ours: utility loss 0.0171, risk 0.7500.")
    rounded = [Point(f"t{n}", 0.1 * n, 1.0, blur=0.005) for n in range(3)]
    said = scatter([*rounded, Point("ours", 0.15, 0.3, own=True)], WORDS).description
    assert said.endswith(
        "from 0.00 to 0.20, risk from 0.3000 to 1.00. ours: utility loss 0.1500, risk 0.3000."
    )


def test_no_name_stands_on_the_leaders_line() -> None:
    crowd = [Point(f"team {n}", 0.3 - n / 20, 0.1 + n / 20, rank=n + 1, overall=0.2) for n in range(4)]
    figure = parsed(scatter([*crowd, Point("x", 0.4, 0.4)], WORDS, equal=True).svg)
    (best,) = [line for line in figure.iter("path") if line.attrib["class"] == "equal best"]
    (x1, y1), (x2, y2) = corners(best.attrib["d"])
    texts = figure.findall(".//g[@class='names']/text")
    assert {text.text for text in texts} >= {"1. team 0", "2. team 1", "3. team 2"}
    for text in texts:
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        wide = 0.55 * 15 * len(text.text or "")
        left = {"label": x, "label middle": x - wide / 2, "label end": x - wide}[
            text.attrib["class"].rpartition(" ")[0]
        ]
        for at in (left, left + wide / 2, left + wide):
            assert abs(y1 + (at - x1) / (x2 - x1) * (y2 - y1) - y) > 6, text.text


SPAN = st.floats(0, 100).map(lambda value: round(value, 1))


@given(st.tuples(SPAN, SPAN), st.tuples(SPAN, SPAN), st.tuples(SPAN, SPAN, SPAN, SPAN))
def test_a_line_to_a_name_crosses_what_any_of_its_places_lies_in(
    point: tuple[float, float], name: tuple[float, float], box: tuple[float, float, float, float]
) -> None:
    one, there = Named(*point, "n"), Box(*name, name[0] + 30, name[1] + 15)
    other = Box(min(box[0], box[1]), min(box[2], box[3]), max(box[0], box[1]), max(box[2], box[3]))
    (x, y), long = nearest(one, there)
    begin = min((one.size + CLEAR) / long, 1)
    shares = [begin + (1 - begin) * place / 1000 for place in range(1, 1000)] if begin < 1 else []
    places = [(one.x + share * (x - one.x), one.y + share * (y - one.y)) for share in shares]
    depths = [min(a - other.left, other.right - a, b - other.top, other.bottom - b) for a, b in places]
    if max(depths, default=-1) > 1e-6:
        assert crosses(one, there, other)
    elif max(depths, default=-1) < -0.2:
        assert not crosses(one, there, other)


def test_who_matters_is_in_the_picture_however_far_off() -> None:
    points = [*CROWD, Point("ours", 0.9, 0.9, own=True, rank=62), Point("winner", 0.0, 0.0, rank=1)]
    left, right, low, high = told(scatter(points, WORDS))["home"]
    assert -0.031 < left == low < 0
    assert right > 0.9 < high


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30),
    st.sampled_from([0, 0.005]),
)
def test_the_window_is_within_the_scores_and_used_well(pairs: list[tuple[float, float]], blur: float) -> None:
    points = [Point(str(n), *pair, blur=blur, rank=1) for n, pair in enumerate(pairs)]
    left, right, low, high = told(scatter(points, WORDS))["home"]
    for (least, most), values in (
        ((left, right), [x for x, _ in pairs]),
        ((low, high), [y for _, y in pairs]),
    ):
        assert -0.031 * most <= least < most <= 1 + 0.031 * (1 - max(least, 0))
        assert least <= min(values) <= max(values) <= most
        used = max(values) - min(values) + 2 * blur
        assert used >= 0.8 * (most - least) or most - least <= max(0.1, 0.2 * most)


def test_on_a_line_of_equal_score_it_is_that_score() -> None:
    leader = Point("a", 0.25, 0.31, rank=1, overall=0.28)
    figure = scatter([*CROWD, leader], WORDS, equal=True)
    left, right = told(figure)["home"][:2]
    box = next(iter(parsed(figure.svg).findall(".//path[@class='axis']"))).attrib["d"]
    x0, x1 = float(box[1:].split()[0]), float(box.rpartition("H")[2])
    ticks = [(float(each.attrib["y"]), float(each.text or 0)) for each in upright(figure)]
    (y0, t0), (y1, t1) = ticks[0], ticks[-1]
    lines = parsed(figure.svg).findall(".//g[@class='series levels']/path")
    assert len(lines) >= 3
    scores = []
    for line in lines:
        ends = corners(line.attrib["d"])
        sums = [
            (left + (x - x0) / (x1 - x0) * (right - left) + t0 + (y - y0) / (y1 - y0) * (t1 - t0)) / 2
            for x, y in ends
        ]
        assert sums[0] == pytest.approx(sums[1], abs=3e-4)
        scores.append(sums[0])
    texts = {each.text for each in parsed(figure.svg).findall(".//g[@class='series levels']/text")}
    assert "0.2800" in texts
    assert scores[-1] == pytest.approx(0.28, abs=3e-4), "the leader's is the last"
    assert all(math.isclose(score, round(score, 2), abs_tol=3e-4) for score in scores)
    assert [each.name for each in figure.legend].count("levels") == 2


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30),
    st.sampled_from([0, 0.005]),
)
def test_a_score_beside_its_line_is_inside_the_plane_and_hides_no_mark(
    pairs: list[tuple[float, float]], blur: float
) -> None:
    points = [
        Point(str(n), *pair, blur=blur, rank=n + 1, overall=sum(pair) / 2) for n, pair in enumerate(pairs)
    ]
    figure = parsed(scatter(points, WORDS, equal=True).svg)
    line = next(iter(figure.findall(".//path[@class='axis']"))).attrib["d"]
    (left, bottom), right = map(float, line[1:].split("H")[0].split()), float(line.rpartition("H")[2])
    dots = [(float(one.attrib["cx"]), float(one.attrib["cy"])) for one in figure.iter("circle")]
    for text in figure.findall(".//g[@class='series levels']/text"):
        x, y, half = float(text.attrib["x"]), float(text.attrib["y"]), 0.3 * 15 * len(text.text or "")
        assert left <= x - half < x + half <= right + 0.1
        assert 30 <= y <= bottom - 7
        assert not [dot for dot in dots if abs(dot[0] - x) < half and abs(dot[1] - y) < 8], text.text


def upright(figure: Figure) -> list[Any]:
    return parsed(figure.svg).findall(".//text[@class='tick end']")


def test_where_ranks_are_added_up_no_line_is_of_equal_score() -> None:
    figure = scatter([Point("a", 0.2, 0.3, rank=1, overall=0.25)], WORDS)
    assert told(figure)["equal"] is False
    assert parsed(figure.svg).findall(".//path[@class='equal']") == []
    assert "levels" not in {each.name for each in figure.legend}


def test_the_corner_that_is_better_is_named_outside_of_the_plane() -> None:
    figure = scatter([*CROWD, Point("corner", 0.0, 0.0, rank=1)], WORDS)
    (better,) = parsed(figure.svg).findall(".//text[@class='better']")
    lowest = max(middle(each)[1] for each in marks_of(figure, "others"))
    assert float(better.attrib["y"]) > lowest + 30
    titles = [each for each in parsed(figure.svg).iter() if each.attrib.get("class") == "title end"]
    assert float(titles[0].attrib["x"]) > float(better.attrib["x"]) + 100


def test_the_view_is_told_names_as_they_are_and_what_the_marks_say() -> None:
    points = [Point(name, 0.1 + n / 20, 0.9 - n / 20, rank=n + 1) for n, name in enumerate(HOSTILE)]
    for t in (EN, JA):
        figure = scatter(points, worded(ScatterWords, t), equal=True)
        content = told(figure)
        assert [one["names"][0] for one in content["marks"]] == [
            name.replace("\x00", "\ufffd").replace("\x1b", "\ufffd") for name in HOSTILE
        ]
        drawn = {each.attrib["aria-label"] for each in parsed(figure.svg).findall(".//*[@role='img']")}
        assert {one["said"] for one in content["marks"]} == drawn
        assert content["words"]["x"] == t("Utility loss (lower is better)")


def test_a_plane_without_points_has_no_view() -> None:
    assert "data-view" not in rendered(scatter([], WORDS))
