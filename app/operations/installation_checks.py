"""Checks of an installation of the service. Each says what to do if something is missing."""

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

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
from app.operations.backup.keys import KeyPaths
from app.operations.embedded_servers import find_running_services
from app.operations.local_service import find_configured_services
from app.operations.service_access import check_clock, explain_missing_privilege, use_services
from migrations.run import (
    build_unreachable_error,
    require_all_tables,
    require_newest_revision,
)
from workers import mail_sender

_MIN_FREE_GB, _LOW_FREE_GB = 1.0, 10.0
_MAX_CLOCK_DIFFERENCE_S = 2.0
_MAX_OVERDUE_S = 600.0
"""Events are sent within seconds; a slow receiver delays only its own by up to a minute each."""


class CheckWarning(Exception):
    """The service runs, but lacks something that it may need."""


class CheckProblem(Exception):
    """The service does not run, or not completely."""


def check_installation(data_folder: Path, keys: KeyPaths) -> Iterator[dict[str, str]]:
    """Yield name, status (ok, warning, problem) and detail of each check; last come those of the servers.

    The detail says what was found, and what to do unless the status is ok.
    """
    services = find_configured_services() or find_running_services(data_folder)
    local_checks: dict[str, Callable[[], str]] = {
        "versions": lambda: _check_versions(data_folder),
        "sandbox": _check_sandbox,
        "user": lambda: _check_user(data_folder),
        "disk": lambda: _check_disk(data_folder),
        "address": _check_address,
        "mail": _check_mail,
        "sign-in": _check_sign_in,
        "keys": lambda: _check_keys(keys),
    }
    for name, check in local_checks.items():
        yield _run_check(name, check)
    if services is None:
        detail = "the service does not run: start it with anoncup serve"
        yield {"check": "servers", "status": "problem", "detail": detail}
        return
    use_services(services, data_folder)
    for check in (
        _check_queue,
        _check_workers,
        _check_database,
        _check_deliveries,
        _check_store,
        _check_clock,
    ):
        result = _run_check(check.__name__.removeprefix("_check_"), check)
        yield result
        if check is _check_database and result["status"] == "problem":
            return  # the others need it


def _run_check(name: str, check: Callable[[], str]) -> dict[str, str]:
    try:
        with explain_missing_privilege():
            return {"check": name, "status": "ok", "detail": check()}
    except (CheckWarning, Forbidden) as warning:
        return {"check": name, "status": "warning", "detail": str(warning)}
    except (CheckProblem, DomainError) as error:
        return {"check": name, "status": "problem", "detail": str(error)}


def _check_versions(data_folder: Path) -> str:
    packages = discover_plugins(BUILT_IN, data_folder).packages
    for package in packages:
        failure = package_environments.find_failure(package, find_environments_folder(data_folder))
        if failure:
            raise CheckProblem(f"the package {package.name} cannot be used: {failure}")
    names = ("anoncup", "numpy", "pandas", "numba", "sqlalchemy")
    versions = [f"{name} {version(name)}" for name in names]
    versions += [f"{package.name} {package.version}" for package in packages]
    return f"Python {sys.version.split()[0]}, {', '.join(versions)}"


def _check_sandbox() -> str:
    setting = get_settings().sandbox
    if setting == sandbox.OFF:
        raise CheckWarning("ANONCUP_SANDBOX=off: processes that read uploads are not restricted")
    if sandbox.get_available().is_complete:
        return sandbox.describe(setting)
    if setting == sandbox.REQUIRED and find_configured_services():
        raise CheckProblem(sandbox.explain_missing())
    raise CheckWarning(sandbox.explain_missing())


def _check_user(data_folder: Path) -> str:
    """Warn root, who may read and write every file, so that the other checks say little about the service."""
    if os.geteuid() != 0:
        return "not root"
    if not find_configured_services() and not (data_folder.exists() and data_folder.stat().st_uid):
        return "root, like the service"
    raise CheckWarning("root may read and write all files: run doctor as the user of each process")


def _check_disk(data_folder: Path) -> str:
    """Check the free space for stored files, and that uploads can be received in the data folder."""
    store, folder_of_uploads = get_settings().store, _find_existing(data_folder)
    folder_of_files = _find_existing(Path(store)) if store and "://" not in store else folder_of_uploads
    details = []
    for folder in dict.fromkeys((folder_of_files, folder_of_uploads)):
        free_gb = shutil.disk_usage(folder).free / 1e9
        if free_gb < _MIN_FREE_GB:
            raise CheckProblem(f"only {free_gb:.1f} GB free at {folder}")
        if free_gb < _LOW_FREE_GB:
            raise CheckWarning(f"only {free_gb:.1f} GB free at {folder}")
        details.append(f"{free_gb:.0f} GB free at {folder}")
    if not os.access(folder_of_uploads, os.W_OK):
        raise CheckWarning(f"{data_folder} cannot be written: the web application needs it (ANONCUP_DATA)")
    return ", ".join(details)


def _find_existing(folder: Path) -> Path:
    """Return the folder or the nearest one above it that exists."""
    folder = folder.absolute()
    while not os.path.exists(folder):  # Path raises for a folder that this user cannot see
        folder = folder.parent
    return folder


def _check_address() -> str:
    settings = get_settings()
    if settings.is_local:
        raise CheckWarning(
            f"only this machine reaches {settings.public_url or 'the service'}:"
            " ANONCUP_PUBLIC_URL is the address for others"
        )
    if not settings.public_url.startswith("https:"):
        raise CheckWarning(f"{settings.public_url} is not encrypted: use https")
    return settings.public_url


def _check_mail() -> str:
    server = get_settings().smtp
    if server is None:
        return "no mail server is set"
    with mail_sender.connect(server):
        return f"{server.host} accepts mail from {server.sender_address}"


def _check_sign_in() -> str:
    """Ask each provider for its description, as a sign-in would."""
    names = get_settings().sign_in
    for name in names:
        try:
            asyncio.run(check_provider(name))
        except Unavailable as error:
            raise CheckProblem(f"{name}: {error}") from error
    return ", ".join(names) or "passwords only"


def _check_keys(keys: KeyPaths) -> str:
    private_keys = sealing.list_private_keys(keys.private)
    if keys.public is None or not keys.public.exists():
        if not private_keys:
            raise CheckProblem(
                "there are no keys: make them with anoncup keys create"
                if find_configured_services()
                else "there are no keys: anoncup serve creates them at its first start"
            )
        raise CheckWarning("no public key here: another machine must receive the uploads")
    key_id = sealing.compute_key_id(sealing.read_public_key(keys.public))
    if not private_keys:
        raise CheckWarning("no private key for this user: another user or machine must score")
    if key_id not in private_keys:
        raise CheckProblem(f"the private key {key_id} is not in {keys.private}: restore it from a backup")
    return f"public key {key_id}, {len(private_keys)} private"


def _check_database() -> str:
    """Check the connection, the schema and the difference between the clocks."""
    engine = create_engine(get_settings().database_url, connect_args={"connect_timeout": 5})
    try:
        with engine.connect() as connection:
            server_version = connection.scalar(text("SHOW server_version"))
            now: datetime = connection.scalars(text("SELECT clock_timestamp()")).one()
            difference_s = abs((datetime.now(UTC) - now).total_seconds())
            role = connection.scalar(text("SELECT current_user"))
            revision = require_newest_revision(connection)
            require_all_tables(connection)
    except OperationalError as error:
        raise build_unreachable_error(error) from error
    finally:
        engine.dispose()
    if difference_s > _MAX_CLOCK_DIFFERENCE_S:
        raise CheckProblem(
            f"the clock of the database differs by {difference_s:.1f} s: synchronize both with NTP"
        )
    return f"Postgres {server_version}, schema {revision}, as {role}, clock differs by {difference_s:.2f} s"


def _check_queue() -> str:
    try:
        with Redis(connection_pool=get_pool(get_settings().redis_url)) as client:
            redis_version = client.info("server")["redis_version"]
        queue.check_writable()
    except CONNECTION_ERRORS as error:
        raise CheckProblem(f"Redis cannot be reached: {error}") from error
    except Unavailable as error:
        raise CheckProblem(f"Redis cannot be written: {error.__cause__}") from error
    return f"Redis {redis_version}"


def _check_store() -> str:
    check_store()
    try:
        get_store().check_writable()
    except Unavailable as error:
        raise CheckProblem(f"{error}: {error.__cause__}") from error
    return get_settings().store or "in the data folder"


def _check_deliveries() -> str:
    with transaction() as session:
        counts = health.count_deliveries(session)
    if counts.overdue_s > _MAX_OVERDUE_S:
        cause = "the mail server fails" if get_settings().smtp else "mail waits, but no mail server is set"
        advice = f"unless {cause}, start anoncup deliver"
        raise CheckProblem(f"notifications or mail wait, one for {counts.overdue_s:.0f} s: {advice}")
    return f"notifications and mail waiting: {counts.waiting}"


def _check_clock() -> str:
    check_clock()
    return "runs"


def _check_workers() -> str:
    workers = list_workers()
    if workers is None:
        raise CheckWarning("not known without Redis; workers that run come back with it by themselves")
    for worker in workers:
        if worker.lacks:
            raise CheckProblem(f"{worker.name}: {worker.lacks}")
    if missing := set(QUEUE_BY_KIND) - {kind for worker in workers for kind in worker.serves}:
        raise CheckProblem(f"no worker does {', '.join(sorted(missing))}: start anoncup worker")
    return ", ".join(worker.name for worker in workers)
