"""Show results and progress in a terminal. Numbers are rounded; ``--json`` prints them in full."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from anoncup.cli.output import ColumnSpec, format_cell, make_console, print_table, replace_unprintable

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
    show_decision(verdict.verdict, verdict.violations, warnings)
    _show_measures(verdict)
    show_attackers(verdict.attackers)
    for name, label in _SCORE_LABELS.items():
        print(f"{label:>12}  {format_cell(getattr(verdict, name))}  (0 is best)")


def show_formula_score(rules: Rules, score_json: Mapping[str, float | None]) -> None:
    """Print the value of the formula that ranks, if ``score_json`` has it."""
    if "score" not in score_json:
        return
    from anoncup.competition.ranking_formulas import find_defence_formula

    best = "highest" if rules.ranking.order == "descending" else "lowest"
    note = "needs the releases of the other teams" if score_json["score"] is None else f"the {best} is best"
    function = rules.ranking.function
    rule = f"function {function}" if function else f"formula {find_defence_formula(rules).text}"
    print(f"{'score':>12}  {format_cell(score_json['score'])}  (by the {rule}: {note})")


def show_decision(
    decision: str, violations: Iterable[schemas.Notice], warnings: Iterable[schemas.Notice]
) -> None:
    console = make_console()
    console.print(decision, style="green" if decision == "accepted" else "red")
    for label, notices, style in (("", violations, "red"), ("warning: ", warnings, "yellow")):
        for notice in notices:
            console.print(f"  {label}{notice.code}: {notice.message}", style=style, soft_wrap=True)


def _show_measures(verdict: schemas.Verdict) -> None:
    rows: list[tuple[str, object]] = [(name, entry.value) for name, entry in verdict.measures.items()]
    if (excessive := verdict.excessive) is not None:
        rows += [
            (f"mean {excessive.distance} distance", excessive.mean),
            ("  largest", excessive.max),
            ("  threshold", excessive.threshold),
        ]
    print_table(rows, {"measure": itemgetter(0), "value": itemgetter(1)})


def show_attackers(attackers: Mapping[str, schemas.AttackerVerdict]) -> None:
    """Print the rates with their 95 % intervals, then notes and details.

    A rate that is an expectation has a standard deviation instead of an interval.
    """
    columns: ColumnSpec[tuple[str, schemas.AttackerVerdict]] = {
        "attacker": lambda row: row[0],
        "rate": lambda row: row[1].rate,
        "found": lambda row: None if row[1].trials is None else f"{row[1].correct:.6g}/{row[1].trials}",
        "95 % or ±": lambda row: _format_spread(row[1]),
        "at random": lambda row: row[1].baseline,
    }
    print_table(attackers.items(), columns)
    for name, entry in attackers.items():
        if entry.note is not None:
            print(f"  {name}: {replace_unprintable(entry.note)}")
        # The risk comes first, where it differs from the rate.
        details = {**({} if entry.risk is None else {"risk": entry.risk}), **(entry.details or {})}
        if details:
            parts = ", ".join(f"{part} {format_cell(number)}" for part, number in details.items())
            print(f"  {name}: {parts}")


def _format_spread(entry: schemas.AttackerVerdict) -> str | None:
    if entry.interval is not None:
        return "–".join(f"{limit:.4f}" for limit in entry.interval)
    return None if entry.sd is None else f"± {entry.sd:.4f}"
