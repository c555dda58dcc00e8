"""Boards that stand as they stood, which one short question tells, for all who come at the same time.

Programs and pages share them. A board depends on what is committed, on who looks, and on the clock; whose a
token is, on what is committed and on the clock. What was found is kept with that, and holds while it is the
same: nobody who changes something has to tell.
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
from app.db.transaction import transaction
from app.http.authentication import opened
from app.http.compression import may_be_packed, packed, reads_gzip, weak
from app.services.accounts.accounts import Opened, Principal, Shown
from app.services.contests import visibility
from app.services.contests.visibility import Sight

T = TypeVar("T")
A = TypeVar("A", bound=Hashable)
MOST_KEPT = 64 * 1024 * 1024
"""Bytes, of each board for each who looks; a large one has 60 KB, a huge one 2 MB."""
MOST_KNOWN = 4096
"""Tokens and sessions, a few hundred bytes each."""


class Found(Protocol):
    @property
    def size(self) -> int:
        """How much of what may be kept it takes."""

    def stands(self, now: Seen) -> bool:
        """Whether it would be found again."""


class Sized(Protocol):
    @property
    def size(self) -> int:
        """About how many bytes it has."""


F = TypeVar("F", bound=Found)
What = TypeVar("What", bound=Sized)


@dataclass(frozen=True, slots=True)
class Text:
    """An answer as it is sent, also compressed."""

    body: bytes
    packed: bytes
    tag: str

    @property
    def size(self) -> int:
        return len(self.body) + len(self.packed)


@dataclass(frozen=True, slots=True)
class Made(Generic[What]):
    """What was made of a board for one who looks.

    ``rows``: what was committed before it was made, and, if it is still that when it is wanted again, while
    it was made.
    """

    what: What
    sight: Sight
    rows: str

    @property
    def size(self) -> int:
        return self.what.size

    def stands(self, now: Seen) -> bool:
        return self.rows == now.rows and self.sight.lasts_until(now.at)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a token is, None if it reads as a visitor's; ``rows`` as of a text."""

    opened: Opened | None
    rows: str

    @property
    def size(self) -> int:
        return 1

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
        self.size = 0
        self.shared = shared
        self.found: OrderedDict[Hashable, F] = OrderedDict()

    async def at(self, now: Seen, which: Hashable, find: Callable[[], F]) -> F:
        """What ``find`` finds, after ``now`` if what it found before no longer stood then."""
        found = self.found.get(which)
        if found is None or not found.stands(now):
            found = await self.shared.done(which, find)
            self.put(which, found)
        else:
            self.found.move_to_end(which)
        return found

    def put(self, which: Hashable, new: F) -> None:
        """In place of what was there."""
        old = self.found.pop(which, None)
        self.found[which] = new
        self.size += new.size - (old.size if old is not None else 0)
        while self.size > self.most:
            self.size -= self.found.popitem(last=False)[1].size


class Boards:
    """Those of one process; to be used in its event loop."""

    def __init__(self) -> None:
        self.shared = Shared()
        self.made: Kept[Made[Any]] = Kept(MOST_KEPT, self.shared)
        self.owners: Kept[Owner] = Kept(MOST_KNOWN, self.shared)

    async def text(self, shown: Shown | None, slug: str, write: Callable[[Session, Sight], str]) -> Text:
        """What ``write`` makes of a board for whoever shows this, now."""
        return await self.of(shown, slug, text_of, write)

    async def of(
        self, shown: Shown | None, slug: str, make: Callable[[Session, Sight, A], What], about: A
    ) -> What:
        """What ``make`` makes of the boards and of what it is asked about, for whoever shows this, now."""
        now = await self.shared.done(None, looked)
        owner = None if shown is None else await self.owners.at(now, shown, partial(owned, shown))
        principal = None if owner is None else owner.principal
        which = principal, slug, make, about
        found: Made[What] = await self.made.at(now, which, partial(made, *which))
        return found.what


def looked() -> Seen:
    with transaction() as session:
        return seen(session)


def owned(shown: Shown) -> Owner:
    with transaction() as session:
        rows = seen(session).rows
    return Owner(opened(shown), rows)


def made(
    principal: Principal | None, slug: str, make: Callable[[Session, Sight, A], What], about: A
) -> Made[What]:
    with transaction() as session:
        rows = seen(session).rows
        sight = visibility.boards(session, principal, slug)
        return Made(make(session, sight, about), sight, rows)


def text_of(session: Session, sight: Sight, write: Callable[[Session, Sight], str]) -> Text:
    body = write(session, sight).encode()
    return Text(body, packed(body), tag_of(body))


def kept(request: Request) -> Boards:
    """What this process keeps."""
    boards: Boards = request.app.state.boards
    return boards


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
    found = await kept(request).text(shown, slug, write)
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
