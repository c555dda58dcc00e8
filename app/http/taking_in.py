"""An upload on its way in, the same for programs and pages.

It waits for its turn, its body goes to the disk, and where there is room in memory it is read and accepted.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from fastapi import Request
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.config import Settings
from app.http.admission import Admission
from app.http.attempts import Counted, counted
from app.http.bodies import Parts, multipart
from app.scoring.tracks import TRACKS
from app.services import competitions, guesses, submissions, uploads
from app.services.accounts import Principal
from app.services.landmarks import check_store
from app.services.submissions import Receipt
from app.services.uploads import Entrance
from app.transaction import transaction

At = TypeVar("At", Entrance, guesses.Entrance)


@asynccontextmanager
async def received(
    request: Request,
    principal: Principal,
    at: At,
    renewed: Callable[[Session, Principal, At], At],
    *,
    names: set[str],
    file_mb: int,
) -> AsyncIterator[tuple[At, Parts]]:
    """The parts of an upload, read only after it is clear that its sender may send it now.

    With them comes the entrance by which they count. What is done with both belongs into one of the threads
    of ``admission``. A failure is noted before the team's turn ends: the next one under the key knows of it.
    """
    doors, held = admission(request), Counted(at.attempt)
    whose = f"team:{at.attempt.team_id}" if at.attempt else f"user:{principal.user_id}"
    async with (
        counted(held),
        a_known_store(),
        doors.place(whose),
        counted(held),
        multipart(request, names=names, file_mb=file_mb) as sent,
        doors.parsing(sent.size),
    ):
        at = await run_in_threadpool(in_transaction, renewed, principal, at)
        held.attempt = at.attempt
        yield at, sent


def in_transaction(renewed: Callable[[Session, Principal, At], At], principal: Principal, at: At) -> At:
    with transaction() as session:
        return renewed(session, principal, at)


@asynccontextmanager
async def a_known_store() -> AsyncIterator[None]:
    await run_in_threadpool(check_store)
    yield


def admission(request: Request) -> Admission:
    found: Admission = request.app.state.admission
    return found


@asynccontextmanager
async def release_of(
    request: Request, principal: Principal, at: Entrance
) -> AsyncIterator[tuple[Entrance, Parts]]:
    """The parts of a release, and its entrance."""
    competition = competitions.read_file(at.file)
    names = {*TRACKS[competition.track].files, "secret"}
    file_mb = competition.limits.file_mb
    async with received(request, principal, at, uploads.renewed, names=names, file_mb=file_mb) as found:
        yield found


def taken_in(principal: Principal, at: Entrance, sent: Parts, settings: Settings) -> Receipt:
    """Accept a release whose parts have come; of a repetition under its key, the first receipt."""
    files = {name: sent.file(name) for name in TRACKS[competitions.read_file(at.file).track].files}
    secret, comment = sent.file("secret"), sent.texts.get("comment", "")
    if at.repeats is not None:
        with transaction() as session:
            printed = uploads.fingerprint({**files, "secret": secret}, comment)
            return submissions.repeated(session, at.repeats, printed)
    upload = uploads.read_upload(at, files=files, secret=secret, comment=comment)
    with transaction() as session:
        return submissions.accept(session, principal, upload, sealing_key=settings.sealing_key_file)
