"""Results as people read them in a terminal; every number in full is in --json."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.evaluation.fingerprint import Resemblance
    from anoncup.evaluation.reidentified import Fallen, Shared

Announce = Callable[[int, int, str], None]
LINE_EVERY_S = 10.0
MOST_SHARED = 10
PARTS = {"utility": "utility loss", "security": "risk", "overall": "overall"}


def console() -> Console:
    return Console(markup=False, emoji=False)  # column names are text, "[/x]" and ":x:" too


@contextmanager
def progress_bar(title: str) -> Iterator[Announce]:
    """A bar on the terminal's error channel, gone when done; without a terminal, a line now and then."""
    errors = Console(stderr=True)
    if not errors.is_terminal:
        with progress_lines(title) as announce:
            yield announce
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=errors, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda step, of, name: bar.update(
            task, completed=step, total=of or None, description=f"{title}: {name}"
        )


@contextmanager
def progress_lines(title: str) -> Iterator[Announce]:
    """How far it is, every LINE_EVERY_S, whether or not a step has ended; what is quick says nothing."""
    latest, begun, over = [title], time.monotonic(), threading.Event()

    def announce(step: int, of: int, name: str) -> None:
        latest[0] = f"{title}: {name}" + (f", {step} of {of}" if of else "")

    def tell() -> None:
        with suppress(OSError):  # nobody reads it any more
            while not over.wait(LINE_EVERY_S):
                print(f"{latest[0]} ({time.monotonic() - begun:.0f} s)", file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield announce
    finally:
        over.set()
        teller.join()


def show_verdict(found: schemas.Verdict, warnings: Iterable[schemas.Said]) -> None:
    out = console()
    show_decision(out, found.verdict, found.violations, warnings)
    out.print(measures_table(found))
    show_attackers(out, found.attackers)
    for name, said in PARTS.items():
        out.print(f"{said:>12}  {digits(getattr(found, name))}  (0 is best)")


def show_decision(
    out: Console, decision: str, violations: Iterable[schemas.Said], warnings: Iterable[schemas.Said]
) -> None:
    out.print(decision, style="green" if decision == "accepted" else "red")
    for notes, style in ((violations, "red"), (warnings, "yellow")):
        for note in notes:
            out.print(f"  {note.code}: {note.message}", style=style, soft_wrap=True)


def measures_table(found: schemas.Verdict) -> Table:
    table, excessive = numbered("measure", "value"), found.excessive
    for name, entry in found.measures.items():
        table.add_row(name, digits(entry.value))
    if excessive is not None:
        table.add_row(f"mean {excessive.distance} distance", digits(excessive.mean))
        table.add_row("  largest", digits(excessive.max))
        table.add_row("  threshold", digits(excessive.threshold))
    return table


def show_attackers(out: Console, attackers: Mapping[str, schemas.Attacked]) -> None:
    """Rates with 95 % intervals or, of expectations, deviations; below them what an attacker says."""
    table = numbered("attacker", "rate", "found", "95 % or ±", "at random")
    for name, entry in attackers.items():
        found = "–" if entry.trials is None else f"{digits(entry.correct)}/{entry.trials}"
        table.add_row(name, f"{entry.rate:.4f}", found, spread(entry), f"{entry.baseline:.2g}")
    out.print(table)
    for name, entry in attackers.items():
        if entry.note is not None:
            out.print(f"  {name}: {entry.note}", soft_wrap=True)
        if more := beyond_rate(entry):
            parts = ", ".join(f"{part} {digits(number)}" for part, number in more.items())
            out.print(f"  {name}: {parts}", soft_wrap=True)


def beyond_rate(entry: schemas.Attacked) -> dict[str, float]:
    """What else is known of an attack: its risk, where that is not its rate, and its details."""
    risk = {} if entry.risk is None else {"risk": entry.risk}
    return {**risk, **(entry.details or {})}


def spread(entry: schemas.Attacked) -> str:
    if entry.interval is not None:
        return "–".join(f"{bound:.4f}" for bound in entry.interval)
    return "–" if entry.sd is None else f"± {entry.sd:.4f}"


def show_fingerprint(alike: Sequence[Resemblance]) -> None:
    """The closest patterns of methods, and the evidence for the closest."""
    if not alike:
        return
    out, patterns = console(), numbered("resembles", "evidence that fits")
    for each in alike:
        fitting = sum(entry.changed == entry.expected_to_change for entry in each.evidence)
        patterns.add_row(" + ".join(each.methods) or "untouched", f"{fitting} of {len(each.evidence)}")
    out.print(patterns)
    table = numbered("evidence", "untouched", "here", "changed", "by these methods")
    for entry in alike[0].evidence:
        said = ("yes" if each else "no" for each in (entry.changed, entry.expected_to_change))
        table.add_row(entry.name, digits(entry.before), digits(entry.after), *said)
    out.print(table)


def show_fallen(found: Fallen | None, what: Sequence[Shared]) -> None:
    """How many fell, and the values that they have more often than all."""
    if found is None:
        return
    out, fell, of = console(), int(found.fell.sum()), int(found.there.sum())
    out.print(f"{fell} of {of} individuals are found by an attacker that counts", style="bold")
    times = numbered("found by", "individuals")
    for number, count in found.counts.items():
        times.add_row(f"{number} attackers", str(count))
    out.print(times)
    if not what:
        return
    out.print(f"by {what[0].finds_of / of:.2f} attackers on average; more often those with")
    table = numbered("value", "individuals", "fell", "found by", "times")
    for one in what[:MOST_SHARED]:
        name = one.column or "people alike in all"
        mean, lift = f"{one.finds / one.there:.2f}", f"{one.lift:.2f}"
        table.add_row(f"{name}: {one.value}", str(one.there), str(one.fell), mean, lift)
    out.print(table)


def numbered(first: str, *others: str) -> Table:
    """A table of names with numbers, which are aligned at their ends."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1))
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right")
    return table


def digits(number: object) -> str:
    """Six significant digits."""
    return "–" if number is None else f"{number:.6g}"
