"""Files that wait until somebody decides about them: each stands under the day on which it came, and those of
days before yesterday are taken away, whoever forgot them."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import BytesIO

from anoncup.errors import NotFound
from app.storage.store import digest_of, store

KEY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}/[0-9a-f]{64}")
FOLDER = "waiting"


def keep(content: bytes) -> str:
    """Keep a file for a day at least; returns what it is asked back by."""
    key = f"{datetime.now(UTC).date()}/{digest_of(content)}"
    store().place.create(f"{FOLDER}/{key}", BytesIO(content))
    return key


def kept(key: str) -> bytes | None:
    """The file, while it is kept."""
    if not KEY.fullmatch(key):
        return None
    try:
        with store().place.open(f"{FOLDER}/{key}") as file:
            file.seek(0)
            content = file.read()
    except NotFound:
        return None
    return content if digest_of(content) == key.rpartition("/")[2] else None


def remove(key: str) -> None:
    if KEY.fullmatch(key):
        store().place.remove(f"{FOLDER}/{key}")


def remove_old() -> int:
    """Take away what waits since before yesterday; how many files that were. Safe to do twice at once."""
    oldest = str(datetime.now(UTC).date() - timedelta(days=1))
    old = [name for name in names() if name.split("/")[1] < oldest]
    for name in old:
        store().place.remove(name)
    return len(old)


def names() -> Iterator[str]:
    """Of all files that wait; others below are none of ours."""
    return (
        name for name in store().place.names(f"{FOLDER}/") if KEY.fullmatch(name.removeprefix(f"{FOLDER}/"))
    )
