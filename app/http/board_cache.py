"""Cache of rendered boards, shared by the API and the pages. Pages read the JSON that the API sends.

A board depends on the committed rows, the viewer and the time; the owner of a token depends on the committed
rows and the time. Each entry is stored with the database snapshot that it was computed from, and is valid as
long as the current snapshot is equal. Thus writers need not invalidate anything. Simultaneous requests share
one query for the snapshot and one computation.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

from fastapi import Request, Response
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.db.snapshot import Snapshot, read_snapshot
from app.db.transaction import transaction
from app.http.authentication import resolve_in_transaction
from app.services.accounts.principal import Principal
from app.services.accounts.tokens import AuthenticatedCredential, Credential
from app.services.boards import total
from app.services.contests import visibility
from app.services.contests.visibility import BoardAccess

T = TypeVar("T")
ArgumentT = TypeVar("ArgumentT", bound=Hashable)
_MAX_VIEW_BYTES = 64 * 1024 * 1024
"""Maximum bytes of all boards, one for each viewer. A large board takes 60 KB, a huge one 2 MB."""
_CLOSED_SIZE = 500
"""Approximate bytes of the entry of a board that is not open to its reader."""
_MAX_PRINCIPALS = 4096
"""Maximum number of cached tokens and sessions, a few hundred bytes each."""


class CacheEntry(Protocol):
    @property
    def size(self) -> int:
        """Size in the unit of the cache's capacity."""

    def is_current(self, snapshot: Snapshot) -> bool:
        """Return whether computing the entry again would give the same result."""


class HasSize(Protocol):
    @property
    def size(self) -> int:
        """Approximate size in bytes."""


CacheEntryT = TypeVar("CacheEntryT", bound=CacheEntry)
ViewT = TypeVar("ViewT", bound=HasSize)
ModelT = TypeVar("ModelT", bound=BaseModel)
_ContentT = TypeVar("_ContentT", bound=BaseModel | str)
BoardBuilder = Callable[[Session, BoardAccess], _ContentT]


@dataclass(frozen=True, slots=True)
class RenderedBoard:
    """A response body with its ETag."""

    body: bytes
    etag: str

    @property
    def size(self) -> int:
        return len(self.body)


@dataclass(frozen=True, slots=True)
class CachedView(Generic[ViewT]):
    """A value computed from a board for one viewer; None if the board is not open to them.

    ``accesses`` are those to its round and to all rounds of the competition, which totals show.
    ``snapshot_version`` was read before the value was computed. If it is unchanged at the next request,
    nothing was committed during the computation either.
    """

    view: ViewT | None
    accesses: tuple[BoardAccess, ...]
    snapshot_version: str

    @property
    def size(self) -> int:
        return _CLOSED_SIZE if self.view is None else self.view.size

    def is_current(self, snapshot: Snapshot) -> bool:
        return self.snapshot_version == snapshot.version and all(
            access.is_same_at(snapshot.read_at) for access in self.accesses
        )


@dataclass(frozen=True, slots=True)
class CachedPrincipal:
    """The owner of a token or session; None if the credential is treated as a visitor's."""

    authenticated: AuthenticatedCredential | None
    snapshot_version: str

    @property
    def size(self) -> int:
        return 1

    @property
    def principal(self) -> Principal | None:
        return None if self.authenticated is None else self.authenticated.principal

    def is_current(self, snapshot: Snapshot) -> bool:
        return self.snapshot_version == snapshot.version and (
            self.authenticated is None or snapshot.read_at < self.authenticated.expires_at
        )


class SingleFlight:
    """Runs work once for all callers that wait for it.

    A caller that arrives while the work is running waits for the next run and shares it with later callers.
    The current run may have started before a change that the caller knows about.
    """

    def __init__(self) -> None:
        self.pending: dict[Hashable, asyncio.Task[Any]] = {}
        self.locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    async def run(self, key: Hashable, work: Callable[[], T]) -> T:
        if key not in self.pending:
            self.pending[key] = asyncio.create_task(self.run_exclusively(key, work))
        result: T = await asyncio.shield(self.pending[key])
        return result

    async def run_exclusively(self, key: Hashable, work: Callable[[], T]) -> T:
        async with self.locks.setdefault(key, asyncio.Lock()):
            del self.pending[key]
            return await run_in_threadpool(work)


class Cache(Generic[CacheEntryT]):
    """Least-recently-used cache whose entries are checked for validity when they are read."""

    def __init__(self, capacity: int, single_flight: SingleFlight) -> None:
        self.capacity = capacity
        self.size = 0
        self.single_flight = single_flight
        self.entries: OrderedDict[Hashable, CacheEntryT] = OrderedDict()

    async def get(self, snapshot: Snapshot, key: Hashable, load: Callable[[], CacheEntryT]) -> CacheEntryT:
        """Return the entry if it is valid for ``snapshot``; otherwise load and store a new one."""
        entry = self.entries.get(key)
        if entry is None or not entry.is_current(snapshot):
            entry = await self.single_flight.run(key, load)
            self.insert(key, entry)
        else:
            self.entries.move_to_end(key)
        return entry

    def insert(self, key: Hashable, entry: CacheEntryT) -> None:
        """Add or replace an entry and evict the least recently used ones beyond the capacity."""
        previous = self.entries.pop(key, None)
        self.entries[key] = entry
        self.size += entry.size - (previous.size if previous is not None else 0)
        while self.size > self.capacity:
            self.size -= self.entries.popitem(last=False)[1].size


class BoardCache:
    """The board cache of one process. Use it in the event loop only."""

    def __init__(self) -> None:
        self.single_flight = SingleFlight()
        self.views: Cache[CachedView[Any]] = Cache(_MAX_VIEW_BYTES, self.single_flight)
        self.principals: Cache[CachedPrincipal] = Cache(_MAX_PRINCIPALS, self.single_flight)

    async def get_rendered_board(
        self, credential: Credential | None, slug: str, build: BoardBuilder[BaseModel | str]
    ) -> RenderedBoard | None:
        """Return the text or the JSON that ``build`` returns for the owner of the credential, up to date."""
        return await self.get_view(credential, slug, _render_board, build)

    async def get_view(
        self,
        credential: Credential | None,
        slug: str,
        build: Callable[[Session, BoardAccess, ArgumentT], ViewT],
        argument: ArgumentT,
    ) -> ViewT | None:
        """Return ``build(session, access, argument)`` for the owner of the credential, up to date.

        The result is None if the boards are not open to them.
        """
        snapshot = await self.single_flight.run(None, _load_snapshot)
        cached_principal = (
            None
            if credential is None
            else await self.principals.get(snapshot, credential, partial(load_principal, credential))
        )
        principal = None if cached_principal is None else cached_principal.principal
        key = principal, slug, build, argument
        cached_view: CachedView[ViewT] = await self.views.get(snapshot, key, partial(_load_view, *key))
        return cached_view.view


def _load_snapshot() -> Snapshot:
    with transaction() as session:
        return read_snapshot(session)


def load_principal(credential: Credential) -> CachedPrincipal:
    with transaction() as session:
        snapshot_version = read_snapshot(session).version
    return CachedPrincipal(resolve_in_transaction(credential), snapshot_version)


def _load_view(
    principal: Principal | None,
    slug: str,
    build: Callable[[Session, BoardAccess, ArgumentT], ViewT],
    argument: ArgumentT,
) -> CachedView[ViewT]:
    with transaction() as session:
        snapshot_version = read_snapshot(session).version
        access = visibility.find_board_access(session, principal, slug)
        if access is None:
            return CachedView(None, (), snapshot_version)
        accesses = (access, *total.list_round_accesses(session, access))
        return CachedView(build(session, access, argument), accesses, snapshot_version)


def _render_board(
    session: Session, access: BoardAccess, build: BoardBuilder[BaseModel | str]
) -> RenderedBoard:
    content = build(session, access)
    body = (content if isinstance(content, str) else content.model_dump_json()).encode()
    return RenderedBoard(body, _compute_etag(body))


def get_board_cache(request: Request) -> BoardCache:
    """Return the board cache of this process."""
    cache: BoardCache = request.app.state.board_cache
    return cache


def _compute_etag(body: bytes) -> str:
    return '"' + hashlib.sha256(body).hexdigest()[:32] + '"'


async def load_open_board(
    request: Request,
    credential: Credential | None,
    slug: str,
    build: BoardBuilder[ModelT],
    model: type[ModelT],
) -> ModelT | None:
    """Return the board that ``build`` returns, or None if it is not open to the owner of the credential."""
    rendered = await get_board_cache(request).get_rendered_board(credential, slug, build)
    return None if rendered is None else await run_in_threadpool(model.model_validate_json, rendered.body)


async def build_board_response(
    request: Request,
    credential: Credential | None,
    slug: str,
    build: BoardBuilder[BaseModel | str],
    *,
    media_type: str,
) -> Response:
    """Return the board with its ETag, or 304 if the client has it; raise Forbidden if it is not open."""
    rendered = visibility.require_open(
        await get_board_cache(request).get_rendered_board(credential, slug, build)
    )
    headers = {
        "ETag": rendered.etag,
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Cookie",
    }
    if rendered.etag in parse_known_etags(request):
        return Response(status_code=304, headers=headers)
    return Response(rendered.body, media_type=media_type, headers=headers)


def parse_known_etags(request: Request) -> set[str]:
    """Return the ETags in If-None-Match, without the prefix ``W/`` that a proxy may have added."""
    values = request.headers.get("if-none-match", "").split(",")
    return {value.strip().removeprefix("W/") for value in values}
