"""what the service draws by a committed seed, and what organizers hold"""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def of_competition(table: str) -> tuple[sa.Column[UUID], sa.ForeignKeyConstraint]:
    return (
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f(f"fk_{table}_competition_id")
        ),
    )


def moment_of_insert(name: str) -> sa.Column[datetime]:
    now = sa.text("clock_timestamp()")
    return sa.Column(name, sa.DateTime(timezone=True), server_default=now, nullable=False)


def upgrade() -> None:
    for name in ("drawing", "drawn"):
        column = sa.Column(name, sa.JSON(), server_default=sa.text("'{}'"), nullable=False)
        op.add_column("competitions", column)
    op.add_column("competitions", sa.Column("drawn_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "seeds",
        *of_competition("seeds"),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        moment_of_insert("created_at"),
        sa.PrimaryKeyConstraint("competition_id", name=op.f("pk_seeds")),
    )
    op.create_table(
        "seed_openings",
        *of_competition("seed_openings"),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("competition_id", name=op.f("pk_seed_openings")),
    )
    op.create_table(
        "truths",
        *of_competition("truths"),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        moment_of_insert("at"),
        sa.PrimaryKeyConstraint("competition_id", "name", name=op.f("pk_truths")),
    )
    op.create_table(
        "draws",
        *of_competition("draws"),
        sa.Column("team", sa.Text(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        moment_of_insert("made_at"),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_draws_team_id")),
        sa.UniqueConstraint("team_id", name=op.f("uq_draws_team_id")),
        sa.PrimaryKeyConstraint("competition_id", "team", name=op.f("pk_draws")),
    )


def downgrade() -> None:
    for table in ("draws", "truths", "seed_openings", "seeds"):
        op.drop_table(table)
    # What refers to a column falls with it; the older version puts its own in force.
    op.execute("DROP POLICY IF EXISTS begins_unturned ON competitions")
    op.drop_column("competitions", "drawn_at")
    op.drop_column("competitions", "drawn")
    op.drop_column("competitions", "drawing")
