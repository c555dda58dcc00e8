"""Least privileges of each kind of process in the database, one role per kind.

``anoncup migrate`` creates the roles and grants the privileges (``migrations.role_grants``). The owner of the
tables, who migrates, backs up and restores, may do everything; so may all processes if they share one
``DATABASE_URL``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import structlog
from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.exc import OperationalError

from app.config import get_settings
from app.db import logins

WEB, WORKER, CLOCK = ROLES = tuple(logins.ROLES.values())

PRIVILEGES: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "alembic_version": {"version_num": ("r", "r", "r")},
    "announcements": {
        # Withdrawing locks the row, which requires UPDATE on some column.
        "id": ("riu", "r", "ri"),
        "at": ("r", "r", "r"),
        "competition_id user_id text coded_message": ("ri", "r", "i"),
    },
    "attempts": {
        "id round_id team_id phase": ("ri", "", "r"),
        "user_id key": ("ri", "", ""),
        "started_at ended_at": ("riu", "", "r"),
        "senders counts": ("riu", "", ""),
    },
    "audit_entries": {
        # The database sets the time and the number.
        "number at": ("r", "", "r"),
        "competition_id user_id actor action subject before after": ("ri", "", "ri"),
    },
    "clarifications": {
        "id competition_id team_id user_id question": ("ri", "", ""),
        "asked_at": ("r", "", ""),
        "answer answered_at public": ("riu", "", ""),
    },
    "competitions": {
        "id slug": ("ri", "r", "r"),
        # The clock locks the row, which requires UPDATE on some column.
        "created_at": ("r", "r", "ru"),
        "file": ("riu", "r", "r"),
        "rehearsal_of": ("ri", "r", "r"),
        "removed_at": ("riu", "r", "r"),
        "rehearsal_tokens": ("iu", "r", ""),
    },
    "rounds": {
        "id competition_id": ("ri", "r", "r"),
        "name position removed_at": ("riu", "r", "r"),
        "scales scored_by original original_rows paused_at pauses": ("riu", "r", "r"),
        "allocation": ("riu", "r", "r"),
        "shared_files": ("riu", "r", "ru"),
        "allocated_at frozen_at published_at closed_at revealed_at": ("ri", "r", "ru"),
    },
    "allocated_files": {
        "round_id team team_id attempt files": ("r", "r", "ri"),
        "created_at": ("r", "", "ri"),
    },
    # Web processes never see a URL or secret again. A program of the worker's role sends.
    "deliveries": {
        "id webhook_id email_address_id event subject_id change phase key": ("ri", "ri", "i"),
        "created_at": ("r", "r", ""),
        "attempt next_attempt_at finished_at": ("r", "ru", ""),
    },
    # The sender of mail makes codes and stores their digests. The clock adds deliveries.
    "email_addresses": {
        "id user_id": ("ri", "r", "r"),
        "address language": ("ri", "r", ""),
        "digests": ("r", "ru", ""),
        "created_at": ("r", "r", ""),
        "subscribed confirmed_at": ("riu", "r", "r"),
        "outcome": ("ri", "ru", ""),
    },
    "evaluations": {
        "id round_id party_id submission_id rescore_id": ("ri", "r", "r"),
        "created_at": ("r", "r", "r"),
        "current": ("riu", "r", "r"),
        # A trigger restricts the states that the web process may set (migrations.guards).
        "state leased_until finished_at": ("riu", "ru", "r"),
        "attempt excused not_before missing_since started_at failure traceback": ("ri", "ru", "r"),
        "step steps step_name scorer verdict": ("ri", "ru", "r"),
    },
    "adjustments": {
        # The clock chooses finals by the formula of the competition.
        "id round_id team_id points reason": ("ri", "", "r"),
        "created_at": ("r", "", "r"),
        "withdrawn_at": ("riu", "", "r"),
    },
    "grants": {"id round_id team_id cap amount": ("ri", "", ""), "granted_at": ("r", "", "")},
    "guess_terms": {
        "round_id starts_at ends_at guesses_per_target grace_s": ("r", "r", "riu"),
    },
    "guesses": {
        "id round_id target_id team_id": ("ri", "r", "r"),
        "user_id received_at question file answered guesses_left": ("ri", "r", "r"),
        "idempotency_key fingerprint": ("ri", "r", "r"),
        "created_at": ("r", "r", "r"),
        "attempt excused not_before missing_since started_at": ("ri", "ru", "r"),
        # A trigger lets the web process write results of rejudgements only (migrations.guards).
        "state leased_until finished_at failure traceback": ("riu", "ru", "r"),
        "correct outcome risk refusal": ("riu", "ru", "r"),
    },
    "heartbeats": {"task": ("ri", "", "riu"), "at": ("riu", "", "riu")},
    "identities": {"issuer subject user_id": ("ri", "", ""), "created_at": ("r", "", "")},
    "invites": {
        "id competition_id team_id digest expires_at": ("ri", "", ""),
        "created_at": ("r", "", ""),
        "uses_left": ("riu", "", ""),
    },
    "members": {"competition_id user_id": ("ri", "", "r"), "team_id": ("riu", "", "r")},
    "openings": {"target_id salt secret": ("r", "", "ri")},
    "organizers": {"competition_id": ("ri", "", ""), "user_id": ("riu", "", "")},
    "password_links": {
        "id user_id digest mailed expires_at": ("ri", "i", ""),
        "created_at": ("r", "", ""),
        "used_at": ("riu", "", ""),
    },
    "rejudgements": {
        "id round_id rescore_id guess_id": ("ri", "r", "r"),
        "created_at": ("r", "r", "r"),
        # A trigger restricts the states that the web process may set (migrations.guards).
        "state leased_until finished_at": ("riu", "ru", "r"),
        "attempt excused not_before missing_since started_at failure traceback": ("ri", "ru", "r"),
        "correct outcome risk refusal": ("ri", "ru", "r"),
        "replaced": ("riu", "r", "r"),
    },
    "rescores": {
        "id round_id user_id file competition_file scales scored_by replaces": ("ri", "r", ""),
        "created_at": ("r", "r", ""),
        "replaced_file replaced_scored_by applied_at cancelled_at": ("riu", "r", ""),
    },
    "secrets": {
        "submission_id key_id commitment": ("ri", "r", "r"),
        "sealed": ("i", "r", "r"),
    },
    # The clock creates seeds; the web process never sees one before the reveal.
    "seed_openings": {"round_id seed": ("r", "", "ri")},
    "seeds": {
        "round_id key_id commitment": ("r", "r", "ri"),
        "sealed": ("", "r", "ri"),
        "created_at": ("r", "", "r"),
    },
    "submission_terms": {
        "round_id starts_at ends_at valid_per_day valid_total timezone grace_s": ("r", "r", "riu"),
    },
    "submissions": {
        "id round_id team_id user_id received_at": ("ri", "r", "r"),
        "comment files uploaded_sha256 rows sizes remarks quota_left idempotency_key fingerprint": (
            "ri",
            "r",
            "r",
        ),
        "final disqualified_at disqualification_reason": ("riu", "r", "r"),
    },
    "targets": {
        "id round_id submission_id name rows sizes": ("r", "r", "ri"),
        "files published_at retired_at": ("r", "r", "riu"),
    },
    "teams": {
        "id competition_id": ("ri", "r", "r"),
        # Allocations are recorded under the name of the team.
        "name": ("ri", "r", "r"),
        "name_key": ("riu", "r", ""),
        "disqualified_at": ("riu", "r", "r"),
        "disqualification_reason method_description": ("riu", "r", ""),
        "created_at": ("r", "r", "r"),
        "baseline": ("ri", "r", "r"),
    },
    "threshold_reports": {
        "id round_id user_id file original question": ("ri", "r", "r"),
        "created_at": ("r", "r", "r"),
        "state attempt excused not_before missing_since leased_until": ("ri", "ru", "r"),
        "started_at finished_at failure traceback report": ("ri", "ru", "r"),
    },
    "tokens": {
        "id user_id kind name digest scopes expires_at": ("ri", "", ""),
        "created_at": ("r", "", ""),
        "revoked_at confirmed_at": ("riu", "", ""),
    },
    "organizer_files": {
        "round_id name": ("ri", "r", "r"),
        "key_id commitment": ("riu", "r", "r"),
        "size": ("riu", "", ""),
        "created_at": ("riu", "", "r"),
        "sealed": ("iu", "r", "r"),
    },
    "webhooks": {
        "id competition_id team_id events": ("ri", "r", "r"),
        "user_id format language host": ("ri", "r", ""),
        "url secret": ("i", "r", ""),
        "created_at": ("r", "r", ""),
        "disabled_at": ("ri", "ru", "r"),
        "attempted_at outcome": ("ri", "ru", ""),
    },
    "users": {
        "id name": ("ri", "r", ""),
        "name_key role": ("ri", "", ""),
        "created_at": ("r", "", ""),
        # The web process signs people in.
        "password_hash": ("riu", "", ""),
    },
    "observed_deadlines": {
        "id round_id phase ends_at notice_hours before_submissions observed_at signature": (
            "r",
            "",
            "ri",
        ),
    },
}
"""Privileges of the web process, workers and the clock, in this order, by table and columns.

``r`` read, ``i`` insert, ``u`` update. Every column of every table is listed, so that each new one needs a
decision.
"""

DELETE_PRIVILEGES: Mapping[str, tuple[str, ...]] = {
    "announcements": (WEB,),
    "deliveries": (WORKER,),
    "email_addresses": (WEB, WORKER),
    "guess_terms": (CLOCK,),
    "identities": (WEB,),
    # Only rows without files, see ROW_POLICIES.
    "allocated_files": (CLOCK,),
    "members": (WEB,),
    "organizers": (WEB,),
    "organizer_files": (WEB,),
    "webhooks": (WEB,),
}
"""Roles that may delete rows, by table."""


@dataclass(frozen=True, slots=True)
class RowPolicy:
    """A row-level security policy: the role may run ``command`` only on rows that meet ``condition``."""

    name: str
    table: str
    role: str
    command: str
    condition: str
    """SQL condition that a row must meet."""


MAX_UPLOAD_HOURS = 48
"""Maximum duration of an upload. ``received_at`` is its start; the largest body at the lowest rate that
``Settings`` allows takes two days."""

_IS_RECENTLY_RECEIVED = (
    f"received_at BETWEEN clock_timestamp() - interval '{MAX_UPLOAD_HOURS} hours'"
    " AND clock_timestamp() + interval '1 minute'"
)
_IS_NOT_STARTED = "state = 'QUEUED' AND attempt = 0 AND finished_at IS NULL"

_IS_BEFORE_ALLOCATION = (
    "EXISTS (SELECT FROM rounds WHERE rounds.id = round_id AND rounds.allocated_at IS NULL)"
)
_IS_BEFORE_FREEZE = "EXISTS (SELECT FROM rounds WHERE rounds.id = round_id AND rounds.frozen_at IS NULL)"

ROW_POLICIES = (
    RowPolicy(
        "sealed_until_the_reveal",
        "openings",
        WEB,
        "SELECT",
        "EXISTS (SELECT FROM targets JOIN rounds ON rounds.id = targets.round_id"
        " WHERE targets.id = target_id AND rounds.revealed_at IS NOT NULL)",
    ),
    RowPolicy(
        "sealed_until_the_reveal",
        "seed_openings",
        WEB,
        "SELECT",
        "EXISTS (SELECT FROM rounds WHERE rounds.id = round_id AND rounds.revealed_at IS NOT NULL)",
    ),
    # The files that team files were allocated from stay. One may be replaced if the team files stay the same.
    RowPolicy("kept_once_drawn", "organizer_files", WEB, "UPDATE", _IS_BEFORE_FREEZE),
    RowPolicy("stays_once_drawn", "organizer_files", WEB, "DELETE", _IS_BEFORE_ALLOCATION),
    RowPolicy("none_once_drawn", "organizer_files", WEB, "INSERT", _IS_BEFORE_ALLOCATION),
    RowPolicy("kept_by_its_team", "allocated_files", CLOCK, "DELETE", "files::text = '{}'"),
    RowPolicy(
        "begins_unturned",
        "rounds",
        WEB,
        "INSERT",
        "allocated_at IS NULL AND frozen_at IS NULL AND published_at IS NULL AND closed_at IS NULL"
        " AND revealed_at IS NULL",
    ),
    RowPolicy(
        "begins_unscored",
        "evaluations",
        WEB,
        "INSERT",
        f"{_IS_NOT_STARTED} AND verdict IS NULL AND scorer IS NULL",
    ),
    RowPolicy(
        "begins_unjudged",
        "guesses",
        WEB,
        "INSERT",
        f"{_IS_NOT_STARTED} AND correct IS NULL AND outcome IS NULL AND risk IS NULL AND refusal IS NULL",
    ),
    RowPolicy(
        "begins_unjudged",
        "rejudgements",
        WEB,
        "INSERT",
        f"{_IS_NOT_STARTED} AND correct IS NULL AND outcome IS NULL AND risk IS NULL AND refusal IS NULL",
    ),
    RowPolicy("entered_lately", "guesses", WEB, "INSERT", _IS_RECENTLY_RECEIVED),
    RowPolicy("entered_lately", "submissions", WEB, "INSERT", _IS_RECENTLY_RECEIVED),
    # Finals are frozen; baselines may still be added.
    RowPolicy(
        "before_the_freeze",
        "submissions",
        WEB,
        "INSERT",
        "EXISTS (SELECT FROM teams JOIN rounds ON rounds.competition_id = teams.competition_id"
        " WHERE teams.id = team_id AND rounds.id = round_id"
        " AND (teams.baseline OR rounds.frozen_at IS NULL))",
    ),
    RowPolicy(
        "begins_unwritten",
        "targets",
        CLOCK,
        "INSERT",
        "files IS NULL AND published_at IS NULL AND retired_at IS NULL",
    ),
    RowPolicy("begins_unmade", "threshold_reports", WEB, "INSERT", f"{_IS_NOT_STARTED} AND report IS NULL"),
    # The readiness check tests a write; only the clock writes other heartbeats.
    RowPolicy("tests_writes", "heartbeats", WEB, "INSERT", "task = 'write_test'"),
    RowPolicy("tests_writes_again", "heartbeats", WEB, "UPDATE", "task = 'write_test'"),
    # The sender of mail makes a password link only for people who have asked for one by mail.
    RowPolicy(
        "was_asked_for",
        "password_links",
        WORKER,
        "INSERT",
        "mailed AND expires_at <= clock_timestamp() + interval '1 hour' AND EXISTS"
        " (SELECT FROM deliveries JOIN email_addresses ON email_addresses.id = email_address_id"
        " WHERE email_addresses.user_id = password_links.user_id AND confirmed_at IS NOT NULL"
        " AND event = 'password_link' AND finished_at IS NULL)",
    ),
    RowPolicy("asks_for_no_link", "deliveries", WORKER, "INSERT", "event <> 'password_link'"),
    RowPolicy(
        "has_an_address",
        "users",
        WORKER,
        "SELECT",
        "EXISTS (SELECT FROM email_addresses WHERE email_addresses.user_id = users.id)",
    ),
    RowPolicy("is_unconfirmed", "email_addresses", WORKER, "DELETE", "confirmed_at IS NULL"),
    # Rows without an author come from the clock; the web process may neither write nor delete them.
    RowPolicy("has_an_author", "announcements", WEB, "INSERT", "user_id IS NOT NULL"),
    RowPolicy("had_an_author", "announcements", WEB, "DELETE", "user_id IS NOT NULL"),
    RowPolicy("has_an_author", "audit_entries", WEB, "INSERT", "user_id IS NOT NULL"),
)


GUESS_GUARD = "anoncup_guess_guard"
SUBMISSION_GUARD = "anoncup_submission_guard"
"""Triggers that reject rows outside of the phase, beyond a cap or without a team (migrations.guards)."""


def list_granted_columns(role: str, privilege: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each table with the columns on which the role has the privilege ``r``, ``i`` or ``u``."""
    role_index = ROLES.index(role)
    for table, groups in PRIVILEGES.items():
        columns = [
            name
            for names, privileges in groups.items()
            if privilege in privileges[role_index]
            for name in names.split()
        ]
        if columns:
            yield table, columns


log = structlog.get_logger(__name__)
_OVERPRIVILEGED_QUERY = text(
    "SELECT rolname FROM pg_roles WHERE rolname = current_user AND ("
    " rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolreplication"
    " OR EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public'"
    " AND pg_has_role(current_user, tableowner, 'USAGE')))"
)


def warn_if_overprivileged() -> None:
    """Log a warning at the start of a process if its role has more privileges than it needs.

    The process continues, because one ``DATABASE_URL`` for all processes is allowed. The connection is closed
    before the function returns, because a Celery worker forks afterwards.
    """
    url = get_settings().database_url
    engine = create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 5})
    try:
        with engine.connect() as connection:
            role = connection.scalar(_OVERPRIVILEGED_QUERY)
    except OperationalError:
        return  # reported when the database is first used
    finally:
        engine.dispose()
    if role is not None:
        log.warning("database_role_too_mighty", role=role, advice="docs/hosting.md, Roles in the database")
