"""Locks shared by all web processes, held in Redis for a few seconds at a time.

They bound memory and keep one team from using everybody's capacity. Nothing else depends on them: without
Redis, each process applies its own limits only.
"""

import redis
import structlog

from app.config import get_settings
from app.http.redis_client import CONNECTION_ERRORS, get_pool

log = structlog.get_logger(__name__)

TTL_S = 15
"""Seconds until the locks of a dead process expire; a live process extends them."""

_EXTEND_SCRIPT = (
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('expire', KEYS[1], ARGV[2]) end"
)
_RELEASE_SCRIPT = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end"


def acquire(name: str, holder: str) -> bool:
    """Try to acquire the lock and return whether ``holder`` has it. True if Redis is unavailable."""
    try:
        return bool(get_client().set(build_key(name), holder, nx=True, ex=TTL_S))
    except CONNECTION_ERRORS as problem:
        log.warning("turns_unreachable", kind=type(problem).__name__)
        return True


def extend(name: str, holder: str) -> None:
    _run_script(_EXTEND_SCRIPT, name, holder, TTL_S)


def release(name: str, holder: str) -> None:
    _run_script(_RELEASE_SCRIPT, name, holder)


def _run_script(script: str, name: str, *arguments: str | int) -> None:
    try:
        get_client().eval(script, 1, build_key(name), *arguments)
    except CONNECTION_ERRORS as problem:
        log.warning("turns_unreachable", kind=type(problem).__name__)


def get_client() -> redis.Redis:
    return redis.Redis(connection_pool=get_pool(get_settings().redis_url))


def build_key(name: str) -> str:
    return f"anoncup:turn:{name}"
