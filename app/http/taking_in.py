"""A release on its way in, the same for programs and pages: its parts are read, then it is accepted."""

from fastapi import Request

from app.config import Settings
from app.http.attempts import fairly_counted
from app.http.dependencies import Parts, multipart
from app.scoring.tracks import TRACKS
from app.services import competitions, submissions, uploads
from app.services.accounts import Principal
from app.services.submissions import Receipt
from app.services.uploads import Entrance
from app.transaction import transaction


async def with_parts(request: Request, principal: Principal, at: Entrance) -> Parts:
    """The files of a release, read only after it is clear that this person may submit now."""
    competition = competitions.read_file(at.file)
    names = {*TRACKS[competition.track].files, "secret"}
    with fairly_counted(at.attempt_id):
        return await multipart(request, principal, names=names, file_mb=competition.limits.file_mb)


def taken_in(principal: Principal, at: Entrance, sent: Parts, settings: Settings) -> Receipt:
    """Accept a release whose parts have come; of a repetition under its key, the first receipt."""
    files = {name: sent.file(name) for name in TRACKS[competitions.read_file(at.file).track].files}
    secret, comment = sent.file("secret"), sent.texts.get("comment", "")
    if at.repeats is not None:
        with transaction() as session:
            printed = uploads.fingerprint({**files, "secret": secret}, comment)
            return submissions.repeated(session, at.repeats, printed)
    with fairly_counted(at.attempt_id):
        upload = uploads.read_upload(at, files=files, secret=secret, comment=comment)
    with fairly_counted(at.attempt_id), transaction() as session:
        return submissions.accept(session, principal, upload, sealing_key=settings.sealing_key_file)
