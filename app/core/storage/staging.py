"""Staging area for files that await a decision.

Files are stored in a folder for each day; those from before yesterday are removed.
"""

import re
from datetime import UTC, datetime, timedelta
from io import BytesIO

from anoncup.errors import NotFound
from app.core.storage.store import compute_digest, get_store

_KEY_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}/[0-9a-f]{64}")
FOLDER = "waiting"


def save(content: bytes) -> str:
    """Store a file for at least one day and return the key to load it with."""
    key = f"{datetime.now(UTC).date()}/{compute_digest(content)}"
    get_store().backend.create(f"{FOLDER}/{key}", BytesIO(content))
    return key


def load(key: str) -> bytes | None:
    """Return the file; None if the key is invalid or the file is missing, expired or damaged."""
    if not _KEY_PATTERN.fullmatch(key):
        return None
    try:
        with get_store().backend.open(f"{FOLDER}/{key}") as file:
            file.seek(0)
            content = file.read()
    except NotFound:
        return None
    return content if compute_digest(content) == key.rpartition("/")[2] else None


def remove(key: str) -> None:
    if _KEY_PATTERN.fullmatch(key):
        get_store().backend.remove(f"{FOLDER}/{key}")


def remove_expired() -> int:
    """Remove files from before yesterday and return how many. Safe to run concurrently."""
    cutoff_date = str(datetime.now(UTC).date() - timedelta(days=1))
    names = get_store().backend.list_names(f"{FOLDER}/")
    keys = [name.removeprefix(f"{FOLDER}/") for name in names]
    expired = [key for key in keys if _KEY_PATTERN.fullmatch(key) and key < cutoff_date]
    for key in expired:
        remove(key)
    return len(expired)
