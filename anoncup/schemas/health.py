"""Schemas of the health checks, the queue and the workers."""

from typing import Annotated

from pydantic import Field

from anoncup.schemas.fields import Form, example

_LastSweep = Annotated[
    float | None,
    Field(description="seconds since the last search for lost jobs; null if there was none"),
    example(4.2),
]


class Worker(Form):
    """A worker that has answered within half a second."""

    name: Annotated[str, example("celery-4711@scorer-1")]
    serves: Annotated[list[str], example(["scores", "guesses"])]
    """kinds of its jobs"""
    lacks: Annotated[str | None, example(None)]
    """reason why it accepts no jobs, for administrators; null if nothing is missing"""


class Queue(Form):
    """The background jobs of a competition, and the state of the queue and the workers."""

    waiting: Annotated[dict[str, int], example({"evaluations": 2})]
    """number of jobs that have not begun, by kind"""
    scoring: Annotated[dict[str, int], example({"evaluations": 1})]
    """number of jobs that are running, by kind"""
    oldest_waiting_s: Annotated[float | None, example(1.5)]
    """seconds since the oldest waiting job was queued; null if none waits"""
    broker_depth: Annotated[int | None, example(0)]
    """number of messages of the whole service; null if the queue cannot be reached"""
    last_sweep_s: _LastSweep
    workers: list[Worker] | None
    """workers of the whole service; null if the queue cannot be reached"""


class Alive(Form):
    """This process answers."""

    status: str = "ok"


class Ready(Alive):
    """Database, store and queue accept changes, and the clock runs."""

    database: str = "ok"
    queue: str = "ok"
    queue_depth: Annotated[int | None, example(0)]
    """number of waiting messages"""
    last_sweep_s: _LastSweep
    clock_s: Annotated[float, example(0.6)]
    """seconds since the last cycle of the clock"""
