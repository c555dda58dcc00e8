"""Jobs of a compromised child, which runs the actions that tests send."""

import itertools
import json
import os
import signal
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

from anoncup.errors import Conflict, FileProblem, InvalidUpload
from anoncup.lazy import lazy_in
from anoncup.messages import Message, PluralMessage
from anoncup.rules.settings import Columns
from anoncup.runner.answers import ProgressSender
from anoncup.runner.jobs import Job, ScoreJob
from anoncup.runner.protocol import FINISHED
from anoncup.tables.files import Remark
from tests.support import forbidden_actions
from tests.support.forbidden_actions import try_action

_here = lazy_in(__name__)


class Deed(Job[dict[str, str]]):
    """A job that makes the child try an action; with ``in_thread`` it does so in a thread of its own."""

    handler = _here("run_deed")
    max_result_bytes = 1 << 24

    competition_file: str = ""
    name: str
    arguments: tuple[Any, ...] = ()
    in_thread: bool = False

    def check_result(self, result: dict[str, str]) -> None:
        if len(result) != 1:
            raise ValueError("neither done nor denied")


class SingleAction(Deed):
    is_single: ClassVar[bool] = True


def run_deed(deed: Deed, progress: ProgressSender) -> dict[str, Any]:
    if deed.name == "report":
        progress(1, 2, "measure")
        threading.Event().wait()
    return try_action(deed.name, list(deed.arguments), in_thread=deed.in_thread)


class Lie(Job[int]):
    """A job that writes a step and an answer as told, and says then that it has finished.

    With ``hangs_up``, it closes its socket to the template before.
    """

    handler = _here("tell_lie")

    competition_file: str = ""
    progress: bytes = b""
    progress_times: int = 1
    answer: bytes = b""
    answer_times: int = 1
    hangs_up: bool = False


def tell_lie(lie: Lie, progress: ProgressSender) -> int:
    assert progress.descriptor is not None
    for _ in range(lie.progress_times):
        _write_all(progress.descriptor, lie.progress)
    for _ in range(lie.answer_times):
        _write_all(progress.descriptor + 2, lie.answer)
    if lie.hangs_up:
        os.closerange(3, progress.descriptor)
    os.write(progress.descriptor, FINISHED)
    threading.Event().wait()
    return 0


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        try:
            content = content[os.write(descriptor, content) :]
        except BlockingIOError:
            continue


@dataclass(frozen=True, slots=True)
class Results:
    """One value of each type that jobs return."""

    content: bytes
    numbers: dict[str, float]
    count: int
    share: float
    remarks: tuple[Remark, ...]
    columns: Columns


class MakeResults(Job[Results]):
    handler = _here("make_results")
    competition_file: str = ""


def make_results(*_: object) -> Results:
    import numpy as np

    return Results(
        content=bytes(range(256)),
        numbers={"nan": float("nan"), "infinite": float("inf"), "small": 5e-324, "third": 1 / 3},
        count=cast("int", np.int64(3)),
        share=cast("float", np.float64(0.1)),
        remarks=(Remark("code", PluralMessage("{n} of {all}", "{n} in {all}", "n", n=1, all=(1, 2))),),
        columns=Columns(("a",), ("b",)),
    )


class Refuse(Job[int]):
    """A job that refuses a file in the ways that jobs do, or fails."""

    handler = _here("refuse")
    competition_file: str = ""
    reason: str


def refuse(job: Refuse, _: ProgressSender) -> int:
    if job.reason == "malformed":
        message = Message("row {row} is {{odd}}", row=3)
        raise InvalidUpload([FileProblem("a.csv", 3, "age", "empty", message)], total=7)
    if job.reason == "fixed":
        raise Conflict("the columns of this file are fixed", code="fixed")
    if job.reason == "unwritable":
        return cast("int", object())
    if job.reason == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    raise ZeroDivisionError(f"with a {job.reason} in its message")


class Identify(Job[dict[str, int]]):
    handler = _here("list_process_ids")
    competition_file: str = ""


def list_process_ids(*_: object) -> dict[str, int]:
    return {"pid": os.getpid(), "uid": os.getuid(), "gid": os.getgid(), "parent": os.getppid()}


class FindWords(Job[list[str]]):
    """A job that returns the sources, environment or command line, that contain one of the words."""

    handler = _here("find_words")
    competition_file: str = ""
    words: list[str]


def find_words(job: FindWords, _: ProgressSender) -> list[str]:
    texts = {
        "os.environ": json.dumps(dict(os.environ)),
        "environ": read_or_nothing("/proc/self/environ"),
        "cmdline": read_or_nothing("/proc/self/cmdline"),
    }
    return [source for source, text in texts.items() if any(word in text for word in job.words)]


def read_or_nothing(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


class CrashingScoreJob(ScoreJob):
    """A job that ends its process."""

    handler = _here("crash")


class GreedyScoreJob(ScoreJob):
    """A job that takes all memory it gets."""

    handler = _here("take_memory")


class TakeThreads(Job[int]):
    """Start threads until that fails, and leave them to the next job; return how many there are."""

    handler = _here("take_threads")

    competition_file: str = ""


class TakeMoreThreads(TakeThreads):
    """A job of another kind, which has a child of its own."""


def take_threads(*_: object) -> int:
    never = threading.Event()
    for count in itertools.count():
        try:
            threading.Thread(target=never.wait, daemon=True).start()
        except RuntimeError:
            return count
    raise AssertionError


class LyingScoreJob(ScoreJob):
    """A job with a result of another type."""

    handler = _here("return_a_number")


def return_a_number(*_: object) -> int:
    return 1


def take_memory(*_: object) -> None:
    forbidden_actions.take_memory()


def crash(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
