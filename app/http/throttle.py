"""How often passwords and codes may be guessed: wrong tries are counted in Redis, right ones are not.

Two counters: one per account, whatever the address, and one per address, whatever the account. The first
alone would let anybody lock anybody out for ever, by ten wrong tries every quarter of an hour. So an address
from which the right password came lately has a counter of its own for that account, which strangers cannot
fill. Tokens and sessions are not touched by any of it, and a password link works while its account is full.
Neither counter stops whoever has a valid invite; wrong invites have a counter of their own, per address.

A password that somebody gives who is signed in counts for their token or session in place of the account: a
stolen one fills its own counter, and its owner still signs in, and confirms with another.

While Redis is away each process counts by itself, and allows less: nobody gains tries by making it go away.
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

from anoncup.errors import NotSignedIn, TooMany, WrongCredential
from app.config import get_settings
from app.http.redis_client import UNREACHABLE, pool_at

log = structlog.get_logger(__name__)

WRONG = (NotSignedIn, WrongCredential)
PER_ACCOUNT = RateLimitItemPerMinute(10, 15, "throttle")
PER_ADDRESS = RateLimitItemPerMinute(100, 15, "throttle")
ALONE_PER_ACCOUNT = RateLimitItemPerMinute(5, 15, "alone")
ALONE_PER_ADDRESS = RateLimitItemPerMinute(20, 15, "alone")
"""Of one process, while it counts by itself."""
CHECKS_PER_TEAM = RateLimitItemPerMinute(30, 1, "checks")
"""Dry runs of uploads; a person who corrects a file makes a few in a minute."""
KNOWN_FOR_S = 90 * 24 * 3600
Counter = tuple[RateLimitItem, str]
Taken = tuple[FixedWindowRateLimiter, tuple[Counter, ...]]
"""Which tries, and by whom they are counted."""


@contextmanager
def tries(address: str | None, *, account: str | None = None) -> Iterator[None]:
    """Bound what happens inside as one try of ``address`` at ``account``, and count it if it was wrong.

    A try is taken before and given back after, so that a thousand at the same time are not a thousand.
    """
    taken = take(address, account)
    try:
        yield
    except WRONG:
        raise
    except BaseException:
        give_back(taken)
        raise
    give_back(taken)
    if taken[0] is not alone():
        welcome(address, account)


@contextmanager
def invite_tries(address: str | None) -> Iterator[None]:
    """Count what happens inside against ``address`` if the invite was wrong; a right one always works.

    A whole class may share one address, and an invite of 96 random bits is not found by trying. Nobody learns
    from the wait whether a code is right: only wrong ones have to wait.
    """
    try:
        yield
    except WRONG:
        if address is not None:
            count_wrong_invite(name_of("invite", network_of(address)))
        raise


def count_wrong_invite(name: str) -> None:
    """Count one; TooMany if there were too many before."""
    try:
        take_from(limiter(), iter([(PER_ADDRESS, name)]))
    except UNREACHABLE as problem:
        unreachable(problem)
        take_from(alone(), iter([(ALONE_PER_ADDRESS, name)]))


def take(address: str | None, account: str | None) -> Taken:
    """Take a try from every counter; what was taken, or TooMany."""
    try:
        return take_from(limiter(), counters(address, account))
    except UNREACHABLE as problem:
        unreachable(problem)
        return take_from(alone(), counters_alone(address, account))


def take_from(limiter: FixedWindowRateLimiter, asked: Iterator[Counter]) -> Taken:
    taken: list[Counter] = []
    try:
        for counter in asked:
            taken.append(counter)
            if not limiter.hit(*counter):
                raise full(limiter, counter)
    except TooMany:
        give_back((limiter, tuple(taken)))
        raise
    return limiter, tuple(taken)


def full(limiter: FixedWindowRateLimiter, counter: Counter) -> TooMany:
    seconds = max(1, math.ceil(limiter.get_window_stats(*counter).reset_time - time.time()))
    return TooMany(
        "too many wrong tries: try again in {minutes} min",
        retry_after=seconds,
        code="too_many_tries",
        minutes=math.ceil(seconds / 60),
    )


def counters(address: str | None, account: str | None) -> Iterator[Counter]:
    """Where a try counts."""
    place = None if address is None else network_of(address)
    if place is not None:
        yield PER_ADDRESS, name_of("address", place)
    if account is not None:
        known = place is not None and storage().get(name_of("known", account, place)) > 0
        yield PER_ACCOUNT, name_of("account", account, *([place] if known and place else []))


def counters_alone(address: str | None, account: str | None) -> Iterator[Counter]:
    """Where it counts while nobody can say which addresses are known."""
    if address is not None:
        yield ALONE_PER_ADDRESS, name_of("address", network_of(address))
    if account is not None:
        yield ALONE_PER_ACCOUNT, name_of("account", account)


def give_back(taken: Taken) -> None:
    """The tries were not wrong, or not made."""
    limiter, counters = taken
    try:
        for counter in counters:
            limiter.hit(*counter, cost=-1)
    except UNREACHABLE as problem:
        unreachable(problem)


def welcome(address: str | None, account: str | None) -> None:
    """The owner of the account is at this address: strangers' tries do not count against them here."""
    if address is None or account is None:
        return
    try:
        storage().incr(name_of("known", account, network_of(address)), KNOWN_FOR_S)
    except UNREACHABLE as problem:
        unreachable(problem)


def network_of(address: str) -> str:
    """What one person has: an IPv4 address, or the /64 in which an IPv6 address is chosen freely."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address  # not of an internet socket
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is None:
            return str(ip_network((int(parsed), 64), strict=False))
        parsed = parsed.ipv4_mapped
    return str(parsed)


def name_of(kind: str, *parts: str) -> str:
    """A key of fixed length; neither names nor addresses stand in Redis."""
    text = "\x00".join((kind, *parts))
    return f"{kind}:{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()}"


@lru_cache(maxsize=1)
def alone() -> FixedWindowRateLimiter:
    """Of this process."""
    return FixedWindowRateLimiter(MemoryStorage())


def limiter() -> FixedWindowRateLimiter:
    return FixedWindowRateLimiter(storage())


def storage() -> RedisStorage:
    return storage_at(get_settings().redis_url)


@lru_cache(maxsize=1)
def storage_at(url: str) -> RedisStorage:
    return RedisStorage("redis://", connection_pool=pool_at(url), key_prefix="anoncup")


def unreachable(problem: Exception) -> None:
    log.warning("throttle_unreachable", kind=type(problem).__name__)


def count_check(team_id: UUID) -> None:
    """Count a dry run of a team; TooMany if it has made as many in this minute as it may."""
    name = name_of("checks", str(team_id))
    try:
        require_check(limiter(), name)
    except UNREACHABLE as problem:
        unreachable(problem)
        require_check(alone(), name)


def require_check(limiter: FixedWindowRateLimiter, name: str) -> None:
    if limiter.hit(CHECKS_PER_TEAM, name):
        return
    wait = limiter.get_window_stats(CHECKS_PER_TEAM, name).reset_time - time.time()
    seconds = max(1, math.ceil(wait))
    raise TooMany(
        "your team has checked {limit} uploads in a minute; wait {seconds} s",
        retry_after=seconds,
        code="too_many_checks",
        limit=CHECKS_PER_TEAM.amount,
        seconds=seconds,
    )
