"""The one way in of uploads, for programs and pages: knock, wait for a turn, read, accept.

What is refused on the way is told by a DomainError, and what becomes of the attempt is noted.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from fastapi import Request
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from anoncup.errors import InvalidInput
from anoncup.tracks.files import GUESS, SECRET
from app.config import get_settings
from app.db.models import Guess
from app.db.transaction import transaction
from app.http import throttle
from app.http.admission import Admission
from app.http.attempts import Counted, counted
from app.http.multipart import Parts, multipart
from app.services.accounts.accounts import Principal
from app.services.attacks import guesses
from app.services.jobs.store_check import check_store
from app.services.submissions import submissions, uploads

At = TypeVar("At", uploads.Entrance, guesses.Entrance)
Made = TypeVar("Made")
Checked = TypeVar("Checked")


@dataclass(frozen=True, slots=True)
class Way(Generic[At, Made]):
    """What differs between the kinds of uploads.

    ``renewed``: the entrance once the body has come. ``accepted``: reads the parts and accepts them, in one
    of the threads of ``admission``.
    """

    renewed: Callable[[Session, Principal, At], At]
    accepted: Callable[[Principal, At, Parts], Made]


async def take_in(request: Request, principal: Principal, at: At, way: Way[At, Made]) -> Made:
    """What became of an upload whose sender may send it now.

    A failure is noted before the team's turn ends: the next one under the key knows of it.
    """
    doors, held = admission(request), Counted(at.attempt)
    whose = f"team:{at.attempt.team_id}" if at.attempt else f"user:{principal.user_id}"
    async with (
        counted(held),
        a_known_store(),
        doors.place(whose),
        counted(held),
        multipart(request, names=set(at.names), file_mb=at.file_mb) as sent,
        doors.parsing(sent.size),
    ):
        at = await run_in_threadpool(in_transaction, way.renewed, principal, at)
        held.attempt = at.attempt
        return await doors.in_thread(way.accepted, principal, at, sent)


async def dry_run(request: Request, at: At, team_id: UUID, read: Callable[[At, Parts], Checked]) -> Checked:
    """Read an upload without accepting it: nothing is stored, and no attempt is counted."""
    await run_in_threadpool(throttle.count_check, team_id)
    doors = admission(request)
    async with (
        a_known_store(),
        doors.place_for_check(f"team:{team_id}"),
        multipart(request, names=set(at.names), file_mb=at.file_mb) as sent,
        doors.parsing(sent.size),
    ):
        return await doors.in_thread(read, at, sent)


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


def submitted(principal: Principal, at: uploads.Entrance, sent: Parts) -> submissions.Receipt:
    """Of a repetition under its key, the first receipt."""
    uploads.require_not_sent(at, {*sent.files, *sent.texts})
    if at.repeats is None:
        upload = read_release(at, sent)
        with transaction() as session:
            return submissions.accept(session, principal, upload, sealing_key=get_settings().sealing_key_file)
    printed = uploads.fingerprint({name: sent.file(name) for name in at.names}, comment_of(sent))
    with transaction() as session:
        return submissions.repeated(session, at.repeats, printed)


def read_release(at: uploads.Entrance, sent: Parts) -> uploads.Upload:
    files = {name: sent.file(name) for name in at.public}
    secret = sent.file(SECRET) if SECRET in at.names else None
    return uploads.read_upload(at, files=files, secret=secret, comment=comment_of(sent))


def check_release(at: uploads.Entrance, sent: Parts) -> uploads.Checked:
    uploads.require_not_sent(at, {*sent.files, *sent.texts})
    files = {name: sent.file(name) for name in at.names if name in sent.files}
    secret = files.pop(SECRET, None)
    return uploads.check_upload(at, files=files, secret=secret, comment=comment_of(sent))


def comment_of(sent: Parts) -> str:
    if "comment" in sent.files:
        raise InvalidInput("send the comment as text, not as a file", code="comment")
    return sent.texts.get("comment", "")


def guessed(principal: Principal, at: guesses.Entrance, sent: Parts) -> Guess:
    """Of a repetition under its key, the first one."""
    content, question = sent.file(GUESS), question_of(at, sent)
    if at.repeats is not None:
        printed = uploads.fingerprint({GUESS: content})
        with transaction() as session:
            return guesses.repeated(session, at.repeats, printed, at.target_id, question)
    given = guesses.read(content, at, question)
    with transaction() as session:
        return guesses.accept(session, principal, at, given)


def check_guess(at: guesses.Entrance, sent: Parts) -> guesses.Checked:
    return guesses.check(sent.file(GUESS), at, question_of(at, sent))


def question_of(at: guesses.Entrance, sent: Parts) -> str:
    """The question that a guess answers; the usual one is not meant where another one came as a file."""
    return at.question(sent.texts.get("question", "" if "question" in sent.files else None))


RELEASE = Way(uploads.renewed, submitted)
A_GUESS = Way(guesses.renewed, guessed)
