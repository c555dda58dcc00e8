"""Schemas of the health checks, the queue and the workers."""

from typing import Annotated

from pydantic import Field

from anoncup.schemas.fields import Form, example

_LastSweep = Annotated[
    float | None,
    Field(description="seconds since lost work was last looked for; null: never"),
    example(4.2),
]


class Worker(Form):
    """A worker that has answered within half a second."""

    name: Annotated[str, example("celery-4711@scorer-1")]
    serves: Annotated[list[str], Field(description="kinds of work"), example(["scores", "guesses"])]
    lacks: Annotated[
        str | None,
        Field(description="why it takes no work, for administrators; null: it lacks nothing"),
        example(None),
    ]


class Queue(Form):
    """The background work of a competition, and whether the service looks after it."""

    waiting: Annotated[
        dict[str, int], Field(description="not begun, by kind of work"), example({"evaluations": 2})
    ]
    scoring: Annotated[
        dict[str, int], Field(description="under way, by kind of work"), example({"evaluations": 1})
    ]
    oldest_waiting_s: Annotated[float | None, Field(description="seconds; null: nothing waits"), example(1.5)]
    broker_depth: Annotated[
        int | None,
        Field(description="messages of the whole service; null: the queue cannot be reached"),
        example(0),
    ]
    last_sweep_s: _LastSweep
    workers: Annotated[
        list[Worker] | None,
        Field(description="of the whole service; null: the queue cannot be reached"),
    ]


class Alive(Form):
    """This process answers."""

    status: str = "ok"


class Ready(Alive):
    """What an upload needs can be reached, and phases turn."""

    database: str = "ok"
    queue: Annotated[str, Field(description="`unreachable` for a while: nothing is lost"), example("ok")]
    queue_depth: Annotated[int | None, Field(description="messages that wait"), example(0)]
    last_sweep_s: _LastSweep
    clock_s: Annotated[float, Field(description="seconds since the clock last went round"), example(0.6)]
