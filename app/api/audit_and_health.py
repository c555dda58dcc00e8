"""What organizers look at to see that all is well: the audit log and the queue."""

from fastapi import APIRouter

from anoncup import schemas
from anoncup.schemas.roles import Role
from app.api.documentation.responses import ORGANIZER, refusing
from app.db.models import AuditEntry
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.paging import AskedPage, number, place_of
from app.services.accounts.accounts import Principal
from app.services.contests import competitions
from app.services.jobs import queue
from app.services.organizing import load

HIDDEN_REASON = "takes no work; administrators can read why"

router = APIRouter(prefix="/competitions/{slug}", tags=["organizers"])


@router.get("/audit", responses=refusing(ORGANIZER))
def audit_log(slug: str, principal: SignedIn, page: AskedPage) -> list[schemas.AuditEntry]:
    """What organizers, administrators and the clock did to the competition, newest first."""
    place = place_of(page.cursor, number)
    with transaction() as session:
        after = place[0] if place else None
        found = competitions.history(session, principal, slug, after=after, limit=page.wanted)
    return [out(entry) for entry in page.cut(found, lambda last: (last.number,))]


@router.get("/queue", responses=refusing(ORGANIZER))
def queue_health(slug: str, principal: SignedIn) -> schemas.Queue:
    """What waits, what runs, and which workers are there."""
    with transaction() as session:
        found = load.of_competition(session, principal, slug)
    workers = queue.list_workers()
    return schemas.Queue(
        waiting=found.waiting,
        scoring=found.scoring,
        oldest_waiting_s=None if found.oldest_waiting is None else found.oldest_waiting.total_seconds(),
        broker_depth=queue.depth(),
        last_sweep_s=found.last_sweep_s,
        workers=None if workers is None else [worker_out(each, principal) for each in workers],
    )


def worker_out(duties: queue.Duties, principal: Principal) -> schemas.Worker:
    """A worker; why it takes no work may name folders and hosts, which are for administrators."""
    lacks = duties.lacks if principal.role == Role.ADMINISTRATOR else duties.lacks and HIDDEN_REASON
    return schemas.Worker(name=duties.worker, serves=duties.kinds, lacks=lacks)


def out(entry: AuditEntry) -> schemas.AuditEntry:
    return schemas.AuditEntry.model_validate(entry, from_attributes=True)
