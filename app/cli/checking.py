"""A release read on this machine before it is sent: what is malformed costs no attempt."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from app.cli.fetching import fetch_competition
from app.errors import DomainError
from app.scoring.registry import About

if TYPE_CHECKING:
    from app.cli.files import LocalContest
    from app.client import Client
    from app.scoring.registry import Files


def check(client: Client, slug: str, release: Files, secret: bytes | None) -> None:
    """Read it as the service will: InvalidUpload says what is wrong.

    Where the competition cannot be had or read here, the service alone decides.
    """
    contest = contest_at(client, slug)
    if contest is None or set(release) != set(contest.track.files):
        return
    table, _ = contest.track.parse_release(release, contest.tables, contest.rules)
    if secret is not None:
        sizes = contest.track.sizes(contest.tables, table)
        contest.track.answers.read(secret, About(contest.rules, sizes, lambda: contest.tables, table))


def contest_at(client: Client, slug: str) -> LocalContest | None:
    from app.cli.files import contest_of
    from app.client import Refused

    with suppress(DomainError, Refused), TemporaryDirectory() as folder:
        file, *originals = fetch_competition(client, client.competition(slug), Path(folder))
        named = [f"{Path(name).stem}={Path(folder, name)}" for name in originals]
        return contest_of(Path(folder, file), named)
    return None
