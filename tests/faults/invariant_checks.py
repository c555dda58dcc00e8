"""Invariants that hold after all faults: each check yields its violations."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import exists, func, select

from anoncup.competition.parser import parse_competition
from anoncup.evaluation.evaluate import evaluate
from anoncup.plugins import TRACKS
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.permutation import write_secret
from app.competitions.phases import ANONYMIZATION, REIDENTIFICATION
from app.core.db import transaction as db_now
from app.core.db.models import (
    AuditEntry,
    Competition,
    Evaluation,
    Guess,
    Rescore,
    Round,
    State,
    Submission,
    Target,
    Team,
    ThresholdReport,
)
from app.core.db.transaction import transaction
from app.jobs.leases import UNFINISHED
from app.submissions import quota
from app.submissions.models import Attempt
from tests.faults.calls import MAX_TIMEOUT_S, Caller
from tests.faults.ledger import Kind, Ledger, LedgerUpload

TOLERANCE = 1e-12
PHASE_KINDS: dict[str, Kind] = {ANONYMIZATION: "release", REIDENTIFICATION: "guess"}
REPEATED_KILL_MESSAGE = re.compile(
    r"scoring was tried \d+ times and never finished; "
    r"last: (its worker was lost|the scoring process was killed, perhaps because memory ran out)"
)
"""The only acceptable failure. If every attempt was killed, the job itself may have been the cause."""


class LocalScorer:
    """Scores each release once, as `anoncup score` does, by the competition file."""

    def __init__(self, ledger: Ledger) -> None:
        self.rules = parse_competition(ledger.rules)
        self.track = TRACKS[self.rules.track]
        contents = {"original": write_csv(ledger.original)}
        self.original, _ = self.track.parse_original(contents, self.rules)
        self.verdicts: dict[str, dict[str, Any]] = {}

    def score(self, upload: LedgerUpload) -> dict[str, Any]:
        if upload.key not in self.verdicts:
            files = {"anonymized": upload.files["anonymized"]}
            release, _ = self.track.parse_release(files, self.original, self.rules, {})
            evaluation = evaluate(self.rules, self.original, release, upload.rows)
            self.verdicts[upload.key] = evaluation.to_json()
        return self.verdicts[upload.key]


def load_round(slug: str) -> Round:
    with transaction() as session:
        return session.scalars(select(Round).join(Competition).where(Competition.slug == slug)).one()


def is_settled(slug: str) -> bool:
    """Return whether no evaluation, guess or report is unfinished."""
    row = load_round(slug)
    with transaction() as session:
        return not any(
            session.scalar(select(exists().where(kind.round_id == row.id, kind.state.in_(UNFINISHED))))
            for kind in (Evaluation, Guess, ThresholdReport)
        )


def check_stored_once(ledger: Ledger) -> Iterator[str]:
    """Check that every accepted upload is stored exactly once and nothing else is stored."""
    row = load_round(ledger.slug)
    tables: dict[Kind, type[Submission] | type[Guess]] = {"release": Submission, "guess": Guess}
    for kind, table in tables.items():
        with transaction() as session:
            query = select(table.idempotency_key, table.id).where(table.round_id == row.id)
            stored = session.execute(query).all()
        by_key, ids = Counter(key for key, _ in stored), dict(stored)
        sent_uploads = {upload.key: upload for upload in ledger.list_sent(kind)}
        yield from (f"{kind} {key} is there {count} times" for key, count in by_key.items() if count > 1)
        yield from (f"{kind} {key} was sent by nobody" for key in by_key if key not in sent_uploads)
        for upload in sent_uploads.values():
            stored_id = ids.get(upload.key)
            if upload.receipt is not None and (stored_id is None or str(stored_id) != upload.id):
                yield f"{kind} {upload.key} of {upload.team} was taken in (202) and is not there"
            if (
                upload.receipt is None
                and stored_id is not None
                and (is_unknown_target(upload) or not upload.failed_tries)
            ):
                yield f"{kind} {upload.key} was refused ({upload.refusal}) and is there"
            if upload.receipt is not None and upload.is_malformed:
                yield f"{kind} {upload.key} is malformed and was taken in"


def retry_refused(ledger: Ledger, callers: dict[str, Caller]) -> Iterator[str]:
    """Repeat refused uploads that had a try without a response, and yield unexpected statuses.

    The lost try may have been accepted after all; the repeated request then returns its receipt.
    """
    for upload in (*ledger.list_sent("release"), *ledger.list_sent("guess")):
        if upload.receipt is None and upload.failed_tries:
            answer = callers[upload.team].request("POST", upload.path, key=upload.key, files=upload.parts)
            upload.record_answer(answer)
            is_withdrawn = is_unknown_target(upload) and ledger.find_victim(upload).id in ledger.disqualified
            if answer.status not in (202, 409, 422, 429) and not is_withdrawn:
                yield f"{upload.kind} {upload.key}: asked again, {answer.status} {answer.code}"


def is_unknown_target(guess: LedgerUpload) -> bool:
    """Return whether a guess was refused because its team does not see the target, and never accepted."""
    return guess.refusal == (404, "no_such_target")


def check_verdicts(ledger: Ledger, scorer: LocalScorer, caller: Caller) -> Iterator[str]:
    """Check that each submission has one current evaluation, the right state and the local verdict."""
    row = load_round(ledger.slug)
    with transaction() as session:
        current = (
            select(Evaluation.submission_id, Evaluation.state)
            .join(Evaluation.submission)
            .where(Submission.round_id == row.id, Evaluation.current)
        )
        states = list(session.execute(current))
    evaluation_counts = Counter(str(identifier) for identifier, _ in states)
    for upload in ledger.list_accepted("release"):
        if evaluation_counts[upload.id] != 1:
            yield f"submission {upload.id} has {evaluation_counts[upload.id]} evaluations that count"
        submission = caller.request("GET", f"/submissions/{upload.id}").json()
        for difference in compare_submission(submission, upload, scorer):
            yield f"submission {upload.id} {difference}"


def compare_submission(
    submission: dict[str, Any], upload: LedgerUpload, scorer: LocalScorer
) -> Iterator[str]:
    if submission["status"] == "CANCELLED":
        if upload.cancelled == "no":
            yield "is cancelled, and nobody asked for it"
        return
    if upload.cancelled == "yes":
        yield f"was cancelled and is {submission['status']}"
    if (submission["final"], upload.final_mark) in ((True, "no"), (False, "yes")):
        yield f"is final: {submission['final']}; marked: {upload.final_mark}"
    expected = scorer.score(upload)
    state = "SCORED" if expected["verdict"] == "accepted" else "REJECTED"
    if submission["status"] != state:
        yield f"is {submission['status']} ({submission['failure']}), not {state}"
        return
    result = {name: submission["result"][name] for name in expected}
    if not is_nearly_equal(result, expected):
        yield f"has another verdict than the local score: {result} not {expected}"


def is_nearly_equal(actual: Any, expected: Any) -> bool:
    """Return whether two values are equal, floats up to a relative tolerance of 1e-12."""
    if isinstance(expected, float) and isinstance(actual, int | float):
        return bool(abs(actual - expected) <= TOLERANCE * max(1.0, abs(expected)))
    if isinstance(expected, dict):
        has_same_shape = isinstance(actual, dict) and actual.keys() == expected.keys()
        return has_same_shape and all(is_nearly_equal(actual[name], expected[name]) for name in expected)
    if isinstance(expected, list | tuple):
        has_same_shape = isinstance(actual, list | tuple) and len(actual) == len(expected)
        return has_same_shape and all(map(is_nearly_equal, actual, expected))
    return bool(actual == expected)


def check_guesses(ledger: Ledger) -> Iterator[str]:
    """Check that each guess was judged with the right number of correct rows."""
    with transaction() as session:
        stored = {str(guess.id): guess for guess in session.scalars(select(Guess))}
    for upload in ledger.list_accepted("guess"):
        guess, correct_rows = stored[upload.id], count_correct(upload, ledger.find_victim(upload))
        reason = str(guess.failure and guess.failure.message)
        if guess.state == State.ERROR and REPEATED_KILL_MESSAGE.fullmatch(reason):
            ledger.errors[f"guess {guess.id}"] = (upload.team, reason)
        elif (guess.state, guess.correct) != (State.SCORED, correct_rows):
            yield f"guess {guess.id} is {guess.state} with {guess.correct} ({reason}), not {correct_rows}"


def count_correct(upload: LedgerUpload, victim: LedgerUpload) -> int:
    return int(np.count_nonzero((upload.rows == victim.rows) & (upload.rows >= 0)))


def check_quotas(ledger: Ledger) -> Iterator[str]:
    """Check that quotas equal the team's own uploads, and that no team exceeds its caps."""
    row = load_round(ledger.slug)
    with transaction() as session:
        now = db_now.read_clock(session)
        for team in session.scalars(select(Team).where(Team.competition_id == row.competition_id)):
            caps = {cap.name: cap for cap in quota.load_caps(session, row, team.id, ANONYMIZATION, now)}
            valid = (
                select(Evaluation.state)
                .join(Evaluation.submission)
                .where(Submission.team_id == team.id, Evaluation.current)
            )
            states = session.scalars(valid).all()
            count = sum(state not in quota.REFUNDED_STATES for state in states)
            # Submissions in ERROR are given back to the quota, and the organizers had them scored again.
            rescored_errors = sum(team_name == team.name for team_name, _ in ledger.errors.values())
            if caps["valid_total"].used != count or count > caps["valid_total"].limit + rescored_errors:
                yield f"{team.name}: valid {caps['valid_total']}, and {count} are"
            receipts = len(ledger.list_accepted("release", team.name))
            if len(states) != receipts:
                yield f"{team.name}: {len(states)} submissions, {receipts} receipts"
            for phase, kind in PHASE_KINDS.items():
                in_phase = Attempt.team_id == team.id, Attempt.phase == phase, Attempt.counts
                attempts = session.scalars(select(func.count()).where(*in_phase)).one()
                lowest, highest = compute_attempt_bounds(ledger.list_sent(kind, team.name))
                if not lowest <= attempts <= highest:
                    yield f"{team.name}: {attempts} attempts in {phase}, not {lowest} to {highest}"
        guess_counts = session.execute(
            select(func.count(), Guess.team_id, Guess.target_id)
            .where(Guess.round_id == row.id, Guess.state != State.ERROR)
            .group_by(Guess.team_id, Guess.target_id)
        )
        max_guesses = parse_competition(ledger.rules).limits.guesses_per_target
        for guess_count, team_id, _ in guess_counts:
            if guess_count > max_guesses:
                yield f"{guess_count} guesses of the team {team_id} on one target"


def compute_attempt_bounds(uploads: Sequence[LedgerUpload]) -> tuple[int, int]:
    """Return the lowest and highest plausible number of counted attempts, since some outcomes are unknown."""
    certain = sum(upload.receipt is not None or (upload.refusal or (0, ""))[0] == 422 for upload in uploads)
    unanswered = sum(upload.failed_tries for upload in uploads)
    refused = sum((upload.refusal or (0, ""))[0] in (409, 429) for upload in uploads)
    return certain, certain + unanswered + refused


def check_transitions(ledger: Ledger, organizer: Caller, *, is_played_to_end: bool) -> Iterator[str]:
    """Check that the audit log has every transition once, after its deadline."""
    competition_id = load_round(ledger.slug).competition_id
    with transaction() as session:
        log = select(AuditEntry.action, AuditEntry.at).where(AuditEntry.competition_id == competition_id)
        entries = session.execute(log).all()
    competition = organizer.request("GET", f"/competitions/{ledger.slug}").json()
    ends = {phase["name"]: datetime.fromisoformat(phase["end"]) for phase in competition["phases"]}
    for action, phase in (
        ("finals.freeze", ANONYMIZATION),
        ("targets.publish", ANONYMIZATION),
        ("competition.close", REIDENTIFICATION),
        ("secrets.reveal", REIDENTIFICATION),
    ):
        times = [at for logged_action, at in entries if logged_action == action]
        expected = 1 if is_played_to_end or phase == ANONYMIZATION else 0
        if len(times) != expected:
            yield f"{ledger.slug}: {action} is in the log {len(times)} times, not {expected}"
        yield from (f"{ledger.slug}: {action} before its time" for time in times if time < ends[phase])


def check_publication(ledger: Ledger, caller: Caller) -> Iterator[str]:
    """Check that targets match the digests of the manifest and that revealed commitments open."""
    manifest = caller.request("GET", f"/competitions/{ledger.slug}/manifest").json()
    row = load_round(ledger.slug)
    with transaction() as session:
        id_query = select(Target.name, Target.id).where(Target.round_id == row.id)
        ids = dict(session.execute(id_query).all())
    for entry in manifest["targets"]:
        for name, digest in entry["files"].items():
            answer = caller.request("GET", f"/targets/{ids[entry['name']]}/data/{name}")
            if hashlib.sha256(answer.response.content).hexdigest() != digest:
                yield f"{ledger.slug}: {entry['name']}/{name} is not what the manifest sums"
    if row.revealed_at is None:
        return
    releases = {accepted.id: accepted for accepted in ledger.list_accepted("release")}
    for reveal in caller.request("GET", f"/competitions/{ledger.slug}/reveal").json():
        secret = caller.client.get(f"/targets/{ids[reveal['name']]}/secret", timeout=MAX_TIMEOUT_S).content
        upload = releases[reveal["submission_id"]]
        opened_commitment = hashlib.sha256(bytes.fromhex(reveal["salt"]) + secret).hexdigest()
        if not opened_commitment == reveal["commitment"] == upload.commitment:
            yield f"{ledger.slug}: the commitment of {reveal['name']} does not open"
        if secret != write_secret(upload.rows):
            yield f"{ledger.slug}: the revealed secret of {reveal['name']} is another one"


def check_reports(ledger: Ledger) -> Iterator[str]:
    """Check that every requested threshold report was made and that the re-score set was applied once."""
    row = load_round(ledger.slug)
    with transaction() as session:
        reports = session.scalars(select(ThresholdReport).where(ThresholdReport.round_id == row.id)).all()
        sets = session.scalars(select(Rescore).where(Rescore.round_id == row.id)).all()
    if len(reports) < ledger.reports:
        yield f"{ledger.slug}: {len(reports)} reports of {ledger.reports} that were asked for"
    for item in reports:
        if item.state == State.ERROR:
            ledger.errors[f"report {item.id}"] = ("", str(item.failure and item.failure.message))
        elif item.state != State.SCORED:
            yield f"report {item.id} is {item.state}"
    applied = [item for item in sets if item.applied_at is not None]
    if (ledger.rescore_state == "yes") != (len(applied) == 1):
        yield f"{ledger.slug}: {len(applied)} re-score sets are in force; {ledger.rescore_state}"


def check_errors(ledger: Ledger) -> Iterator[str]:
    """Check that only jobs killed at every attempt ended in ERROR."""
    for job_id, (team, reason) in ledger.errors.items():
        if not REPEATED_KILL_MESSAGE.fullmatch(reason):
            yield f"{job_id} {team} ended in ERROR: {reason}"
