"""The web application."""

from fastapi import FastAPI
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request

from app import logs, queue
from app.api import (
    accounts,
    announcements,
    archives,
    baselines,
    boards,
    competitions,
    events,
    guesses,
    organizing,
    oversight,
    rescores,
    submissions,
    targets,
    teams,
    threshold_reports,
    users,
)
from app.config import get_settings
from app.http import live, problems
from app.http.metrics import Metered, Meters
from app.http.middleware import Envelope
from app.services import health
from app.transaction import transaction
from app.web import pages

API = "/api/v1"
RESOURCES = (
    accounts,
    users,
    competitions,
    organizing,
    teams,
    submissions,
    events,
    targets,
    guesses,
    boards,
    rescores,
    threshold_reports,
    announcements,
    baselines,
    oversight,
    archives,
)


def served_app() -> FastAPI:
    """The application as a process of its own serves it."""
    logs.configure()
    return create_app()


def create_app() -> FastAPI:
    app = FastAPI(
        title="anoncup",
        summary="Anonymization and re-identification contests",
        version="0.1.0",
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API}/openapi.json",
        lifespan=live.closed_on_shutdown,
    )
    app.state.live = live.Live()
    app.add_middleware(Envelope, body_limit_mb=get_settings().body_limit_mb)
    app.state.meters = Meters(prefix=API)
    app.add_middleware(Metered, meters=app.state.meters)
    problems.register(app)
    for resource in RESOURCES:
        app.include_router(resource.router, prefix=API)
    app.include_router(pages.router, include_in_schema=False)
    app.mount("/static", pages.static_files)
    app.add_api_route("/healthz", healthz, tags=["operation"])
    app.add_api_route("/readyz", readyz, tags=["operation"])
    app.add_api_route("/metrics", metrics, tags=["operation"], response_class=PlainTextResponse)
    return app


def healthz() -> dict[str, str]:
    """This process answers."""
    return {"status": "ok"}


def readyz() -> JSONResponse:
    """What an upload needs can be reached: the database; the queue may be away for a while.

    `last_sweep_s`: seconds since the workers last looked for work that was lost; null if they never have.
    """
    with transaction() as session:
        beats = health.heartbeats(session)
    waiting = queue.depth()
    return JSONResponse(
        {
            "status": "ok",
            "database": "ok",
            "queue": "unreachable" if waiting is None else "ok",
            "queue_depth": waiting,
            "last_sweep_s": beats.get(health.SWEEP),
        }
    )


def metrics(request: Request) -> PlainTextResponse:
    """Numbers about requests, work and its regular tasks, in Prometheus' text format."""
    meters: Meters = request.app.state.meters
    return PlainTextResponse(meters.text(), media_type=CONTENT_TYPE_LATEST)
