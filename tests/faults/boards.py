"""The boards a second time, from what the clients know alone: for everybody, as JSON."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from tests.faults.calls import Caller
from tests.faults.ledger import Ledger, Upload
from tests.faults.oracles import Scorer, correct, row_of, same
from tests.support import board_facts
from tests.support.board_facts import ORGANIZER, VISITOR, Facts, Guessed, Judged, Sent

BOARDS = ("anonymization", "reidentification", "matrix")
LONG_AGO = datetime.fromisoformat("2000-01-01T00:00:00+00:00")


def facts_of(ledger: Ledger, scorer: Scorer, organizer: Caller) -> tuple[Facts, list[str]]:
    """The contest as it should stand, and the targets that differ from the finals that were due."""
    rules, row = scorer.rules, row_of(ledger.slug)
    facts = Facts(
        list(ledger.tokens),
        rules.ranking.rule,
        rules.publication.feedback,
        rules.ranking.finals,
        None,
        len(ledger.original),
        tuple(scorer.track.attackers),
        published_at=row.published_at,
        closed=row.closed_at is not None,
        revealed=row.revealed_at is not None,
    )
    known: dict[str, Any] = {}
    for upload in ledger.taken("release"):
        found = organizer.ask("GET", f"/submissions/{upload.id}").json()
        known[upload.id] = found
        facts.sent.append(sent_of(upload, found, scorer))
    facts.sent.sort(key=lambda one: (one.at, one.id))
    targets = organizer.ask("GET", f"/competitions/{ledger.slug}/targets").json()
    named = {one["commitment"]: one["name"] for one in targets}
    due = {one.id for one in facts.chosen_finals()}
    for sent in facts.sent:
        sent.target = named.get(known[sent.id]["commitment"])
        sent.barred = known[sent.id]["disqualified"]
    taken = {sent.id for sent in facts.sent if sent.target is not None}
    wrong = [f"{ledger.slug}: the finals were {sorted(due)}, the targets are {sorted(taken)}"]
    wrong += [f"{one.id} was disqualified by nobody" for one in facts.sent if is_wrongly_barred(one, ledger)]
    victims = {known[sent.id]["commitment"]: sent for sent in facts.sent}
    releases = {str(each.receipt["commitment"]): each for each in ledger.taken("release") if each.receipt}
    facts.guessed += [
        guessed_of(each, victims[str(each.target)], releases[str(each.target)], ledger)
        for each in ledger.taken("guess")
    ]
    return facts, wrong if due != taken or len(wrong) > 1 else []


def is_wrongly_barred(sent: Sent, ledger: Ledger) -> bool:
    return sent.barred and sent.id not in ledger.disqualified


def sent_of(upload: Upload, found: dict[str, Any], scorer: Scorer) -> Sent:
    """With the verdict of the local score; only the state may be the team's own act."""
    assert upload.receipt is not None
    verdict = scorer.verdict(upload)
    state = "SCORED" if verdict["verdict"] == "accepted" else "REJECTED"
    judged = Judged(
        since=LONG_AGO,
        ended=LONG_AGO,
        state="CANCELLED" if found["status"] == "CANCELLED" else state,
        measures={name: each["value"] for name, each in verdict["measures"].items()},
        attackers={name: each["rate"] for name, each in verdict["attackers"].items()},
        utility=verdict["utility"],
        security=verdict["security"],
    )
    at = datetime.fromisoformat(upload.receipt["received_at"])
    return Sent(upload.id, upload.team, at, [judged], marked=found["final"])


def guessed_of(upload: Upload, victim: Sent, released: Upload, ledger: Ledger) -> Guessed:
    assert upload.receipt is not None
    state = "ERROR" if f"guess {upload.id}" in ledger.errors else "SCORED"
    at = datetime.fromisoformat(upload.receipt["received_at"])
    return Guessed(upload.team, victim, at, LONG_AGO, state, correct(upload, released))


OF_NO_FACT = ("team_id", "rank_before")
"""Of a row: the service's own, and what a contest of minutes has not."""


def audiences(ledger: Ledger) -> dict[str, str | None]:
    return {VISITOR: None, ORGANIZER: ledger.organizer, **ledger.tokens}


def boards_differ(ledger: Ledger, facts: Facts, callers: dict[str, Caller]) -> Iterator[str]:
    for viewer in audiences(ledger):
        for which in BOARDS:
            answer = callers[viewer].ask("GET", f"/competitions/{ledger.slug}/boards/{which}")
            found, due = shown(which, answer.json()), expected(which, facts, viewer)
            if not same(found, due):
                yield f"{ledger.slug}: the {which} board of {viewer} is {found}, not {due}"


def shown(which: str, found: dict[str, Any]) -> Any:
    if which == "matrix":
        return {"targets": found["targets"], "rows": found["rows"]}
    for row in found["rows"]:
        for name in OF_NO_FACT:
            row.pop(name, None)
        if row.get("received_at"):
            row["received_at"] = datetime.fromisoformat(row["received_at"])
    return found["rows"]


def expected(which: str, facts: Facts, viewer: str) -> Any:
    return {
        "anonymization": board_facts.anonymization,
        "reidentification": board_facts.reidentification,
        "matrix": board_facts.matrix,
    }[which](facts, viewer)


def bytes_of(ledger: Ledger, callers: dict[str, Caller]) -> dict[tuple[str, str], bytes]:
    """Every board for everybody, as JSON and as CSV."""
    return {
        (viewer, which): callers[viewer]
        .ask("GET", f"/competitions/{ledger.slug}/boards/{which}")
        .response.content
        for viewer in audiences(ledger)
        for board in BOARDS
        for which in (board, f"{board}.csv")
    }
