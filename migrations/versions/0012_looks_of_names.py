"""what tells names that are taken for each other: how they read in any case, and how they look"""

import unicodedata
from collections.abc import Sequence

import sqlalchemy as sa
import structlog
from alembic import op

from app import names

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

log = structlog.get_logger(__name__)

NEW = ("name_look", "name_capitals")
WITHIN = {"users": (), "teams": ("competition_id",)}
"""What each table's names are unique in."""


def upgrade() -> None:
    for table, within in WITHIN.items():
        for column in NEW:
            op.add_column(table, sa.Column(column, sa.Text(), nullable=True))
        op.drop_constraint(constraint(table, (*within, "name_key")), table)
        renew(table, within)
        for column in NEW:
            op.alter_column(table, column, nullable=False)
        for column in ("name_key", *NEW):
            unique = (*within, column)
            op.create_unique_constraint(op.f(constraint(table, unique)), table, unique)


def downgrade() -> None:
    for table, within in WITHIN.items():
        for column in NEW:
            op.drop_constraint(constraint(table, (*within, column)), table)
            op.drop_column(table, column)
        rows = sa.table(table, sa.column("id"), sa.column("name"), sa.column("name_key"))
        for row in op.get_bind().execute(sa.select(rows)).all():
            folded = unicodedata.normalize("NFKC", row.name).casefold().replace(names.JOINER, "")
            old = f"{folded} {row.id}" if row.name_key.endswith(str(row.id)) else folded
            op.get_bind().execute(sa.update(rows).where(rows.c.id == row.id).values(name_key=old))


def constraint(table: str, columns: Sequence[str]) -> str:
    return f"uq_{table}_{'_'.join(columns)}"


def renew(table: str, within: Sequence[str]) -> None:
    """Oldest first, so that of two that are alike now the later gets keys that nobody else can have."""
    columns = ("id", "name", "name_key", "created_at", *within)
    rows = sa.table(table, *(sa.column(name) for name in (*columns, *NEW)))
    taken: set[tuple[object, ...]] = set()
    order = rows.c.created_at, rows.c.id
    for row in op.get_bind().execute(sa.select(*(rows.c[name] for name in columns)).order_by(*order)).all():
        given_up = row.name_key.endswith(str(row.id))  # a baseline that was removed: its name is free
        place = tuple(getattr(row, name) for name in within)
        made = names.columns(row.name)
        alike = {column for column, value in made.items() if (column, *place, value) in taken}
        made.update({each: f"{made[each]} {row.id}" for each in (made if given_up else alike)})
        taken.update((column, *place, value) for column, value in made.items())
        if alike and not given_up:
            log.warning("names_alike", table=table, id=str(row.id), name=row.name)
        op.get_bind().execute(sa.update(rows).where(rows.c.id == row.id).values(made))
