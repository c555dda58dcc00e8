"""A parser that was taken over: it is started as ``workers.parser`` is, and does what the tests ask of it.

Its deeds are functions like those that it parses with, and are called through the same pipe.
"""

import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from anoncup.errors import Conflict, InvalidUpload, Problem
from anoncup.messages import Message
from anoncup.rules.settings import Columns
from anoncup.tables.files import Remark
from tests.support import forbidden_actions
from workers import parser

PIPE = 3
"""The descriptor of its answers."""


@dataclass(frozen=True, slots=True)
class Results:
    """Values of all kinds that parsers return."""

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
    """Do a deed of ``forbidden_actions``. Returns what was ``done``, or why it was ``denied``."""
    return {key: str(value) for key, value in forbidden_actions.tried(name, arguments).items()}


def search_address(words: list[str]) -> list[str]:
    """Return where one of the words stands in what the process knows of itself."""
    texts = {
        "os.environ": json.dumps(dict(os.environ)),
        "environ": read_or_nothing("/proc/self/environ"),
        "cmdline": read_or_nothing("/proc/self/cmdline"),
    }
    return [place for place, text in texts.items() if any(word in text for word in words)]


def read_or_nothing(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def list_descriptors() -> list[str]:
    """Return what the open descriptors are, by number."""
    return [os.readlink(f"/proc/self/fd/{number}") for number in range(256) if is_open(number)]


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def take_all_memory() -> int:
    kept = []
    while True:
        kept.append(bytearray(1 << 24))


def loop() -> int:
    while True:
        pass


def crash() -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def return_text() -> int:
    """Return something else than it says."""
    return "text"  # type: ignore[return-value]


def raise_bug() -> int:
    raise ZeroDivisionError("with a secret in its message")


def say(line: str, content: str, times: int) -> int:
    """Write to the parent what no parser says, and wait."""
    os.write(PIPE, line.encode() + b"\n" + content.encode() * times)
    return loop()


def say_first(line: str, content: str) -> int:
    """Answer twice: the second answer would be that to the next call."""
    os.write(PIPE, line.encode() + b"\n" + content.encode())
    return 2


def fetch(digest: str) -> bytes:
    """Ask for a file of the store."""
    from app.storage import store

    return store().get(digest)


def refuse(kind: str) -> int:
    """Refuse a file in the ways that parsers do."""
    if kind == "malformed":
        message = Message("row {row} is {{odd}}", row=3)
        raise InvalidUpload([Problem("a.csv", 3, "age", "empty", message)], total=7)
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


def speak(text: str) -> int:
    print(text)  # noqa: T201
    return 1


def return_unwritable() -> int:
    return cast("int", object())


def identify() -> dict[str, int]:
    return {"pid": os.getpid(), "uid": os.getuid(), "gid": os.getgid()}
