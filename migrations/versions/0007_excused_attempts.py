"""attempts that do not count against the work"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

KINDS = ("evaluations", "guesses", "threshold_reports")


def upgrade() -> None:
    for table in KINDS:
        op.add_column(table, sa.Column("excused", sa.Integer(), nullable=False, server_default="0"))
        op.add_column(table, sa.Column("not_before", sa.DateTime(timezone=True), nullable=True))
        op.add_column(table, sa.Column("missing_since", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    for table in KINDS:
        for column in ("missing_since", "not_before", "excused"):
            op.drop_column(table, column)
