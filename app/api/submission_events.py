"""The live progress of a submission, as server-sent events."""

from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event

from anoncup import schemas
from app.db.transaction import transaction
from app.http import progress_stream
from app.http.authentication import CurrentPrincipal
from app.http.progress_stream import Subscriber
from app.services.accounts.principal import Principal
from app.services.submissions import progress
from app.services.submissions.progress import EvaluationProgress, Follower

router = APIRouter(tags=["submissions"])

_PING_INTERVAL_S = 15.0
_RETRY_MS = 3000
"""Time after which a browser reconnects if the connection breaks."""


async def _subscribe(
    request: Request, submission_id: UUID, principal: CurrentPrincipal
) -> AsyncIterator[Subscriber]:
    """Yield a subscriber that exists until the response ends."""
    current = await run_in_threadpool(_load_current_progress, principal, submission_id)
    follower = Follower(principal.token_id, submission_id)
    with request.app.state.progress_hub.subscribe(principal.user_id, follower, current) as subscriber:
        yield subscriber


def _load_current_progress(principal: Principal, submission_id: UUID) -> EvaluationProgress:
    with transaction() as session:
        return progress.load_progress(session, principal, submission_id)


@router.get(
    "/submissions/{submission_id}/events",
    response_class=Response,
    responses={200: {"content": {"text/event-stream": {"schema": {}}}}, 204: {}},
)
async def follow_submission(
    subscriber: Annotated[Subscriber, Depends(_subscribe)],
    last_event_id: Annotated[
        str | None, Header(description="id of the last event that the client received")
    ] = None,
) -> Response:
    """Follow the scoring live. The data of each event are `{id, status, step, steps, …}`.

    A comment is sent every 15 seconds. A stream that ends without `done` was interrupted: connect again.
    """
    if subscriber.latest.has_ended and last_event_id == _build_event_id(subscriber.latest):
        return Response(status_code=204)  # without it, a browser reconnects forever
    return EventSourceResponse(_iter_events(subscriber), headers={"X-Accel-Buffering": "no"})


async def _iter_events(subscriber: Subscriber) -> AsyncIterator[bytes]:
    yield format_sse_event(retry=_RETRY_MS)
    async for update in progress_stream.stream_progress(subscriber, ping_every_s=_PING_INTERVAL_S):
        yield KEEPALIVE_COMMENT if update is None else _format_event(update)


def _format_event(update: EvaluationProgress) -> bytes:
    body = schemas.Progress.from_row(update, id=update.submission_id, status=update.state)
    name = "done" if update.has_ended else "progress"
    return format_sse_event(data_str=body.model_dump_json(), event=name, id=_build_event_id(update))


def _build_event_id(update: EvaluationProgress) -> str:
    """Return an id that is unique for each state of each evaluation."""
    return f"{update.evaluation_id}.{update.attempt}.{update.step}.{update.state}"
