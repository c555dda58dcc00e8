"""Numbers for Prometheus. Labels are words of ours, as route templates and states; never what a user sent."""

import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anoncup.errors import Unavailable
from app.db.models import State
from app.db.transaction import transaction
from app.services.jobs import health, queue
from app.services.jobs.health import Work

log = structlog.get_logger(__name__)

METHODS = {"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}
UNMATCHED = "unmatched"
UNLOGGED = {"/healthz", "/readyz", "/metrics"}
"""Asked every few seconds by machines."""
TOLD = (State.QUEUED, State.SCORING, State.ERROR)
"""What an operator can do something about. How what was scored ended is an answer about secrets, and how many
guesses were judged is hidden as long as their scores are."""
SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


class Meters:
    """The counters of the web processes, and what is read from the database when they are asked for."""

    def __init__(self, *, prefix: str) -> None:
        """``prefix``: of the routes that are declared without it."""
        self.prefix = prefix
        self.registry = CollectorRegistry()
        shared = "PROMETHEUS_MULTIPROC_DIR" in os.environ
        own = None if shared else self.registry
        self.requests = Counter(
            "anoncup_http_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=own,
        )
        self.seconds = Histogram(
            "anoncup_http_request_seconds",
            "From the first byte of a request to the last of its answer.",
            ("method", "route"),
            buckets=SECONDS,
            registry=own,
        )
        build = Info("anoncup_build", "The version that runs.", registry=self.registry)
        build.info({"version": version("anoncup"), "python": platform.python_version()})
        if shared:
            MultiProcessCollector(self.registry)  # type: ignore[no-untyped-call]
            self.registry.register(Processes())
        else:
            ProcessCollector(registry=self.registry)
        self.registry.register(Stored())

    def text(self) -> bytes:
        return generate_latest(self.registry)

    def note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "other"
        route = template_of(scope, self.prefix)
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)
        if route not in UNLOGGED:
            # Without the query, for it may carry a code; as it was sent, so it is plain ASCII.
            path = scope.get("raw_path", b"").decode("ascii", "replace")
            log.info("request", method=method, path=path, status=status, ms=round(1000 * seconds))


def template_of(scope: Scope, prefix: str) -> str:
    """The route that answered, as it was declared: a path that nobody declared has one label for all."""
    route = scope.get("route")
    if route is None:
        return "/static" if scope["path"].startswith("/static/") else UNMATCHED
    inside = scope["path"].startswith(f"{prefix}/") and not route.path.startswith(prefix)
    return f"{prefix}{route.path}" if inside else str(route.path)


class Metered:
    """Counts, times and logs every request. The outermost layer but that which answers 500."""

    def __init__(self, app: ASGIApp, *, meters: Meters) -> None:
        self.app = app
        self.meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, started = 500, time.perf_counter()

        async def noticing(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noticing)
        finally:
            self.meters.note(scope, status, time.perf_counter() - started)


class Processes(Collector):
    """What each web process takes: this one, and those that its parent has beside it."""

    def collect(self) -> Iterator[Metric]:
        parent = os.getppid()
        pids = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        found: dict[str, Metric] = {}
        for pid in pids:
            for measured in ProcessCollector(pid=partial(str, pid), registry=None).collect():
                (sample,) = measured.samples
                family = found.setdefault(
                    measured.name, Metric(measured.name, measured.documentation, measured.type)
                )
                family.add_sample(sample.name, {"pid": pid}, sample.value)
        yield from found.values()


class Stored(Collector):
    """What only the database and the queue know, read at each scrape; a part that is away is left out."""

    def describe(self) -> Iterable[Metric]:
        """Nothing in advance: a new application must not need a database."""
        return ()

    def collect(self) -> Iterator[Metric]:
        waiting = queue.depth()
        yield gauge("anoncup_queue_up", "Whether the queue can be reached.", float(waiting is not None))
        if waiting is not None:
            yield gauge("anoncup_queue_depth", "Messages that wait in the queue.", waiting)
        try:
            with transaction() as session:
                work, beats = health.work(session), health.heartbeats(session)
        except Unavailable:
            yield gauge("anoncup_database_up", "Whether the database can be reached.", 0)
            return
        yield gauge("anoncup_database_up", "Whether the database can be reached.", 1)
        yield from of_work(work)
        yield labelled(
            "anoncup_heartbeat_age_seconds", "Since a regular task last ran to its end.", "task", beats
        )


def of_work(work: Work) -> Iterator[Metric]:
    for name, counted in (("evaluations", work.evaluations), ("guesses", work.guesses)):
        states = {state.value: float(counted[state]) for state in TOLD}
        yield labelled(
            f"anoncup_{name}", f"{name.capitalize()} that are not done, by state.", "state", states
        )
    yield gauge(
        "anoncup_oldest_queued_seconds",
        "How long the evaluation that has waited longest has waited.",
        work.oldest_queued_s,
    )


def gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(name, meaning, value=value)


def labelled(name: str, meaning: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=[label])
    for word, value in values.items():
        family.add_metric([word], value)
    return family
