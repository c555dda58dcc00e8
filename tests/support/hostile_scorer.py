"""A compromised scoring child: it runs the actions that tests send, and one of its measures tries others.

``workers.scoring_child`` starts it in place of ``workers.scorer``, in the same sandbox.
"""

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from anoncup.plugins import TRACKS
from anoncup.tracks.parts import AnyMeasure
from tests.support.forbidden_actions import try_action
from workers import scorer
from workers.jobs import Job
from workers.scorer import JobContext


@dataclass(frozen=True, slots=True)
class Deed(Job):
    """A job that makes the child try an action; ``apart`` runs it in a thread of its own."""

    max_answer_bytes = 2**24
    name: str
    arguments: list[Any] = field(default_factory=list)
    apart: bool = False

    def is_valid_answer(self, content: dict[str, Any]) -> bool:
        return len(content) == 1


def run_deed(deed: Deed, context: JobContext, _: Any) -> dict[str, Any]:
    if deed.name == "fetch":
        return {"done": repr(context.fetch(deed.arguments[0])[:16])}
    return try_action(deed.name, deed.arguments, in_thread=deed.apart)


MEASURE_ACTIONS: list[tuple[str, list[Any]]] = [
    ("read", ["/etc/passwd"]),
    ("read", ["/etc/hostname"]),
    ("connect", [socket.AF_INET, socket.SOCK_STREAM, ["127.0.0.1", 9]]),
    ("fork", []),
    ("start_program", ["/bin/true"]),
    ("kill", [os.getppid(), 0]),
]
"""Actions that the hostile measure tries on every release."""


def make_measure_hostile(compute: Callable[..., float]) -> Callable[..., float]:
    """Return the measure with 1 added for every action that was not denied."""

    def compute_with_actions(*arguments: Any, **parameters: Any) -> float:
        successes = sum(
            "done" in try_action(name, action_arguments) for name, action_arguments in MEASURE_ACTIONS
        )
        return compute(*arguments, **parameters) + successes

    return compute_with_actions


def prepare(*, warm: bool) -> None:
    measures = cast(dict[str, AnyMeasure], TRACKS["microdata"].measures)
    measures["mean_mae"] = replace(
        measures["mean_mae"], compute=make_measure_hostile(measures["mean_mae"].compute)
    )
    scorer.HANDLERS = {**scorer.HANDLERS, Deed: run_deed}
    scorer.prepare(warm=warm)


run = scorer.run
