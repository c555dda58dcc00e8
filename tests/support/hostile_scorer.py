"""A scoring child that was taken over: it does what it is told, and one of its measures does it unasked.

It is started as ``workers.scorer`` is, by ``workers.child_manager``, and is in the same sandbox.
"""

import os
import socket
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, cast

from anoncup.plugins import TRACKS
from anoncup.tracks.parts import Measure
from tests.support.forbidden_actions import tried
from workers import scorer
from workers.scorer import Desk


@dataclass(frozen=True, slots=True)
class Deed:
    """What the child is to do, which is sent to it as other work is. ``apart``: in a thread of its own."""

    name: str
    arguments: list[Any] = field(default_factory=list)
    apart: bool = False

    @property
    def longest(self) -> int:
        return 2**24

    @property
    def fetched(self) -> Collection[str]:
        return ()

    def admits(self, content: dict[str, Any]) -> bool:
        return len(content) == 1


def deed(request: dict[str, Any], desk: Desk, _: Any) -> dict[str, Any]:
    if request["name"] == "fetch":
        return {"done": repr(desk.fetch(request["arguments"][0])[:16])}
    return tried(request["name"], request["arguments"], apart=request["apart"])


UNASKED: list[tuple[str, list[Any]]] = [
    ("read", ["/etc/passwd"]),
    ("read", ["/etc/hostname"]),
    ("connect", [socket.AF_INET, socket.SOCK_STREAM, ["127.0.0.1", 9]]),
    ("fork", []),
    ("start_program", ["/bin/true"]),
    ("kill", [os.getppid(), 0]),
]
"""What the hostile measure tries on every release."""


def hostile(compute: Callable[..., float]) -> Callable[..., float]:
    """The same number, and 1 more for everything that was not denied."""

    def computed(*arguments: Any, **parameters: Any) -> float:
        done = sum("done" in tried(name, with_) for name, with_ in UNASKED)
        return compute(*arguments, **parameters) + done

    return computed


def prepare(*, warm: bool) -> None:
    measures = cast(dict[str, Measure], TRACKS["microdata"].measures)
    measures["mean_mae"] = replace(measures["mean_mae"], compute=hostile(measures["mean_mae"].compute))
    scorer.WORK = {**scorer.WORK, "Deed": deed}
    scorer.prepare(warm=warm)


run = scorer.run
