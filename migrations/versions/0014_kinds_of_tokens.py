"""which tokens are a browser's session and which are for the API"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

# What the pages made had this name and this life. A name alone says nothing: people name their tokens.
SESSIONS = (
    "UPDATE tokens SET kind = 'session'"
    " WHERE name = 'browser' AND expires_at - created_at BETWEEN interval '13 days' AND interval '15 days'"
)


def upgrade() -> None:
    op.add_column("tokens", sa.Column("kind", sa.Text(), server_default="api", nullable=False))
    op.execute(SESSIONS)
    op.alter_column("tokens", "kind", server_default=None)


def downgrade() -> None:
    op.drop_column("tokens", "kind")
