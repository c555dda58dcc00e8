"""Recompute the boards of every audience from what the clients know, and check all invariants."""

from collections.abc import Iterator
from datetime import datetime
from random import Random
from typing import Any

from tests.faults import invariant_checks
from tests.faults.calls import Caller, CallRecorder
from tests.faults.invariant_checks import LocalScorer, count_correct, is_nearly_equal, load_round
from tests.faults.ledger import Ledger, LedgerUpload
from tests.support.board_facts import (
    BOARDS,
    ORGANIZER,
    VISITOR,
    BoardFacts,
    GuessFact,
    SubmissionFact,
    build_board,
    extract_board,
)
from tests.support.board_facts import build_submission as build_fact

LONG_AGO = datetime.fromisoformat("2000-01-01T00:00:00+00:00")


def build_facts(ledger: Ledger, scorer: LocalScorer, organizer: Caller) -> tuple[BoardFacts, list[str]]:
    """Return the expected state of the contest, and problems with targets and disqualifications."""
    rules, row = scorer.rules, load_round(ledger.slug)
    facts = BoardFacts(
        list(ledger.tokens),
        rules.ranking.rule,
        rules.publication.feedback,
        rules.ranking.finals,
        None,
        len(ledger.original),
        tuple(scorer.track.attackers),
        published_at=row.published_at,
        is_closed=row.closed_at is not None,
        is_revealed=row.revealed_at is not None,
        weighted_measures=tuple(rules.weights),
        zone=rules.timezone,
    )
    commitments, disqualified_ids = {}, set()
    for upload in ledger.list_accepted("release"):
        submission = organizer.request("GET", f"/submissions/{upload.id}").json()
        entry = build_submission(upload, submission, scorer)
        commitments[upload.commitment] = entry
        facts.submissions.append(entry)
        disqualified_ids |= {upload.id} if submission["disqualified"] else set()
    facts.submissions.sort(key=lambda item: (item.received_at, item.id))
    finals_ids = {item.id for item in facts.choose_finals()}  # nobody was disqualified before
    for target in organizer.request("GET", f"/competitions/{ledger.slug}/targets").json():
        commitments[target["commitment"]].target_name = target["name"]
    for entry in facts.submissions:
        entry.is_disqualified = entry.id in disqualified_ids
    target_ids = {entry.id for entry in facts.submissions if entry.target_name is not None}
    problems = [f"{item} was disqualified by nobody" for item in disqualified_ids - ledger.disqualified]
    if finals_ids != target_ids:
        finals = f"the finals were {sorted(finals_ids)}, the targets are {sorted(target_ids)}"
        problems.append(f"{ledger.slug}: {finals}")
    for guess in ledger.list_accepted("guess"):
        facts.guesses.append(build_guess(guess, commitments[str(guess.target)], ledger))
    return facts, problems


def build_submission(upload: LedgerUpload, submission: dict[str, Any], scorer: LocalScorer) -> SubmissionFact:
    """Build a submission with the verdict of the local score; only a cancellation comes from the service."""
    assert upload.receipt is not None
    verdict = scorer.score(upload)
    state = "SCORED" if verdict["verdict"] == "accepted" else "REJECTED"
    return build_fact(
        verdict,
        id=upload.id,
        team=upload.team,
        received_at=datetime.fromisoformat(upload.receipt["received_at"]),
        state="CANCELLED" if submission["status"] == "CANCELLED" else state,
        seen_from=LONG_AGO,
        is_marked_final=submission["final"],
    )


def build_guess(upload: LedgerUpload, victim: SubmissionFact, ledger: Ledger) -> GuessFact:
    assert upload.receipt is not None
    state = "ERROR" if f"guess {upload.id}" in ledger.errors else "SCORED"
    received_at = datetime.fromisoformat(upload.receipt["received_at"])
    correct = count_correct(upload, ledger.find_victim(upload))
    return GuessFact(upload.team, victim, received_at, LONG_AGO, state, correct)


def create_callers(calls: CallRecorder, ledger: Ledger) -> dict[str, Caller]:
    """Return a caller for each audience."""
    tokens = {VISITOR: None, ORGANIZER: ledger.organizer, **ledger.tokens}
    return {audience: Caller(calls, Random(0), token) for audience, token in tokens.items()}


def compare_boards(ledger: Ledger, facts: BoardFacts, callers: dict[str, Caller]) -> Iterator[str]:
    for viewer, caller in callers.items():
        for board in BOARDS:
            answer = caller.request("GET", f"/competitions/{ledger.slug}/boards/{board}")
            actual = extract_board(board, answer.json())
            expected_board = build_board(board, facts, viewer)
            if not is_nearly_equal(actual, expected_board):
                yield f"{ledger.slug}: the {board} board of {viewer} is {actual}, not {expected_board}"


def read_boards(ledger: Ledger, callers: dict[str, Caller]) -> dict[tuple[str, str], bytes]:
    """Return every board of every audience as JSON and CSV."""
    return {
        (viewer, path): caller.request("GET", f"/competitions/{ledger.slug}/boards/{path}").response.content
        for viewer, caller in callers.items()
        for board in BOARDS
        for path in (board, f"{board}.csv")
    }


def check_competition(ledger: Ledger, callers: dict[str, Caller], *, is_played_to_end: bool) -> Iterator[str]:
    """Yield the violations of a competition. ``is_played_to_end``: whether it has been revealed."""
    organizer = callers[ORGANIZER]
    ledger.rules = organizer.request("GET", f"/competitions/{ledger.slug}/competition.toml").response.text
    scorer = LocalScorer(ledger)
    missing = list(invariant_checks.check_stored_once(ledger))
    yield from missing
    if missing:
        return  # the other checks need every upload to exist
    yield from invariant_checks.check_verdicts(ledger, scorer, organizer)
    yield from invariant_checks.check_guesses(ledger)
    yield from invariant_checks.check_quotas(ledger)
    yield from invariant_checks.check_transitions(ledger, organizer, is_played_to_end=is_played_to_end)
    yield from invariant_checks.check_publication(ledger, organizer)
    yield from invariant_checks.check_reports(ledger)
    yield from invariant_checks.check_errors(ledger)
    facts, problems = build_facts(ledger, scorer, organizer)
    yield from problems
    yield from compare_boards(ledger, facts, callers)
