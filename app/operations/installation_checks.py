"""Checks of an installation of the service. Each says what to do if something is missing."""

import asyncio
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal, TypeVar

from redis import Redis
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from anoncup.environments import find_environments_folder
from anoncup.errors import DomainError, Forbidden, Unavailable
from anoncup.plugins import BUILT_IN, discover_plugins
from anoncup.runner import sandbox
from app.accounts.sign_in_providers import check_provider
from app.config import get_settings
from app.core import sealing
from app.core.db.transaction import transaction
from app.core.http.redis_client import CONNECTION_ERRORS, get_pool
from app.core.storage import get_store
from app.core.worker_queues import QUEUE_BY_KIND
from app.jobs import health, queue
from app.jobs.readiness import check_store
from app.jobs.worker_reports import list_workers
from app.operations import package_environments
from app.operations.embedded_servers import EmbeddedServices
from app.operations.local_service import find_configured_services
from app.operations.service_access import check_clock, explain_missing_privilege, use_services
from migrations.run import build_unreachable_error, find_newest_revision, require_known_revision
from workers import mail_sender

SubjectT = TypeVar("SubjectT")
_MIN_FREE_GB, _LOW_FREE_GB = 1.0, 10.0
_MAX_CLOCK_DIFFERENCE_S = 2.0
_MAX_OVERDUE_S = 600.0
"""Events are sent within seconds; a slow receiver delays only its own by up to a minute each."""


class CheckWarning(Exception):
    """The service runs, but lacks something that it may need."""


class CheckProblem(Exception):
    """The service does not run, or not completely."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """``detail`` says what was found, and what to do unless ``status`` is ok."""

    check: str
    status: Literal["ok", "warning", "problem"]
    detail: str


@dataclass(frozen=True, slots=True)
class InstallationPaths:
    data_folder: Path
    public_key_file: Path
    private_key_folder: Path


def check_installation(paths: InstallationPaths, services: EmbeddedServices | None) -> Iterator[CheckResult]:
    """Run the checks in order, those of servers only if they can be reached.

    ``services`` is None if no server is named and those of the data folder do not run.
    """
    yield from _run_checks(_LOCAL_CHECKS, paths)
    if services is None:
        yield CheckResult("servers", "problem", "the service does not run: start it with anoncup serve")
        return
    use_services(services, paths.data_folder)
    for result in _run_checks(_SERVER_CHECKS, services):
        yield result
        if result.check == "database" and result.status == "problem":
            return


def _run_checks(checks: Mapping[str, Callable[[SubjectT], str]], subject: SubjectT) -> Iterator[CheckResult]:
    for name, check in checks.items():
        try:
            with explain_missing_privilege():
                yield CheckResult(name, "ok", check(subject))
        except (CheckWarning, Forbidden) as warning:
            yield CheckResult(name, "warning", str(warning))
        except (CheckProblem, DomainError) as error:
            yield CheckResult(name, "problem", str(error))


def _check_versions(paths: InstallationPaths) -> str:
    packages = discover_plugins(BUILT_IN, paths.data_folder).packages
    for package in packages:
        failure = package_environments.find_failure(package, find_environments_folder(paths.data_folder))
        if failure:
            raise CheckProblem(f"the package {package.name} cannot be used: {failure}")
    names = ("anoncup", "numpy", "pandas", "numba", "sqlalchemy")
    versions = [f"{name} {version(name)}" for name in names]
    versions += [f"{package.name} {package.version}" for package in packages]
    return f"Python {sys.version.split()[0]}, {', '.join(versions)}"


def _check_sandbox(_: InstallationPaths) -> str:
    setting = get_settings().sandbox
    if setting == sandbox.OFF:
        raise CheckWarning("ANONCUP_SANDBOX=off: processes that read uploads are not restricted")
    if sandbox.get_available().is_complete:
        return sandbox.describe(setting)
    if setting == sandbox.REQUIRED and find_configured_services():
        raise CheckProblem(sandbox.explain_missing())
    raise CheckWarning(sandbox.explain_missing())


def _check_disk(paths: InstallationPaths) -> str:
    folder = paths.data_folder.resolve()
    while not folder.exists():
        folder = folder.parent
    free_gb = shutil.disk_usage(folder).free / 1e9
    if free_gb < _MIN_FREE_GB:
        raise CheckProblem(f"only {free_gb:.1f} GB free at {folder}")
    if free_gb < _LOW_FREE_GB:
        raise CheckWarning(f"only {free_gb:.1f} GB free at {folder}")
    return f"{free_gb:.0f} GB free at {folder}"


def _check_address(_: InstallationPaths) -> str:
    settings = get_settings()
    if settings.is_local:
        raise CheckWarning("only this machine can use the service: set ANONCUP_PUBLIC_URL for others")
    if not settings.public_url.startswith("https:"):
        raise CheckWarning(f"{settings.public_url} is not encrypted: use https")
    return settings.public_url


def _check_mail(_: InstallationPaths) -> str:
    server = get_settings().smtp
    if server is None:
        return "no mail server is set"
    with mail_sender.connect(server):
        return f"{server.host} accepts mail from {server.sender_address}"


def _check_sign_in(_: InstallationPaths) -> str:
    """Ask each provider for its description, as a sign-in would."""
    names = get_settings().sign_in
    for name in names:
        try:
            asyncio.run(check_provider(name))
        except Unavailable as error:
            raise CheckProblem(f"{name}: {error}") from error
    return ", ".join(names) or "passwords only"


def _check_keys(paths: InstallationPaths) -> str:
    private_keys = sealing.list_private_keys(paths.private_key_folder)
    if not paths.public_key_file.exists():
        if not private_keys:
            raise CheckProblem("there are no keys: anoncup serve creates them at its first start")
        raise CheckWarning("no public key here: another machine must receive the uploads")
    key_id = sealing.compute_key_id(sealing.read_public_key(paths.public_key_file))
    if not private_keys:
        raise CheckWarning("no private key here: another machine must score the releases")
    if key_id not in private_keys:
        raise CheckProblem(
            f"the private key {key_id} is not in {paths.private_key_folder}: restore it from a backup"
        )
    return f"public key {key_id}, {len(private_keys)} private"


def _check_database(services: EmbeddedServices) -> str:
    """Check the connection, the schema and the difference between the clocks."""
    engine = create_engine(services.database_url, connect_args={"connect_timeout": 5})
    try:
        with engine.connect() as connection:
            server_version = connection.scalar(text("SHOW server_version"))
            now: datetime = connection.scalars(text("SELECT clock_timestamp()")).one()
            difference_s = abs((datetime.now(UTC) - now).total_seconds())
            revision = require_known_revision(connection)
    except OperationalError as error:
        raise build_unreachable_error(error) from error
    finally:
        engine.dispose()
    if revision != find_newest_revision():
        raise CheckProblem(f"the schema is of revision {revision}: run anoncup migrate")
    if difference_s > _MAX_CLOCK_DIFFERENCE_S:
        raise CheckProblem(
            f"the clock of the database differs by {difference_s:.1f} s: synchronize both with NTP"
        )
    return f"Postgres {server_version}, schema {revision}, clock differs by {difference_s:.2f} s"


def _check_queue(services: EmbeddedServices) -> str:
    try:
        with Redis(connection_pool=get_pool(services.redis_url)) as client:
            redis_version = client.info("server")["redis_version"]
        queue.check_writable()
    except CONNECTION_ERRORS as error:
        raise CheckProblem(f"Redis cannot be reached: {error}") from error
    except Unavailable as error:
        raise CheckProblem(f"Redis cannot be written: {error.__cause__}") from error
    return f"Redis {redis_version}"


def _check_store(_: EmbeddedServices) -> str:
    check_store()
    try:
        get_store().check_writable()
    except Unavailable as error:
        raise CheckProblem(f"{error}: {error.__cause__}") from error
    return get_settings().store or "in the data folder"


def _check_deliveries(_: EmbeddedServices) -> str:
    with transaction() as session:
        counts = health.count_deliveries(session)
    if counts.overdue_s > _MAX_OVERDUE_S:
        cause = "the mail server fails" if get_settings().smtp else "mail waits, but no mail server is set"
        advice = f"unless {cause}, start anoncup deliver"
        raise CheckProblem(f"notifications or mail wait, one for {counts.overdue_s:.0f} s: {advice}")
    return f"notifications and mail waiting: {counts.waiting}"


def _check_clock(_: EmbeddedServices) -> str:
    check_clock()
    return "runs"


def _check_workers(_: EmbeddedServices) -> str:
    workers = list_workers() or []
    for worker in workers:
        if worker.lacks:
            raise CheckProblem(f"{worker.name}: {worker.lacks}")
    if missing := set(QUEUE_BY_KIND) - {kind for worker in workers for kind in worker.serves}:
        raise CheckProblem(f"no worker does {', '.join(sorted(missing))}: start anoncup worker")
    return ", ".join(worker.name for worker in workers)


_LOCAL_CHECKS: Mapping[str, Callable[[InstallationPaths], str]] = {
    "versions": _check_versions,
    "sandbox": _check_sandbox,
    "disk": _check_disk,
    "address": _check_address,
    "mail": _check_mail,
    "sign-in": _check_sign_in,
    "keys": _check_keys,
}
_SERVER_CHECKS: Mapping[str, Callable[[EmbeddedServices], str]] = {
    "queue": _check_queue,
    "workers": _check_workers,
    "database": _check_database,
    "deliveries": _check_deliveries,
    "store": _check_store,
    "clock": _check_clock,
}
"""Those after ``database`` need it."""
