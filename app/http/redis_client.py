"""A connection to Redis for what a request waits for: it rather gives up than waits."""

from functools import lru_cache

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

PATIENCE_S = 0.5
"""How long a request waits for a Redis that does not answer."""

UNREACHABLE = (redis.RedisError, OSError, ValueError)
"""What a Redis that is away raises, or a URL that names none."""


@lru_cache(maxsize=1)
def pool_at(url: str) -> redis.ConnectionPool:
    """Tried once more if a restart of Redis cut the connection."""
    return redis.ConnectionPool.from_url(
        redis_py_url(url),
        socket_connect_timeout=PATIENCE_S,
        socket_timeout=PATIENCE_S,
        retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
    )


def redis_py_url(url: str) -> str:
    """Celery's spelling of a socket's URL in the client library's."""
    return url.replace("redis+socket://", "unix://", 1).replace("virtual_host=", "db=", 1)
