"""Show results and progress in a terminal. Numbers are rounded; ``--json`` prints them in full."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from anoncup.cli.output import make_console

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.rules.model import Rules

_ProgressCallback = Callable[[int, int, str], None]
_SCORE_LABELS = {"utility": "utility loss", "security": "risk", "overall": "overall"}


@contextmanager
def progress_bar(title: str) -> Iterator[_ProgressCallback]:
    """Show a progress bar on standard error, if that is a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TimeElapsedColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(title, total=None)
        yield lambda step, total, name: bar.update(
            task, completed=step, total=total or None, description=f"{title}: {name}"
        )


def show_verdict(verdict: schemas.Verdict, warnings: Iterable[schemas.Notice]) -> None:
    console = make_console()
    show_decision(console, verdict.verdict, verdict.violations, warnings)
    console.print(_build_measures_table(verdict))
    show_attackers(console, verdict.attackers)
    for name, label in _SCORE_LABELS.items():
        console.print(f"{label:>12}  {format_number(getattr(verdict, name))}  (0 is best)")


def show_formula_score(rules: Rules, score_json: Mapping[str, float | None]) -> None:
    """Print the value of the formula that ranks, if ``score_json`` has it."""
    if "score" not in score_json:
        return
    from anoncup.competition.ranking_formulas import find_defence_formula

    best = "highest" if rules.ranking.order == "descending" else "lowest"
    note = "needs the releases of the other teams" if score_json["score"] is None else f"the {best} is best"
    function = rules.ranking.function
    rule = f"function {function}" if function else f"formula {find_defence_formula(rules).text}"
    line = f"{'score':>12}  {format_number(score_json['score'])}  (by the {rule}: {note})"
    make_console().print(line, soft_wrap=True)


def show_decision(
    console: Console, decision: str, violations: Iterable[schemas.Notice], warnings: Iterable[schemas.Notice]
) -> None:
    console.print(decision, style="green" if decision == "accepted" else "red")
    for notices, style in ((violations, "red"), (warnings, "yellow")):
        for notice in notices:
            console.print(f"  {notice.code}: {notice.message}", style=style, soft_wrap=True)


def _build_measures_table(verdict: schemas.Verdict) -> Table:
    table, excessive = make_table("measure", "value"), verdict.excessive
    for name, entry in verdict.measures.items():
        table.add_row(name, format_number(entry.value))
    if excessive is not None:
        table.add_row(f"mean {excessive.distance} distance", format_number(excessive.mean))
        table.add_row("  largest", format_number(excessive.max))
        table.add_row("  threshold", format_number(excessive.threshold))
    return table


def show_attackers(console: Console, attackers: Mapping[str, schemas.AttackerVerdict]) -> None:
    """Print the rates with their 95 % intervals, then notes and details.

    A rate that is an expectation has a standard deviation instead of an interval.
    """
    table = make_table("attacker", "rate", "found", "95 % or ±", "at random")
    for name, entry in attackers.items():
        hits = "–" if entry.trials is None else f"{format_number(entry.correct)}/{entry.trials}"
        table.add_row(name, f"{entry.rate:.4f}", hits, _format_spread(entry), f"{entry.baseline:.2g}")
    console.print(table)
    for name, entry in attackers.items():
        if entry.note is not None:
            console.print(f"  {name}: {entry.note}", soft_wrap=True)
        if details := _collect_details(entry):
            parts = ", ".join(f"{part} {format_number(number)}" for part, number in details.items())
            console.print(f"  {name}: {parts}", soft_wrap=True)


def _collect_details(entry: schemas.AttackerVerdict) -> dict[str, float]:
    """Return the details of an attack, preceded by its risk if that differs from the rate."""
    risk = {} if entry.risk is None else {"risk": entry.risk}
    return {**risk, **(entry.details or {})}


def _format_spread(entry: schemas.AttackerVerdict) -> str:
    if entry.interval is not None:
        return "–".join(f"{limit:.4f}" for limit in entry.interval)
    return "–" if entry.sd is None else f"± {entry.sd:.4f}"


def make_table(first: str, *number_columns: str) -> Table:
    """Make a table with one column of names and right-aligned columns of numbers."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1))
    table.add_column(first, no_wrap=True)
    for name in number_columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def format_number(number: object) -> str:
    """Format a number with six significant digits."""
    return "–" if number is None else f"{number:.6g}"
