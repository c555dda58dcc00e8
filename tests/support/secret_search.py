"""Search responses, rows and files for secrets."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sqlalchemy import text

from app.core.db import engine

WINDOW_ROWS = 6
SEPARATORS = ("\n", "\r\n", ",", ", ", " ", ";", "\\n", "\\r\\n")


def build_needles(secret: bytes) -> set[bytes]:
    """Return parts of the permutation in every encoding that could leak: both directions, both bases."""
    source = np.array([int(line) for line in secret.split()[1:]]) - 1
    inverse = np.argsort(source)
    needles: set[bytes] = set()
    for rows in (source, source + 1, inverse, inverse + 1):
        for start in (0, len(rows) // 2, len(rows) - WINDOW_ROWS):
            run = rows[start : start + WINDOW_ROWS]
            needles |= {separator.join(map(str, run)).encode() for separator in SEPARATORS}
            needles |= {run.astype(dtype).tobytes() for dtype in ("<i8", "<i4", "<i2", ">i8")}
    return needles


def find_leaks(haystack: bytes, needles: set[bytes]) -> list[bytes]:
    return [needle for needle in needles if needle in haystack]


def iterate_database_cells() -> Iterator[tuple[str, bytes]]:
    """Yield every value of every table, as raw bytes or as text."""
    tables = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
    with engine.get_engine().connect() as connection:
        for schema, table in connection.execute(text(tables)).all():
            if schema in {"pg_catalog", "information_schema"}:
                continue
            for row in connection.execute(text(f'SELECT * FROM "{schema}"."{table}"')).mappings():
                for column, value in row.items():
                    as_bytes = value if isinstance(value, bytes) else str(value).encode()
                    yield f"{schema}.{table}.{column}", as_bytes


def iterate_files(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file() and "private" not in path.parts:
            yield path, path.read_bytes()
