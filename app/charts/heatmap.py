"""Table of attackers and targets; the more individuals an attacker found, the darker its cell."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum

from markupsafe import Markup

from anoncup.messages import N_
from app.charts.figure import Figure
from app.charts.numbers import clamp_finite
from app.charts.svg import escape_text, isolate_text
from app.charts.text import ChartWords

_COLOUR_STEPS = 10
_MAX_UPRIGHT_HEADINGS = 6
"""With more columns than this, their headings are rotated."""
_IDENTIFIER = "heatmap"


@dataclass(frozen=True, slots=True)
class HeatmapHeader:
    """The heading of a column (a target) or a row (an attacker); ``note`` follows its name in small type.

    ``weight`` is the weight of a target in means.
    """

    name: str
    own: bool = False
    note: str = ""
    weight: int = 1

    @property
    def display_name(self) -> str:
        return isolate_text(self.name)


@dataclass(frozen=True, slots=True)
class HeatmapRow:
    """An attacker with its rate on each target; None where it did not attack the target."""

    attacker: HeatmapHeader
    rates: Sequence[float | None]
    built_in: bool = False


@dataclass(frozen=True, slots=True)
class HeatmapWords(ChartWords):
    """Texts of the heatmap.

    ``summary`` is the description, with {attackers}, {targets} and {largest} (the largest rate). If some
    attackers are built in, ``summary_by_kind`` replaces it, with {teams} and {built_in} instead of
    {attackers}. ``corner`` is the heading of the attackers' column. ``own`` marks the reader's own team and
    target. ``mean`` is the heading of the mean rates, and ``scale`` that of the colours.
    """

    title: str = N_("Attackers and targets")
    corner: str = N_("Attacker")
    own: str = N_("you")
    mean: str = N_("Mean")
    scale: str = N_("Share of individuals found")
    empty: str = N_("There is nothing to show yet.")
    summary: str = N_("Attackers: {attackers}; targets: {targets}; largest rate: {largest}.")
    summary_by_kind: str = N_(
        "Teams: {teams}; built-in attackers: {built_in}; targets: {targets}; largest rate: {largest}."
    )


def build_heatmap(
    targets: Sequence[HeatmapHeader], rows: Sequence[HeatmapRow], words: HeatmapWords
) -> Figure:
    """Build the table of the rates of all attackers on all targets. The figure has no other data table."""
    rows = [replace(row, rates=[clamp_finite(rate) for rate in row.rates]) for row in rows]
    if not targets or not rows:
        empty = Markup("")
        return Figure(_IDENTIFIER, words.title, words.empty, empty, head=(), rows=())
    built_in = sum(row.built_in for row in rows)
    description = words.fill(
        words.summary_by_kind if built_in else words.summary,
        attackers=len(rows),
        teams=len(rows) - built_in,
        built_in=built_in,
        targets=len(targets),
        largest=max((rate for row in rows for rate in row.rates if rate is not None), default=None),
    )
    return Figure(_IDENTIFIER, words.title, description, _build_table(targets, rows, words), head=(), rows=())


def _build_table(targets: Sequence[HeatmapHeader], rows: Sequence[HeatmapRow], words: HeatmapWords) -> Markup:
    kind = "heat turned" if len(targets) > _MAX_UPRIGHT_HEADINGS else "heat"
    head = "".join(_build_heading_cell(heading, words, scope="col") for heading in targets)
    body = "".join(_build_table_row(row, targets, words) for row in rows)
    label_attribute = f'aria-labelledby="{_IDENTIFIER}-title"'
    return Markup(  # noqa: S704
        f'{_build_scale(words)}<div class="wide" tabindex="0" role="region" {label_attribute}>'
        f'<table class="{kind}" {label_attribute} aria-describedby="{_IDENTIFIER}-description">'
        f'<thead><tr><th scope="col" class="corner">{escape_text(words.corner)}</th>'
        f'<th scope="col" class="mean">{escape_text(words.mean)}</th>{head}</tr>'
        f"{_build_means_row(rows, targets, words)}</thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _build_means_row(
    rows: Sequence[HeatmapRow], targets: Sequence[HeatmapHeader], words: HeatmapWords
) -> str:
    """Build the row with the mean of each column and of all cells."""
    columns = zip(*(row.rates for row in rows), strict=True)
    overall_mean = compute_mean_rate(
        [rate for row in rows for rate in row.rates], [target.weight for target in targets] * len(rows)
    )
    cells = "".join(
        _build_cell(compute_mean_rate(rates), words, own=target.own)
        for rates, target in zip(columns, targets, strict=True)
    )
    return (
        f'<tr class="means"><th scope="row" class="corner">{escape_text(words.mean)}</th>'
        f"{_build_cell(overall_mean, words, kind=' mean')}{cells}</tr>"
    )


def compute_mean_rate(rates: Sequence[float | None], weights: Sequence[int] | None = None) -> float | None:
    """Return the weighted mean of the known rates, whatever their order; None if no rate is known."""
    weights = weights or [1] * len(rates)
    products = [rate * weight for rate, weight in zip(rates, weights, strict=True) if rate is not None]
    total_weight = sum([weight for rate, weight in zip(rates, weights, strict=True) if rate is not None])
    return fsum(products) / total_weight if products else None


def _build_scale(words: HeatmapWords) -> str:
    """Build the legend of the colours. Cells also show their rate as a number."""
    steps = "".join(f'<span class="heat-{step}"></span>' for step in range(_COLOUR_STEPS + 1))
    return f'<p class="scale">{escape_text(words.scale)} <span aria-hidden="true">0 {steps} 1</span></p>'


def _build_heading_cell(heading: HeatmapHeader, words: HeatmapWords, *, scope: str) -> str:
    notes = [*([words.own] if heading.own else []), *([heading.note] if heading.note else [])]
    small = f" <small>{escape_text(' · '.join(notes))}</small>" if notes else ""
    own = ' class="own"' if heading.own else ""
    return f'<th scope="{scope}"{own}><span>{escape_text(heading.display_name)}{small}</span></th>'


def _build_table_row(row: HeatmapRow, targets: Sequence[HeatmapHeader], words: HeatmapWords) -> str:
    kinds = " ".join(["built_in"] * row.built_in + ["own"] * row.attacker.own)
    kind = f' class="{kinds}"' if kinds else ""
    cells = "".join(
        _build_cell(rate, words, own=target.own) for rate, target in zip(row.rates, targets, strict=True)
    )
    mean = compute_mean_rate(row.rates, [target.weight for target in targets])
    return (
        f"<tr{kind}>{_build_heading_cell(row.attacker, words, scope='row')}"
        f"{_build_cell(mean, words, kind=' mean')}{cells}</tr>"
    )


def _build_cell(rate: float | None, words: HeatmapWords, *, own: bool = False, kind: str = "") -> str:
    """Build a cell that shows its rate as a number and as one of the colours 0 to 10."""
    kind += " own" if own else ""
    if rate is None:
        return f'<td class="vacant{kind}">—</td>'
    share = min(max(rate, 0.0), 1.0)
    label = words.localize(format_hundredths(share)).replace("<", "&lt;").replace(">", "&gt;")
    return f'<td class="heat-{int(share * _COLOUR_STEPS + 0.5)}{kind}">{label}</td>'


def format_hundredths(share: float) -> str:
    """Format a rate with two decimals. Only the exact values 0 and 1 are shown as 0 and 1."""
    if share in {0.0, 1.0}:
        return f"{share:.0f}"
    return "<0.01" if share < 0.005 else ">0.99" if share >= 0.995 else f"{share:.2f}"
