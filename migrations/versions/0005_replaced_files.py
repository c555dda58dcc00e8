"""the file that a re-score set replaced"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("rescores", sa.Column("replaced_file", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("rescores", "replaced_file")
