"""which attempt a retry goes on with"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attempts", sa.Column("key", sa.Text(), nullable=True))
    op.add_column("attempts", sa.Column("tries", sa.Integer(), nullable=False, server_default="1"))
    op.alter_column("attempts", "tries", server_default=None)


def downgrade() -> None:
    op.drop_column("attempts", "tries")
    op.drop_column("attempts", "key")
