"""Chart of a team's scores over time, with a line for the best score so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import Axis, build_axis
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import PlotArea, build_picture, draw_empty, draw_grid, fit_plot_area, label_mark
from app.charts.numbers import clamp_finite, keep_finite
from app.charts.svg import MAX_FONT_SIZE, build_outline, draw_path, isolate_text, tag
from app.charts.text import ChartWords
from app.charts.time_axis import build_time_axis

_HEIGHT = 300.0
_UNSCORED_LANE_HEIGHT = 24.0
"""Height of the lane above the plot that shows submissions without a score."""

EntryState = Literal["accepted", "rejected", "error"]
_SHAPES: dict[EntryState, marks.MarkShape] = {
    "accepted": marks.dot,
    "rejected": marks.cross,
    "error": marks.triangle,
}
_IDENTIFIER = "timeline"
_ScoreAtTime = tuple[float, float]
"""A time in seconds since 1970, and a score."""


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """A submission. ``overall`` is its score, or None; ``received_at`` has a time zone."""

    name: str
    received_at: datetime
    overall: float | None
    state: EntryState


@dataclass(frozen=True, slots=True)
class TimelineWords(ChartWords):
    """Texts of a timeline.

    ``summary`` is the description, with {count}, {accepted}, {rejected} and {error}. If a submission was
    accepted, ``summary_best`` follows, with {first} (the first accepted score) and {best}. ``point_label`` is the
    label of a mark, with {name}, {at}, {overall} and {state}.
    """

    title: str = N_("Overall score over time")
    x_title: str = N_("Time of receipt")
    y_title: str = N_("Overall score (lower is better)")
    submission: str = N_("Submission")
    received: str = N_("Received")
    state: str = N_("Result")
    accepted: str = N_("Accepted")
    rejected: str = N_("Rejected")
    error: str = N_("Error on our side")
    best: str = N_("Best so far")
    empty: str = N_("No submission yet.")
    summary: str = N_("Submissions: {count}; accepted: {accepted}, rejected: {rejected}, errors: {error}.")
    summary_best: str = N_("First accepted score: {first}; best: {best}.")
    point_label: str = N_("{name}, {at}: {overall} ({state})")

    def state_label(self, state: EntryState) -> str:
        return {"accepted": self.accepted, "rejected": self.rejected, "error": self.error}[state]


def build_timeline(
    entries: Sequence[TimelineEntry],
    words: TimelineWords,
    *,
    zone: str,
    begin: datetime | None = None,
    higher_is_better: bool = False,
) -> Figure:
    """Build the chart of all submissions by time and score. Its time axis includes ``begin``.

    With ``higher_is_better``, ``words`` must have another ``y_title`` than the default one.
    """
    ordered = sorted(entries, key=lambda entry: entry.received_at)
    improvements = _list_improvements(ordered, higher_is_better=higher_is_better)
    return Figure(
        _IDENTIFIER,
        words.title,
        _describe_timeline(ordered, words, improvements),
        _draw_timeline(ordered, words, zone, begin, improvements),
        head=(words.submission, words.received, words.state, words.y_title),
        rows=tuple(
            (
                entry.name,
                _format_local_time(entry.received_at, zone),
                words.state_label(entry.state),
                clamp_finite(entry.overall),
            )
            for entry in ordered
        ),
        legend=_build_legend(ordered, words, improvements),
    )


def _format_local_time(moment: datetime, zone: str) -> str:
    return moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M %Z")


def _list_improvements(entries: Sequence[TimelineEntry], *, higher_is_better: bool) -> list[_ScoreAtTime]:
    """Return time and score of the accepted submissions that were better than all before, oldest first."""
    improvements: list[_ScoreAtTime] = []
    for entry in entries:
        score = clamp_finite(entry.overall)
        if score is None or entry.state != "accepted":
            continue
        best = improvements[-1][1] if improvements else None
        if best is None or (score > best if higher_is_better else score < best):
            improvements.append((entry.received_at.timestamp(), score))
    return improvements


def _describe_timeline(
    entries: Sequence[TimelineEntry], words: TimelineWords, improvements: Sequence[_ScoreAtTime]
) -> str:
    if not entries:
        return words.empty
    counts = {str(state): sum(entry.state == state for entry in entries) for state in _SHAPES}
    summary = words.fill(words.summary, count=len(entries), **counts)
    if not improvements:
        return summary
    best = words.fill(words.summary_best, first=improvements[0][1], best=improvements[-1][1])
    return f"{summary} {best}"


def _draw_timeline(
    entries: Sequence[TimelineEntry],
    words: TimelineWords,
    zone: str,
    begin: datetime | None,
    improvements: Sequence[_ScoreAtTime],
) -> Markup:
    moments = [*(entry.received_at for entry in entries), *([begin] if begin else [])]
    x = build_time_axis(moments, zone) if moments else Axis(0, 1, (), ())
    scores = [entry.overall for entry in entries]
    lane_height = 0.0 if len(keep_finite(scores)) == len(scores) else _UNSCORED_LANE_HEIGHT
    # A single score has no range, so the axis shows all possible scores, from 0 to 1.
    y = build_axis(
        scores if len(set(keep_finite(scores))) > 1 else [0.0, 1.0, *scores], localize=words.localize
    )
    plot_area = fit_plot_area(x, y, height=_HEIGHT, top=2 * MAX_FONT_SIZE + lane_height)
    if not entries:
        return draw_empty(
            _IDENTIFIER, plot_area, _HEIGHT, words.empty, x_title=words.x_title, y_title=words.y_title
        )
    return build_picture(
        _IDENTIFIER,
        _HEIGHT,
        draw_grid(
            plot_area,
            x_title=words.x_title,
            y_title=words.y_title,
            title_gap=lane_height + 0.8 * MAX_FONT_SIZE,
        ),
        _draw_best_line(improvements, plot_area),
        _draw_points(entries, plot_area, words, zone),
        is_interactive=True,
        kind="level",
    )


def _draw_best_line(improvements: Sequence[_ScoreAtTime], plot_area: PlotArea) -> Markup:
    """Draw a line with a step at every better score that continues to the right end."""
    if not improvements:
        return Markup("")
    steps = "".join(
        build_outline("H", plot_area.x_position(seconds), "V", plot_area.y_position(score))
        for seconds, score in improvements[1:]
    )
    first = plot_area.format_point(*improvements[0])
    line = draw_path("M", first, steps, "H", plot_area.right, class_="line")
    return tag("g", line, class_="series points best", aria_hidden="true")


def _draw_points(
    entries: Sequence[TimelineEntry], plot_area: PlotArea, words: TimelineWords, zone: str
) -> Markup:
    """Draw the submissions by state. The tab key reaches the latest one."""
    groups = []
    for state in reversed(_SHAPES):
        state_entries = [entry for entry in entries if entry.state == state]
        shapes = [
            _draw_point(entry, plot_area, words, zone, is_focusable=entry is entries[-1])
            for entry in state_entries
        ]
        groups.append(tag("g", *shapes, class_=f"series points {state}") if shapes else "")
    return Markup("").join(groups)


def _draw_point(
    entry: TimelineEntry, plot_area: PlotArea, words: TimelineWords, zone: str, *, is_focusable: bool
) -> Markup:
    score = clamp_finite(entry.overall)
    y = plot_area.top - _UNSCORED_LANE_HEIGHT / 2 if score is None else plot_area.y_position(score)
    label = words.fill(
        words.point_label,
        name=isolate_text(entry.name),
        at=_format_local_time(entry.received_at, zone),
        overall=score,
        state=words.state_label(entry.state),
    )
    return label_mark(
        _SHAPES[entry.state](plot_area.x_position(entry.received_at.timestamp()), y),
        label,
        is_focusable=is_focusable,
    )


def _build_legend(
    entries: Sequence[TimelineEntry], words: TimelineWords, improvements: Sequence[_ScoreAtTime]
) -> tuple[LegendEntry, ...]:
    present = {entry.state for entry in entries}
    states = [
        LegendEntry(state, words.state_label(state), marks.swatch(state, shape(0, 0)))
        for state, shape in _SHAPES.items()
        if state in present
    ]
    line = LegendEntry("best", words.best, marks.swatch("best", marks.LINE))
    return (*states, *([line] if improvements else []))
