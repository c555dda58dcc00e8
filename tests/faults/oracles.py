"""What must be true afterwards, whatever broke: each law gives the sentences that are not."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import select

from anoncup.competition.parser import parse_competition
from anoncup.evaluation.evaluate import evaluate
from anoncup.plugins import TRACKS
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import secret_csv
from app.db import now as db_now
from app.db.models import (
    Attempt,
    Competition,
    Evaluation,
    Guess,
    Rescore,
    State,
    Submission,
    Target,
    Team,
    ThresholdReport,
)
from app.db.transaction import transaction
from app.services.contests.contest import Contest
from app.services.contests.phases import ANONYMIZATION, REIDENTIFICATION
from app.services.jobs.leases import UNFINISHED
from app.services.submissions import quota
from tests.faults.calls import Caller
from tests.faults.ledger import Kind, Ledger, Upload

CLOSE = 1e-12
KILLED_EACH_TIME = re.compile(
    r"scoring was tried \d+ times and never finished; "
    r"last: (its worker was lost|the scoring process was killed, perhaps because memory ran out)"
)
"""What may end in ERROR here: its process was killed at every attempt, as if by the work itself."""


class Scorer:
    """What `anoncup score` says, by the competition's own file, of each release once."""

    def __init__(self, ledger: Ledger) -> None:
        self.rules = parse_competition(ledger.rules)
        self.track = TRACKS[self.rules.track]
        contents = {"original": table_csv(ledger.original)}
        self.tables, _ = self.track.parse_original(contents, self.rules)
        self.prepared = self.track.prepare(self.tables, self.rules)
        self.known: dict[str, dict[str, Any]] = {}

    def verdict(self, upload: Upload) -> dict[str, Any]:
        if upload.key not in self.known:
            files = {"anonymized": upload.files["anonymized"]}
            release, _ = self.track.parse_release(files, self.tables, self.rules)
            found = evaluate(self.rules, self.prepared, release, upload.rows)
            self.known[upload.key] = found.to_json()
        return self.known[upload.key]


def row_of(slug: str) -> Competition:
    with transaction() as session:
        return session.scalars(select(Competition).where(Competition.slug == slug)).one()


def is_settled(slug: str) -> bool:
    """Nothing waits any more, of whatever kind."""
    row = row_of(slug)
    with transaction() as session:
        work = select(Evaluation.id).join(Evaluation.submission).where(Submission.competition_id == row.id)
        return not any(
            session.scalar(select(query.exists()))
            for query in (
                work.where(Evaluation.state.in_(UNFINISHED)),
                select(Guess.id).where(Guess.competition_id == row.id, Guess.state.in_(UNFINISHED)),
                select(ThresholdReport.id).where(
                    ThresholdReport.competition_id == row.id, ThresholdReport.state.in_(UNFINISHED)
                ),
            )
        )


def once(ledger: Ledger) -> Iterator[str]:
    """What the clients hold exists exactly once; nothing exists that nobody sent."""
    row = row_of(ledger.slug)
    kinds: tuple[tuple[Kind, type[Submission] | type[Guess]], ...] = (
        ("release", Submission),
        ("guess", Guess),
    )
    for kind, table in kinds:
        with transaction() as session:
            query = select(table.idempotency_key, table.id).where(table.competition_id == row.id)
            stored = session.execute(query).all()
        by_key, ids = Counter(key for key, _ in stored), dict(stored)
        known = {upload.key: upload for upload in ledger.sent(kind)}
        yield from (f"{kind} {key} is there {n} times" for key, n in by_key.items() if n > 1)
        yield from (f"{kind} {key} was sent by nobody" for key in by_key if key not in known)
        for upload in known.values():
            found = ids.get(upload.key)
            if upload.receipt is not None and (found is None or str(found) != upload.id):
                yield f"{kind} {upload.key} of {upload.team} was taken in (202) and is not there"
            if upload.receipt is None and found is not None and not (upload.lost or upload.put_off):
                yield f"{kind} {upload.key} was refused ({upload.refusal}) and is there"
            if upload.receipt is not None and upload.malformed:
                yield f"{kind} {upload.key} is malformed and was taken in"


def asked_again(ledger: Ledger, callers: dict[str, Caller]) -> Iterator[str]:
    """Who had a try without an answer before a refusal asks once more under the same key: that try may have
    come through after all. The answer is its receipt."""
    for upload in (*ledger.sent("release"), *ledger.sent("guess")):
        if upload.receipt is None and upload.lost:
            answer = callers[upload.team].ask("POST", upload.path, key=upload.key, files=upload.parts)
            upload.answered(answer)
            if answer.status not in (202, 409, 422, 429):
                yield f"{upload.kind} {upload.key}: asked again, {answer.status} {answer.code}"


def judged(ledger: Ledger, scorer: Scorer, caller: Caller) -> Iterator[str]:
    """Each ended as it should, with one evaluation that counts, and the numbers are the local score's."""
    row = row_of(ledger.slug)
    with transaction() as session:
        current = (
            select(Evaluation.submission_id, Evaluation.state)
            .join(Evaluation.submission)
            .where(Submission.competition_id == row.id, Evaluation.current)
        )
        states = list(session.execute(current))
    counted = Counter(str(identifier) for identifier, _ in states)
    for upload in ledger.taken("release"):
        if counted[upload.id] != 1:
            yield f"submission {upload.id} has {counted[upload.id]} evaluations that count"
        found = caller.ask("GET", f"/submissions/{upload.id}").json()
        yield from (f"submission {upload.id} {each}" for each in differs(found, upload, scorer))


def differs(found: dict[str, Any], upload: Upload, scorer: Scorer) -> Iterator[str]:
    if found["status"] == "CANCELLED":
        if upload.cancelled == "no":
            yield "is cancelled, and nobody asked for it"
        return
    if upload.cancelled == "yes":
        yield f"was cancelled and is {found['status']}"
    if (found["final"], upload.marked) in ((True, "no"), (False, "yes")):
        yield f"is final: {found['final']}; marked: {upload.marked}"
    expected = scorer.verdict(upload)
    state = "SCORED" if expected["verdict"] == "accepted" else "REJECTED"
    if found["status"] != state:
        yield f"is {found['status']} ({found['failure']}), not {state}"
        return
    result = {name: found["result"][name] for name in expected}
    if not same(result, expected):
        yield f"has another verdict than the local score: {result} not {expected}"


def same(found: Any, expected: Any) -> bool:
    """Equal; floats but for their last digits."""
    if isinstance(expected, float) and isinstance(found, int | float):
        return bool(abs(found - expected) <= CLOSE * max(1.0, abs(expected)))
    if isinstance(expected, dict):
        alike = isinstance(found, dict) and found.keys() == expected.keys()
        return alike and all(same(found[name], expected[name]) for name in expected)
    if isinstance(expected, list | tuple):
        alike = isinstance(found, list | tuple) and len(found) == len(expected)
        return alike and all(map(same, found, expected))
    return bool(found == expected)


def reason_of(work: Guess | ThresholdReport) -> str:
    return "" if work.failure is None else str(work.failure.message)


def guessed(ledger: Ledger) -> Iterator[str]:
    """Each guess was judged, and is right on the rows on which it is."""
    released = {str(each.receipt["commitment"]): each for each in ledger.taken("release") if each.receipt}
    with transaction() as session:
        stored = {str(one.id): one for one in session.scalars(select(Guess))}
    for upload in ledger.taken("guess"):
        found = stored[upload.id]
        if found.state == State.ERROR and KILLED_EACH_TIME.fullmatch(reason_of(found)):
            ledger.errors[f"guess {found.id}"] = (upload.team, reason_of(found))
            continue
        right = correct(upload, released[str(upload.target)])
        if (found.state, found.correct) != (State.SCORED, right):
            yield f"guess {upload.id} is {found.state} with {found.correct} ({reason_of(found)}), not {right}"


def correct(upload: Upload, victim: Upload) -> int:
    return int(np.count_nonzero((upload.rows == victim.rows) & (upload.rows >= 0)))


def counted_exactly(ledger: Ledger) -> Iterator[str]:
    """The quota is what the team's own uploads come to, and never more valid ones than its cap."""
    row = row_of(ledger.slug)
    with transaction() as session:
        now = db_now.clock(session)
        for team in session.scalars(select(Team).where(Team.competition_id == row.id)):
            first = {cap.name: cap for cap in quota.caps(session, Contest(row), team.id, ANONYMIZATION, now)}
            valid = (
                select(Evaluation.state)
                .join(Evaluation.submission)
                .where(Submission.team_id == team.id, Evaluation.current)
            )
            states = session.scalars(valid).all()
            count = sum(state not in quota.GIVEN_BACK for state in states)
            # What ended in ERROR made room for another one, and was then scored again by the organizers.
            again = sum(whose == team.name for whose, _ in ledger.errors.values())
            if first["valid_total"].used != count or count > first["valid_total"].limit + again:
                yield f"{team.name}: valid {first['valid_total']}, and {count} are"
            receipts = len(ledger.taken("release", team.name))
            if len(states) != receipts:
                yield f"{team.name}: {len(states)} submissions, {receipts} receipts"
            phases: tuple[tuple[str, Kind], ...] = ((ANONYMIZATION, "release"), (REIDENTIFICATION, "guess"))
            for phase, kind in phases:
                attempts = session.scalars(
                    select(Attempt.id).where(
                        Attempt.team_id == team.id, Attempt.phase == phase, Attempt.counts
                    )
                ).all()
                uploads = ledger.sent(kind, team.name)
                least, most = attempts_of(uploads)
                if not least <= len(attempts) <= most:
                    yield f"{team.name}: {len(attempts)} attempts in {phase}, not {least} to {most}"
        yield from crowded(ledger, session.scalars(select(Guess).where(Guess.competition_id == row.id)).all())


def attempts_of(uploads: Sequence[Upload]) -> tuple[int, int]:
    """At least what was answered after it was counted; at most that and every try without a last word."""
    counted = sum(upload.receipt is not None or (upload.refusal or (0, ""))[0] == 422 for upload in uploads)
    unsure = sum(upload.lost + upload.put_off for upload in uploads)
    refused = sum((upload.refusal or (0, ""))[0] in (409, 429) for upload in uploads)
    return counted, counted + unsure + refused


def crowded(ledger: Ledger, stored: Sequence[Guess]) -> Iterator[str]:
    """No team has more guesses on a target than the competition takes."""
    most = parse_competition(ledger.rules).limits.guesses_per_target
    counted = Counter((one.team_id, one.target_id) for one in stored if one.state != State.ERROR)
    yield from (f"{n} guesses of one team on one target" for n in counted.values() if n > most)


def turned_once(ledger: Ledger, organizer: Caller, *, closes: bool) -> Iterator[str]:
    """The log has every turn once, after its time."""
    acts = []
    path: str | None = f"/competitions/{ledger.slug}/audit"
    while path is not None:
        answer = organizer.ask("GET", path)
        acts += answer.json()
        path = following(answer.response.links)
    found = organizer.ask("GET", f"/competitions/{ledger.slug}").json()
    ends = {phase["name"]: datetime.fromisoformat(phase["end"]) for phase in found["phases"]}
    for action, phase in (
        ("finals.freeze", ANONYMIZATION),
        ("targets.publish", ANONYMIZATION),
        ("competition.close", REIDENTIFICATION),
        ("secrets.reveal", REIDENTIFICATION),
    ):
        times = [datetime.fromisoformat(act["at"]) for act in acts if act["action"] == action]
        expected = 1 if closes or phase == ANONYMIZATION else 0
        if len(times) != expected:
            yield f"{ledger.slug}: {action} is in the log {len(times)} times, not {expected}"
        yield from (f"{ledger.slug}: {action} before its time" for at in times if at < ends[phase])


def following(links: Mapping[str | None, dict[str, str]]) -> str | None:
    url = links.get("next", {}).get("url")
    return None if url is None else "/" + url.partition("/api/v1/")[2]


def published(ledger: Ledger, caller: Caller) -> Iterator[str]:
    """Targets are the bytes that the manifest sums; once revealed, commitments open."""
    manifest = caller.ask("GET", f"/competitions/{ledger.slug}/manifest").json()
    row = row_of(ledger.slug)
    with transaction() as session:
        named = select(Target.name, Target.id).where(Target.competition_id == row.id)
        ids = dict(session.execute(named).all())
    for entry in manifest["targets"]:
        for name, digest in entry["files"].items():
            answer = caller.ask("GET", f"/targets/{ids[entry['name']]}/data/{name}")
            if hashlib.sha256(answer.response.content).hexdigest() != digest:
                yield f"{ledger.slug}: {entry['name']}/{name} is not what the manifest sums"
    if row.revealed_at is None:
        return
    releases = {each.id: each for each in ledger.taken("release")}
    for one in caller.ask("GET", f"/competitions/{ledger.slug}/reveal").json():
        secret = caller.client.get(f"/targets/{ids[one['name']]}/secret").content
        upload = releases[one["submission_id"]]
        opened = hashlib.sha256(bytes.fromhex(one["salt"]) + secret).hexdigest()
        committed = upload.receipt["commitment"] if upload.receipt else None
        if not opened == one["commitment"] == committed:
            yield f"{ledger.slug}: the commitment of {one['name']} does not open"
        if secret != secret_csv(upload.rows):
            yield f"{ledger.slug}: the revealed secret of {one['name']} is another one"


def reported(ledger: Ledger) -> Iterator[str]:
    """Every threshold report that was asked for was made, and every re-score set ended."""
    row = row_of(ledger.slug)
    with transaction() as session:
        reports = session.scalars(
            select(ThresholdReport).where(ThresholdReport.competition_id == row.id)
        ).all()
        sets = session.scalars(select(Rescore).where(Rescore.competition_id == row.id)).all()
    if len(reports) < ledger.reports:
        yield f"{ledger.slug}: {len(reports)} reports of {ledger.reports} that were asked for"
    for one in reports:
        if one.state == State.ERROR:
            ledger.errors[f"report {one.id}"] = ("", reason_of(one))
        elif one.state != State.SCORED:
            yield f"report {one.id} is {one.state}"
    applied = [one for one in sets if one.applied_at is not None]
    if (ledger.rescored == "yes") != (len(applied) == 1):
        yield f"{ledger.slug}: {len(applied)} re-score sets are in force; {ledger.rescored}"


def excused(ledger: Ledger) -> Iterator[str]:
    """Nothing ended in ERROR but what was killed at every attempt."""
    for what, (team, reason) in ledger.errors.items():
        if not KILLED_EACH_TIME.fullmatch(reason):
            yield f"{what} {team} ended in ERROR: {reason}"


def targets_of(slug: str) -> set[str]:
    """The submissions that became targets."""
    row = row_of(slug)
    with transaction() as session:
        found = session.scalars(select(Target.submission_id).where(Target.competition_id == row.id))
        return {str(each) for each in found}
