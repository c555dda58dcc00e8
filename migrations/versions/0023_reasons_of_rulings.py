"""why a team or a submission is disqualified, for the team to read"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

TABLES = ("teams", "submissions")


def upgrade() -> None:
    # Empty: organizers were told that only they read what they wrote until now, in the audit log.
    for table in TABLES:
        op.add_column(table, sa.Column("disqualified_for", sa.Text(), nullable=True))


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "disqualified_for")
