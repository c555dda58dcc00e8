"""Attackers against targets: a table whose cells are the darker the more was found."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum

from markupsafe import Markup

from anoncup.messages import N_
from app.charts.axes import finite
from app.charts.figure import Figure
from app.charts.svg import lone, text
from app.charts.text import ChartWords

STEPS = 10
FEW = 6
"""More columns than this have their names turned."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A target, or an attacker; ``note`` stands small beside its name."""

    name: str
    own: bool = False
    note: str = ""

    @property
    def shown(self) -> str:
        return lone(self.name)


@dataclass(frozen=True, slots=True)
class HeatRow:
    """An attacker with its rates, one per target; None where it did not try."""

    attacker: Heading
    rates: Sequence[float | None]
    built_in: bool = False


@dataclass(frozen=True, slots=True)
class HeatWords(ChartWords):
    """``said``: the description, with {attackers}, {targets} and {largest} (rate); ``said_apart``: where some
    are built in, with {teams} and {built_in} in the place of {attackers}; ``own``: beside the
    reader's own names; ``corner``: the heading of the attackers' column; ``mean``: of a row's or a column's
    rates; ``scale``: of the colours.
    """

    title: str = N_("Attackers and targets")
    corner: str = N_("Attacker")
    own: str = N_("you")
    mean: str = N_("Mean")
    scale: str = N_("Share of individuals found")
    none: str = N_("There is nothing to show yet.")
    said: str = N_("Attackers: {attackers}; targets: {targets}; largest rate: {largest}.")
    said_apart: str = N_(
        "Teams: {teams}; built-in attackers: {built_in}; targets: {targets}; largest rate: {largest}."
    )


def heatmap(
    targets: Sequence[Heading], rows: Sequence[HeatRow], words: HeatWords, *, identifier: str = "heatmap"
) -> Figure:
    """Rates of all attackers on all targets; the picture is the table, so that none stands behind it."""
    rows = [replace(row, rates=[finite(rate) for rate in row.rates]) for row in rows]
    if not targets or not rows:
        empty = Markup("")
        return Figure(identifier, words.title, words.none, empty, head=(), rows=())
    built_in = sum(row.built_in for row in rows)
    said = (words.said_apart if built_in else words.said).format(
        attackers=words.number(len(rows)),
        teams=words.number(len(rows) - built_in),
        built_in=words.number(built_in),
        targets=words.number(len(targets)),
        largest=words.number(
            max((rate for row in rows for rate in row.rates if rate is not None), default=None)
        ),
    )
    return Figure(identifier, words.title, said, table(targets, rows, words, identifier), head=(), rows=())


def table(targets: Sequence[Heading], rows: Sequence[HeatRow], words: HeatWords, identifier: str) -> Markup:
    kind = "heat turned" if len(targets) > FEW else "heat"
    owned = [heading.own for heading in targets]
    head = "".join(heading_cell(heading, words, scope="col") for heading in targets)
    body = "".join(table_row(row, owned, words) for row in rows)
    named = f'aria-labelledby="{text(identifier)}-title"'
    return Markup(  # noqa: S704
        f'{scale(words)}<div class="wide" tabindex="0" role="region" {named}>'
        f'<table class="{kind}" {named} aria-describedby="{text(identifier)}-said">'
        f'<thead><tr><th scope="col" class="corner">{text(words.corner)}</th>'
        f'<th scope="col" class="mean">{text(words.mean)}</th>{head}</tr>'
        f"{means_row(rows, owned, words)}</thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def means_row(rows: Sequence[HeatRow], owned: Sequence[bool], words: HeatWords) -> str:
    """Of each column, and of all cells."""
    columns = [mean([row.rates[place] for row in rows]) for place in range(len(owned))]
    whole = mean([rate for row in rows for rate in row.rates])
    cells = "".join(cell(rate, words, own=own) for rate, own in zip(columns, owned, strict=True))
    return (
        f'<tr class="means"><th scope="row" class="corner">{text(words.mean)}</th>'
        f"{cell(whole, words, kind=' mean')}{cells}</tr>"
    )


def mean(rates: Sequence[float | None]) -> float | None:
    """Of those that are numbers, in any order the same; None where none is."""
    found = [rate for rate in rates if rate is not None]
    return fsum(found) / len(found) if found else None


def scale(words: HeatWords) -> str:
    """What the colours mean; the numbers in the cells say the same."""
    steps = "".join(f'<span class="heat-{step}"></span>' for step in range(STEPS + 1))
    return f'<p class="scale">{text(words.scale)} <span aria-hidden="true">0 {steps} 1</span></p>'


def heading_cell(heading: Heading, words: HeatWords, *, scope: str) -> str:
    notes = [*([words.own] if heading.own else []), *([heading.note] if heading.note else [])]
    small = f" <small>{text(' · '.join(notes))}</small>" if notes else ""
    own = ' class="own"' if heading.own else ""
    return f'<th scope="{scope}"{own}><span>{text(heading.shown)}{small}</span></th>'


def table_row(row: HeatRow, owned: Sequence[bool], words: HeatWords) -> str:
    kinds = " ".join(["built_in"] * row.built_in + ["own"] * row.attacker.own)
    kind = f' class="{kinds}"' if kinds else ""
    cells = "".join(cell(rate, words, own=mine) for rate, mine in zip(row.rates, owned, strict=True))
    return (
        f"<tr{kind}>{heading_cell(row.attacker, words, scope='row')}"
        f"{cell(mean(row.rates), words, kind=' mean')}{cells}</tr>"
    )


def cell(rate: float | None, words: HeatWords, *, own: bool = False, kind: str = "") -> str:
    """A cell of a class of its own tenth, so that 0 and 1 are apart from what is only near them."""
    kind += " own" if own else ""
    if rate is None:
        return f'<td class="vacant{kind}">—</td>'
    share = min(max(rate, 0.0), 1.0)
    said = words.signs(hundredths(share)).replace("<", "&lt;").replace(">", "&gt;")
    return f'<td class="heat-{int(share * STEPS + 0.5)}{kind}">{said}</td>'


def hundredths(share: float) -> str:
    """A rate in two decimals; 0 and 1 only where they are exact."""
    if share in {0.0, 1.0}:
        return f"{share:.0f}"
    return "<0.01" if share < 0.005 else ">0.99" if share >= 0.995 else f"{share:.2f}"
