"""Locks shared by all web processes, held in Redis for a few seconds at a time.

They bound memory and keep one team from using everybody's capacity. Nothing else depends on them: without
Redis, each process applies its own limits only.
"""

from collections.abc import Callable

import redis
import structlog
from redis.exceptions import LockError
from redis.lock import Lock

from app.config import get_settings
from app.http.redis_client import CONNECTION_ERRORS, get_pool

log = structlog.get_logger(__name__)

TTL_S = 15
"""Seconds until the locks of a dead process expire; a live process extends them."""


def acquire(name: str, holder: str) -> bool:
    """Try to acquire the lock and return whether ``holder`` has it. True if Redis is unavailable."""
    return _call(lambda: build_lock(name, holder).acquire(token=holder))


def extend(name: str, holder: str) -> None:
    _call(lambda: build_lock(name, holder).reacquire())


def release(name: str, holder: str) -> None:
    _call(lambda: build_lock(name, holder).release())


def build_lock(name: str, holder: str) -> Lock:
    """Return the lock with its holder's token, which releases it if the reply to ``acquire`` was lost."""
    client = redis.Redis(connection_pool=get_pool(get_settings().redis_url))
    lock: Lock = client.lock(f"anoncup:lock:{name}", timeout=TTL_S, blocking=False, thread_local=False)
    lock.local.token = holder.encode()
    return lock


def _call(operation: Callable[[], bool | None]) -> bool:
    """Return the operation's result: true if Redis is unavailable, false if somebody else holds the lock."""
    try:
        return bool(operation())
    except LockError:
        return False
    except CONNECTION_ERRORS as problem:
        log.warning("locks_unreachable", kind=type(problem).__name__)
        return True
