"""whom a piece of work is done for, and when each was served last"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

SERVED = {"evaluations": "party_id", "guesses": "team_id"}


def upgrade() -> None:
    op.add_column("evaluations", sa.Column("competition_id", sa.Uuid(), nullable=True))
    op.add_column("evaluations", sa.Column("party_id", sa.Uuid(), nullable=True))
    op.execute(
        "UPDATE evaluations SET competition_id = submissions.competition_id,"
        " party_id = coalesce(evaluations.rescore_id, submissions.team_id)"
        " FROM submissions WHERE submissions.id = evaluations.submission_id"
    )
    op.alter_column("evaluations", "competition_id", nullable=False)
    op.alter_column("evaluations", "party_id", nullable=False)
    op.create_foreign_key(
        op.f("fk_evaluations_competition_id"), "evaluations", "competitions", ["competition_id"], ["id"]
    )
    for table, party in SERVED.items():
        op.create_index(
            op.f(f"ix_{table}_competition_id_started_at"), table, ["competition_id", "started_at"]
        )
        columns = ["competition_id", party, "started_at"]
        op.create_index(op.f(f"ix_{table}_competition_id_{party}_started_at"), table, columns)
    # One report of a competition at a time; what was being made is made again.
    op.execute("UPDATE threshold_reports SET state = 'QUEUED', leased_until = NULL WHERE state = 'SCORING'")
    op.create_index(
        op.f("uq_threshold_reports_scoring_competition_id"),
        "threshold_reports",
        ["competition_id"],
        unique=True,
        postgresql_where=sa.text("state = 'SCORING'"),
    )


def downgrade() -> None:
    op.drop_index("uq_threshold_reports_scoring_competition_id", "threshold_reports")
    for table, party in SERVED.items():
        op.drop_index(f"ix_{table}_competition_id_{party}_started_at", table)
        op.drop_index(f"ix_{table}_competition_id_started_at", table)
    op.drop_constraint("fk_evaluations_competition_id", "evaluations")
    op.drop_column("evaluations", "party_id")
    op.drop_column("evaluations", "competition_id")
