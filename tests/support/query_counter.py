"""What is asked of the database, by listening to the connections of this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import event

from app.db import engine


@dataclass
class Asked:
    """What went to the database and what came back."""

    statements: list[str] = field(default_factory=list)
    bytes: int = 0

    def note(self, _connection: Any, cursor: Any, statement: str, *_rest: Any) -> None:
        self.statements.append(statement)
        result = cursor.pgresult
        for row in range(result.ntuples):
            self.bytes += sum(len(result.get_value(row, column) or b"") for column in range(result.nfields))

    @property
    def reads_verdicts(self) -> bool:
        return any("evaluations.verdict" in statement for statement in self.statements)


@contextmanager
def asked() -> Iterator[Asked]:
    noted = Asked()
    event.listen(engine.get_engine(), "after_cursor_execute", noted.note)
    try:
        yield noted
    finally:
        event.remove(engine.get_engine(), "after_cursor_execute", noted.note)
