"""the ends that the clock has witnessed, and what it says itself"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "witnessed_ends",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("notice_hours", sa.Integer(), nullable=False),
        sa.Column("free", sa.Boolean(), nullable=False),
        sa.Column("witnessed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("signature", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name="fk_witnessed_ends_competition_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_witnessed_ends"),
    )
    op.create_index("ix_witnessed_ends_competition_id", "witnessed_ends", ["competition_id"])
    op.alter_column("announcements", "user_id", nullable=True)


def downgrade() -> None:
    op.execute("DELETE FROM announcements WHERE user_id IS NULL")
    op.alter_column("announcements", "user_id", nullable=False)
    op.drop_table("witnessed_ends")
