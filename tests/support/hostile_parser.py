"""A compromised parser that tests start in place of ``workers.parser``.

Tests call its functions through the same pipe as the functions that parse.
"""

import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from anoncup.errors import Conflict, FileProblem, InvalidUpload
from anoncup.messages import Message
from anoncup.rules.settings import Columns
from anoncup.tables.files import Remark
from tests.support import forbidden_actions
from workers import parser

ANSWER_PIPE = 3
"""Descriptor of the pipe for answers."""


@dataclass(frozen=True, slots=True)
class Results:
    """One value of each type that parsers return."""

    content: bytes
    numbers: dict[str, float]
    count: int
    share: float
    remarks: tuple[Remark, ...]
    columns: Columns


run = parser.run


def prepare(*, warm: bool) -> None:
    """Load nothing: these tests parse no tables."""


def try_deed(name: str, arguments: list[Any]) -> dict[str, str]:
    """Try an action of ``forbidden_actions``. Return what was ``done``, or why it was ``denied``."""
    return {key: str(value) for key, value in forbidden_actions.try_action(name, arguments).items()}


def find_words_in_environment(words: list[str]) -> list[str]:
    """Return the sources, environment or command line, that contain one of the words."""
    texts = {
        "os.environ": json.dumps(dict(os.environ)),
        "environ": read_or_nothing("/proc/self/environ"),
        "cmdline": read_or_nothing("/proc/self/cmdline"),
    }
    return [source for source, text in texts.items() if any(word in text for word in words)]


def read_or_nothing(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def take_all_memory() -> int:
    blocks = []
    while True:
        blocks.append(bytearray(1 << 24))


def loop() -> int:
    while True:
        pass


def crash() -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def return_text() -> int:
    """Return a value of another type than annotated."""
    return "text"  # type: ignore[return-value]


def raise_bug() -> int:
    raise ZeroDivisionError("with a secret in its message")


def write_unexpected_line(line: str, content: str, times: int) -> int:
    """Write a line that no parser writes to the parent, and never return."""
    os.write(ANSWER_PIPE, line.encode() + b"\n" + content.encode() * times)
    return loop()


def answer_twice(line: str, content: str) -> int:
    """Answer twice, so that the second answer could be mistaken for that of the next call."""
    os.write(ANSWER_PIPE, line.encode() + b"\n" + content.encode())
    return 2


def fetch(digest: str) -> bytes:
    """Read a file of the store directly."""
    from app.storage import get_store

    return get_store().get(digest)


def refuse(reason: str) -> int:
    """Refuse a file in the ways that parsers do."""
    if reason == "malformed":
        message = Message("row {row} is {{odd}}", row=3)
        raise InvalidUpload([FileProblem("a.csv", 3, "age", "empty", message)], total=7)
    raise Conflict("the columns of this file are fixed", code="fixed")


def make_results() -> Results:
    import numpy as np

    return Results(
        content=bytes(range(256)),
        numbers={"nan": float("nan"), "infinite": float("inf"), "small": 5e-324, "third": 1 / 3},
        count=cast("int", np.int64(3)),
        share=cast("float", np.float64(0.1)),
        remarks=(Remark("code", Message("{n} of {all}", n=1, all=(1, 2))),),
        columns=Columns(("a",), ("b",)),
    )


def print_text(text: str) -> int:
    print(text)  # noqa: T201
    return 1


def return_unwritable() -> int:
    return cast("int", object())


def list_process_ids() -> dict[str, int]:
    return {"pid": os.getpid(), "uid": os.getuid(), "gid": os.getgid()}
