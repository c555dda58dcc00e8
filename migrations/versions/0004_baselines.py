"""baseline rows on the board"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("teams", sa.Column("baseline", sa.Boolean(), server_default=sa.false(), nullable=False))
    # Rows of before the change have it; new ones say it themselves.
    op.alter_column("teams", "baseline", server_default=None)


def downgrade() -> None:
    op.drop_column("teams", "baseline")
