"""The chart of one team's scores over time."""

from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate

from app.core.db.models import State
from app.core.locale.language import Translator
from app.core.pages.notation import format_clock_time, localize_number
from app.core.pages.vega import (
    DESCRIBED,
    Chart,
    Spec,
    encode_number,
    encode_time,
    find_ends,
    format_wall_clock,
)
from app.submissions.submissions import SubmissionSummary


def draw_submissions(summaries: Sequence[SubmissionSummary], t: Translator, zone: str) -> Chart | None:
    """Draw the scores of the accepted submissions that count, with a line of the best so far."""
    scores = sorted(
        (summary.received_at, summary.overall)
        for summary in summaries
        if summary.state == State.SCORED and summary.overall is not None and not summary.is_disqualified
    )
    best = list(accumulate((score for _, score in scores), min))
    titles = t("Your scores over time"), t("Overall score (lower is better)")
    return draw_scores(scores, best, titles, t, zone=zone)


def draw_scores(
    scores: Sequence[tuple[datetime, float]],
    line: Sequence[float],
    titles: tuple[str, str],
    t: Translator,
    *,
    zone: str,
    descending: bool = False,
) -> Chart | None:
    """Draw scores as points, if there are any, and a line with the better values at the top.

    ``titles`` are those of the chart and of the scores.
    """
    if not scores:
        return None
    texts = [localize_number(score, t) for _, score in scores]
    rows: list[Spec] = [
        {
            "at": format_wall_clock(at, zone),
            "value": score,
            "line": line_value,
            "description": f"{format_clock_time(at, zone)}: {text}",
        }
        for (at, score), line_value, text in zip(scores, line, texts, strict=True)
    ]
    start, last = scores[0][0], scores[-1][0]
    end = last + (last - start) / 20  # so that the last value is a line
    rows.append({"at": format_wall_clock(end, zone), "line": line[-1]})
    values = encode_number("value", titles[1], find_ends([score for _, score in scores]), padding=12)
    values["scale"]["reverse"] = not descending
    return Chart(
        "timeline",
        titles[0],
        t(
            "Scores: {count}. First: {first}, last: {last}.",
            count=len(scores),
            first=texts[0],
            last=texts[-1],
        ),
        _build_specification(rows, encode_time((start, end), zone), values),
        head=(t("Received"), titles[1]),
        rows=[(format_clock_time(at, zone), score) for at, score in scores],
    )


def _build_specification(rows: Sequence[Spec], time: Spec, values: Spec) -> Spec:
    return {
        "data": {"values": rows},
        "height": 240,
        "encoding": {"x": time},
        "layer": [
            {"mark": "line", "encoding": {"y": {**values, "field": "line"}}},
            {
                "transform": [{"filter": "isValid(datum.value)"}],
                "mark": {"type": "point", "size": 50},
                "encoding": {"y": values, **DESCRIBED},
            },
        ],
    }
