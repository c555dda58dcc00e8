"""Boards that stand as they stood, which one short question tells, for all who come at the same time.

A board depends on what is committed, on who looks, and on the clock; whose a token is, on what is committed
and on the clock. What was found is kept with that, and holds while it is the same: nobody who changes
something has to tell.
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
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.db.snapshot import Seen, seen
from app.http.compression import may_be_packed, packed, reads_gzip, weak
from app.http.dependencies import opened
from app.services.contest import visibility
from app.services.contest.visibility import Sight
from app.services.people.accounts import Opened, Principal, Shown
from app.transaction import transaction

T = TypeVar("T")
MOST_KEPT = 256
"""Each board for each who looks; a large one has 60 KB."""
MOST_KNOWN = 4096
"""Tokens and sessions, a few hundred bytes each."""


class Found(Protocol):
    def stands(self, now: Seen) -> bool:
        """Whether it would be found again."""


F = TypeVar("F", bound=Found)


@dataclass(frozen=True, slots=True)
class Text:
    """An answer as it is sent, also compressed.

    ``rows``: what was committed before it was made, and, if it is still that when the answer is wanted again,
    while it was made.
    """

    body: bytes
    packed: bytes
    tag: str
    sight: Sight
    rows: str

    def stands(self, now: Seen) -> bool:
        return self.rows == now.rows and self.sight.lasts_until(now.at)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a token is, None if it reads as a visitor's; ``rows`` as of a text."""

    opened: Opened | None
    rows: str

    @property
    def principal(self) -> Principal | None:
        return None if self.opened is None else self.opened.principal

    def stands(self, now: Seen) -> bool:
        return self.rows == now.rows and (self.opened is None or now.at < self.opened.expires_at)


class Shared:
    """Work that many wait for together.

    Whoever comes while it is under way waits for the next time, with all others who have come since: what has
    begun before may have missed what they know of.
    """

    def __init__(self) -> None:
        self.next: dict[Hashable, asyncio.Task[Any]] = {}
        self.turns: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    async def done(self, what: Hashable, do: Callable[[], T]) -> T:
        if what not in self.next:
            self.next[what] = asyncio.create_task(self.in_turn(what, do))
        result: T = await asyncio.shield(self.next[what])
        return result

    async def in_turn(self, what: Hashable, do: Callable[[], T]) -> T:
        async with self.turns.setdefault(what, asyncio.Lock()):
            del self.next[what]
            return await run_in_threadpool(do)


class Kept(Generic[F]):
    """What was found, as long as it stands; of too much what nobody has wanted for longest goes."""

    def __init__(self, most: int, shared: Shared) -> None:
        self.most = most
        self.shared = shared
        self.found: OrderedDict[Hashable, F] = OrderedDict()

    async def at(self, now: Seen, which: Hashable, find: Callable[[], F]) -> F:
        """What ``find`` finds, after ``now`` if what it found before no longer stood then."""
        found = self.found.get(which)
        if found is None or not found.stands(now):
            found = await self.shared.done(which, find)
            self.found[which] = found
        self.found.move_to_end(which)
        if len(self.found) > self.most:
            self.found.popitem(last=False)
        return found


class Boards:
    """Those of one process; to be used in its event loop."""

    def __init__(self) -> None:
        self.shared = Shared()
        self.texts: Kept[Text] = Kept(MOST_KEPT, self.shared)
        self.owners: Kept[Owner] = Kept(MOST_KNOWN, self.shared)

    async def text(self, shown: Shown | None, slug: str, write: Callable[[Session, Sight], str]) -> Text:
        """What ``write`` makes of a board for whoever shows this, now."""
        now = await self.shared.done(None, looked)
        owner = None if shown is None else await self.owners.at(now, shown, partial(owned, shown))
        principal = None if owner is None else owner.principal
        return await self.texts.at(now, (principal, slug, write), partial(written, principal, slug, write))


def looked() -> Seen:
    with transaction() as session:
        return seen(session)


def owned(shown: Shown) -> Owner:
    with transaction() as session:
        rows = seen(session).rows
    return Owner(opened(shown), rows)


def written(principal: Principal | None, slug: str, write: Callable[[Session, Sight], str]) -> Text:
    with transaction() as session:
        rows = seen(session).rows
        sight = visibility.boards(session, principal, slug)
        body = write(session, sight).encode()
    return Text(body, packed(body), tag_of(body), sight, rows)


def tag_of(body: bytes) -> str:
    return '"' + hashlib.sha256(body).hexdigest()[:32] + '"'


async def board(
    request: Request,
    shown: Shown | None,
    slug: str,
    write: Callable[[Session, Sight], str],
    *,
    media_type: str,
) -> Response:
    """The board with its ETag, or 304 if the client has it already."""
    boards: Boards = request.app.state.boards
    found = await boards.text(shown, slug, write)
    short = reads_gzip(request.headers) and may_be_packed(request.scope)
    headers = {
        "ETag": weak(found.tag) if short else found.tag,
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Cookie, Accept-Encoding",
    }
    if found.tag in known_tags(request):
        return Response(status_code=304, headers=headers)
    if short:
        return Response(found.packed, media_type=media_type, headers=headers | {"Content-Encoding": "gzip"})
    return Response(found.body, media_type=media_type, headers=headers)


def tagged(request: Request, body: bytes, *, media_type: str) -> Response:
    """An answer that is not kept, with its ETag, or 304."""
    tag = tag_of(body)
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
    if tag in known_tags(request):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media_type, headers=headers)


def known_tags(request: Request) -> set[str]:
    """The tags that the client has; that of a compressed answer is a weak one."""
    listed = request.headers.get("if-none-match", "").split(",")
    return {tag.strip().removeprefix("W/") for tag in listed}
