"""which attempt a retry goes on with"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attempts", sa.Column("key", sa.Text(), nullable=True))
    op.add_column("attempts", sa.Column("senders", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("attempts", sa.Column("counts", sa.Boolean(), nullable=False, server_default="true"))
    for column in ("senders", "counts"):
        op.alter_column("attempts", column, server_default=None)


def downgrade() -> None:
    op.drop_column("attempts", "counts")
    op.drop_column("attempts", "senders")
    op.drop_column("attempts", "key")
