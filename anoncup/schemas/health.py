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
    serves: Annotated[list[str], Field(description="kinds of its jobs"), example(["scores", "guesses"])]
    lacks: Annotated[
        str | None,
        Field(description="reason why it accepts no jobs, for administrators; null if nothing is missing"),
        example(None),
    ]


class Queue(Form):
    """The background jobs of a competition, and the state of the queue and the workers."""

    waiting: Annotated[
        dict[str, int],
        Field(description="number of jobs that have not begun, by kind"),
        example({"evaluations": 2}),
    ]
    scoring: Annotated[
        dict[str, int],
        Field(description="number of jobs that are running, by kind"),
        example({"evaluations": 1}),
    ]
    oldest_waiting_s: Annotated[
        float | None,
        Field(description="seconds since the oldest waiting job was queued; null if none waits"),
        example(1.5),
    ]
    broker_depth: Annotated[
        int | None,
        Field(description="number of messages of the whole service; null if the queue cannot be reached"),
        example(0),
    ]
    last_sweep_s: _LastSweep
    workers: Annotated[
        list[Worker] | None,
        Field(description="workers of the whole service; null if the queue cannot be reached"),
    ]


class Alive(Form):
    """This process answers."""

    status: str = "ok"


class Ready(Alive):
    """Database, store and queue accept changes, and the clock runs."""

    database: str = "ok"
    queue: str = "ok"
    queue_depth: Annotated[int | None, Field(description="number of waiting messages"), example(0)]
    last_sweep_s: _LastSweep
    clock_s: Annotated[float, Field(description="seconds since the last cycle of the clock"), example(0.6)]
