"""The web application."""

import multiprocessing
import secrets
import signal
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from importlib import import_module

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.types import Lifespan

from anoncup import schemas
from anoncup.runner import allocator
from app.accounts.sign_in_providers import FLOW_COOKIE, FLOW_LIFETIME_S
from app.config import get_settings
from app.core import logs, wheels
from app.core.db.privileges import warn_if_overprivileged
from app.core.db.transaction import transaction
from app.core.features import Feature
from app.core.http import problems
from app.core.http.admission import Admission
from app.core.http.bodies import set_spool_folder
from app.core.http.body_limits import BodyLimitMiddleware
from app.core.http.middleware import (
    CancelledRequestMiddleware,
    HeadAsGetMiddleware,
    OwnHostMiddleware,
    SafeGzipMiddleware,
    SecurityHeadersMiddleware,
)
from app.core.http.openapi import DESCRIPTION, PROBLEM, DocumentedApp
from app.core.http.operators import require_operator
from app.core.pages import pages
from app.core.processes import child_process, package_calls, parsing, runners
from app.documentation import documentation_pages as documentation
from app.documentation import reference_pages as reference
from app.jobs import health, queue
from app.jobs.metrics import Meters, MetricsMiddleware
from app.jobs.readiness import WriteTest, check_store, write_to_database, write_to_store

_API_PREFIX = "/api/v1"
_FEATURES = (
    "overview",
    "setup",
    "accounts",
    "teams",
    "competitions",
    "originals",
    "organizing",
    "submissions",
    "targets",
    "boards",
    "rescoring",
    "announcements",
    "clarifications",
    "exports",
)
"""Folders whose module ``feature`` says what they add, in the order of the organizers' menu."""


def create_served_app() -> FastAPI:
    """Configure this process and return its application; called by uvicorn."""
    parent = multiprocessing.parent_process()
    if parent is not None and parent.pid is not None:  # uvicorn's parent process may be killed
        child_process.end_with_parent(parent.pid, signal.SIGTERM)
    settings = get_settings()
    logs.configure()
    allocator.return_freed_memory()
    warn_if_overprivileged()
    runners.announce_sandbox(settings.sandbox)
    set_spool_folder(settings.data / "incoming")
    parsing.enable(settings)
    package_calls.enable()
    wheels.pack_library()  # the code that this process runs, whatever happens to its files
    application = create_app(lifespan=end_parsers_on_shutdown)
    allocator.keep_from_collector()
    return application


@asynccontextmanager
async def end_parsers_on_shutdown(_: FastAPI) -> AsyncIterator[None]:
    try:
        yield
    finally:
        runners.end_all()


def create_app(*, lifespan: Lifespan[FastAPI] | None = None) -> FastAPI:
    features: tuple[Feature, ...] = tuple(import_module(f"app.{name}.feature").FEATURE for name in _FEATURES)
    app = DocumentedApp(
        title="anoncup",
        summary="Anonymization and re-identification contests",
        description=DESCRIPTION,
        version="0.1.0",
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{_API_PREFIX}/openapi.json",
        lifespan=lifespan,
        openapi_tags=_describe_sections(features),
        servers=[{"url": get_settings().public_url or "/"}],
        responses=PROBLEM,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.features = features
    app.state.admission, app.state.package_admission = Admission(get_settings()), Admission(get_settings())
    app.add_middleware(CancelledRequestMiddleware)
    app.add_middleware(SafeGzipMiddleware, minimum_size=1024, compresslevel=5)
    is_https_only = get_settings().requires_https("localhost")
    app.add_middleware(
        SessionMiddleware,
        secret_key=get_settings().cookie_key or secrets.token_urlsafe(32),
        session_cookie=f"__Host-{FLOW_COOKIE}" if is_https_only else FLOW_COOKIE,
        max_age=FLOW_LIFETIME_S,
        https_only=is_https_only,
    )
    app.add_middleware(BodyLimitMiddleware, settings=get_settings())
    app.add_middleware(SecurityHeadersMiddleware, settings=get_settings())
    app.add_middleware(OwnHostMiddleware, settings=get_settings())
    app.add_middleware(HeadAsGetMiddleware)
    app.state.meters = Meters(prefix=_API_PREFIX)
    app.state.database_test = WriteTest(write_to_database)
    app.state.store_test = WriteTest(write_to_store)
    app.add_middleware(MetricsMiddleware, meters=app.state.meters)
    problems.register_handlers(app)
    pages.register_error_pages(app)
    # First, because routes are tried in order; a style sheet would be compared with all others.
    app.mount("/static", pages.static_files)
    app.mount("/docs", documentation.files)
    for feature in features:
        for router in feature.api:
            app.include_router(router, prefix=_API_PREFIX)
        for router in feature.pages:
            app.include_router(router, include_in_schema=False)
    app.include_router(reference.router, prefix=_API_PREFIX, include_in_schema=False)
    app.add_api_route("/downloads/{digest}/{file}", wheels.download_wheel, include_in_schema=False)
    app.add_api_route("/healthz", healthz, tags=["operation"])
    app.add_api_route("/readyz", readyz, tags=["operation"])
    app.add_api_route("/metrics", metrics, tags=["operation"], response_class=PlainTextResponse)
    return app


def _describe_sections(features: Iterable[Feature]) -> list[dict[str, str]]:
    """Return the sections of the API's reference, each with the routes of its tag."""
    tags = {name: text for feature in features for name, text in feature.tags.items()}
    tags["operation"] = "For the operators of the service."
    return [{"name": name, "description": text} for name, text in tags.items()]


async def healthz() -> schemas.Alive:
    """Report that this process answers, even if all its threads are busy."""
    return schemas.Alive()


def readyz(request: Request) -> schemas.Ready:
    """Check that database, store and queue accept changes, and that the clock runs."""
    with transaction() as session:
        heartbeat_ages = health.load_heartbeat_ages(session)
    database_test: WriteTest = request.app.state.database_test
    store_test: WriteTest = request.app.state.store_test
    database_test.require()
    clock_s = health.require_running_clock(heartbeat_ages, stale_after_s=get_settings().clock_stale_s)
    check_store()
    store_test.require()
    queue.check_writable()
    return schemas.Ready(
        queue_depth=queue.count_messages(),
        last_sweep_s=heartbeat_ages.get(health.SWEEP_TASK),
        clock_s=clock_s,
    )


def metrics(request: Request) -> PlainTextResponse:
    """Return metrics of requests, jobs and regular tasks in the text format of Prometheus."""
    require_operator(request, get_settings())
    meters: Meters = request.app.state.meters
    return PlainTextResponse(meters.render(), media_type=CONTENT_TYPE_LATEST)
