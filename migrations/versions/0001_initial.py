"""the initial schema

Roles and their privileges are not part of it: ``migrations.role_grants`` applies them at the end of every
migration to the newest schema.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
EMPTY = sa.text("'{}'")
UNFINISHED = sa.text("state IN ('QUEUED', 'SCORING')")

TABLES = (
    "users",
    "identities",
    "email_addresses",
    "password_links",
    "tokens",
    "competitions",
    "rounds",
    "organizers",
    "announcements",
    "threshold_reports",
    "rescores",
    "teams",
    "members",
    "invites",
    "grants",
    "adjustments",
    "attempts",
    "clarifications",
    "seeds",
    "seed_openings",
    "organizer_files",
    "sealed_organizer_files",
    "allocated_files",
    "submissions",
    "secrets",
    "evaluations",
    "verdicts",
    "targets",
    "openings",
    "guesses",
    "rejudgements",
    "standings",
    "attack_standings",
    "stale_standings",
    "audit_entries",
    "heartbeats",
    "notification_urls",
    "deliveries",
)
"""All tables, each after the tables that it references."""


def upgrade() -> None:
    _create_accounts()
    _create_competitions()
    _create_teams()
    _create_allocations()
    _create_submissions()
    _create_attacks()
    _create_standings()
    _create_records()
    _create_deliveries()


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)


def _moment_of_insert(name: str) -> sa.Column[datetime]:
    return sa.Column(name, MOMENT, server_default=sa.text("clock_timestamp()"), nullable=False)


def _job_columns() -> tuple[sa.Column[Any], ...]:
    """Return the columns of a job, which a worker does under a lease and finishes once."""
    return (
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("excused", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("not_before", MOMENT),
        sa.Column("missing_since", MOMENT),
        sa.Column("leased_until", MOMENT),
        _moment_of_insert("created_at"),
        sa.Column("started_at", MOMENT),
        sa.Column("finished_at", MOMENT),
        sa.Column("failure", sa.JSON()),
        sa.Column("traceback", sa.Text()),
    )


def _create_accounts() -> None:
    """Create users and their credentials."""
    op.create_table(
        "users",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        _moment_of_insert("created_at"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("name_key", name=op.f("uq_users_name_key")),
    )
    op.create_table(
        "identities",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        _moment_of_insert("created_at"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_identities_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_identities")),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_identities_issuer_subject")),
    )
    op.create_table(
        "email_addresses",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("digests", sa.ARRAY(sa.LargeBinary()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("subscribed", sa.Boolean(), nullable=False),
        _moment_of_insert("created_at"),
        sa.Column("confirmed_at", MOMENT),
        sa.Column("outcome", sa.Text()),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_email_addresses_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_email_addresses")),
        sa.UniqueConstraint("user_id", name=op.f("uq_email_addresses_user_id")),
    )
    op.create_table(
        "password_links",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("mailed", sa.Boolean(), nullable=False),
        _moment_of_insert("created_at"),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("used_at", MOMENT),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_password_links_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_password_links")),
        sa.UniqueConstraint("digest", name=op.f("uq_password_links_digest")),
    )
    op.create_index(op.f("ix_password_links_user_id"), "password_links", ["user_id"])
    op.create_table(
        "tokens",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", sa.ARRAY(sa.Text()), nullable=False),
        _moment_of_insert("created_at"),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("revoked_at", MOMENT),
        sa.Column("confirmed_at", MOMENT),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_tokens_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_tokens_digest")),
    )
    op.create_index(op.f("ix_tokens_user_id"), "tokens", ["user_id"])


def _create_competitions() -> None:
    """Create competitions, their rounds and the tables of their organizers' actions."""
    op.create_table(
        "competitions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        _moment_of_insert("created_at"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_competitions")),
        sa.UniqueConstraint("slug", name=op.f("uq_competitions_slug")),
    )
    op.create_table(
        "rounds",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("position", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("removed_at", MOMENT),
        sa.Column("scales", sa.JSON(), nullable=False),
        sa.Column("scored_by", sa.JSON(), server_default=EMPTY, nullable=False),
        sa.Column("original", sa.JSON(), nullable=False),
        sa.Column("shared_files", sa.JSON(), server_default=EMPTY, nullable=False),
        sa.Column("allocation", sa.JSON(), server_default=EMPTY, nullable=False),
        sa.Column("original_rows", sa.Integer()),
        sa.Column("paused_at", MOMENT),
        sa.Column("allocated_at", MOMENT),
        sa.Column("frozen_at", MOMENT),
        sa.Column("published_at", MOMENT),
        sa.Column("closed_at", MOMENT),
        sa.Column("reveal_not_before", MOMENT),
        sa.Column("revealed_at", MOMENT),
        sa.Column("seed_commitment", sa.Text()),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_rounds_competition_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rounds")),
    )
    op.create_index(op.f("ix_rounds_competition_id"), "rounds", ["competition_id"])
    op.create_index(
        "uq_rounds_competition_id_name",
        "rounds",
        ["competition_id", "name"],
        unique=True,
        postgresql_where=sa.text("removed_at IS NULL"),
    )
    op.create_table(
        "organizers",
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_organizers_competition_id")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_organizers_user_id")),
        sa.PrimaryKeyConstraint("competition_id", "user_id", name=op.f("pk_organizers")),
    )
    op.create_index(op.f("ix_organizers_user_id"), "organizers", ["user_id"])
    op.create_table(
        "announcements",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid()),
        _moment_of_insert("at"),
        sa.Column("text", sa.JSON(), nullable=False),
        sa.Column("coded_message", sa.JSON()),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_announcements_competition_id")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_announcements_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_announcements")),
    )
    op.create_index(op.f("ix_announcements_competition_id"), "announcements", ["competition_id"])
    op.create_table(
        "threshold_reports",
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("original", sa.JSON(), nullable=False),
        sa.Column("question", sa.JSON(), nullable=False),
        sa.Column("report", sa.JSON()),
        *_job_columns(),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_threshold_reports_round_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_threshold_reports_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_threshold_reports")),
    )
    op.create_index(op.f("ix_threshold_reports_round_id"), "threshold_reports", ["round_id"])
    op.create_index(
        "ix_threshold_reports_unfinished", "threshold_reports", ["created_at"], postgresql_where=UNFINISHED
    )
    op.create_index(
        "uq_threshold_reports_scoring_round_id",
        "threshold_reports",
        ["round_id"],
        unique=True,
        postgresql_where=sa.text("state = 'SCORING'"),
    )
    op.create_table(
        "rescores",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("competition_file", sa.Text(), nullable=False),
        sa.Column("scales", sa.JSON(), nullable=False),
        sa.Column("scored_by", sa.JSON(), server_default=EMPTY, nullable=False),
        sa.Column("replaces", sa.Text(), nullable=False),
        sa.Column("replaced_file", sa.Text()),
        _moment_of_insert("created_at"),
        sa.Column("applied_at", MOMENT),
        sa.Column("cancelled_at", MOMENT),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_rescores_round_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_rescores_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rescores")),
    )
    op.create_index(op.f("ix_rescores_round_id"), "rescores", ["round_id"])
    op.create_index(
        "uq_rescores_open_round_id",
        "rescores",
        ["round_id"],
        unique=True,
        postgresql_where=sa.text("applied_at IS NULL AND cancelled_at IS NULL"),
    )


def _create_teams() -> None:
    """Create teams, invites, grants, clarifications, and the attempts that count towards caps."""
    op.create_table(
        "teams",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        _moment_of_insert("created_at"),
        sa.Column("disqualified_at", MOMENT),
        sa.Column("disqualification_reason", sa.Text()),
        sa.Column("method_description", sa.Text()),
        sa.Column("baseline", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_teams_competition_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_teams")),
        sa.UniqueConstraint("competition_id", "name_key", name=op.f("uq_teams_competition_id_name_key")),
    )
    op.create_table(
        "members",
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_members_competition_id")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_members_team_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_members_user_id")),
        sa.PrimaryKeyConstraint("competition_id", "user_id", name=op.f("pk_members")),
    )
    op.create_index(op.f("ix_members_team_id"), "members", ["team_id"])
    op.create_table(
        "invites",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid()),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("uses_left", sa.Integer(), nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        _moment_of_insert("created_at"),
        sa.CheckConstraint("uses_left >= 0", name=op.f("ck_invites_uses_left")),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_invites_competition_id")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_invites_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invites")),
        sa.UniqueConstraint("digest", name=op.f("uq_invites_digest")),
    )
    op.create_index(op.f("ix_invites_competition_id"), "invites", ["competition_id"])
    op.create_table(
        "grants",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("cap", sa.Text(), nullable=False),
        sa.Column("amount", sa.Integer(), nullable=False),
        _moment_of_insert("granted_at"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_grants_round_id")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_grants_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grants")),
    )
    op.create_index(op.f("ix_grants_team_id"), "grants", ["team_id"])
    op.create_table(
        "adjustments",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("points", sa.Float(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        _moment_of_insert("created_at"),
        sa.Column("withdrawn_at", MOMENT),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_adjustments_round_id")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_adjustments_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_adjustments")),
    )
    op.create_index(op.f("ix_adjustments_round_id"), "adjustments", ["round_id"])
    op.create_table(
        "attempts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        _moment_of_insert("started_at"),
        sa.Column("ended_at", MOMENT),
        sa.Column("key", sa.Text()),
        sa.Column("senders", sa.Integer(), nullable=False),
        sa.Column("counts", sa.Boolean(), nullable=False),
        sa.Column("failure", sa.JSON()),
        sa.Column("traceback", sa.Text()),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_attempts_round_id")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_attempts_team_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_attempts_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempts")),
    )
    op.create_index(
        op.f("ix_attempts_team_id_round_id_phase_started_at"),
        "attempts",
        ["team_id", "round_id", "phase", "started_at"],
    )
    op.create_index(
        "ix_attempts_under_way", "attempts", ["team_id"], postgresql_where=sa.text("ended_at IS NULL")
    )
    op.create_table(
        "clarifications",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        _moment_of_insert("asked_at"),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text()),
        sa.Column("answered_at", MOMENT),
        sa.Column("public", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_clarifications_competition_id")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_clarifications_team_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_clarifications_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clarifications")),
    )
    op.create_index(op.f("ix_clarifications_competition_id"), "clarifications", ["competition_id"])


def _create_allocations() -> None:
    """Create sealed seeds, the allocations drawn from them, and data that only organizers have."""
    op.create_table(
        "seeds",
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_seeds_round_id")),
        sa.PrimaryKeyConstraint("round_id", name=op.f("pk_seeds")),
    )
    op.create_table(
        "seed_openings",
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_seed_openings_round_id")),
        sa.PrimaryKeyConstraint("round_id", name=op.f("pk_seed_openings")),
    )
    op.create_table(
        "organizer_files",
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        _moment_of_insert("created_at"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_organizer_files_round_id")),
        sa.PrimaryKeyConstraint("round_id", "name", name=op.f("pk_organizer_files")),
    )
    op.create_table(
        "sealed_organizer_files",
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["round_id", "name"],
            ["organizer_files.round_id", "organizer_files.name"],
            name=op.f("fk_sealed_organizer_files_round_id_name"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("round_id", "name", name=op.f("pk_sealed_organizer_files")),
    )
    op.create_table(
        "allocated_files",
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("team", sa.Text(), nullable=False),
        sa.Column("team_id", sa.Uuid()),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        _moment_of_insert("created_at"),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_allocated_files_round_id")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_allocated_files_team_id")),
        sa.PrimaryKeyConstraint("round_id", "team", name=op.f("pk_allocated_files")),
        sa.UniqueConstraint("team_id", "round_id", name=op.f("uq_allocated_files_team_id_round_id")),
    )


def _create_submissions() -> None:
    """Create submissions, their sealed secrets, their evaluations and verdicts."""
    op.create_table(
        "submissions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("received_at", MOMENT, nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("uploaded_sha256", sa.JSON(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("sizes", sa.JSON(), nullable=False),
        sa.Column("remarks", sa.JSON(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.Column("quota_left", sa.JSON(), nullable=False),
        sa.Column("idempotency_key", sa.Text()),
        sa.Column("fingerprint", sa.Text()),
        sa.Column("final", sa.Boolean(), nullable=False),
        sa.Column("disqualified_at", MOMENT),
        sa.Column("disqualification_reason", sa.Text()),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_submissions_round_id")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_submissions_team_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_submissions_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
        sa.UniqueConstraint(
            "team_id", "idempotency_key", name=op.f("uq_submissions_team_id_idempotency_key")
        ),
    )
    op.create_index("ix_submissions_round_id_received_at", "submissions", ["round_id", "received_at"])
    op.create_index(op.f("ix_submissions_team_id"), "submissions", ["team_id"])
    op.create_table(
        "secrets",
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_secrets_submission_id")),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_secrets")),
    )
    op.create_table(
        "evaluations",
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("party_id", sa.Uuid(), nullable=False),
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("rescore_id", sa.Uuid()),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("step_name", sa.Text(), nullable=False),
        *_job_columns(),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_evaluations_round_id")),
        sa.ForeignKeyConstraint(["rescore_id"], ["rescores.id"], name=op.f("fk_evaluations_rescore_id")),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_evaluations_submission_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluations")),
        sa.UniqueConstraint(
            "rescore_id", "submission_id", name=op.f("uq_evaluations_rescore_id_submission_id")
        ),
    )
    op.create_index(
        op.f("ix_evaluations_round_id_party_id_started_at"),
        "evaluations",
        ["round_id", "party_id", "started_at"],
    )
    op.create_index(op.f("ix_evaluations_round_id_started_at"), "evaluations", ["round_id", "started_at"])
    op.create_index(op.f("ix_evaluations_submission_id"), "evaluations", ["submission_id"])
    op.create_index("ix_evaluations_unfinished", "evaluations", ["created_at"], postgresql_where=UNFINISHED)
    op.create_index(
        "uq_evaluations_current_submission_id",
        "evaluations",
        ["submission_id"],
        unique=True,
        postgresql_where=sa.text("current"),
    )
    op.create_table(
        "verdicts",
        sa.Column("evaluation_id", sa.Uuid(), nullable=False),
        sa.Column("scorer", sa.Text(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluations.id"], name=op.f("fk_verdicts_evaluation_id")
        ),
        sa.PrimaryKeyConstraint("evaluation_id", name=op.f("pk_verdicts")),
    )


def _create_attacks() -> None:
    """Create targets, their opened secrets, guesses and rejudgements."""
    op.create_table(
        "targets",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("sizes", sa.JSON(), nullable=False),
        sa.Column("files", sa.JSON()),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_targets_round_id")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_targets_submission_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_targets")),
        sa.UniqueConstraint("round_id", "name", name=op.f("uq_targets_round_id_name")),
        sa.UniqueConstraint("submission_id", name=op.f("uq_targets_submission_id")),
    )
    op.create_table(
        "openings",
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["target_id"], ["targets.id"], name=op.f("fk_openings_target_id")),
        sa.PrimaryKeyConstraint("target_id", name=op.f("pk_openings")),
    )
    op.create_table(
        "guesses",
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("received_at", MOMENT, nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("answered", sa.Integer(), nullable=False),
        sa.Column("correct", sa.Integer()),
        sa.Column("outcome", sa.JSON()),
        sa.Column("risk", sa.Float()),
        sa.Column("refusal", sa.JSON()),
        sa.Column("guesses_left", sa.Integer(), nullable=False),
        sa.Column("idempotency_key", sa.Text()),
        sa.Column("fingerprint", sa.Text()),
        *_job_columns(),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_guesses_round_id")),
        sa.ForeignKeyConstraint(["target_id"], ["targets.id"], name=op.f("fk_guesses_target_id")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_guesses_team_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_guesses_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_guesses")),
        sa.UniqueConstraint("team_id", "idempotency_key", name=op.f("uq_guesses_team_id_idempotency_key")),
    )
    op.create_index("ix_guesses_round_id_received_at", "guesses", ["round_id", "received_at"])
    op.create_index(op.f("ix_guesses_round_id_started_at"), "guesses", ["round_id", "started_at"])
    op.create_index(
        op.f("ix_guesses_round_id_team_id_started_at"),
        "guesses",
        ["round_id", "team_id", "started_at"],
    )
    op.create_index(op.f("ix_guesses_target_id"), "guesses", ["target_id"])
    op.create_index("ix_guesses_unfinished", "guesses", ["created_at"], postgresql_where=UNFINISHED)
    op.create_table(
        "rejudgements",
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("rescore_id", sa.Uuid(), nullable=False),
        sa.Column("guess_id", sa.Uuid(), nullable=False),
        sa.Column("correct", sa.Integer()),
        sa.Column("outcome", sa.JSON()),
        sa.Column("risk", sa.Float()),
        sa.Column("refusal", sa.JSON()),
        *_job_columns(),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_rejudgements_round_id")),
        sa.ForeignKeyConstraint(["rescore_id"], ["rescores.id"], name=op.f("fk_rejudgements_rescore_id")),
        sa.ForeignKeyConstraint(["guess_id"], ["guesses.id"], name=op.f("fk_rejudgements_guess_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rejudgements")),
        sa.UniqueConstraint("rescore_id", "guess_id", name=op.f("uq_rejudgements_rescore_id_guess_id")),
    )
    op.create_index(op.f("ix_rejudgements_guess_id"), "rejudgements", ["guess_id"])
    op.create_index(op.f("ix_rejudgements_round_id_started_at"), "rejudgements", ["round_id", "started_at"])
    op.create_index(
        op.f("ix_rejudgements_round_id_rescore_id_started_at"),
        "rejudgements",
        ["round_id", "rescore_id", "started_at"],
    )
    op.create_index("ix_rejudgements_unfinished", "rejudgements", ["created_at"], postgresql_where=UNFINISHED)


def _standing_columns() -> tuple[sa.Column[Any], ...]:
    return (
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("series", sa.Text(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("score", sa.Float()),
        sa.Column("parts", sa.Text()),
    )


def _create_standings() -> None:
    """Create what boards show, and the jobs of computing what a worker has to compute."""
    key = ("round_id", "series", "team_id", "at")
    op.create_table(
        "standings",
        *_standing_columns(),
        sa.Column("submission_id", sa.Uuid(), nullable=False),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.Column("utility", sa.Float()),
        sa.Column("security", sa.Float()),
        sa.Column("overall", sa.Float()),
        sa.Column("rival_risk", sa.Float()),
        sa.PrimaryKeyConstraint(*key, name=op.f("pk_standings")),
    )
    op.create_table(
        "attack_standings",
        *_standing_columns(),
        sa.Column("targets", sa.Integer(), nullable=False),
        sa.Column("rate", sa.Float(), nullable=False),
        sa.Column("identified", sa.Integer()),
        sa.Column("tried", sa.Integer()),
        sa.Column("by_question", sa.JSON()),
        sa.Column("first_guess_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint(*key, name=op.f("pk_attack_standings")),
    )
    op.create_table(
        "stale_standings",
        sa.Column("round_id", sa.Uuid(), nullable=False),
        sa.Column("since", MOMENT),
        sa.Column("claimed_since", MOMENT),
        *_job_columns(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stale_standings")),
        sa.UniqueConstraint("round_id", name=op.f("uq_stale_standings_round_id")),
    )


def _create_records() -> None:
    """Create the audit log and the heartbeats."""
    op.create_table(
        "audit_entries",
        sa.Column("number", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        _moment_of_insert("at"),
        sa.Column("competition_id", sa.Uuid()),
        sa.Column("user_id", sa.Uuid()),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("before", sa.JSON()),
        sa.Column("after", sa.JSON()),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_audit_entries_competition_id")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_audit_entries_user_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit_entries")),
    )
    op.create_index(op.f("ix_audit_entries_competition_id"), "audit_entries", ["competition_id"])
    op.create_table(
        "heartbeats",
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("task", name=op.f("pk_heartbeats")),
    )


def _create_deliveries() -> None:
    """Create the receivers of notifications, and the events to be sent."""
    op.create_table(
        "notification_urls",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("competition_id", sa.Uuid(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_notification_urls_competition_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notification_urls")),
    )
    op.create_index(op.f("ix_notification_urls_competition_id"), "notification_urls", ["competition_id"])
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("notification_url_id", sa.Uuid()),
        sa.Column("email_address_id", sa.Uuid()),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.Uuid()),
        sa.Column("change", sa.Text()),
        sa.Column("phase", sa.Text()),
        sa.Column("key", sa.Text()),
        _moment_of_insert("created_at"),
        sa.Column("attempt", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("next_attempt_at", MOMENT, server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("finished_at", MOMENT),
        sa.ForeignKeyConstraint(
            ["notification_url_id"],
            ["notification_urls.id"],
            name=op.f("fk_deliveries_notification_url_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["email_address_id"],
            ["email_addresses.id"],
            name=op.f("fk_deliveries_email_address_id"),
            ondelete="CASCADE",
        ),
        sa.CheckConstraint(
            "num_nonnulls(notification_url_id, email_address_id) = 1",
            name=op.f("ck_deliveries_one_receiver"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("notification_url_id", "key", name=op.f("uq_deliveries_notification_url_id_key")),
        sa.UniqueConstraint("email_address_id", "key", name=op.f("uq_deliveries_email_address_id_key")),
    )
    op.create_index(
        "ix_deliveries_unfinished",
        "deliveries",
        ["next_attempt_at"],
        postgresql_where=sa.text("finished_at IS NULL"),
    )
