"""the whole contest: phases, quotas, targets, guesses, rescores, audit"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "heartbeats",
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("task", name=op.f("pk_heartbeats")),
    )
    op.create_table(
        "announcements",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column(
            "at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("text", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_announcements_competition_id")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_announcements_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_announcements")),
    )
    op.create_index(
        op.f("ix_announcements_competition_id"), "announcements", ["competition_id"], unique=False
    )
    op.create_table(
        "audit_entries",
        sa.Column("number", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column(
            "at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("competition_id", sa.Uuid(), nullable=True),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("before", sa.JSON(), nullable=True),
        sa.Column("after", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_audit_entries_competition_id")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_audit_entries_user_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit_entries")),
    )
    op.create_index(
        op.f("ix_audit_entries_competition_id"), "audit_entries", ["competition_id"], unique=False
    )
    op.create_table(
        "password_links",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_password_links_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_password_links")),
        sa.UniqueConstraint("digest", name=op.f("uq_password_links_digest")),
    )
    op.create_index(op.f("ix_password_links_user_id"), "password_links", ["user_id"], unique=False)
    op.create_table(
        "rescores",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("scales", sa.JSON(), nullable=False),
        sa.Column("replaces", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancelled_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_rescores_competition_id")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_rescores_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rescores")),
    )
    op.create_index(op.f("ix_rescores_competition_id"), "rescores", ["competition_id"], unique=False)
    op.create_index(
        "uq_rescores_open_competition_id",
        "rescores",
        ["competition_id"],
        unique=True,
        postgresql_where=sa.text("applied_at IS NULL AND cancelled_at IS NULL"),
    )
    op.create_table(
        "threshold_reports",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("original", sa.JSON(), nullable=False),
        sa.Column("question", sa.JSON(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_threshold_reports_competition_id")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_threshold_reports_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_threshold_reports")),
    )
    op.create_index(
        op.f("ix_threshold_reports_competition_id"), "threshold_reports", ["competition_id"], unique=False
    )
    op.create_index(
        "ix_threshold_reports_unfinished",
        "threshold_reports",
        ["created_at"],
        unique=False,
        postgresql_where=sa.text("state IN ('QUEUED', 'SCORING')"),
    )
    op.create_table(
        "attempts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column(
            "at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_attempts_team_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_attempts_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempts")),
    )
    op.create_index("ix_attempts_team_id_phase_at", "attempts", ["team_id", "phase", "at"], unique=False)
    op.create_table(
        "grants",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("cap", sa.Text(), nullable=False),
        sa.Column("amount", sa.Integer(), nullable=False),
        sa.Column(
            "at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_grants_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grants")),
    )
    op.create_index(op.f("ix_grants_team_id"), "grants", ["team_id"], unique=False)
    op.create_table(
        "targets",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=True),
        sa.Column("salt", sa.LargeBinary(), nullable=True),
        sa.Column("secret", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_targets_competition_id")
        ),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_targets_submission_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_targets")),
        sa.UniqueConstraint("competition_id", "name", name=op.f("uq_targets_competition_id_name")),
        sa.UniqueConstraint("submission_id", name=op.f("uq_targets_submission_id")),
    )
    op.create_table(
        "guesses",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("answered", sa.Integer(), nullable=False),
        sa.Column("correct", sa.Integer(), nullable=True),
        sa.Column("guesses_left", sa.Integer(), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_guesses_competition_id")
        ),
        sa.ForeignKeyConstraint(["target_id"], ["targets.id"], name=op.f("fk_guesses_target_id")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_guesses_team_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_guesses_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_guesses")),
        sa.UniqueConstraint("team_id", "idempotency_key", name=op.f("uq_guesses_team_id_idempotency_key")),
    )
    op.create_index(
        "ix_guesses_competition_id_received_at", "guesses", ["competition_id", "received_at"], unique=False
    )
    op.create_index(op.f("ix_guesses_target_id"), "guesses", ["target_id"], unique=False)
    op.create_index(
        "ix_guesses_unfinished",
        "guesses",
        ["created_at"],
        unique=False,
        postgresql_where=sa.text("state IN ('QUEUED', 'SCORING')"),
    )
    op.add_column("competitions", sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("competitions", sa.Column("frozen_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("competitions", sa.Column("published_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("competitions", sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("competitions", sa.Column("revealed_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("evaluations", sa.Column("rescore_id", sa.Uuid(), nullable=True))
    op.create_unique_constraint(
        op.f("uq_evaluations_rescore_id_submission_id"), "evaluations", ["rescore_id", "submission_id"]
    )
    op.create_foreign_key(
        op.f("fk_evaluations_rescore_id"), "evaluations", "rescores", ["rescore_id"], ["id"]
    )
    op.add_column("invites", sa.Column("team_id", sa.Uuid(), nullable=True))
    op.create_foreign_key(op.f("fk_invites_team_id"), "invites", "teams", ["team_id"], ["id"])
    op.add_column("submissions", sa.Column("sent", sa.JSON(), nullable=True))
    op.execute("UPDATE submissions SET sent = files")
    op.alter_column("submissions", "sent", nullable=False)
    op.add_column("submissions", sa.Column("quota_left", sa.JSON(), server_default="{}", nullable=False))
    op.add_column("submissions", sa.Column("idempotency_key", sa.Text(), nullable=True))
    op.add_column("submissions", sa.Column("fingerprint", sa.Text(), nullable=True))
    op.add_column("submissions", sa.Column("final", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("submissions", sa.Column("disqualified_at", sa.DateTime(timezone=True), nullable=True))
    op.create_unique_constraint(
        op.f("uq_submissions_team_id_idempotency_key"), "submissions", ["team_id", "idempotency_key"]
    )
    op.add_column("teams", sa.Column("disqualified_at", sa.DateTime(timezone=True), nullable=True))
    # Rows of before the change have these; new ones say it themselves.
    op.alter_column("submissions", "quota_left", server_default=None)
    op.alter_column("submissions", "final", server_default=None)


def downgrade() -> None:
    op.drop_column("teams", "disqualified_at")
    op.drop_constraint(op.f("uq_submissions_team_id_idempotency_key"), "submissions", type_="unique")
    op.drop_column("submissions", "disqualified_at")
    op.drop_column("submissions", "final")
    op.drop_column("submissions", "fingerprint")
    op.drop_column("submissions", "idempotency_key")
    op.drop_column("submissions", "quota_left")
    op.drop_column("submissions", "sent")
    op.drop_constraint(op.f("fk_invites_team_id"), "invites", type_="foreignkey")
    op.drop_column("invites", "team_id")
    op.drop_constraint(op.f("fk_evaluations_rescore_id"), "evaluations", type_="foreignkey")
    op.drop_constraint(op.f("uq_evaluations_rescore_id_submission_id"), "evaluations", type_="unique")
    op.drop_column("evaluations", "rescore_id")
    op.drop_column("competitions", "revealed_at")
    op.drop_column("competitions", "closed_at")
    op.drop_column("competitions", "published_at")
    op.drop_column("competitions", "frozen_at")
    op.drop_column("competitions", "paused_at")
    op.drop_index(
        "ix_guesses_unfinished",
        table_name="guesses",
        postgresql_where=sa.text("state IN ('QUEUED', 'SCORING')"),
    )
    op.drop_index(op.f("ix_guesses_target_id"), table_name="guesses")
    op.drop_index("ix_guesses_competition_id_received_at", table_name="guesses")
    op.drop_table("guesses")
    op.drop_table("targets")
    op.drop_index(op.f("ix_grants_team_id"), table_name="grants")
    op.drop_table("grants")
    op.drop_index("ix_attempts_team_id_phase_at", table_name="attempts")
    op.drop_table("attempts")
    op.drop_index(
        "ix_threshold_reports_unfinished",
        table_name="threshold_reports",
        postgresql_where=sa.text("state IN ('QUEUED', 'SCORING')"),
    )
    op.drop_index(op.f("ix_threshold_reports_competition_id"), table_name="threshold_reports")
    op.drop_table("threshold_reports")
    op.drop_index(
        "uq_rescores_open_competition_id",
        table_name="rescores",
        postgresql_where=sa.text("applied_at IS NULL AND cancelled_at IS NULL"),
    )
    op.drop_index(op.f("ix_rescores_competition_id"), table_name="rescores")
    op.drop_table("rescores")
    op.drop_index(op.f("ix_password_links_user_id"), table_name="password_links")
    op.drop_table("password_links")
    op.drop_index(op.f("ix_audit_entries_competition_id"), table_name="audit_entries")
    op.drop_table("audit_entries")
    op.drop_index(op.f("ix_announcements_competition_id"), table_name="announcements")
    op.drop_table("announcements")
    op.drop_table("heartbeats")
