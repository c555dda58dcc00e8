"""what the clock has read of when guesses are taken, to which the database holds the other processes"""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
GUARDS = ("written_once", "turned_once", "entrance_guard", "guess_guard")


def upgrade() -> None:
    op.create_table(
        "guess_terms",
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("starts_at", MOMENT, nullable=False),
        sa.Column("ends_at", MOMENT, nullable=False),
        sa.Column("guesses_per_target", sa.Integer(), nullable=False),
        sa.Column("grace_s", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_guess_terms_competition_id")
        ),
        sa.PrimaryKeyConstraint("competition_id", name=op.f("pk_guess_terms")),
    )


def downgrade() -> None:
    # An older version knows none of these triggers, and would not remove them.
    for guard in GUARDS:
        op.execute(f"DROP FUNCTION IF EXISTS anoncup_{guard}() CASCADE")
    # It names columns that older versions drop; the older version puts its own in force.
    op.execute("DROP POLICY IF EXISTS begins_unjudged ON guesses")
    op.drop_table("guess_terms")
    op.execute("COMMENT ON TABLE alembic_version IS NULL")
