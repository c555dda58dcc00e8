"""Which errors each operation answers: most follow from what its route takes, the rest stands beside it.

Lists of codes are texts; of a code that comes with two statuses, the larger is written as ``422.too_large``.
"""

from collections.abc import Mapping
from typing import Any

from anoncup.schemas.codes import ANSWERS

CODES = "x-codes"
LEAST = {
    code: int(status) for status, _, code in sorted((each.partition(".") for each in ANSWERS), reverse=True)
}

VISITORS_TOO = "invalid_token"
SIGNED_IN = "not_signed_in invalid_token scope_missing"
BY_COOKIE = "cross_site"
"""Of a browser's session, where the request would change something."""
THROTTLED = "too_many_tries"
STORED = "database_unavailable database_full database_read_only"
PARAMETERS = "invalid_request"
"""Where a parameter is more than a text."""

READ = "file_lost storage_unavailable file_damaged"
"""Where a stored file is."""

BY_PARAMETER: Mapping[str, str] = {
    "slug": "no_such_competition competition_unavailable",
    "name": "no_such_phase",
    "file": f"no_such_file {READ}",
    "submission_id": "no_such_submission",
    "target_id": "no_such_target no_targets_yet",
    "team_id": "no_such_team",
    "token_id": "no_such_token",
    "rescore_id": "no_such_rescore",
    "report_id": "no_such_report",
    "announcement_id": "no_such_announcement",
    "clarification_id": "no_such_clarification",
    "cursor": "invalid_cursor",
    "X-Confirm-Password": "password_needed 422.wrong_password too_many_tries",
    "Idempotency-Key": "idempotency_key idempotency_key_reused",
}

COMPETITION_FILE = (
    "not_toml encoding 422.too_large missing_key unknown_key wrong_type wrong_value unknown_column "
    "column_in_both_roles unknown_measure unknown_question measure_without_weight weight_of_largest "
    "unknown_attacker attacker_never_counts no_weights"
)
ANY_BODY = "bad_request too_slow too_large"
BY_BODY: Mapping[str, str] = {
    "application/json": f"{ANY_BODY} invalid_request",
    "application/toml": f"{ANY_BODY} invalid_request {COMPETITION_FILE}",
    "text/csv": f"{ANY_BODY} malformed_upload invalid_request",
    "multipart/form-data": f"{ANY_BODY} malformed_upload",
}

TEAM = "not_in_a_team"
ORGANIZER = "not_organizer"
REVISION = (
    f"{READ} changed_meanwhile fixed notice_fixed phase_paused phase_turned rescore_open malformed_upload "
    "scale_zero drawn_already"
)
JUDGED = "not_organizer nothing_to_change invalid_reason"
BOARD = "scope_missing board_not_open"
NEW_NAME = "name_length name_blank name_characters"
BUSY = "storage_unavailable file_damaged sealing_unavailable busy"
PARSING = "parsing_memory_limit parsing_time_limit"
UPLOAD = f"not_in_a_team disqualified quota_used_up {BUSY} unavailable {PARSING}"
CHECK = f"not_in_a_team disqualified too_many_checks {READ} busy unavailable {PARSING}"


def refusing(*codes: str) -> dict[int | str, dict[str, Any]]:
    """What does not follow from what a route takes, as its decorator takes it."""
    return {status: {CODES: listed} for status, listed in by_status(*codes).items()}


def by_status(*codes: str) -> dict[int, list[str]]:
    """The codes by their statuses, each once, in the order they are given."""
    found: dict[int, list[str]] = {}
    for status, code in dict.fromkeys(map(answer_of, " ".join(codes).split())):
        found.setdefault(status, []).append(code)
    return dict(sorted(found.items()))


def answer_of(code: str) -> tuple[int, str]:
    status, dot, name = code.rpartition(".")
    return (int(status), name) if dot else (LEAST[code], code)
