"""Export of a competition for its organizers, without secrets, passwords and tokens."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from anoncup import schemas
from app.competitions import competitions, visibility
from app.core import audit
from app.core.db.models import Evaluation, Guess, Member, Round, Submission, Target, Team
from app.core.db.transaction import transaction
from app.core.http.archives import Content
from app.core.identity.principal import Principal
from app.core.spreadsheet import render_csv
from app.core.storage import get_store
from app.exports import guess_table
from app.exports.guess_table import load_guesses
from app.exports.result_archive import build_boards

_BATCH_SIZE = 100
"""Number of evaluations loaded at a time, because each holds all measures."""


def iter_files(principal: Principal, slug: str) -> Iterator[tuple[str, Content]]:
    """Yield the names and contents of all files, as they are at one moment.

    The uploads, which are large, come last, after the database connection is released.
    """
    with transaction() as session:
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        round_ = competitions.find_for_organizer(session, principal, slug)
        submissions, guesses = _load_submissions(session, round_), load_guesses(session, round_)
        yield "audit.csv", _format_audit_csv(session, round_)
        access = visibility.authorize_boards(session, principal, round_.address)
        for name, (_, table) in build_boards(session, access).items():
            yield f"boards/{name}.csv", table
        yield "competition.toml", competitions.build_published_file(round_).encode()
        yield "evaluations.jsonl", _iter_evaluation_lines(session, round_)
        yield "guesses.csv", guess_table.format_table(round_, guesses)
        yield "submissions.csv", _format_submissions_csv(round_, submissions)
        yield "targets.csv", _format_targets_csv(session, round_)
        yield "teams.csv", _format_teams_csv(session, round_)
    yield from _iter_uploads(round_, submissions, guesses)


def _iter_uploads(
    round_: Round, submissions: list[Submission], guesses: list[Guess]
) -> Iterator[tuple[str, Content]]:
    """Yield the files of the teams. Secrets are left out, and so are releases that would disclose them."""
    for path, digest in sorted(guess_table.list_files(guesses).items()):
        yield path, get_store().read_chunks(digest)
    if round_.track.target_files.seals_release:
        return
    for submission in sorted(submissions, key=lambda item: str(item.id)):
        for name, digest in submission.files.items():
            yield f"submissions/{submission.id}/{name}.csv", get_store().read_chunks(digest)


def _load_submissions(session: Session, round_: Round) -> list[Submission]:
    """Return all submissions in order of receipt."""
    query = (
        select(Submission)
        .where(Submission.round_id == round_.id)
        .options(
            joinedload(Submission.team, innerjoin=True),
            joinedload(Submission.evaluation, innerjoin=True).load_only(Evaluation.state),
        )
        .order_by(Submission.received_at, Submission.id)
    )
    return list(session.scalars(query))


def _format_submissions_csv(round_: Round, submissions: Iterable[Submission]) -> bytes:
    names, is_sealed = round_.track.release_file_names, round_.track.target_files.seals_release
    digests = [f"sha256 of {name}.csv" for name in names]
    header = ["id", "team", "received_at", "state", "final", "disqualified_at", "rows", *digests, "comment"]
    return render_csv(
        header, (_build_submission_row(submission, names, is_sealed=is_sealed) for submission in submissions)
    )


def _build_submission_row(submission: Submission, names: Iterable[str], *, is_sealed: bool) -> list[object]:
    """Return a row with the digests of the exported files or, for sealed releases, of the uploaded files."""
    files = submission.uploaded_sha256 if is_sealed else submission.files
    return [
        submission.id,
        submission.team.name,
        submission.received_at,
        submission.evaluation.state,
        submission.final,
        submission.disqualified_at,
        submission.rows,
        *(files[name] for name in names),
        submission.comment,
    ]


def _iter_evaluation_lines(session: Session, round_: Round) -> Iterator[bytes]:
    """Yield one JSON line for each evaluation, including those of cancelled rescores."""
    query = (
        select(Evaluation, Submission.received_at)
        .join(Evaluation.submission)
        .where(Submission.round_id == round_.id)
        .order_by(Submission.received_at, Submission.id, Evaluation.created_at, Evaluation.id)
        .execution_options(yield_per=_BATCH_SIZE)
    )
    for evaluation, _ in session.execute(query):
        fields = _serialize_evaluation(evaluation)
        yield (json.dumps(fields, ensure_ascii=False, default=datetime.isoformat) + "\n").encode()
        session.expunge(evaluation)


def _serialize_evaluation(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "id": str(evaluation.id),
        "submission_id": str(evaluation.submission_id),
        "rescore_id": None if evaluation.rescore_id is None else str(evaluation.rescore_id),
        "current": evaluation.current,
        "state": evaluation.state,
        "attempt": evaluation.attempt,
        "created_at": evaluation.created_at,
        "started_at": evaluation.started_at,
        "finished_at": evaluation.finished_at,
        "scorer": evaluation.scorer,
        **schemas.build_failure_fields(evaluation.failure),
        "verdict": evaluation.verdict
        and {name: value for name, value in evaluation.verdict.items() if name not in schemas.FORMAT},
    }


def _format_teams_csv(session: Session, round_: Round) -> bytes:
    members = select(func.count()).where(Member.team_id == Team.id).correlate(Team).scalar_subquery()
    query = (
        select(Team, members)
        .where(Team.competition_id == round_.competition_id)
        .order_by(Team.created_at, Team.id)
    )
    header = ["id", "name", "created_at", "disqualified_at", "members"]
    rows = session.execute(query).all()
    return render_csv(
        header,
        ([team.id, team.name, team.created_at, team.disqualified_at, count] for team, count in rows),
    )


def _format_targets_csv(session: Session, round_: Round) -> bytes:
    """Return the targets with their teams; their files are derived from those of the submissions."""
    query = (
        select(Target)
        .where(Target.round_id == round_.id)
        .options(joinedload(Target.submission).joinedload(Submission.team))
        .order_by(Target.name)
    )
    return render_csv(
        ["name", "team", "submission_id", "rows"],
        (
            [target.name, target.submission.team.name, target.submission_id, target.rows]
            for target in session.scalars(query)
        ),
    )


def _format_audit_csv(session: Session, round_: Round) -> bytes:
    entries = audit.list_entries(session, round_.competition_id, cursor=None, limit=None)
    header = ["number", "at", "actor", "action", "subject", "before", "after"]
    rows = (
        [
            *(entry.number, entry.at, entry.actor, entry.action, entry.subject),
            *map(_serialize_json, (entry.before, entry.after)),
        ]
        for entry in reversed(entries)
    )
    return render_csv(header, rows)


def _serialize_json(details: dict[str, Any] | None) -> str | None:
    return None if details is None else json.dumps(details, ensure_ascii=False, default=str)
