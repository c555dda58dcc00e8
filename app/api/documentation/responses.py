"""The error codes of operations. Most follow from the inputs of a route; its decorator lists the others.

Lists of codes are strings separated by spaces. A code that occurs with two statuses stands for the smaller
one; the larger one is written as in ``422.too_large``.
"""

from collections.abc import Mapping
from typing import Any

from anoncup.schemas.codes import ERROR_SENTENCES_BY_STATUS

CODES_KEY = "x-codes"
_DEFAULT_STATUS = {
    code: int(status)
    for status, _, code in sorted(
        (answer.partition(".") for answer in ERROR_SENTENCES_BY_STATUS), reverse=True
    )
}

OPTIONAL_SIGN_IN = "invalid_token"
REQUIRED_SIGN_IN = "not_signed_in invalid_token scope_missing"
COOKIE_SESSION = "cross_site"
"""Errors of requests that change something with a session cookie."""
THROTTLED = "too_many_tries"
DATABASE = "database_unavailable database_full database_read_only"
TYPED_PARAMETERS = "invalid_request"
"""Errors of operations with a parameter that does not accept every text."""

STORED_FILE = "file_lost storage_unavailable file_damaged"
"""Errors of operations that read a stored file."""

CODES_BY_PARAMETER: Mapping[str, str] = {
    "slug": "no_such_competition no_such_round competition_unavailable",
    "name": "no_such_phase",
    "file": f"no_such_file {STORED_FILE}",
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
    "column_in_both_roles invalid_formula unknown_measure unknown_question measure_without_weight "
    "weight_of_largest unknown_attacker attacker_never_counts no_weights"
)
_ANY_BODY = "bad_request too_slow too_large"
CODES_BY_MEDIA_TYPE: Mapping[str, str] = {
    "application/json": f"{_ANY_BODY} invalid_request",
    "application/toml": f"{_ANY_BODY} invalid_request {COMPETITION_FILE}",
    "text/csv": f"{_ANY_BODY} malformed_upload invalid_request",
    "multipart/form-data": f"{_ANY_BODY} malformed_upload",
}

TEAM = "not_in_a_team"
ORGANIZER = "not_organizer"
REVISION = (
    f"{STORED_FILE} changed_meanwhile fixed notice_fixed phase_paused phase_turned rescore_open "
    "malformed_upload scale_zero drawn_already"
)
DISQUALIFICATION = "not_organizer nothing_to_change invalid_reason"
BOARD = "scope_missing board_not_open"
NEW_NAME = "name_length name_blank name_characters"
BUSY = "storage_unavailable file_damaged sealing_unavailable busy"
_PARSING = "parsing_memory_limit parsing_time_limit"
UPLOAD = f"not_in_a_team disqualified quota_used_up {BUSY} unavailable {_PARSING}"
CHECK = f"not_in_a_team disqualified too_many_checks {STORED_FILE} busy unavailable {_PARSING}"


def build_error_responses(*codes: str) -> dict[int | str, dict[str, Any]]:
    """Return the ``responses`` of a route for the errors that do not follow from its inputs."""
    return {status: {CODES_KEY: names} for status, names in group_by_status(*codes).items()}


def group_by_status(*codes: str) -> dict[int, list[str]]:
    """Return the codes by status, without duplicates and in the given order."""
    codes_by_status: dict[int, list[str]] = {}
    for status, code in dict.fromkeys(map(_split_code, " ".join(codes).split())):
        codes_by_status.setdefault(status, []).append(code)
    return dict(sorted(codes_by_status.items()))


def _split_code(code: str) -> tuple[int, str]:
    status, dot, name = code.rpartition(".")
    return (int(status), name) if dot else (_DEFAULT_STATUS[code], code)
