"""Routes of the audit log and the queue, for organizers."""

from fastapi import APIRouter

from anoncup import schemas
from anoncup.schemas.roles import Role
from app.competitions import competitions
from app.core.db.transaction import transaction
from app.core.http.paging import RequestedPage, decode_cursor, parse_number
from app.core.identity.authentication import CurrentPrincipal
from app.core.identity.principal import Principal
from app.jobs import queue
from app.jobs.worker_reports import list_workers
from app.organizing import workload

_HIDDEN_REASON = "takes no work; administrators can read why"

router = APIRouter(prefix="/competitions/{slug}", tags=["organizers"])


@router.get("/audit")
def audit_log(slug: str, principal: CurrentPrincipal, page: RequestedPage) -> list[schemas.AuditEntry]:
    """List the actions of organizers, administrators and the clock on the competition, newest first."""
    position = decode_cursor(page.cursor, parse_number)
    with transaction() as session:
        before_number = position[0] if position else None
        rows = competitions.list_audit_entries(
            session, principal, slug, cursor=before_number, limit=page.fetch_limit
        )
    return [
        schemas.AuditEntry.model_validate(entry, from_attributes=True)
        for entry in page.take_page(rows, lambda last: (last.number,))
    ]


@router.get("/queue")
def queue_health(slug: str, principal: CurrentPrincipal) -> schemas.Queue:
    """Return the numbers of waiting and running jobs, and the workers."""
    with transaction() as session:
        queue_load = workload.measure(session, principal, slug)
    workers = list_workers()
    return schemas.Queue(
        waiting=queue_load.waiting,
        scoring=queue_load.scoring,
        oldest_waiting_s=None
        if queue_load.oldest_waiting is None
        else queue_load.oldest_waiting.total_seconds(),
        broker_depth=queue.count_messages(),
        last_sweep_s=queue_load.last_sweep_s,
        workers=None if workers is None else [_hide_reason(worker, principal) for worker in workers],
    )


def _hide_reason(worker: schemas.Worker, principal: Principal) -> schemas.Worker:
    """Return a worker; only administrators see why it takes no work, which may name folders and hosts."""
    if worker.lacks is None or principal.role == Role.ADMINISTRATOR:
        return worker
    return worker.model_copy(update={"lacks": _HIDDEN_REASON})
