"""Live progress of a submission as server-sent events."""

from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event

from anoncup import schemas
from anoncup.schemas.fields import ID
from app.api.documentation.bodies import example_as, raw
from app.api.documentation.responses import refusing
from app.db.transaction import transaction
from app.http import progress_stream
from app.http.authentication import SignedIn
from app.http.progress_stream import Watcher
from app.services.accounts.accounts import Principal
from app.services.submissions import progress
from app.services.submissions.progress import Follower, Progress

router = APIRouter(tags=["submissions"])

PING_EVERY_S = 15.0
RETRY_MS = 3000
"""How long a browser waits before it connects again after a break."""
BEGUN = example_as(schemas.Progress).model_copy(update={"queue_position": None})
EXAMPLE = format_sse_event(retry=RETRY_MS) + format_sse_event(
    data_str=BEGUN.model_dump_json(), event="progress", id=f"{ID}.1.5.SCORING"
)


async def watcher(request: Request, submission_id: UUID, principal: SignedIn) -> AsyncIterator[Watcher]:
    """A watcher that lives as long as the answer is sent."""
    present = await run_in_threadpool(look_once, principal, submission_id)
    follower = Follower(principal.token_id, submission_id)
    with request.app.state.live.watching(principal.user_id, follower, present) as made:
        yield made


def look_once(principal: Principal, submission_id: UUID) -> Progress:
    with transaction() as session:
        return progress.visible(session, principal, submission_id)


@router.get(
    "/submissions/{submission_id}/events",
    response_class=Response,
    responses=raw(
        "text/event-stream",
        EXAMPLE.decode(),
        said="`progress` now and at every change, `done` with the last state, then the end",
    )
    | {204: {"description": "the client has heard the last state already"}}
    | refusing("too_many_streams"),
)
async def follow_submission(
    watcher: Annotated[Watcher, Depends(watcher)],
    last_event_id: Annotated[str | None, Header(description="of the last event that was heard")] = None,
) -> Response:
    """Follow the scoring live. The data of each event are `{id, status, step, steps, …}`.

    A comment comes every 15 seconds. A stream that ends without `done` was broken off: connect again.
    """
    if watcher.latest.ended and last_event_id == mark(watcher.latest):
        return Response(status_code=204)  # a browser connects for ever until it hears this
    return EventSourceResponse(events(watcher), headers={"X-Accel-Buffering": "no"})


async def events(watcher: Watcher) -> AsyncIterator[bytes]:
    yield format_sse_event(retry=RETRY_MS)
    async for found in progress_stream.told(watcher, ping_every_s=PING_EVERY_S):
        yield KEEPALIVE_COMMENT if found is None else event(found)


def event(found: Progress) -> bytes:
    body = schemas.Progress(
        id=found.submission_id,
        status=found.state,
        step=found.step,
        steps=found.steps,
        step_name=found.step_name,
        attempt=found.attempt,
        queue_position=found.queue_position,
    )
    name = "done" if found.ended else "progress"
    return format_sse_event(data_str=body.model_dump_json(), event=name, id=mark(found))


def mark(found: Progress) -> str:
    """Tells one state of one evaluation from the others."""
    return f"{found.evaluation_id}.{found.attempt}.{found.step}.{found.state}"
