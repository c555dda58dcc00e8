"""One at a time over all web processes: who has a turn is noted in Redis, for a few seconds at a time.

Turns bound memory and keep one team from taking up the room of all. Nothing else depends on them: without
Redis each process keeps its own.
"""

import redis
import structlog

from app.config import get_settings
from app.http.redis_client import UNREACHABLE, pool_at

log = structlog.get_logger(__name__)

LIFE_S = 15
"""A process that is gone frees its turns so soon; one that lives extends them."""

EXTEND = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('expire', KEYS[1], ARGV[2]) end"
END = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end"


def take(name: str, holder: str) -> bool:
    """Whether ``holder`` has the turn ``name``; with nobody to ask, it has."""
    try:
        return bool(client().set(key(name), holder, nx=True, ex=LIFE_S))
    except UNREACHABLE as problem:
        log.warning("turns_unreachable", kind=type(problem).__name__)
        return True


def extend(name: str, holder: str) -> None:
    tell(EXTEND, name, holder, LIFE_S)


def end(name: str, holder: str) -> None:
    tell(END, name, holder)


def tell(script: str, name: str, *arguments: str | int) -> None:
    try:
        client().eval(script, 1, key(name), *arguments)
    except UNREACHABLE as problem:
        log.warning("turns_unreachable", kind=type(problem).__name__)


def client() -> redis.Redis:
    return redis.Redis(connection_pool=pool_at(get_settings().redis_url))


def key(name: str) -> str:
    return f"anoncup:turn:{name}"
