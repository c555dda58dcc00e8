"""how each team did it, for everybody to read after the close"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("teams", sa.Column("approach", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("teams", "approach")
