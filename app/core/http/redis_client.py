"""Redis connections with short timeouts, for use inside requests."""

from functools import lru_cache

import redis
from redis.asyncio import Redis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

TIMEOUT_S = 0.5
"""Seconds a request waits for Redis."""

CONNECTION_ERRORS = (redis.RedisError, OSError, ValueError)
"""Raised if Redis is unavailable or its URL is invalid."""


@lru_cache(maxsize=1)
def get_pool(url: str) -> redis.ConnectionPool:
    """Return the connection pool, which retries once in case a restart of Redis cut the connection."""
    return redis.ConnectionPool.from_url(
        convert_celery_url(url),
        socket_connect_timeout=TIMEOUT_S,
        socket_timeout=TIMEOUT_S,
        retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
    )


def open_async_client(url: str) -> Redis:
    """Return a client with a connection of its own, for one upload."""
    return Redis.from_url(
        convert_celery_url(url),
        socket_connect_timeout=TIMEOUT_S,
        socket_timeout=TIMEOUT_S,
        retry=AsyncRetry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
    )


def convert_celery_url(url: str) -> str:
    """Convert Celery's form of a Unix socket URL to that of redis-py."""
    return url.replace("redis+socket://", "unix://", 1).replace("virtual_host=", "db=", 1)
