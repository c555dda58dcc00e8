"""Charts: every mark where its number says, whatever the data and the names are."""

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.charts.bars import bins_of
from app.charts.frame import WIDTH, Box
from app.charts.heatmap import Heading, HeatRow, HeatWords, heatmap, hundredths
from app.charts.histogram import HistogramWords, histogram
from app.charts.label_placement import Named, labels
from app.charts.scatter import Point, ScatterWords, scatter
from app.charts.svg import fitted, lone, width_of
from app.charts.text import worded
from tests.support.step_counter import steps_of
from tests.web.figures import (
    CHARTS,
    DATA,
    EN,
    HOSTILE,
    JA,
    WORDS,
    corners,
    marks_of,
    middle,
    parsed,
    rendered,
    rivals,
    scattered,
    value_at,
)

# What holds for every chart


@pytest.mark.parametrize("data", DATA.values(), ids=DATA.keys())
@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_is_well_formed_and_runs_nothing_whatever_it_shows(chart: str, data: list[float]) -> None:
    for t in (EN, JA):
        page = rendered(CHARTS[chart](data, t), t)
        root = parsed(page)
        ids = [each.attrib["id"] for each in root.iter() if "id" in each.attrib]
        assert len(set(ids)) == len(ids)
        for each in root.iter():
            assert each.tag not in {"script", "style", "foreignObject"}
            assert not {name for name in each.attrib if name == "style" or name.startswith("on")}
            for name in set(each.attrib) - {"aria-label", "title"}:
                assert not re.search(r"\bnan\b|\binf\b", each.attrib[name]), each.attrib
            for name in ("aria-labelledby", "aria-describedby"):
                assert each.attrib.get(name, ids[0]) in ids
            fill = re.fullmatch(r"url\(#(.*)\)", each.attrib.get("fill", ""))
            assert fill is None or fill[1] in ids


@pytest.mark.parametrize("data", DATA.values(), ids=DATA.keys())
@pytest.mark.parametrize("chart", [name for name in CHARTS if name not in {"heatmap", "strip"}])
def test_no_mark_and_no_word_leaves_the_picture(chart: str, data: list[float]) -> None:
    picture = parsed(CHARTS[chart](data, JA).svg)
    height = float(picture.attrib["viewBox"].split()[3])
    for each in picture.iter():
        if each.tag == "circle":
            x, y = middle(each)
            assert 0 <= x <= WIDTH
            assert 0 <= y <= height
        if each.tag == "text" and each.text:
            wide, x = width_of(each.text), float(each.attrib["x"])
            kinds = each.attrib["class"].split()
            left = x - wide if "end" in kinds else x - wide / 2 if "middle" in kinds else x
            assert left >= -0.5, each.text
            assert left + wide <= WIDTH + 0.5, each.text
            assert 0 <= float(each.attrib["y"]) <= height


@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_without_data_says_so(chart: str) -> None:
    figure = CHARTS[chart]([], EN)
    assert figure.description == {each.name: each.default for each in fields(WORDS[chart])}["none"]
    assert figure.rows == ()


@pytest.mark.parametrize("chart", [name for name in CHARTS if name not in {"heatmap", "strip"}])
def test_the_keyboard_enters_a_picture_at_one_mark_and_every_mark_has_a_name(chart: str) -> None:
    picture = parsed(CHARTS[chart](DATA["five hundred"][:40], EN).svg)
    marks = picture.findall(".//*[@role='img']")
    assert len(marks) > 1
    assert sum(mark.attrib.get("tabindex") == "0" for mark in marks) == 1
    assert all(mark.attrib["aria-label"] for mark in marks)
    assert picture.attrib["role"] == "group"


@pytest.mark.parametrize("chart", [name for name in CHARTS if name != "heatmap"])
def test_the_table_behind_a_picture_holds_its_data(chart: str) -> None:
    figure = CHARTS[chart](DATA["a few"], EN)
    rows = parsed(rendered(figure)).findall(".//tbody/tr")
    assert [["".join(cell.itertext()) for cell in row] for row in rows] == [
        [figure.written(cell, str) for cell in row] for row in figure.rows
    ]
    assert len(rows) >= len(DATA["a few"])
    assert {len(row) for row in rows} == {len(figure.head)}


@pytest.mark.parametrize("kind", WORDS.values())
def test_a_chart_has_words_in_both_languages_and_takes_those_that_are_given(kind: type) -> None:
    for t in (EN, JA):
        assert worded(kind, t, title="Given").title == "Given"


def test_names_are_text_wherever_they_stand() -> None:
    page = rendered(scattered(DATA["five hundred"], EN))
    assert "<script" not in page
    texts = "".join(parsed(page).itertext())
    assert "<script>alert(1)</script>" in texts
    assert "{braces} {0} %s" in texts
    assert "\x00" not in page


def test_a_name_read_from_right_to_left_keeps_the_order_of_the_numbers_beside_it() -> None:
    (mark,) = marks_of(scatter([Point(HOSTILE[3], 0.1, 0.2)], worded(ScatterWords, EN)), "others")
    assert mark.attrib["aria-label"] == f"\u2068{HOSTILE[3]}\u2069: utility loss 0.1000, risk 0.2000"


@pytest.mark.parametrize("name", [*HOSTILE, "日本語" * 30])
def test_words_are_cut_to_the_room_they_get(name: str) -> None:
    for room in (20.0, 90.0, 5000.0):
        cut = fitted(name, room)
        assert width_of(cut) <= room
        assert cut == name or (cut.endswith("…") and name.startswith(cut[:-1].rstrip()))


# Scatter


def test_points_stand_where_both_axes_say() -> None:
    points = [replace(each, on_front=False, own=False, baseline=False) for each in rivals(DATA["a few"])]
    figure = scatter(points, worded(ScatterWords, EN))
    upright = parsed(figure.svg).findall(".//text[@class='tick end']")
    heights = [(float(each.attrib["y"]), float(each.text or "")) for each in upright]
    (low, first), (high, last) = heights[0], heights[-1]
    by_name = {lone(point.name): point for point in points}
    for mark in marks_of(figure, "others"):
        x, y = middle(mark)
        name, said = mark.attrib["aria-label"].split(": utility loss ")
        point = by_name[name]
        assert said == f"{point.utility:.4f}, risk {point.security:.4f}"
        assert value_at(figure, x) == pytest.approx(point.utility, abs=2e-4)
        assert first + (y - low) / (high - low) * (last - first) == pytest.approx(point.security, abs=3e-4)


def test_the_front_goes_through_exactly_the_points_that_nobody_beats() -> None:
    points = [replace(each, own=False, baseline=False) for each in rivals(DATA["five hundred"])]
    figure = scatter(points, worded(ScatterWords, EN))
    unbeaten = {
        each.name
        for each in points
        if not any(
            (other.utility, other.security) != (each.utility, each.security)
            and other.utility <= each.utility
            and other.security <= each.security
            for other in points
        )
    }
    front = marks_of(figure, "front")
    assert len(front) == len(unbeaten) > 3
    (line,) = parsed(figure.svg).findall(".//path[@class='line']")
    through = corners(line.attrib["d"])
    assert through[::2] == sorted(middle(mark) for mark in front)
    steps = through[1::2]
    assert steps == [(after[0], before[1]) for before, after in pairwise(through[::2])]


def test_a_teams_point_is_of_its_series_alone() -> None:
    figure = scatter(rivals(DATA["five hundred"]), worded(ScatterWords, EN))
    counts = {series: len(marks_of(figure, series)) for series in ("own", "front", "others", "baseline")}
    points = rivals(DATA["five hundred"])
    assert counts["own"] == 1
    assert sum(counts.values()) == len(points)
    assert counts["baseline"] == sum(each.baseline for each in points)
    shapes = {series: {mark.tag for mark in marks_of(figure, series)} for series in counts}
    assert shapes == {"own": {"path"}, "front": {"circle"}, "others": {"circle"}, "baseline": {"path"}}


def test_the_own_team_is_named_even_in_a_crowd() -> None:
    crowd = [Point(f"rival {place}", 0.5 + place % 9 / 1000, 0.5 + place // 9 / 1000) for place in range(99)]
    figure = scatter([*crowd, Point("ours", 0.5045, 0.505, own=True)], worded(ScatterWords, EN))
    names = parsed(figure.svg).findall(".//g[@class='names']/text")
    assert [each.text for each in names] == ["ours"]


@given(
    st.lists(st.tuples(st.integers(0, 480), st.integers(0, 300), st.sampled_from(HOSTILE)), max_size=12),
    st.booleans(),
)
def test_names_never_stand_over_one_another(places: list[tuple[int, int, str]], needed: bool) -> None:
    within = Box(0, 0, 480, 300)
    wished = [Named(x, y, name, needed=needed and place == 0) for place, (x, y, name) in enumerate(places)]
    found = labels(wished, within=within, points=sorted((float(x), float(y)) for x, y, _ in places))
    assert len(found) <= 6
    assert all(each.box.inside(within) for each in found)
    assert not any(one.box.meets(other.box) for one, other in combinations(found, 2))


# Histogram


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=60), st.floats(-10, 10), st.floats(1e-6, 10))
def test_bins_are_equal_cover_the_range_and_hold_every_count(
    counts: list[int], least: float, span: float
) -> None:
    found = bins_of(counts, least, least + span)
    assert sum(each.count for each in found) == sum(counts)
    assert (found[0].low, found[-1].high) == pytest.approx((least, least + span), abs=1e-200)
    assert all(before.high == after.low for before, after in pairwise(found))
    assert all(each.high - each.low == pytest.approx(span / len(counts), abs=1e-9) for each in found)


def test_bars_are_as_high_as_their_counts() -> None:
    counts = [4, 0, 8, 2]
    figure = histogram(counts, worded(HistogramWords, EN), least=0, largest=1)
    bars = parsed(figure.svg).findall(".//path[@class='bar']")
    heights = []
    for each in bars:
        bottom, top, _ = (float(part) for part in re.findall(r"(?:M[-\d.]+ |V)([-\d.]+)", each.attrib["d"]))
        heights.append(bottom - top)
    assert [height / max(heights) for height in heights] == pytest.approx([0.5, 1.0, 0.25], abs=1e-3)


def test_what_lies_beyond_the_threshold_is_hatched_and_counted() -> None:
    words = worded(HistogramWords, EN)
    figure = histogram([5, 3, 2, 1], words, least=0, largest=0.4, threshold=0.25, mean=0.12)
    assert len(parsed(figure.svg).findall(".//path[@class='hatched']")) == 2
    cut = parsed(figure.svg).findall(".//path[@class='hatched']")[0].attrib["d"]
    assert value_at(figure, float(cut[1:].split()[0])) == pytest.approx(0.25, abs=1e-3)
    assert figure.description.endswith("Mean: 0.12; threshold: 0.25; beyond the threshold: 1.")
    assert [entry.text for entry in figure.legend] == [words.beyond]
    averaged = histogram([5, 3, 2, 1], words, least=0, largest=0.4, threshold=0.25, mean=0.12, each=False)
    assert "hatched" not in averaged.svg  # the mean alone is held against it
    assert averaged.legend == ()
    within = histogram([5, 3], words, least=0, largest=0.2, threshold=0.3)
    assert "hatched" not in within.svg
    assert within.legend == ()


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 5))
def test_the_names_of_threshold_and_mean_never_meet(threshold: float, mean: float, largest: float) -> None:
    figure = histogram(
        [1, 2], worded(HistogramWords, JA), least=0, largest=largest, threshold=threshold, mean=mean
    )
    rows = [float(each.attrib["y"]) for each in parsed(figure.svg).findall(".//text[@class='label middle']")]
    title = float(parsed(figure.svg).findall(".//text[@class='title']")[0].attrib["y"])
    assert len(rows) == 2
    assert all(lower - upper >= 15 for upper, lower in pairwise([title, *rows]))


# Matrix


def test_a_cell_shows_its_rate_and_has_the_colour_of_its_tenth() -> None:
    rates = [0.0, 0.004, 0.04, 0.05, 0.5, 0.949, 0.996, 1.0, None, 7.0]
    figure = heatmap(
        [Heading(f"t{place}", own=place == 4) for place in range(len(rates))],
        [HeatRow(Heading("a"), rates), HeatRow(Heading("b", own=True), rates)],
        worded(HeatWords, EN),
    )
    first, second = parsed(f"<div>{figure.svg}</div>").findall(".//tbody/tr")
    assert [(cell.text, cell.attrib["class"]) for cell in first.findall("td")[1:]] == [
        ("0", "heat-0"),
        ("<0.01", "heat-0"),
        ("0.04", "heat-0"),
        ("0.05", "heat-1"),
        ("0.50", "heat-5 own"),
        ("0.95", "heat-9"),
        (">0.99", "heat-10"),
        ("1", "heat-10"),
        ("—", "vacant"),
        ("1", "heat-10"),
    ]
    assert second.attrib["class"] == "own"
    assert "you" in "".join(second.findall("th")[0].itertext())


@given(
    st.integers(1, 4).flatmap(
        lambda wide: st.lists(
            st.lists(st.none() | st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0]), min_size=wide, max_size=wide),
            min_size=1,
            max_size=5,
        )
    )
)
def test_a_mean_is_that_of_the_cells_with_a_number(rates: list[list[float | None]]) -> None:
    headings = [Heading(f"t{place}") for place in range(len(rates[0]))]
    rows = [HeatRow(Heading("a"), line) for line in rates]
    root = parsed(f"<div>{heatmap(headings, rows, worded(HeatWords, EN)).svg}</div>")

    def said(line: Sequence[float | None]) -> str:
        found = [Fraction(rate) for rate in line if rate is not None]
        return hundredths(float(sum(found) / len(found))) if found else "—"

    assert [row.findall("td")[0].text for row in root.findall(".//tbody/tr")] == [
        said(line) for line in rates
    ]
    whole, *columns = (cell.text for cell in root.findall(".//tr[@class='means']/td"))
    assert columns == [said(column) for column in zip(*rates, strict=True)]
    assert whole == said([rate for line in rates for rate in line])


# Size and work: one pass over the pairs of five hundred teams would take millions of steps.


def test_five_hundred_teams_are_small_and_little_work() -> None:
    points = [replace(each, name=f"Team {place}") for place, each in enumerate(rivals(DATA["five hundred"]))]
    words = worded(ScatterWords, EN)
    assert len(scatter(points, words).svg.encode()) < 120_000
    assert steps_of(lambda: scatter(points, words)) < 1_700_000


def test_a_matrix_of_a_hundred_teams_and_their_targets_is_little_work_a_cell() -> None:
    targets = [Heading(f"target {place}", own=place < 2) for place in range(200)]
    rates = (DATA["five hundred"] * 40)[: 100 * 200]
    rows = [HeatRow(Heading(f"team {n}"), rates[n * 200 : n * 200 + 200]) for n in range(100)]
    words = worded(HeatWords, EN)
    assert steps_of(lambda: rendered(heatmap(targets, rows, words))) < 250 * 100 * 200


def test_behind_a_rounded_point_is_the_box_it_may_lie_in() -> None:
    points = [Point("a", 0.02, 1.0, blur=0.005), Point("b", 0.03, 0.9, blur=0.005), Point("c", 0.04, 0.95)]
    drawing = str(scatter(points, worded(ScatterWords, EN)).svg)
    inside = drawing.partition('class="blurs"')[2].partition("</g>")[0]
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', inside)
    tops, wide = [float(box[1]) for box in boxes], {round(float(box[2]), 1) for box in boxes}
    assert (len(boxes), len(wide)) == (2, 1)
    whole, half = (float(box[3]) for box in sorted(boxes, key=lambda box: -float(box[3])))
    assert whole == pytest.approx(2 * half, abs=0.2)  # no risk is above 1
    assert min(tops) >= 0
