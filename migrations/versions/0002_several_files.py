"""several files per original and per submission"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("competitions", sa.Column("original", sa.JSON(), nullable=True))
    op.execute(
        "UPDATE competitions SET original = CASE WHEN original_sha256 IS NULL THEN '{}'::json "
        "ELSE json_build_object('original', original_sha256) END"
    )
    op.alter_column("competitions", "original", nullable=False)
    op.drop_column("competitions", "original_sha256")
    op.add_column("submissions", sa.Column("files", sa.JSON(), nullable=True))
    op.execute("UPDATE submissions SET files = json_build_object('anonymized', anonymized_sha256)")
    op.alter_column("submissions", "files", nullable=False)
    op.drop_column("submissions", "anonymized_sha256")


def downgrade() -> None:
    op.add_column("submissions", sa.Column("anonymized_sha256", sa.Text(), nullable=True))
    op.execute("UPDATE submissions SET anonymized_sha256 = files ->> 'anonymized'")
    op.alter_column("submissions", "anonymized_sha256", nullable=False)
    op.drop_column("submissions", "files")
    op.add_column("competitions", sa.Column("original_sha256", sa.Text(), nullable=True))
    op.execute("UPDATE competitions SET original_sha256 = original ->> 'original'")
    op.drop_column("competitions", "original")
