"""Prometheus metrics. Labels are fixed words such as route templates and states, never input from users."""

import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from sqlalchemy.orm import Session
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anoncup.errors import Unavailable
from app.core.db.models import Evaluation, Guess, State
from app.core.db.transaction import transaction
from app.jobs import health, queue
from app.jobs.fairness import is_in_present_round

log = structlog.get_logger(__name__)

_KNOWN_METHODS = {"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}
_UNMATCHED_ROUTE = "unmatched"
_UNLOGGED_ROUTES = {"/healthz", "/readyz", "/metrics"}
"""Requested every few seconds by monitoring."""
_REPORTED_STATES = (State.QUEUED, State.SCORING, State.ERROR)
"""States an operator can act on. The outcomes of evaluations would reveal secrets, and the number of judged
guesses is hidden as long as their scores are."""
_DURATION_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


class Meters:
    """Counters of the web processes, and the values that are read from the database at each scrape."""

    def __init__(self, *, prefix: str) -> None:
        """Create the metrics. ``prefix`` is the path of the API routes, which are declared without it."""
        self.prefix = prefix
        self.registry = CollectorRegistry()
        is_multiprocess = "PROMETHEUS_MULTIPROC_DIR" in os.environ
        own_registry = None if is_multiprocess else self.registry
        self.requests = Counter(
            "anoncup_http_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=own_registry,
        )
        self.durations = Histogram(
            "anoncup_http_request_seconds",
            "From the first byte of a request to the last of its answer.",
            ("method", "route"),
            buckets=_DURATION_BUCKETS,
            registry=own_registry,
        )
        build_info = Info("anoncup_build", "The version that runs.", registry=self.registry)
        build_info.info({"version": version("anoncup"), "python": platform.python_version()})
        if is_multiprocess:
            MultiProcessCollector(self.registry)  # type: ignore[no-untyped-call]
            self.registry.register(WebProcessCollector())
        else:
            ProcessCollector(registry=self.registry)
        self.registry.register(DatabaseCollector())

    def render(self) -> bytes:
        return generate_latest(self.registry)

    def record_request(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _KNOWN_METHODS else "other"
        route = _get_route_template(scope, self.prefix)
        self.requests.labels(method, route, str(status)).inc()
        self.durations.labels(method, route).observe(seconds)
        if route not in _UNLOGGED_ROUTES:
            # The query is not logged, because it may contain a code. The raw path is plain ASCII.
            path = scope.get("raw_path", b"").decode("ascii", "replace")
            log.info("request", method=method, path=path, status=status, ms=round(1000 * seconds))


def _get_route_template(scope: Scope, prefix: str) -> str:
    """Return the declared path of the matched route; all unmatched paths share one label."""
    route = scope.get("route")
    if route is None:
        return "/static" if scope["path"].startswith("/static/") else _UNMATCHED_ROUTE
    is_under_prefix = scope["path"].startswith(f"{prefix}/") and not route.path.startswith(prefix)
    return f"{prefix}{route.path}" if is_under_prefix else str(route.path)


class MetricsMiddleware:
    """Counts, times and logs every request. Only the handler of unexpected errors (500) is outside of it."""

    def __init__(self, app: ASGIApp, *, meters: Meters) -> None:
        self.app = app
        self.meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, started_at = 500, time.perf_counter()

        async def send_and_record_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_record_status)
        finally:
            self.meters.record_request(scope, status, time.perf_counter() - started_at)


def _is_web_process(pid: str) -> bool:
    """Return whether a child of the web server's parent serves requests, unlike its resource tracker."""
    with suppress(OSError):  # it has ended
        return b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


class WebProcessCollector(Collector):
    """Collects the resource usage of all web processes, which are the children of this process's parent."""

    def collect(self) -> Iterator[Metric]:
        parent_pid = os.getppid()
        children = Path(f"/proc/{parent_pid}/task/{parent_pid}/children").read_text().split()
        pids = [pid for pid in children if _is_web_process(pid)]
        families: dict[str, Metric] = {}
        for pid in pids:
            for metric in ProcessCollector(pid=partial(str, pid), registry=None).collect():
                (sample,) = metric.samples
                family = families.setdefault(
                    metric.name, Metric(metric.name, metric.documentation, metric.type)
                )
                family.add_sample(sample.name, {"pid": pid}, sample.value)
        yield from families.values()


class DatabaseCollector(Collector):
    """Collects values from the database and the queue at each scrape, omitting those that are unavailable."""

    def describe(self) -> Iterable[Metric]:
        """Return no metrics, so that registration does not need a database."""
        return ()

    def collect(self) -> Iterator[Metric]:
        depth = queue.count_messages()
        yield _build_gauge("queue_up", "Whether the queue can be reached.", depth is not None)
        if depth is not None:
            yield _build_gauge("queue_depth", "Messages that wait in the queue.", depth)
        try:
            with transaction() as session:
                metrics = list(_collect_from_database(session))
        except Unavailable:
            metrics = []
        yield _build_gauge("database_up", "Whether the database can be reached.", bool(metrics))
        yield from metrics


def _collect_from_database(session: Session) -> Iterator[Metric]:
    for name, kind in (("evaluations", Evaluation), ("guesses", Guess)):
        counts = health.count_by_state(session, kind, is_in_present_round(kind))
        text = f"{name.capitalize()} that are not done, by state."
        yield _build_gauge(name, text, {state: counts[state] for state in _REPORTED_STATES}, label="state")
    text = "How long the evaluation that has waited longest has waited."
    yield _build_gauge("oldest_queued_seconds", text, health.measure_oldest_queued(session))
    waiting, overdue_s = health.count_deliveries(session)
    yield _build_gauge("deliveries_waiting", "Notifications and mail that wait to be sent.", waiting)
    text = "For how long the event that is longest overdue should have been sent."
    yield _build_gauge("deliveries_overdue_seconds", text, overdue_s)
    ages = health.load_heartbeat_ages(session)
    yield _build_gauge(
        "heartbeat_age_seconds", "Since a regular task last ran to its end.", ages, label="task"
    )


def _build_gauge(
    name: str, documentation: str, value: float | Mapping[str, float], *, label: str = ""
) -> Metric:
    """Return a gauge with one value, or with one for each value of ``label``."""
    family = GaugeMetricFamily(f"anoncup_{name}", documentation, labels=[label] if label else [])
    for label_value, number in value.items() if isinstance(value, Mapping) else [("", value)]:
        family.add_metric([label_value] if label else [], number)
    return family
