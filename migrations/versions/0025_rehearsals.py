"""rehearsals of competitions, and what their sample teams do"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
NOW = sa.text("clock_timestamp()")


def upgrade() -> None:
    op.add_column("competitions", sa.Column("rehearses", sa.Uuid(), nullable=True))
    op.add_column("competitions", sa.Column("removed_at", MOMENT, nullable=True))
    op.create_foreign_key(
        op.f("fk_competitions_rehearses"), "competitions", "competitions", ["rehearses"], ["id"]
    )
    op.create_index(
        "uq_competitions_standing_rehearses",
        "competitions",
        ["rehearses"],
        unique=True,
        postgresql_where=sa.text("removed_at IS NULL"),
    )
    op.create_table(
        "rehearsal_moves",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("share", sa.Float(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("excused", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("not_before", MOMENT, nullable=True),
        sa.Column("missing_since", MOMENT, nullable=True),
        sa.Column("leased_until", MOMENT, nullable=True),
        sa.Column("created_at", MOMENT, server_default=NOW, nullable=False),
        sa.Column("started_at", MOMENT, nullable=True),
        sa.Column("finished_at", MOMENT, nullable=True),
        sa.Column("failure", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_rehearsal_moves_competition_id")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_rehearsal_moves_team_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_rehearsal_moves_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rehearsal_moves")),
        sa.UniqueConstraint(
            "team_id", "phase", "number", name=op.f("uq_rehearsal_moves_team_id_phase_number")
        ),
    )
    op.create_index(
        "ix_rehearsal_moves_unfinished",
        "rehearsal_moves",
        ["created_at"],
        postgresql_where=sa.text("state IN ('QUEUED', 'SCORING')"),
    )
    op.create_index(
        "uq_rehearsal_moves_scoring_competition_id",
        "rehearsal_moves",
        ["competition_id"],
        unique=True,
        postgresql_where=sa.text("state = 'SCORING'"),
    )
    op.create_index(
        op.f("ix_rehearsal_moves_competition_id_team_id_started_at"),
        "rehearsal_moves",
        ["competition_id", "team_id", "started_at"],
    )


def downgrade() -> None:
    op.drop_table("rehearsal_moves")
    op.drop_index("uq_competitions_standing_rehearses", "competitions")
    op.drop_constraint(op.f("fk_competitions_rehearses"), "competitions")
    op.drop_column("competitions", "removed_at")
    # With it go the fences that name it; the next migration to a newest schema puts its own in force.
    op.execute("ALTER TABLE competitions DROP COLUMN rehearses CASCADE")
    op.execute("COMMENT ON TABLE alembic_version IS NULL")
