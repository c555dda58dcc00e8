"""How the service is, and what waits in it."""

from typing import Annotated

from pydantic import Field

from app.wire.form import Form

LastSweep = Annotated[
    float | None, Field(description="seconds since lost work was last looked for; null: never")
]


class Queue(Form):
    """The background work of a competition, and whether the service looks after it."""

    waiting: Annotated[dict[str, int], Field(description="not begun, by kind of work")]
    scoring: Annotated[dict[str, int], Field(description="under way, by kind of work")]
    oldest_waiting_s: Annotated[float | None, Field(description="seconds; null: nothing waits")]
    broker_depth: Annotated[
        int | None, Field(description="messages of the whole service; null: the queue cannot be reached")
    ]
    last_sweep_s: LastSweep


class Alive(Form):
    """This process answers."""

    status: str = "ok"


class Ready(Alive):
    """What an upload needs can be reached, and phases turn."""

    database: str = "ok"
    queue: Annotated[str, Field(description="`unreachable` for a while: nothing is lost")]
    queue_depth: Annotated[int | None, Field(description="messages that wait")]
    last_sweep_s: LastSweep
    clock_s: Annotated[float, Field(description="seconds since the clock last went round")]
