"""The process that sends the events of the outbox. It reads the database every second and needs no queue.

Killing it at any point loses nothing. It has no private key, since it talks to strangers.

usage: python -m workers.deliver
"""

import asyncio
import time
from contextlib import suppress

import structlog

from anoncup.errors import DomainError
from app import logs
from app.db.privileges import warn_if_overprivileged
from app.db.transaction import transaction
from app.services.notifications import deliveries
from app.services.notifications.deliveries import ClaimedDelivery
from workers import webhook_sender

log = structlog.get_logger(__name__)

_POLL_INTERVAL_S = 1.0
_MAX_PAUSE_S = 60.0
_CLEANUP_INTERVAL_S = 3600.0


def deliver_due() -> int:
    """Send what is due, each to its own receiver at the same time, and return the number."""
    with transaction() as session:
        claimed = deliveries.claim_due(session)
    asyncio.run(_deliver_all(claimed))
    return len(claimed)


async def _deliver_all(claimed: list[ClaimedDelivery]) -> None:
    await asyncio.gather(*map(_deliver, claimed))


async def _deliver(claimed: ClaimedDelivery) -> None:
    """Send an event and record the outcome at once, so that a slow receiver does not delay it.

    An event that cannot be built is logged and stays claimed. It does not hold up the others.
    """
    try:
        with transaction() as session:
            request = deliveries.load_request(session, claimed)
    except Exception:
        log.exception("event_not_built", id=str(claimed.delivery_id))
        return
    outcome = None if request is None else await webhook_sender.send(request)
    with transaction() as session:
        deliveries.record(session, claimed, outcome)
    log.info("event_sent", id=str(claimed.delivery_id), attempt=claimed.attempt, outcome=outcome)


def main() -> None:
    logs.configure()
    warn_if_overprivileged()
    log.info("deliveries_start")
    pause_s, last_cleanup = 0.0, float("-inf")
    while True:
        time.sleep(pause_s)
        try:
            if time.monotonic() >= last_cleanup + _CLEANUP_INTERVAL_S:
                last_cleanup = time.monotonic()
                with transaction() as session:
                    deliveries.remove_old(session)
            pause_s = 0.0 if deliver_due() else _POLL_INTERVAL_S
        except DomainError as problem:
            log.warning("deliveries_hindered", reason=str(problem))
            pause_s = min(_MAX_PAUSE_S, 2 * pause_s + _POLL_INTERVAL_S)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
