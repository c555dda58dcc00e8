"""Results as people read them in a terminal; every number in full is in --json."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

if TYPE_CHECKING:
    from app.scoring.fingerprint import Resemblance

Announce = Callable[[int, int, str], None]
LINE_EVERY_S = 10.0
PARTS = ("utility", "security", "overall")


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


def show_verdict(content: Any) -> None:
    out = console()
    show_decision(out, content)
    out.print(measures_table(content))
    show_attackers(out, content["attackers"])
    for name in PARTS:
        out.print(f"{name:>10}  {digits(content[name])}  (0 is best)")


def show_decision(out: Console, content: Any) -> None:
    out.print(f"{content['verdict']}", style="green" if content["verdict"] == "accepted" else "red")
    for note in content["violations"]:
        out.print(f"  {note['code']}: {note['message']}", style="red", soft_wrap=True)
    for note in content["warnings"]:
        out.print(f"  {note['code']}: {note['message']}", style="yellow", soft_wrap=True)


def measures_table(content: Any) -> Table:
    table = numbered("measure", "value")
    for name, entry in content["measures"].items():
        table.add_row(name, digits(entry["value"]))
    excessive = content["excessive"]
    table.add_row(f"mean {excessive['distance']} distance", digits(excessive["mean"]))
    table.add_row("  largest", digits(excessive["max"]))
    table.add_row("  threshold", digits(excessive["threshold"]))
    return table


def show_attackers(out: Console, attackers: Any) -> None:
    """Rates with 95 % intervals or, of expectations, deviations; below them what an attacker says."""
    table = numbered("attacker", "rate", "found", "95 % or ±", "at random")
    for name, entry in attackers.items():
        found = f"{digits(entry['correct'])}/{entry['trials']}"
        table.add_row(name, f"{entry['rate']:.4f}", found, spread(entry), f"{entry['baseline']:.2g}")
    out.print(table)
    for name, entry in attackers.items():
        if "note" in entry:
            out.print(f"  {name}: {entry['note']}", soft_wrap=True)


def spread(entry: Any) -> str:
    if "interval" in entry:
        return "–".join(f"{bound:.4f}" for bound in entry["interval"])
    return f"± {entry['sd']:.4f}"


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
