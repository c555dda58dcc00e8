"""Play a contest while everything breaks, then look whether anything is lost.

usage: python -m tests.faults [--seed N] [--faults 200] [--s3] [--keep]
"""

import argparse
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from random import Random

import numpy as np
import psutil

from app.cli.service_access import use
from app.db import engine
from tests.faults import boards, oracles, stage
from tests.faults.calls import Caller, Calls
from tests.faults.canaries import Canaries
from tests.faults.ground import Ground, ground
from tests.faults.injuries import Injury, NothingThere, Undo, kinds
from tests.faults.laws import laws
from tests.faults.ledger import Ledger
from tests.faults.people import Play, Reader

BETWEEN_S = (0.3, 5.0)
LOOK_EVERY_S = 0.2
BREATHE_EVERY = 8
"""After so many faults the service must come back by itself, before the next."""
SETTLES_WITHIN_S = 600.0
TURNS_BROKEN_OFF = 6


@dataclass
class Happened:
    """The faults of a run as they came."""

    begun: float = field(default_factory=time.monotonic)
    lines: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    undos: list[tuple[float, str, Undo]] = field(default_factory=list)

    def note(self, line: str) -> None:
        self.lines.append(f"{time.monotonic() - self.begun:7.1f} s  {line}")

    def undo(self, *, all_of_them: bool = False) -> None:
        """What is due to be undone."""
        now = time.monotonic()
        for due in sorted(self.undos, key=lambda one: one[0]):
            if all_of_them or due[0] <= now:
                self.undos.remove(due)
                due[2]()
                self.note(f"over: {due[1]}")


def injure(ground: Ground, random: Random, happened: Happened, known: tuple[Injury, ...]) -> None:
    """One fault; what is not there to be hurt is drawn again."""
    while True:
        (injury,) = random.choices(known, [each.weight for each in known])
        try:
            said, undo = injury.do(ground, random)
        except NothingThere:
            ground.keep()
            time.sleep(0.05)
            continue
        happened.kinds[injury.name] += 1
        happened.note(said)
        if undo is not None:
            happened.undos.append((time.monotonic() + random.uniform(*injury.lasts_s), said, undo))
        return


def wait(ground: Ground, happened: Happened, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        happened.undo()
        ground.keep()
        break_off_a_turn(ground, happened)
        time.sleep(LOOK_EVERY_S)


def break_off_a_turn(ground: Ground, happened: Happened) -> None:
    """What writes targets and opens secrets runs for a moment only: it is waited for, and killed at once."""
    name = "kill -9 turning child"
    for child in ground.processes().get("turning child", []):
        if happened.kinds[name] < TURNS_BROKEN_OFF:
            with suppress(psutil.NoSuchProcess):
                child.kill()
                happened.kinds[name] += 1
                happened.note(f"SIGKILL turning child {child.pid}")


def breathe(ground: Ground, happened: Happened) -> None:
    """Wait until everything is undone and the service has come back by itself."""
    while happened.undos:
        wait(ground, happened, 0.1)
    began = time.monotonic()
    ground.wait_until_ready()
    happened.note(f"ready again after {time.monotonic() - began:.1f} s")


def break_everything(ground: Ground, play: Play, happened: Happened, *, faults: int) -> None:
    random, known = Random(f"{play.seed} faults"), kinds()
    while (number := happened.kinds.total()) < faults:
        if play.failed:
            raise RuntimeError("; ".join(play.failed))
        injure(ground, random, happened, known)
        play.share = (number + 1) / faults
        if (number + 1) % BREATHE_EVERY == 0:
            breathe(ground, happened)
            print(f"{number + 1} faults; {happened.lines[-1].strip()}", flush=True)
        wait(ground, happened, random.uniform(*BETWEEN_S))
    breathe(ground, happened)


def settle(ground: Ground, play: Play, happened: Happened, ledgers: list[Ledger]) -> None:
    """The people go on until the first competition is revealed; then they go home, and all work ends."""
    engine.get_engine().dispose()  # its connections are to servers that were killed
    deadline = time.monotonic() + SETTLES_WITHIN_S
    while oracles.row_of(ledgers[0].slug).revealed_at is None:
        wait(ground, happened, 1.0)
        if play.failed or time.monotonic() > deadline:
            raise TimeoutError(f"{ledgers[0].slug} was never revealed; {play.failed}")
    play.over.set()
    for thread in play.threads:
        thread.join(SETTLES_WITHIN_S)
    all_ended(ground, happened, ledgers)


def all_ended(ground: Ground, happened: Happened, ledgers: list[Ledger]) -> None:
    deadline = time.monotonic() + SETTLES_WITHIN_S
    while not all(oracles.is_settled(ledger.slug) for ledger in ledgers):
        wait(ground, happened, 0.5)
        if time.monotonic() > deadline:
            raise TimeoutError("work is left that nobody does")


def look(ground: Ground, play: Play, happened: Happened, ledgers: list[Ledger]) -> Iterator[str]:
    """Every law, one after the other."""
    yield from play.failed
    with ExitStack() as open_ones:
        people: list[dict[str, Caller]] = []
        for ledger in ledgers:
            tokens = boards.audiences(ledger)
            made = {who: play.calls.caller(Random(0), token) for who, token in tokens.items()}
            for each in made.values():
                open_ones.enter_context(closing(each))
            people.append(made)
            yield from oracles.asked_again(ledger, made)
        all_ended(ground, happened, ledgers)
        kept = []
        for ledger, callers in zip(ledgers, people, strict=True):
            closes = ledger.slug == stage.PLANS[0].slug
            yield from laws(ledger, callers, closes=closes)
            kept.append(boards.bytes_of(ledger, callers))
        yield from play.calls.wrong
        yield from again_from_nothing(ground, ledgers, people, kept)


def again_from_nothing(
    ground: Ground,
    ledgers: list[Ledger],
    people: list[dict[str, Caller]],
    before: list[dict[tuple[str, str], bytes]],
) -> Iterator[str]:
    """A service that has just started knows nothing by heart, and shows the same bytes."""
    engine.get_engine().dispose()
    status = ground.stop()
    if status != 0:
        yield f"the service ended with {status} on SIGTERM"
    yield from ground.leavings()
    ground.keep()
    ground.wait_until_ready()
    use(ground.services(), ground.data)
    for ledger, callers, known in zip(ledgers, people, before, strict=True):
        after = boards.bytes_of(ledger, callers)
        yield from (
            f"{ledger.slug}: {each} has other bytes after a restart"
            for each in known
            if known[each] != after[each]
        )


def told_in_files(ground: Ground, canaries: Canaries) -> Iterator[str]:
    """No log, no file of the service but the private keys holds what must stay secret."""
    for path in (*ground.logs.rglob("*"), *ground.data.rglob("*"), *ground.store.rglob("*")):
        if path.is_file() and "private" not in path.parts:
            content = path.read_bytes()
            found = canaries.seen_in(content)
            if found is not None:
                yield f"{path} holds {found}"


def figures(
    play: Play, happened: Happened, ground: Ground, ledgers: list[Ledger], readers: list[Reader]
) -> str:
    uploads = [each for ledger in ledgers for each in ledger.uploads]
    taken = {
        kind: sum(each.kind == kind and each.receipt is not None for each in uploads)
        for kind in ("release", "guess")
    }
    answers = ", ".join(f"{count} × {status}" for status, count in sorted(play.calls.answers.items()))
    errors = [f"{one}: {why}" for ledger in ledgers for one, (_, why) in ledger.errors.items()]
    lines = [
        f"seed {play.seed}, {happened.kinds.total()} faults, {time.monotonic() - happened.begun:.0f} s",
        f"releases: {taken['release']} taken in; guesses: {taken['guess']}; "
        f"{sum(each.refusal is not None for each in uploads)} uploads refused",
        f"answers: {answers}; {play.calls.lost} tries without one; "
        f"{sum(each.reads for each in readers)} reads",
        f"retried under their key: {sum(each.lost + each.put_off > 0 for each in uploads)} uploads",
        f"starts by hand: {dict(ground.starts)}",
        f"killed at every attempt, and so in ERROR: {len(errors)}",
        *(f"  {each}" for each in errors),
        *(f"  {count:4}  {name}" for name, count in happened.kinds.most_common()),
    ]
    return "\n".join(lines)


def play_it(seed: int, faults: int, *, s3: bool, keep_folder: bool) -> list[str]:
    """A whole contest; the sentences that are not true afterwards."""
    happened = Happened()
    with ground(s3=s3, keep_folder=keep_folder) as place:
        print(f"seed {seed}; {place.folder}", flush=True)
        place.keep()
        place.wait_until_ready()
        use(place.services(), place.data)
        calls = Calls(place.url, Canaries())
        valid = max(6, faults // 8)
        ledgers = [stage.opened(place, calls, plan, valid=valid) for plan in stage.PLANS]
        play = Play(seed, calls)
        happened.begun = time.monotonic()
        readers = stage.begin(play, ledgers)
        wrong: list[str] = []
        try:
            break_everything(place, play, happened, faults=faults)
            settle(place, play, happened, ledgers)
            wrong += look(place, play, happened, ledgers)
            wrong += lifted_and_told(place, play, ledgers)
        except Exception as problem:
            wrong.append(f"{type(problem).__name__}: {problem}")
            wrong += play.failed
            traceback.print_exc()
            print("\n".join(place.running()), flush=True)
        finally:
            play.over.set()
            happened.undo(all_of_them=True)
            engine.get_engine().dispose()
        print(figures(play, happened, place, ledgers, readers), flush=True)
        if wrong:
            print("\n".join(["the faults:", *happened.lines]), flush=True)
    return wrong


def lifted_and_told(place: Ground, play: Play, ledgers: list[Ledger]) -> Iterator[str]:
    """What was revealed may be read; all else may not."""
    for ledger in ledgers:
        if oracles.row_of(ledger.slug).revealed_at is not None:
            targets = oracles.targets_of(ledger.slug)
            revealed: list[np.ndarray] = [each.rows for each in ledger.taken("release") if each.id in targets]
            play.calls.canaries.lift(revealed)
    engine.get_engine().dispose()
    place.stop()
    yield from told_in_files(place, play.calls.canaries)


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.faults")
    asked.add_argument("--seed", type=int, default=int(time.time()) % 100_000)
    asked.add_argument("--faults", type=int, default=200)
    asked.add_argument("--s3", action="store_true", help="files lie on an S3 server, which breaks too")
    asked.add_argument("--keep", action="store_true", help="leave the folder behind")
    given = asked.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    wrong = play_it(given.seed, given.faults, s3=given.s3, keep_folder=given.keep)
    for each in wrong:
        print(f"WRONG: {each[:2000]}", flush=True)
    print(f"seed {given.seed}: {'all laws hold' if not wrong else f'{len(wrong)} are broken'}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
