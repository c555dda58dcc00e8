"""A release read on this machine before it is sent: what is malformed costs no attempt."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from app.cli.fetching import fetch_competition
from app.errors import DomainError

if TYPE_CHECKING:
    from app.cli.files import LocalContest
    from app.cli.options import Release
    from app.client import Client


def check(client: Client, slug: str, release: Release, secret: Path | None) -> None:
    """Read it as the service will: InvalidUpload or InvalidInput says what is wrong.

    Where the competition cannot be had or read here, the service alone decides.
    """
    from app.cli.files import release_in, secret_in

    contest = contest_at(client, slug)
    if contest is None:
        return
    table, _ = release_in(contest, release)
    if secret is not None:
        secret_in(secret, contest, table)


def contest_at(client: Client, slug: str) -> LocalContest | None:
    from app.cli.files import contest_of
    from app.client import Refused

    with suppress(DomainError, Refused), TemporaryDirectory() as folder:
        file, *originals = fetch_competition(client, client.competition(slug), Path(folder))
        named = [f"{Path(name).stem}={Path(folder, name)}" for name in originals]
        return contest_of(Path(folder, file), named)
    return None
