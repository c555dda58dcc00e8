"""The dashboard, the audit log, and the pages of health and exports for organizers."""

from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from anoncup.competition.required_packages import find_package_change
from anoncup.messages import Message
from anoncup.plugins import INSTALLED, Package, find_installed_version
from anoncup.runner import sandbox
from anoncup.schemas.fields import Role
from app.competitions.organizer_frame import RequestedOrganizerPage
from app.config import get_settings
from app.core import audit
from app.core.db.transaction import transaction
from app.core.http.paging import decode_number, encode_cursor
from app.core.pages.pages import PageRoute
from app.jobs import health, queue
from app.jobs.worker_reports import WorkerReport, list_workers
from app.organizing import dashboard, workload

router = APIRouter(route_class=PageRoute)

PAGE_SIZE = 50
_LATEST_ENTRIES = 6
"""Entries of the audit log on the dashboard."""


@dataclass(frozen=True, slots=True)
class PackageStatus:
    """A package that the service has read. ``version`` is installed now; ``change`` says if that differs."""

    package: Package
    version: str | None
    change: Message | None


@router.get("/competitions/{slug}/organize")
def show_dashboard(page: RequestedOrganizerPage) -> HTMLResponse:
    with transaction() as session:
        frame = page.load_frame(session)
        counts = dashboard.count_contents(session, frame.round)
        load = workload.measure(session, frame.round.id)
        entries = audit.list_entries(session, frame.round.competition_id, cursor=None, limit=_LATEST_ENTRIES)
    without_workers = dashboard.lacks_workers(load)  # asks them, for which no connection is held
    with transaction() as session:
        duties = dashboard.list_tasks(
            session, frame, counts, load, page.features, without_workers=without_workers
        )
    return page.render(
        "organizing/dashboard.html", frame=frame, counts=counts, load=load, duties=duties, entries=entries
    )


@router.get("/competitions/{slug}/organize/audit")
def show_audit_log(page: RequestedOrganizerPage, *, cursor: str | None = None) -> HTMLResponse:
    before_number = decode_number(cursor)
    with transaction() as session:
        frame = page.load_frame(session)
        entries = audit.list_entries(
            session, frame.round.competition_id, cursor=before_number, limit=PAGE_SIZE + 1
        )
    following = encode_cursor(entries[PAGE_SIZE - 1].number) if len(entries) > PAGE_SIZE else None
    return page.render(
        "organizing/audit.html", frame=frame, entries=entries[:PAGE_SIZE], following=following, cursor=cursor
    )


@router.get("/competitions/{slug}/organize/health")
def show_health(page: RequestedOrganizerPage) -> HTMLResponse:
    with transaction() as session:
        frame = page.load_frame(session)
        current_load = workload.measure(session, frame.round.id)
        heartbeat_ages = health.load_heartbeat_ages(session)
        failures = workload.list_failures(session, frame.round.id)
        upload_failures = workload.list_upload_failures(session, frame.round.id)
        waiting_reasons = workload.list_waiting_reasons(session, frame.round.id)
    is_administrator = page.principal.role == Role.ADMINISTRATOR  # the sandboxes would help an attacker
    return page.render(
        "organizing/health.html",
        frame=frame,
        load=current_load,
        failures=failures,
        upload_failures=upload_failures,
        waiting_reasons=waiting_reasons,
        beats=sorted(heartbeat_ages.items()),
        stalled=dashboard.is_stalled(current_load),
        without_workers=dashboard.lacks_workers(current_load),
        unswept=dashboard.is_sweep_overdue(current_load),
        depth=queue.count_messages(),
        packages=[
            PackageStatus(package, find_installed_version(package), find_package_change(package))
            for package in INSTALLED.packages
        ],
        is_administrator=is_administrator,
        sandboxes=_list_sandboxes() if is_administrator else None,
        apart_s=abs((datetime.now(UTC) - frame.status.now).total_seconds()),
    )


def _list_sandboxes() -> list[WorkerReport]:
    """Return the reports of this web server and of each worker that answers."""
    setting = get_settings().sandbox
    is_complete = sandbox.choose(setting).is_complete
    return [WorkerReport("web", [], None, sandbox.describe(setting), is_complete), *(list_workers() or ())]


@router.get("/competitions/{slug}/organize/exports")
def show_exports(page: RequestedOrganizerPage) -> HTMLResponse:
    with transaction() as session:
        frame = page.load_frame(session)
    return page.render("organizing/exports.html", frame=frame)
