"""what the service announces, with its code and values: it was text in the languages there were"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("announcements", sa.Column("said", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    op.drop_column("announcements", "said")
