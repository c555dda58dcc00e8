"""A log of the database queries of this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import event

from app.core.db import engine


@dataclass
class QueryLog:
    """The statements sent to the database and the number of bytes received."""

    statements: list[str] = field(default_factory=list)
    bytes_read: int = 0

    def record(self, _connection: Any, cursor: Any, statement: str, *_rest: Any) -> None:
        self.statements.append(statement)
        result = cursor.pgresult
        for row in range(result.ntuples):
            self.bytes_read += sum(
                len(result.get_value(row, column) or b"") for column in range(result.nfields)
            )

    @property
    def reads_verdicts(self) -> bool:
        return any("verdicts.content" in statement for statement in self.statements)


@contextmanager
def log_queries() -> Iterator[QueryLog]:
    query_log = QueryLog()
    event.listen(engine.get_engine(), "after_cursor_execute", query_log.record)
    try:
        yield query_log
    finally:
        event.remove(engine.get_engine(), "after_cursor_execute", query_log.record)
