"""The web application."""

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request

from anoncup import schemas
from app import logs
from app.api import (
    accounts,
    allocations,
    announcements,
    archives,
    audit_and_health,
    baselines,
    boards,
    clarifications,
    competitions,
    events,
    guesses,
    organizing,
    rehearsals,
    rejudgings,
    submissions,
    targets,
    teams,
    threshold_reports,
    users,
)
from app.api.documentation import document
from app.api.documentation.bodies import raw
from app.api.documentation.responses import STORED, refusing
from app.config import get_settings
from app.db.privileges import warn_of_might
from app.db.transaction import transaction
from app.http import problems, progress_stream
from app.http.admission import Admission
from app.http.board_cache import Boards
from app.http.compression import Compressed
from app.http.metrics import Metered, Meters
from app.http.middleware import Envelope, HeadAsGet
from app.http.multipart import spool_to
from app.http.operators import require_operator
from app.http.readiness import WriteTest
from app.processes import memory
from app.services.jobs import health, queue
from app.services.jobs.store_check import check_store
from app.web import organizer, team, visitor
from app.web.site import pages
from app.web.visitor import reference

API = "/api/v1"
METRICS = "# HELP anoncup_queue_up Whether the queue can be reached.\nanoncup_queue_up 1.0\n"
"""For example."""
RESOURCES = (
    accounts,
    users,
    competitions,
    allocations,
    organizing,
    teams,
    submissions,
    events,
    targets,
    guesses,
    boards,
    rejudgings,
    threshold_reports,
    rehearsals,
    announcements,
    clarifications,
    baselines,
    audit_and_health,
    archives,
)


def served_app() -> FastAPI:
    """The application as a process of its own serves it."""
    logs.configure()
    memory.give_back()
    warn_of_might()
    spool_to(get_settings().data / "incoming")
    return create_app()


def create_app() -> FastAPI:
    app = FastAPI(
        title="anoncup",
        summary="Anonymization and re-identification contests",
        version="0.1.0",
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API}/openapi.json",
        lifespan=progress_stream.closed_on_shutdown,
        generate_unique_id_function=document.operation_name,
    )
    app.state.live = progress_stream.Live()
    app.state.admission = Admission(get_settings())
    app.state.boards = Boards()
    app.add_middleware(Compressed)
    app.add_middleware(Envelope, settings=get_settings())
    app.add_middleware(HeadAsGet)
    app.state.meters = Meters(prefix=API)
    app.state.write_test = WriteTest()
    app.add_middleware(Metered, meters=app.state.meters)
    problems.register(app)
    pages.register(app)
    for resource in RESOURCES:
        app.include_router(resource.router, prefix=API)
    for router in (*visitor.ROUTERS, *team.ROUTERS, *organizer.ROUTERS):
        app.include_router(router, include_in_schema=False)
    app.include_router(reference.router, prefix=API, include_in_schema=False)
    app.mount("/static", pages.static_files)
    app.add_api_route("/healthz", healthz, tags=["operation"])
    app.add_api_route(
        "/readyz",
        readyz,
        tags=["operation"],
        responses=refusing(f"clock_stale storage_unavailable {STORED}"),
    )
    app.add_api_route(
        "/metrics",
        metrics,
        tags=["operation"],
        response_class=PlainTextResponse,
        responses=raw("text/plain", METRICS) | refusing("not_found"),
    )
    document.describe(app)
    return app


async def healthz() -> schemas.Alive:
    """This process answers, without a thread."""
    return schemas.Alive()


def readyz(request: Request) -> schemas.Ready:
    """The database takes changes, the store answers and the clock goes; the queue may be away for a while."""
    with transaction() as session:
        beats = health.heartbeats(session)
    write_test: WriteTest = request.app.state.write_test
    write_test.require()
    clock_s = health.require_clock(beats, stale_after_s=get_settings().clock_stale_s)
    check_store()
    waiting = queue.depth()
    return schemas.Ready(
        queue="unreachable" if waiting is None else "ok",
        queue_depth=waiting,
        last_sweep_s=beats.get(health.SWEEP),
        clock_s=clock_s,
    )


def metrics(request: Request) -> PlainTextResponse:
    """Numbers about requests, work and its regular tasks, in Prometheus' text format; for operators."""
    require_operator(request, get_settings())
    meters: Meters = request.app.state.meters
    return PlainTextResponse(meters.text(), media_type=CONTENT_TYPE_LATEST)
