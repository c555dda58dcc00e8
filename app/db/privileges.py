"""What each process may do in the database: a role for each, with the least that its work needs.

``anoncup migrate`` makes the roles and grants this (``migrations.granting``). The owner of the tables, who
migrates, backs up and restores, may do everything; so may whoever has but one ``DATABASE_URL`` for all.
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
        # It locks what is withdrawn, for which a right to write some column is needed.
        "id": ("riu", "", "ri"),
        "at": ("r", "", "r"),
        "competition_id user_id text said": ("ri", "", "i"),
    },
    "attempts": {
        # What workers insert and change is in rehearsals alone (FENCES).
        "id team_id phase": ("ri", "ri", "r"),
        "user_id key": ("ri", "ri", ""),
        "at ended_at": ("riu", "riu", "r"),
        "senders counts": ("riu", "riu", ""),
    },
    "audit_entries": {
        # The moment and the number are the database's own.
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
        "created_at": ("r", "r", "r"),
        "file scales scored_by original original_rows paused_at": ("riu", "r", "r"),
        "drawing": ("riu", "r", "r"),
        "drawn": ("riu", "r", "ru"),
        "drawn_at frozen_at published_at closed_at revealed_at": ("ri", "r", "ru"),
        # A worker locks a rehearsal whose teams it plays, for which a right to write some column is needed.
        "rehearses": ("ri", "ru", "r"),
        "removed_at": ("riu", "r", "r"),
    },
    "draws": {
        "competition_id team team_id attempt": ("r", "r", "ri"),
        "files made_at": ("r", "", "ri"),
    },
    "evaluations": {
        "id competition_id party_id submission_id rescore_id": ("ri", "ri", "r"),
        "created_at": ("r", "r", "r"),
        "current": ("riu", "ri", "r"),
        # What the web process may make of a state: a trigger (migrations.guards).
        "state leased_until finished_at": ("riu", "riu", "r"),
        "attempt excused not_before missing_since started_at failure": ("ri", "riu", "r"),
        "step steps step_name scorer verdict": ("ri", "riu", "r"),
    },
    "grants": {"id team_id cap amount": ("ri", "r", ""), "at": ("r", "r", "")},
    "guess_terms": {
        "competition_id starts_at ends_at guesses_per_target grace_s": ("r", "r", "riu"),
    },
    "guesses": {
        "id competition_id target_id team_id": ("ri", "ri", "r"),
        "user_id received_at question file answered guesses_left": ("ri", "ri", "r"),
        "idempotency_key fingerprint": ("ri", "ri", "r"),
        "created_at": ("r", "r", "r"),
        "state attempt excused not_before missing_since leased_until": ("ri", "riu", "r"),
        "started_at finished_at failure correct outcome risk": ("ri", "riu", "r"),
    },
    "heartbeats": {"task": ("ri", "", "riu"), "at": ("riu", "", "riu")},
    "invites": {
        "id competition_id team_id digest expires_at": ("ri", "", ""),
        "created_at": ("r", "", ""),
        "uses_left": ("riu", "", ""),
    },
    "members": {"competition_id user_id": ("ri", "", ""), "team_id": ("riu", "", "")},
    "openings": {"target_id salt secret": ("r", "", "ri")},
    "organizers": {"competition_id": ("ri", "", ""), "user_id": ("riu", "", "")},
    "password_links": {
        "id user_id digest expires_at": ("ri", "", ""),
        "created_at": ("r", "", ""),
        "used_at": ("riu", "", ""),
    },
    "rehearsal_moves": {
        "id competition_id team_id user_id phase number method share": ("ri", "r", "r"),
        "created_at": ("r", "r", "r"),
        "state not_before finished_at leased_until": ("riu", "ru", "r"),
        "attempt excused missing_since started_at failure": ("ri", "ru", "r"),
    },
    "rescores": {
        "id competition_id user_id file scales scored_by replaces": ("ri", "r", ""),
        "created_at": ("r", "r", ""),
        "replaced_file replaced_scored_by applied_at cancelled_at": ("riu", "r", ""),
    },
    "secrets": {
        "submission_id key_id commitment": ("ri", "ri", "r"),
        "sealed": ("i", "ri", "r"),
    },
    # The clock makes a seed, and nobody on the web side ever holds one.
    "seed_openings": {"competition_id seed": ("r", "", "ri")},
    "seeds": {
        "competition_id key_id commitment": ("r", "r", "ri"),
        "sealed": ("", "r", "ri"),
        "created_at": ("r", "", "r"),
    },
    "submission_terms": {
        "competition_id starts_at ends_at valid_per_day valid_total timezone grace_s": ("r", "r", "riu"),
    },
    "submissions": {
        "id competition_id team_id user_id received_at": ("ri", "ri", "r"),
        "comment files sent rows sizes remarks quota_left idempotency_key fingerprint": ("ri", "ri", "r"),
        "final disqualified_at disqualified_for": ("riu", "ri", "r"),
    },
    "targets": {
        "id competition_id submission_id name rows sizes": ("r", "r", "ri"),
        "files": ("r", "r", "riu"),
    },
    "teams": {
        "id competition_id": ("ri", "r", "r"),
        # Who takes part is counted before the targets are published.
        "name": ("ri", "r", "r"),
        "name_key name_look name_capitals": ("riu", "r", ""),
        "disqualified_at": ("riu", "r", "r"),
        "disqualified_for": ("riu", "r", ""),
        # Workers lock a rehearsal's team.
        "approach": ("riu", "ru", ""),
        "created_at": ("r", "r", "r"),
        "baseline": ("ri", "r", "r"),
    },
    "threshold_reports": {
        "id competition_id user_id file original question": ("ri", "r", "r"),
        "created_at": ("r", "r", "r"),
        "state attempt excused not_before missing_since leased_until": ("ri", "ru", "r"),
        "started_at finished_at failure report": ("ri", "ru", "r"),
    },
    "tokens": {
        "id user_id kind name digest scopes expires_at": ("ri", "", ""),
        "created_at": ("r", "", ""),
        "revoked_at": ("riu", "", ""),
    },
    "truths": {
        "competition_id name": ("ri", "r", "r"),
        "key_id commitment": ("riu", "r", "r"),
        "size at": ("riu", "", ""),
        "sealed": ("iu", "r", "r"),
    },
    "users": {
        "id name name_key name_look name_capitals role": ("ri", "", ""),
        "created_at": ("r", "", ""),
        # It signs people in.
        "password_hash": ("riu", "", ""),
    },
    "witnessed_ends": {
        "id competition_id phase ends_at notice_hours free witnessed_at signature": ("r", "", "ri"),
    },
}
"""Table, columns, and what the web process, workers and the clock may do with them: ``r`` read, ``i`` insert,
``u`` update. Every column of every table is in it, so that a new one has its decision."""

DELETES: Mapping[str, tuple[str, ...]] = {
    "announcements": (WEB,),
    "guess_terms": (CLOCK,),
    "members": (WEB,),
    "organizers": (WEB,),
    "truths": (WEB,),
}
"""Whose rows may be removed by whom."""


@dataclass(frozen=True, slots=True)
class Fence:
    """Rows that a role is kept from, though it may do ``verb`` to others of the table."""

    name: str
    table: str
    role: str
    verb: str
    rows: str
    """What must hold of a row, in SQL."""


LONGEST_UPLOAD_H = 48
"""What counts is the entrance, and in the middle of a phase an upload takes as long as it takes: the largest
body at the slowest pace (``Settings``) two days."""

ENTERED_LATELY = (
    f"received_at BETWEEN clock_timestamp() - interval '{LONGEST_UPLOAD_H} hours'"
    " AND clock_timestamp() + interval '1 minute'"
)
UNDONE = "state = 'QUEUED' AND attempt = 0 AND finished_at IS NULL"

UNDRAWN = (
    "EXISTS (SELECT FROM competitions WHERE competitions.id = competition_id"
    " AND competitions.drawn_at IS NULL)"
)

REHEARSED = (
    "EXISTS (SELECT FROM competitions WHERE competitions.id = {} AND competitions.rehearses IS NOT NULL)"
)
OF_TEAM = REHEARSED.format("(SELECT teams.competition_id FROM teams WHERE teams.id = team_id)")
OF_SUBMISSION = REHEARSED.format(
    "(SELECT submissions.competition_id FROM submissions WHERE submissions.id = submission_id)"
)
OF_COMPETITION = REHEARSED.format("competition_id")
"""Of rows that a worker writes for a rehearsal's teams; those of real teams it may not."""

FENCES = (
    Fence("played", "attempts", WORKER, "INSERT", OF_TEAM),
    Fence("plays_on", "attempts", WORKER, "UPDATE", OF_TEAM),
    Fence("played", "submissions", WORKER, "INSERT", f"{OF_COMPETITION} AND {OF_TEAM}"),
    Fence("played", "secrets", WORKER, "INSERT", OF_SUBMISSION),
    Fence("played", "evaluations", WORKER, "INSERT", f"{OF_COMPETITION} AND {OF_SUBMISSION}"),
    Fence("played", "guesses", WORKER, "INSERT", OF_COMPETITION),
    Fence("plays_on", "teams", WORKER, "UPDATE", OF_COMPETITION),
    Fence("plays_on", "competitions", WORKER, "UPDATE", "rehearses IS NOT NULL"),
    Fence(
        "sealed_until_the_reveal",
        "openings",
        WEB,
        "SELECT",
        "EXISTS (SELECT FROM targets JOIN competitions ON competitions.id = targets.competition_id"
        " WHERE targets.id = target_id AND competitions.revealed_at IS NOT NULL)",
    ),
    Fence(
        "sealed_until_the_reveal",
        "seed_openings",
        WEB,
        "SELECT",
        "EXISTS (SELECT FROM competitions"
        " WHERE competitions.id = competition_id AND competitions.revealed_at IS NOT NULL)",
    ),
    # What teams' files were drawn from stands.
    Fence("kept_once_drawn", "truths", WEB, "UPDATE", UNDRAWN),
    Fence("stays_once_drawn", "truths", WEB, "DELETE", UNDRAWN),
    Fence("none_once_drawn", "truths", WEB, "INSERT", UNDRAWN),
    Fence(
        "begins_unturned",
        "competitions",
        WEB,
        "INSERT",
        "drawn_at IS NULL AND frozen_at IS NULL AND published_at IS NULL AND closed_at IS NULL"
        " AND revealed_at IS NULL",
    ),
    Fence(
        "begins_unscored", "evaluations", WEB, "INSERT", f"{UNDONE} AND verdict IS NULL AND scorer IS NULL"
    ),
    Fence(
        "begins_unjudged",
        "guesses",
        WEB,
        "INSERT",
        f"{UNDONE} AND correct IS NULL AND outcome IS NULL AND risk IS NULL",
    ),
    Fence("entered_lately", "guesses", WEB, "INSERT", ENTERED_LATELY),
    Fence("entered_lately", "submissions", WEB, "INSERT", ENTERED_LATELY),
    # Finals are what they were; baselines may still be added.
    Fence(
        "before_the_freeze",
        "submissions",
        WEB,
        "INSERT",
        "EXISTS (SELECT FROM teams JOIN competitions ON competitions.id = teams.competition_id"
        " WHERE teams.id = team_id AND teams.competition_id = submissions.competition_id"
        " AND (teams.baseline OR competitions.frozen_at IS NULL))",
    ),
    Fence("begins_unwritten", "targets", CLOCK, "INSERT", "files IS NULL"),
    Fence("begins_unmade", "threshold_reports", WEB, "INSERT", f"{UNDONE} AND report IS NULL"),
    Fence("begins_unmade", "rehearsal_moves", WEB, "INSERT", UNDONE),
    # Readiness tests a write; the clock's beats are its own.
    Fence("tests_writes", "heartbeats", WEB, "INSERT", "task = 'write_test'"),
    Fence("tests_writes_again", "heartbeats", WEB, "UPDATE", "task = 'write_test'"),
    # What the clock does and says has no author, and nobody else may write that it did, nor take it back.
    Fence("has_an_author", "announcements", WEB, "INSERT", "user_id IS NOT NULL"),
    Fence("had_an_author", "announcements", WEB, "DELETE", "user_id IS NOT NULL"),
    Fence("has_an_author", "audit_entries", WEB, "INSERT", "user_id IS NOT NULL"),
)


GUESS_GUARD = "anoncup_guess_guard"
SUBMISSION_GUARD = "anoncup_submission_guard"
"""The triggers that refuse what comes out of time, beyond a cap or from no team (migrations.guards)."""


def granted(role: str, letter: str) -> Iterator[tuple[str, list[str]]]:
    """Each table of which the role may read, insert or update something, with those columns."""
    place = ROLES.index(role)
    for table, groups in PRIVILEGES.items():
        columns = [name for names, may in groups.items() if letter in may[place] for name in names.split()]
        if columns:
            yield table, columns


log = structlog.get_logger(__name__)
MIGHTY = text(
    "SELECT rolname FROM pg_roles WHERE rolname = current_user AND ("
    " rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolreplication"
    " OR EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public'"
    " AND pg_has_role(current_user, tableowner, 'USAGE')))"
)


def warn_of_might() -> None:
    """Say it at the start of a process; it goes on, for one address for all of them is allowed.

    On a connection of its own, which is gone when it returns: the process may still fork.
    """
    url = get_settings().database_url
    engine = create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 5})
    try:
        with engine.connect() as connection:
            role = connection.scalar(MIGHTY)
    except OperationalError:
        return  # whoever needs it will say so
    finally:
        engine.dispose()
    if role is not None:
        log.warning("database_role_too_mighty", role=role, advice="docs/hosting.md, Roles in the database")
