"""opened secrets in a table of their own, whose rows can be closed to a role"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "openings",
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["target_id"], ["targets.id"], name=op.f("fk_openings_target_id")),
        sa.PrimaryKeyConstraint("target_id", name=op.f("pk_openings")),
    )
    op.execute(
        "INSERT INTO openings (target_id, salt, secret) "
        "SELECT id, salt, secret FROM targets WHERE salt IS NOT NULL AND secret IS NOT NULL"
    )
    op.drop_column("targets", "secret")
    op.drop_column("targets", "salt")


def downgrade() -> None:
    op.add_column("targets", sa.Column("salt", sa.LargeBinary(), nullable=True))
    op.add_column("targets", sa.Column("secret", sa.Text(), nullable=True))
    op.execute(
        "UPDATE targets SET salt = openings.salt, secret = openings.secret "
        "FROM openings WHERE openings.target_id = targets.id"
    )
    op.drop_table("openings")
