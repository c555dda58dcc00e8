"""All that an organizer may take home of a competition. No secret, no password, no token is among it."""

import json
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from anoncup import schemas
from app.db.models import AuditEntry, Competition, Evaluation, Guess, Member, Submission, Target, Team
from app.services.accounts import audit
from app.services.accounts.accounts import Principal
from app.services.boards import anonymization, matrix, reidentification
from app.services.boards.spreadsheet import csv_text
from app.services.contests import competitions, visibility
from app.services.contests.contest import Contest
from app.storage import store

BATCH = 100
"""Evaluations read at once: each holds every measure."""

GUESS_HEAD = ("id", "team", "target", "received_at", "state", "answered", "correct", "sha256")
UNCOUNTED = ("question", "value", "baseline", "risk")
"""What is said besides of guesses that do not count individuals."""

Content = bytes | Iterable[bytes]


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a competition holds at one moment."""

    row: Competition
    submissions: list[Submission]
    guesses: list[Guess]


def holdings(session: Session, principal: Principal, slug: str) -> Holdings:
    """For the competition's organizers; what the session reads from here on is of the same moment."""
    session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
    row = competitions.for_organizer(session, principal, slug).row
    return Holdings(row, all_submissions(session, row), all_guesses(session, row))


def tables(session: Session, principal: Principal, held: Holdings) -> Iterator[tuple[str, Content]]:
    """The export's own files by name."""
    row = held.row
    yield "audit.csv", audit_csv(session, row).encode()
    for name, text in boards(session, principal, row.slug):
        yield f"boards/{name}.csv", text.encode()
    yield "competition.toml", competitions.published_file(row).encode()
    yield "evaluations.jsonl", evaluations(session, row)
    yield "guesses.csv", guesses_csv(Contest(row), held.guesses).encode()
    yield "submissions.csv", submissions_csv(Contest(row), held.submissions).encode()
    yield "targets.csv", targets_csv(session, row).encode()
    yield "teams.csv", teams_csv(session, row).encode()


def handed_in(held: Holdings) -> Iterator[tuple[str, Content]]:
    """What the teams sent but their secrets and what tells these, by name. Needs no session."""
    for guess in sorted(held.guesses, key=lambda one: str(one.id)):
        yield f"guesses/{guess.id}.csv", store().pieces(guess.file)
    if Contest(held.row).track.seals_release:
        return
    for each in sorted(held.submissions, key=lambda one: str(one.id)):
        for name, digest in each.files.items():
            yield f"submissions/{each.id}/{name}.csv", store().pieces(digest)


def boards(session: Session, principal: Principal, slug: str) -> Iterator[tuple[str, str]]:
    """The boards as the organizers see them."""
    sight = visibility.boards(session, principal, slug)
    yield "anonymization", anonymization.as_csv(anonymization.board(session, sight))
    yield "matrix", matrix.as_csv(matrix.board(session, sight))
    yield "reidentification", reidentification.as_csv(reidentification.board(session, sight))


def all_submissions(session: Session, row: Competition) -> list[Submission]:
    """In the order of receipt."""
    query = (
        select(Submission)
        .where(Submission.competition_id == row.id)
        .options(
            joinedload(Submission.team, innerjoin=True),
            joinedload(Submission.evaluation, innerjoin=True).load_only(Evaluation.state),
        )
        .order_by(Submission.received_at, Submission.id)
    )
    return list(session.scalars(query))


def submissions_csv(contest: Contest, submissions: Iterable[Submission]) -> str:
    names, sealed = contest.track.files, contest.track.seals_release
    digests = [f"sha256 of {name}.csv" for name in names]
    head = ["id", "team", "received_at", "state", "final", "disqualified_at", "rows", *digests, "comment"]
    return csv_text(head, (submission_row(each, names, sealed=sealed) for each in submissions))


def submission_row(each: Submission, names: Iterable[str], *, sealed: bool) -> list[object]:
    """With the digests of the files in the export; of those that are kept sealed, of what was sent."""
    files = each.sent if sealed else each.files
    digests = [files[name] for name in names]
    plain = [str(each.id), each.team.name, moment(each.received_at), str(each.evaluation.state)]
    return [*plain, each.final, moment(each.disqualified_at), each.rows, *digests, each.comment]


def evaluations(session: Session, row: Competition) -> Iterator[bytes]:
    """Every evaluation that there was, those of cancelled re-scorings too, a line of JSON each."""
    query = (
        select(Evaluation, Submission.received_at)
        .join(Evaluation.submission)
        .where(Submission.competition_id == row.id)
        .order_by(Submission.received_at, Submission.id, Evaluation.created_at, Evaluation.id)
        .execution_options(yield_per=BATCH)
    )
    for evaluation, _ in session.execute(query):
        yield (json.dumps(evaluation_line(evaluation), ensure_ascii=False) + "\n").encode()
        session.expunge(evaluation)


def evaluation_line(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "id": str(evaluation.id),
        "submission_id": str(evaluation.submission_id),
        "rescore_id": None if evaluation.rescore_id is None else str(evaluation.rescore_id),
        "current": evaluation.current,
        "state": evaluation.state,
        "attempt": evaluation.attempt,
        "created_at": moment(evaluation.created_at),
        "started_at": moment(evaluation.started_at),
        "finished_at": moment(evaluation.finished_at),
        "scorer": evaluation.scorer,
        **schemas.failed(evaluation.failure),
        "verdict": evaluation.verdict and without(evaluation.verdict, schemas.FORMAT),
    }


def without(content: dict[str, Any], names: Container[str]) -> dict[str, Any]:
    return {name: one for name, one in content.items() if name not in names}


def teams_csv(session: Session, row: Competition) -> str:
    members = select(func.count()).where(Member.team_id == Team.id).correlate(Team).scalar_subquery()
    query = select(Team, members).where(Team.competition_id == row.id).order_by(Team.created_at, Team.id)
    head = ["id", "name", "created_at", "disqualified_at", "members"]
    rows = session.execute(query).all()
    return csv_text(
        head,
        (
            [str(team.id), team.name, moment(team.created_at), moment(team.disqualified_at), count]
            for team, count in rows
        ),
    )


def targets_csv(session: Session, row: Competition) -> str:
    """Return the targets with their teams; their files are the submissions', written anew."""
    query = (
        select(Target)
        .where(Target.competition_id == row.id)
        .options(joinedload(Target.submission).joinedload(Submission.team))
        .order_by(Target.name)
    )
    return csv_text(
        ["name", "team", "submission_id", "rows"],
        (
            [each.name, each.submission.team.name, str(each.submission_id), each.rows]
            for each in session.scalars(query)
        ),
    )


def all_guesses(session: Session, row: Competition) -> list[Guess]:
    """In the order of receipt."""
    query = (
        select(Guess)
        .where(Guess.competition_id == row.id)
        .options(joinedload(Guess.target, innerjoin=True), joinedload(Guess.team, innerjoin=True))
        .order_by(Guess.received_at, Guess.id)
    )
    return list(session.scalars(query))


def guesses_csv(contest: Contest, guesses: Iterable[Guess]) -> str:
    if contest.track.counts(contest.rules):
        return csv_text(GUESS_HEAD, map(guess_row, guesses))
    return csv_text((*GUESS_HEAD, *UNCOUNTED), ([*guess_row(each), *found_by(each)] for each in guesses))


def found_by(each: Guess) -> list[object]:
    judged = each.judged
    return [each.question, judged and judged.value, judged and judged.baseline, each.risk]


def guess_row(each: Guess) -> list[object]:
    plain = [str(each.id), each.team.name, each.target.name, moment(each.received_at), str(each.state)]
    return [*plain, each.answered, each.correct, each.file]


def audit_csv(session: Session, row: Competition) -> str:
    found = audit.page(session, row.id, after=None, limit=None)
    head = ["number", "at", "actor", "action", "subject", "before", "after"]
    return csv_text(head, map(audit_row, reversed(found)))


def audit_row(entry: AuditEntry) -> list[object]:
    plain = [entry.number, moment(entry.at), entry.actor, entry.action, entry.subject]
    return [*plain, as_json(entry.before), as_json(entry.after)]


def as_json(noted: dict[str, Any] | None) -> str | None:
    return None if noted is None else json.dumps(noted, ensure_ascii=False, default=str)


def moment(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat()
