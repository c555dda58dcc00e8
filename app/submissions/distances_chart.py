"""The histogram of the distances of individuals to their originals, with the threshold."""

from collections.abc import Iterator, Sequence

from anoncup.schemas.verdicts import Excess
from app.core.locale.language import Translator
from app.core.pages.notation import localize_number
from app.core.pages.vega import DATA, DESCRIBED, OWN, Chart, Spec, choose, draw_rules, encode_number
from app.submissions.verdict_parts import ThresholdComparison

_LABEL_ROOM = 1.3
"""Height of the chart as a multiple of the highest bar, with room for the labels of the lines."""

_Bin = tuple[float, float, int]


def draw_distances(excess: Excess, comparison: ThresholdComparison, t: Translator) -> Chart | None:
    """Draw the histogram, or nothing without individuals.

    Bars beyond the threshold differ if it applies to each individual. Under Approach I it applies to
    distances to other individuals, which are not drawn.
    """
    bins = [bin_ for bin_ in _list_bins(excess) if bin_[2]]
    if not bins:
        return None
    threshold = excess.threshold if comparison.compared_distance else None
    limit = threshold if comparison.compared_distance == "largest" else None
    title = t.label(f"distance_{excess.distance}", "") or excess.distance
    return Chart(
        "distances",
        t("Individuals by their distance to their own original"),
        t(
            "{count} individuals, at distances from {least} to {largest}.",
            count=localize_number(sum(count for _, _, count in bins), t),
            least=localize_number(bins[0][0], t),
            largest=localize_number(bins[-1][1], t),
        ),
        _build_specification(bins, excess.mean, threshold, title, t, limit=limit),
        head=(title, t("Individuals")),
        rows=[(_format_range(low, high, t), count) for low, high, count in bins],
    )


def _list_bins(excess: Excess) -> Iterator[_Bin]:
    counts, end = excess.histogram.counts, excess.histogram.end
    for index, count in enumerate(counts):
        yield end * index / len(counts), end * (index + 1) / len(counts), count


def _split_bins(bins: Sequence[_Bin], limit: float | None) -> Iterator[_Bin]:
    """Divide the bin that contains the limit, so that the parts of its bar can differ."""
    for low, high, count in bins:
        if limit is not None and low < limit < high:
            yield low, limit, count
            yield limit, high, count
        else:
            yield low, high, count


def _build_specification(
    bins: Sequence[_Bin],
    mean: float,
    threshold: float | None,
    title: str,
    t: Translator,
    *,
    limit: float | None,
) -> Spec:
    bars = [
        {
            "low": low,
            "high": high,
            "count": count,
            "beyond": limit is not None and low >= limit,
            "description": f"{_format_range(low, high, t)}: {localize_number(count, t)}",
        }
        for low, high, count in _split_bins(bins, limit)
    ]
    rules = {t("Threshold"): threshold, t("Mean"): mean}
    ends = (0, max(bins[-1][1], mean, threshold or 0))
    x = encode_number("low", title, ends)
    y = encode_number("count", t("Individuals"), (0, _LABEL_ROOM * max(count for _, _, count in bins)))
    return {
        "height": 240,
        "layer": [
            {
                "data": {"values": bars},
                "mark": "bar",
                "encoding": {
                    "x": x | {"bin": "binned"},
                    "x2": {"field": "high"},
                    "y": y | {"axis": {"tickMinStep": 1}},
                    "color": choose("datum.beyond", OWN, DATA),
                    "fillOpacity": choose("datum.beyond", 0.45, 0.75),
                    **DESCRIBED,
                },
            },
            *draw_rules(
                x, {f"{name} {localize_number(at, t)}": at for name, at in rules.items() if at is not None}
            ),
        ],
    }


def _format_range(low: float, high: float, t: Translator) -> str:
    return f"{localize_number(low, t)} – {localize_number(high, t)}"
