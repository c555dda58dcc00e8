"""Boards that stand as they stood, which one short question tells, for all who come at the same time.

A board depends on what is committed, on who looks, and on the clock. What was made is kept with all three,
and goes out again while they are the same: nobody who changes something has to tell.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from fastapi import Request, Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.db.snapshot import Seen, seen
from app.services.contest import visibility
from app.services.contest.visibility import Sight
from app.services.people.accounts import Principal
from app.transaction import transaction

T = TypeVar("T")
MOST_KEPT = 256
"""Each board for each who looks; a large one has 60 KB."""


@dataclass(frozen=True, slots=True)
class Text:
    """An answer as it is sent. ``rows``: what was committed before it was made, and, if it is still that when
    the answer is wanted again, while it was made."""

    body: bytes
    tag: str
    sight: Sight
    rows: str

    def stands(self, now: Seen) -> bool:
        return self.rows == now.rows and self.sight.lasts_until(now.at)


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


class Boards:
    """Those of one process; to be used in its event loop."""

    def __init__(self) -> None:
        self.kept: OrderedDict[Hashable, Text] = OrderedDict()
        self.shared = Shared()

    async def text(
        self, principal: Principal | None, slug: str, write: Callable[[Session, Sight], str]
    ) -> Text:
        """What ``write`` makes of a board for this person, now."""
        which = principal, slug, write
        now = await self.shared.done(None, looked)
        found = self.kept.get(which)
        if found is None or not found.stands(now):
            found = await self.shared.done(which, partial(written, principal, slug, write))
            self.kept[which] = found
        self.kept.move_to_end(which)
        if len(self.kept) > MOST_KEPT:
            self.kept.popitem(last=False)
        return found


def looked() -> Seen:
    with transaction() as session:
        return seen(session)


def written(principal: Principal | None, slug: str, write: Callable[[Session, Sight], str]) -> Text:
    with transaction() as session:
        rows = seen(session).rows
        sight = visibility.boards(session, principal, slug)
        body = write(session, sight).encode()
    tag = '"' + hashlib.sha256(body).hexdigest()[:32] + '"'
    return Text(body, tag, sight, rows)


async def board(
    request: Request,
    principal: Principal | None,
    slug: str,
    write: Callable[[Session, Sight], str],
    *,
    media_type: str,
) -> Response:
    """The board with its ETag, or 304 if the client has it already."""
    boards: Boards = request.app.state.boards
    found = await boards.text(principal, slug, write)
    headers = {"ETag": found.tag, "Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
    if found.tag in known_tags(request):
        return Response(status_code=304, headers=headers)
    return Response(found.body, media_type=media_type, headers=headers)


def known_tags(request: Request) -> set[str]:
    """The tags that the client has; a proxy that compressed an answer has made its tag a weak one."""
    listed = request.headers.get("if-none-match", "").split(",")
    return {tag.strip().removeprefix("W/") for tag in listed}
