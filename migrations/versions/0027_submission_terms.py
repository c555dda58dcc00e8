"""what the clock has read of when submissions are taken, to which the database holds the other processes"""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
GUARDS = ("named_once", "submission_guard")


def upgrade() -> None:
    op.create_table(
        "submission_terms",
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("starts_at", MOMENT, nullable=False),
        sa.Column("ends_at", MOMENT, nullable=False),
        sa.Column("valid_per_day", sa.Integer(), nullable=False),
        sa.Column("valid_total", sa.Integer(), nullable=False),
        sa.Column("timezone", sa.Text(), nullable=False),
        sa.Column("grace_s", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_submission_terms_competition_id")
        ),
        sa.PrimaryKeyConstraint("competition_id", name=op.f("pk_submission_terms")),
    )


def downgrade() -> None:
    # An older version knows neither of these triggers, and would not remove them.
    for guard in GUARDS:
        op.execute(f"DROP FUNCTION IF EXISTS anoncup_{guard}() CASCADE")
    op.drop_table("submission_terms")
    op.execute("COMMENT ON TABLE alembic_version IS NULL")
