"""Properties of all charts, and positions of marks in histograms."""

import re
from dataclasses import fields
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.charts.frame import PICTURE_WIDTH
from app.charts.histogram import HistogramWords, build_bins, build_histogram
from app.charts.svg import estimate_text_width, shorten
from app.charts.text import translate_words
from tests.support.chart_samples import (
    CHARTS,
    EN,
    HOSTILE_NAMES,
    JA,
    SAMPLE_VALUES,
    WORD_TYPES,
    find_center,
    parse_markup,
    read_axis_value,
    render_figure,
)

# Every chart


@pytest.mark.parametrize("data", SAMPLE_VALUES.values(), ids=SAMPLE_VALUES.keys())
@pytest.mark.parametrize("chart", CHARTS)
def test_chart_is_well_formed_and_contains_no_scripts(chart: str, data: list[float]) -> None:
    for t in (EN, JA):
        html = render_figure(CHARTS[chart](data, t), t)
        root = parse_markup(html)
        ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
        assert len(set(ids)) == len(ids)
        for element in root.iter():
            assert element.tag not in {"script", "style", "foreignObject"}
            assert not {name for name in element.attrib if name == "style" or name.startswith("on")}
            for name in set(element.attrib) - {"aria-label", "title"}:
                assert not re.search(r"\bnan\b|\binf\b", element.attrib[name]), element.attrib
            for name in ("aria-labelledby", "aria-describedby"):
                assert element.attrib.get(name, ids[0]) in ids
            fill = re.fullmatch(r"url\(#(.*)\)", element.attrib.get("fill", ""))
            assert fill is None or fill[1] in ids


@pytest.mark.parametrize("data", SAMPLE_VALUES.values(), ids=SAMPLE_VALUES.keys())
@pytest.mark.parametrize("chart", CHARTS)
def test_marks_and_words_stay_inside_the_picture(chart: str, data: list[float]) -> None:
    picture = parse_markup(CHARTS[chart](data, JA).svg)
    height = float(picture.attrib["viewBox"].split()[3])
    for element in picture.iter():
        if element.tag == "circle":
            x, y = find_center(element)
            assert 0 <= x <= PICTURE_WIDTH
            assert 0 <= y <= height
        if element.tag == "text" and element.text:
            width, x = estimate_text_width(element.text), float(element.attrib["x"])
            kinds = element.attrib["class"].split()
            start = x - width if "end" in kinds else x - width / 2 if "middle" in kinds else x
            assert start >= -0.5, element.text
            assert start + width <= PICTURE_WIDTH + 0.5, element.text
            assert 0 <= float(element.attrib["y"]) <= height


@pytest.mark.parametrize("chart", CHARTS)
def test_chart_without_data_says_so(chart: str) -> None:
    figure = CHARTS[chart]([], EN)
    assert figure.description == {field.name: field.default for field in fields(WORD_TYPES[chart])}["empty"]
    assert figure.rows == ()


@pytest.mark.parametrize("chart", CHARTS)
def test_one_mark_is_focusable_and_all_marks_have_labels(chart: str) -> None:
    picture = parse_markup(CHARTS[chart](SAMPLE_VALUES["five hundred"][:40], EN).svg)
    marks = picture.findall(".//*[@role='img']")
    assert len(marks) > 1
    assert sum(mark.attrib.get("tabindex") == "0" for mark in marks) == 1
    assert all(mark.attrib["aria-label"] for mark in marks)
    assert picture.attrib["role"] == "group"


@pytest.mark.parametrize("chart", CHARTS)
def test_data_table_matches_the_picture(chart: str) -> None:
    figure = CHARTS[chart](SAMPLE_VALUES["a few"], EN)
    rows = parse_markup(render_figure(figure)).findall(".//tbody/tr")
    assert [["".join(cell.itertext()) for cell in row] for row in rows] == [
        [figure.format_cell(cell, str) for cell in row] for row in figure.rows
    ]
    assert len(rows) >= len(SAMPLE_VALUES["a few"])
    assert {len(row) for row in rows} == {len(figure.head)}


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, "日本語" * 30])
def test_text_is_cut_to_the_available_width(name: str) -> None:
    for width in (20.0, 90.0, 5000.0):
        shortened = shorten(name, width)
        assert estimate_text_width(shortened) <= width
        assert shortened == name or (shortened.endswith("…") and name.startswith(shortened[:-1].rstrip()))


# Histogram


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=60), st.floats(-10, 10), st.floats(1e-6, 10))
def test_bins_have_equal_width_and_contain_all_counts(counts: list[int], start: float, span: float) -> None:
    bins = build_bins(counts, start, start + span)
    assert sum(interval.count for interval in bins) == sum(counts)
    assert (bins[0].low, bins[-1].high) == pytest.approx((start, start + span), abs=1e-200)
    assert all(lower.high == upper.low for lower, upper in pairwise(bins))
    assert all(
        interval.high - interval.low == pytest.approx(span / len(counts), abs=1e-9) for interval in bins
    )


def test_bar_heights_are_proportional_to_counts() -> None:
    counts = [4, 0, 8, 2]
    figure = build_histogram(counts, translate_words(HistogramWords, EN), minimum=0, maximum=1)
    bars = parse_markup(figure.svg).findall(".//path[@class='bar']")
    heights = []
    for bar in bars:
        bottom, top, _ = (float(part) for part in re.findall(r"(?:M[-\d.]+ |V)([-\d.]+)", bar.attrib["d"]))
        heights.append(bottom - top)
    assert [height / max(heights) for height in heights] == pytest.approx([0.5, 1.0, 0.25], abs=1e-3)


def test_values_above_the_threshold_are_hatched_and_counted() -> None:
    words = translate_words(HistogramWords, EN)
    figure = build_histogram([5, 3, 2, 1], words, minimum=0, maximum=0.4, threshold=0.25, mean=0.12)
    assert len(parse_markup(figure.svg).findall(".//path[@class='hatched']")) == 2
    bar_path = parse_markup(figure.svg).findall(".//path[@class='hatched']")[0].attrib["d"]
    assert read_axis_value(figure, float(bar_path[1:].split()[0])) == pytest.approx(0.25, abs=1e-3)
    assert figure.description == "11 individuals, at distances from 0 to 0.4."
    assert [entry.text for entry in figure.legend] == [words.above]
    mean_figure = build_histogram(
        [5, 3, 2, 1], words, minimum=0, maximum=0.4, threshold=0.25, mean=0.12, per_individual=False
    )
    assert "hatched" not in mean_figure.svg  # only the mean is compared with the threshold
    assert mean_figure.legend == ()
    below_threshold = build_histogram([5, 3], words, minimum=0, maximum=0.2, threshold=0.3)
    assert "hatched" not in below_threshold.svg
    assert below_threshold.legend == ()


# Size and number of steps: a loop over all pairs of five hundred teams would take millions of steps.
