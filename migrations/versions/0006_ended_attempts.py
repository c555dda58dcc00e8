"""when an attempt's upload was over"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attempts", sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True))
    # Whatever was being received while the schema changed has been cut off with its server.
    op.execute("UPDATE attempts SET ended_at = at")
    op.create_index(
        "ix_attempts_under_way", "attempts", ["team_id"], postgresql_where=sa.text("ended_at IS NULL")
    )


def downgrade() -> None:
    op.drop_index("ix_attempts_under_way", "attempts")
    op.drop_column("attempts", "ended_at")
