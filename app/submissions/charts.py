"""Histogram of the distances of individuals to their originals."""

from collections.abc import Iterator

from anoncup.schemas.verdicts import Excess
from app.core.locale.language import Translator
from app.core.pages.notation import localize_number
from app.core.pages.vega import (
    DATA,
    DESCRIBED,
    Chart,
    draw_rules,
    encode_number,
)
from app.submissions.verdict_parts import ThresholdComparison

_LABEL_ROOM = 1.3
"""Height of the histogram as a multiple of the highest bar, with room for the labels of the lines."""

_Bin = tuple[float, float, int]


def draw_distances(excess: Excess, comparison: ThresholdComparison, t: Translator) -> Chart | None:
    """Draw the histogram with the threshold, or nothing without individuals.

    Under Approach I the threshold applies to distances to other individuals, which are not drawn.
    """
    bins = [bin_ for bin_ in _list_bins(excess) if bin_[2]]
    if not bins:
        return None
    threshold = excess.threshold if comparison.compared_distance else None
    title = t.label(f"distance_{excess.distance}", "") or excess.distance
    bars = [
        {
            "low": low,
            "high": high,
            "count": count,
            "description": f"{_format_range(low, high, t)}: {localize_number(count, t)}",
        }
        for low, high, count in bins
    ]
    rules = {t("Threshold"): threshold, t("Mean"): excess.mean}
    x = encode_number("low", title, (0, max(bins[-1][1], excess.mean, threshold or 0)))
    y = encode_number("count", t("Individuals"), (0, _LABEL_ROOM * max(count for _, _, count in bins)))
    encoding = {
        "x": x | {"bin": "binned"},
        "x2": {"field": "high"},
        "y": y | {"axis": {"tickMinStep": 1}},
        "color": {"value": DATA},
        "fillOpacity": {"value": 0.75},
        **DESCRIBED,
    }
    lines = {f"{name} {localize_number(at, t)}": at for name, at in rules.items() if at is not None}
    return Chart(
        "distances",
        t("Individuals by their distance to their own original"),
        t(
            "{count} individuals, at distances from {least} to {largest}.",
            count=localize_number(sum(count for _, _, count in bins), t),
            least=localize_number(bins[0][0], t),
            largest=localize_number(excess.max, t),
        ),
        {
            "height": 240,
            "layer": [{"data": {"values": bars}, "mark": "bar", "encoding": encoding}, *draw_rules(x, lines)],
        },
        head=(title, t("Individuals")),
        rows=[(_format_range(low, high, t), count) for low, high, count in bins],
    )


def _list_bins(excess: Excess) -> Iterator[_Bin]:
    counts, end = excess.histogram.counts, excess.histogram.end
    for index, count in enumerate(counts):
        yield end * index / len(counts), end * (index + 1) / len(counts), count


def _format_range(low: float, high: float, t: Translator) -> str:
    return f"{localize_number(low, t)} – {localize_number(high, t)}"
