"""Attackers against targets: a table whose cells are the darker the more was found."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.charts.axes import finite, known
from app.charts.figure import Figure
from app.charts.svg import lone, text
from app.charts.words import ChartWords
from app.messages import N_

STEPS = 10
FEW = 6
"""More columns than this have their names turned."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A target, or an attacker; ``note`` stands small beside its name."""

    name: str
    own: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class HeatRow:
    """An attacker with its rates, one per target; None where it did not try."""

    attacker: Heading
    rates: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class HeatWords(ChartWords):
    """``said``: the description, with {attackers}, {targets} and {largest} (rate); ``own``: beside the
    reader's own names; ``corner``: the heading of the attackers' column; ``scale``: of the colours.
    """

    title: str = N_("Attackers and targets")
    corner: str = N_("Attacker")
    own: str = N_("you")
    scale: str = N_("Share of individuals found")
    none: str = N_("There is nothing to show yet.")
    said: str = N_("Attackers: {attackers}; targets: {targets}; largest rate: {largest}.")


def heatmap(
    targets: Sequence[Heading], rows: Sequence[HeatRow], words: HeatWords, *, identifier: str = "heatmap"
) -> Figure:
    """Rates of all attackers on all targets; the picture is the table, so that none stands behind it."""
    rates = known(rate for row in rows for rate in row.rates)
    if not targets or not rows:
        empty = Markup("")
        return Figure(identifier, words.title, words.none, empty, head=(), rows=())
    said = words.said.format(
        attackers=words.number(len(rows)),
        targets=words.number(len(targets)),
        largest=words.number(max(rates, default=None)),
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
        f'<thead><tr><th scope="col" class="corner">{text(words.corner)}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def scale(words: HeatWords) -> str:
    """What the colours mean; the numbers in the cells say the same."""
    steps = "".join(f'<span class="heat-{step}"></span>' for step in range(STEPS + 1))
    return f'<p class="scale">{text(words.scale)} <span aria-hidden="true">0 {steps} 1</span></p>'


def heading_cell(heading: Heading, words: HeatWords, *, scope: str) -> str:
    notes = [*([words.own] if heading.own else []), *([heading.note] if heading.note else [])]
    small = f" <small>{text(' · '.join(notes))}</small>" if notes else ""
    own = ' class="own"' if heading.own else ""
    return f'<th scope="{scope}"{own}><span>{text(lone(heading.name))}{small}</span></th>'


def table_row(row: HeatRow, owned: Sequence[bool], words: HeatWords) -> str:
    own = ' class="own"' if row.attacker.own else ""
    cells = "".join(cell(rate, words, own=mine) for rate, mine in zip(row.rates, owned, strict=True))
    return f"<tr{own}>{heading_cell(row.attacker, words, scope='row')}{cells}</tr>"


def cell(rate: float | None, words: HeatWords, *, own: bool) -> str:
    """A cell of a class of its own tenth, so that 0 and 1 are apart from what is only near them."""
    found = finite(rate)
    mine = " own" if own else ""
    if found is None:
        return f'<td class="vacant{mine}">—</td>'
    share = min(max(found, 0.0), 1.0)
    return f'<td class="heat-{int(share * STEPS + 0.5)}{mine}">{words.signs(hundredths(share))}</td>'


def hundredths(share: float) -> str:
    """A rate in two decimals; 0 and 1 only where they are exact."""
    if share in {0.0, 1.0}:
        return f"{share:.0f}"
    return "&lt;0.01" if share < 0.005 else "&gt;0.99" if share >= 0.995 else f"{share:.2f}"
