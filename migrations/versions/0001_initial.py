"""the initial schema: the tables of the models

Nothing is released. Version 1.0 freezes it, since a later change of a model must not change this revision
(docs/decisions/0076-the-models-are-the-first-schema.md).
"""

from alembic import op

from app.core.db.models import load_metadata

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    load_metadata().create_all(op.get_bind())
