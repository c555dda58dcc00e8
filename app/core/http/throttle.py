"""Rate limits for guessing passwords and codes, counted in Redis. Only wrong tries count.

There is one counter per account and one per address. With a single counter per account, anybody could lock
out anybody for ever by ten wrong tries every quarter of an hour. Therefore an address from which the right
password was sent recently has its own counter for that account, which others cannot fill. Existing tokens and
sessions are not affected, and a password link works while its account is locked. A valid invite always works;
wrong invites have a separate counter per address.

A password that a signed-in person enters counts against their token or session instead of the account. A
stolen session thus fills its own counter only, and the owner can still sign in and use another session.

While Redis is unavailable, each process counts on its own.
"""

import hashlib
import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from ipaddress import IPv6Address, ip_address, ip_network
from uuid import UUID

import structlog
from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage, RedisStorage, Storage
from limits.strategies import FixedWindowRateLimiter

from anoncup.errors import NotSignedIn, TooManyRequests, WrongCredential
from app.config import get_settings
from app.core.http.redis_client import CONNECTION_ERRORS, get_pool

log = structlog.get_logger(__name__)

_WRONG_CREDENTIAL_ERRORS = (NotSignedIn, WrongCredential)
ACCOUNT_LIMIT = RateLimitItemPerMinute(10, 15, "throttle")
ADDRESS_LIMIT = RateLimitItemPerMinute(100, 15, "throttle")
TEAM_CHECK_LIMIT = RateLimitItemPerMinute(30, 1, "checks")
"""Limit for dry runs of uploads; a person who corrects a file makes a few in a minute."""
PROVIDER_LIMIT = RateLimitItemPerMinute(300, 15, "throttle")
"""Limit for sign-ins that an address begins with a provider; a whole class may share one address."""
MAIL_LIMIT = RateLimitItemPerMinute(5, 15, "mail")
"""Limit for mail that a person asks for, to one address or for one account."""
_KNOWN_ADDRESS_TTL_S = 90 * 24 * 3600
_Counter = tuple[RateLimitItem, str]
_CountedTry = tuple[FixedWindowRateLimiter, tuple[_Counter, ...]]
"""The limiter that counted a try, and the counters it increased."""


@contextmanager
def limit_tries(address: str | None, *, account: str | None = None) -> Iterator[None]:
    """Count a try of ``address`` at ``account`` if the context raises because of a wrong credential.

    The try is counted in advance, and undone unless the credential was wrong, so that a thousand simultaneous
    requests cannot exceed the limit. Raise TooManyRequests if the limit is reached.
    """
    counted_try = _count(partial(_list_counters, address, account))
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
    """Count a try of ``address`` if the invite is wrong. A valid invite always works.

    A whole class may share one address, and 96 random bits cannot be guessed. The limit does not reveal
    whether a code is valid, because only wrong codes have to wait.
    """
    try:
        yield
    except _WRONG_CREDENTIAL_ERRORS:
        if address is not None:
            _count_event((ADDRESS_LIMIT, build_key("invite", normalize_address(address))))
        raise


def _count(list_counters: Callable[[Storage], Iterable[_Counter]]) -> _CountedTry:
    """Count a try on every counter, in this process while Redis is unavailable, and return it.

    Raise TooManyRequests if a limit is reached.
    """
    try:
        return _hit_counters(FixedWindowRateLimiter(get_storage()), list_counters(get_storage()))
    except CONNECTION_ERRORS as problem:
        _log_unreachable(problem)
        limiter = get_local_limiter()
        return _hit_counters(limiter, list_counters(limiter.storage))


def _count_event(*counters: _Counter) -> None:
    _count(lambda _: counters)


def _hit_counters(limiter: FixedWindowRateLimiter, counters: Iterable[_Counter]) -> _CountedTry:
    increased_counters: list[_Counter] = []
    try:
        for counter in counters:
            increased_counters.append(counter)
            if not limiter.hit(*counter):
                raise _build_limit_error(limiter, counter)
    except TooManyRequests:
        _undo_try((limiter, tuple(increased_counters)))
        raise
    return limiter, tuple(increased_counters)


def _build_limit_error(limiter: FixedWindowRateLimiter, counter: _Counter) -> TooManyRequests:
    seconds = max(1, math.ceil(limiter.get_window_stats(*counter).reset_time - time.time()))
    if counter[0] is TEAM_CHECK_LIMIT:
        return TooManyRequests(
            "your team has checked {limit} uploads in a minute; wait {seconds} s",
            retry_after=seconds,
            code="too_many_checks",
            limit=TEAM_CHECK_LIMIT.amount,
            seconds=seconds,
        )
    if counter[0] is MAIL_LIMIT:
        return TooManyRequests(
            "too many mails were asked for: try again in {minutes} min",
            retry_after=seconds,
            code="too_many_mails",
            minutes=math.ceil(seconds / 60),
        )
    return TooManyRequests(
        "too many wrong tries: try again in {minutes} min",
        retry_after=seconds,
        code="too_many_tries",
        minutes=math.ceil(seconds / 60),
    )


def _list_counters(address: str | None, account: str | None, storage: Storage) -> Iterator[_Counter]:
    """Yield the counters of a try."""
    network = None if address is None else normalize_address(address)
    if network is not None:
        yield ADDRESS_LIMIT, build_key("address", network)
    if account is not None:
        is_known = network is not None and storage.get(build_key("known", account, network)) > 0
        yield ACCOUNT_LIMIT, build_key("account", account, *([network] if is_known and network else []))


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
    """Return an IPv4 address unchanged, and the /64 network of an IPv6 address, which one person may own."""
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


def get_storage() -> RedisStorage:
    return _open_storage(get_settings().redis_url)


@lru_cache(maxsize=1)
def _open_storage(url: str) -> RedisStorage:
    return RedisStorage("redis://", connection_pool=get_pool(url), key_prefix="anoncup")


def _log_unreachable(problem: Exception) -> None:
    log.warning("throttle_unreachable", kind=type(problem).__name__)


def count_provider_sign_in(address: str | None) -> None:
    """Count the begin of a sign-in with a provider; raise TooManyRequests if there are too many."""
    _count_event((PROVIDER_LIMIT, build_key("provider", normalize_address(address or ""))))


def count_mail(address: str | None, *, recipient: str, account: str = "") -> None:
    """Count a mail that is asked for, whether or not it will be sent; raise TooManyRequests at a limit."""
    counters = [(ADDRESS_LIMIT, build_key("mail", normalize_address(address or "")))]
    counters += [(MAIL_LIMIT, build_key("mail_to", recipient.strip().lower()))]
    counters += [(MAIL_LIMIT, build_key("mail_for", account))] if account else []
    _count_event(*counters)


def count_check(team_id: UUID) -> None:
    """Count a dry run of a team; raise TooManyRequests if it has reached the limit of this minute."""
    _count_event((TEAM_CHECK_LIMIT, build_key("checks", str(team_id))))
