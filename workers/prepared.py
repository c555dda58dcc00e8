"""Prepared originals, kept between submissions: a few, by content and roles."""

from functools import lru_cache
from pathlib import Path

from app import storage
from app.scoring.competition import Columns
from app.scoring.release import PreparedOriginal, prepare
from app.scoring.tables import parse_original


@lru_cache(maxsize=2)
def prepared_original(data: Path, digest: str, columns: Columns) -> PreparedOriginal:
    """The original with this SHA-256, read once; what attackers derive from it is kept with it."""
    table, _ = parse_original(storage.get(data, digest), columns)
    return prepare(table, columns)
