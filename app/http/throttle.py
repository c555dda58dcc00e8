"""Rate limits for guessing passwords and codes, counted in Redis. Only wrong tries count.

There is one counter per account and one per address. The account counter alone would allow anybody to lock
anybody out for ever with ten wrong tries every quarter of an hour. Therefore an address that recently sent
the right password has a counter of its own for that account, which others cannot fill. Existing tokens and
sessions are not affected, and a password link works while its account is locked. A valid invite always works;
wrong invites have a separate counter per address.

A password that a signed-in person enters counts against their token or session instead of the account. A
stolen session thus fills its own counter only, and the owner can still sign in and use another session.

While Redis is unavailable, each process counts on its own with lower limits, so that an outage gives nobody
more tries.
"""

import hashlib
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from uuid import UUID

import structlog
from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import FixedWindowRateLimiter

from anoncup.errors import NotSignedIn, TooManyRequests, WrongCredential
from app.config import get_settings
from app.http.redis_client import CONNECTION_ERRORS, get_pool

log = structlog.get_logger(__name__)

_WRONG_CREDENTIAL_ERRORS = (NotSignedIn, WrongCredential)
PER_ACCOUNT = RateLimitItemPerMinute(10, 15, "throttle")
PER_ADDRESS = RateLimitItemPerMinute(100, 15, "throttle")
_LOCAL_PER_ACCOUNT = RateLimitItemPerMinute(5, 15, "alone")
LOCAL_PER_ADDRESS = RateLimitItemPerMinute(20, 15, "alone")
"""Limits of a single process while Redis is unavailable."""
CHECKS_PER_TEAM = RateLimitItemPerMinute(30, 1, "checks")
"""Limit for dry runs of uploads; a person who corrects a file makes a few in a minute."""
_KNOWN_ADDRESS_TTL_S = 90 * 24 * 3600
_Counter = tuple[RateLimitItem, str]
_CountedTry = tuple[FixedWindowRateLimiter, tuple[_Counter, ...]]
"""The limiter that counted a try, and the counters it increased."""


@contextmanager
def limit_tries(address: str | None, *, account: str | None = None) -> Iterator[None]:
    """Count the body as one try of ``address`` at ``account`` if the credential was wrong.

    The try is counted before the body and undone after it unless it was wrong, so that a thousand
    simultaneous requests cannot exceed the limit. Raise TooManyRequests if the limit is reached.
    """
    counted_try = _count_try(address, account)
    try:
        yield
    except _WRONG_CREDENTIAL_ERRORS:
        raise
    except BaseException:
        _undo_try(counted_try)
        raise
    _undo_try(counted_try)
    if counted_try[0] is not get_local_limiter():
        remember_address(address, account)


@contextmanager
def limit_invite_tries(address: str | None) -> Iterator[None]:
    """Count the body against ``address`` if the invite was wrong; a valid invite always works.

    A whole class may share one address, and 96 random bits cannot be guessed. The limit does not reveal
    whether a code is valid, because only wrong codes have to wait.
    """
    try:
        yield
    except _WRONG_CREDENTIAL_ERRORS:
        if address is not None:
            _count_wrong_invite(build_key("invite", normalize_address(address)))
        raise


def _count_wrong_invite(name: str) -> None:
    """Count a wrong invite; raise TooManyRequests if the limit was already reached."""
    try:
        _hit_counters(_get_limiter(), iter([(PER_ADDRESS, name)]))
    except CONNECTION_ERRORS as problem:
        _log_unreachable(problem)
        _hit_counters(get_local_limiter(), iter([(LOCAL_PER_ADDRESS, name)]))


def _count_try(address: str | None, account: str | None) -> _CountedTry:
    """Count a try on every counter and return it; raise TooManyRequests if a limit is reached."""
    try:
        return _hit_counters(_get_limiter(), _list_counters(address, account))
    except CONNECTION_ERRORS as problem:
        _log_unreachable(problem)
        return _hit_counters(get_local_limiter(), _list_local_counters(address, account))


def _hit_counters(limiter: FixedWindowRateLimiter, counters: Iterator[_Counter]) -> _CountedTry:
    hit: list[_Counter] = []
    try:
        for counter in counters:
            hit.append(counter)
            if not limiter.hit(*counter):
                raise _build_limit_error(limiter, counter)
    except TooManyRequests:
        _undo_try((limiter, tuple(hit)))
        raise
    return limiter, tuple(hit)


def _build_limit_error(limiter: FixedWindowRateLimiter, counter: _Counter) -> TooManyRequests:
    seconds = max(1, math.ceil(limiter.get_window_stats(*counter).reset_time - time.time()))
    return TooManyRequests(
        "too many wrong tries: try again in {minutes} min",
        retry_after=seconds,
        code="too_many_tries",
        minutes=math.ceil(seconds / 60),
    )


def _list_counters(address: str | None, account: str | None) -> Iterator[_Counter]:
    """Yield the counters of a try."""
    network = None if address is None else normalize_address(address)
    if network is not None:
        yield PER_ADDRESS, build_key("address", network)
    if account is not None:
        is_known = network is not None and get_storage().get(build_key("known", account, network)) > 0
        yield PER_ACCOUNT, build_key("account", account, *([network] if is_known and network else []))


def _list_local_counters(address: str | None, account: str | None) -> Iterator[_Counter]:
    """Yield the counters of a try while Redis, which has the known addresses, is unavailable."""
    if address is not None:
        yield LOCAL_PER_ADDRESS, build_key("address", normalize_address(address))
    if account is not None:
        yield _LOCAL_PER_ACCOUNT, build_key("account", account)


def _undo_try(counted_try: _CountedTry) -> None:
    """Undo a counted try that was not wrong or did not happen."""
    limiter, counters = counted_try
    try:
        for counter in counters:
            limiter.hit(*counter, cost=-1)
    except CONNECTION_ERRORS as problem:
        _log_unreachable(problem)


def remember_address(address: str | None, account: str | None) -> None:
    """Remember that the account's owner uses this address, so that others cannot lock them out here."""
    if address is None or account is None:
        return
    try:
        get_storage().incr(build_key("known", account, normalize_address(address)), _KNOWN_ADDRESS_TTL_S)
    except CONNECTION_ERRORS as problem:
        _log_unreachable(problem)


def normalize_address(address: str) -> str:
    """Return an IPv4 address unchanged, and the /64 network of an IPv6 address, which one person can use."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address  # such as that of a Unix socket
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is None:
            return str(ip_network((int(parsed), 64), strict=False))
        parsed = parsed.ipv4_mapped
    return str(parsed)


def build_key(kind: str, *parts: str) -> str:
    """Return a hashed key of fixed length, so that Redis contains neither names nor addresses."""
    text = "\x00".join((kind, *parts))
    return f"{kind}:{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()}"


@lru_cache(maxsize=1)
def get_local_limiter() -> FixedWindowRateLimiter:
    """Return the in-memory limiter of this process."""
    return FixedWindowRateLimiter(MemoryStorage())


def _get_limiter() -> FixedWindowRateLimiter:
    return FixedWindowRateLimiter(get_storage())


def get_storage() -> RedisStorage:
    return _open_storage(get_settings().redis_url)


@lru_cache(maxsize=1)
def _open_storage(url: str) -> RedisStorage:
    return RedisStorage("redis://", connection_pool=get_pool(url), key_prefix="anoncup")


def _log_unreachable(problem: Exception) -> None:
    log.warning("throttle_unreachable", kind=type(problem).__name__)


def count_check(team_id: UUID) -> None:
    """Count a dry run of a team; raise TooManyRequests if it has reached the limit of this minute."""
    name = build_key("checks", str(team_id))
    try:
        _hit_check_limit(_get_limiter(), name)
    except CONNECTION_ERRORS as problem:
        _log_unreachable(problem)
        _hit_check_limit(get_local_limiter(), name)


def _hit_check_limit(limiter: FixedWindowRateLimiter, name: str) -> None:
    if limiter.hit(CHECKS_PER_TEAM, name):
        return
    seconds_left = limiter.get_window_stats(CHECKS_PER_TEAM, name).reset_time - time.time()
    seconds = max(1, math.ceil(seconds_left))
    raise TooManyRequests(
        "your team has checked {limit} uploads in a minute; wait {seconds} s",
        retry_after=seconds,
        code="too_many_checks",
        limit=CHECKS_PER_TEAM.amount,
        seconds=seconds,
    )
