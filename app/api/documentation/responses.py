"""The error codes of operations, by HTTP status.

``app.api.documentation.document`` derives the codes of signing in, of the database, of parameters and of
request bodies from each route. Its decorator lists all others with ``build_error_responses``.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from anoncup.schemas.codes import ERROR_SENTENCES_BY_STATUS

CODES_KEY = "x-codes"
ErrorCode = str | tuple[int, str]
"""A code. One that occurs with two statuses is given with its status, as in ``(422, "too_large")``."""
ErrorCodes = tuple[ErrorCode, ...]
# The keys have the form "422.too_large".
_STATUSES_AND_CODES = [
    (int(status), code) for status, _, code in (key.partition(".") for key in ERROR_SENTENCES_BY_STATUS)
]

OPTIONAL_SIGN_IN_ERRORS: ErrorCodes = ("invalid_token",)
REQUIRED_SIGN_IN_ERRORS: ErrorCodes = ("not_signed_in", "invalid_token", "scope_missing")
COOKIE_SESSION_ERRORS: ErrorCodes = ("cross_site",)
"""Errors of requests that change something with a session cookie."""
THROTTLING_ERRORS: ErrorCodes = ("too_many_tries",)
DATABASE_ERRORS: ErrorCodes = ("database_unavailable", "database_full", "database_read_only")
TYPED_PARAMETER_ERRORS: ErrorCodes = ("invalid_request",)
"""Errors of operations with a parsed parameter, such as a number or an id."""

_STORAGE_FAILURES: ErrorCodes = ("storage_unavailable", "file_damaged")
STORED_FILE_ERRORS: ErrorCodes = ("file_lost", *_STORAGE_FAILURES)
"""Errors of operations that read a stored file."""

CODES_BY_PARAMETER: Mapping[str, ErrorCodes] = {
    "slug": ("no_such_competition", "no_such_round", "competition_unavailable"),
    "name": ("no_such_phase",),
    "file": ("no_such_file", *STORED_FILE_ERRORS),
    "submission_id": ("no_such_submission",),
    "target_id": ("no_such_target", "no_targets_yet"),
    "team_id": ("no_such_team",),
    "token_id": ("no_such_token",),
    "rescore_id": ("no_such_rescore",),
    "report_id": ("no_such_report",),
    "announcement_id": ("no_such_announcement",),
    "clarification_id": ("no_such_clarification",),
    "cursor": ("invalid_cursor",),
    "X-Confirm-Password": ("password_needed", "no_password", (422, "wrong_password"), "too_many_tries"),
    "Idempotency-Key": ("idempotency_key", "idempotency_key_reused"),
}

COMPETITION_FILE_ERRORS: ErrorCodes = (
    "not_toml",
    "encoding",
    (422, "too_large"),
    "missing_key",
    "unknown_key",
    "wrong_type",
    "wrong_value",
    "unknown_column",
    "column_in_both_roles",
    "invalid_formula",
    "unknown_measure",
    "unknown_question",
    "measure_without_weight",
    "weight_of_largest",
    "unknown_attacker",
    "attacker_never_counts",
    "no_weights",
)
_BODY_ERRORS: ErrorCodes = ("bad_request", "too_slow", (413, "too_large"))
CODES_BY_MEDIA_TYPE: Mapping[str, ErrorCodes] = {
    "application/json": (*_BODY_ERRORS, "invalid_request"),
    "application/toml": (*_BODY_ERRORS, "invalid_request", *COMPETITION_FILE_ERRORS),
    "text/csv": (*_BODY_ERRORS, "malformed_upload", "invalid_request"),
    "multipart/form-data": (*_BODY_ERRORS, "malformed_upload"),
}

TEAM_ERRORS: ErrorCodes = ("not_in_a_team",)
ORGANIZER_ERRORS: ErrorCodes = ("not_organizer",)
DISQUALIFICATION_ERRORS: ErrorCodes = (*ORGANIZER_ERRORS, "nothing_to_change", "invalid_reason")
REVISION_ERRORS: ErrorCodes = (
    *STORED_FILE_ERRORS,
    "changed_meanwhile",
    "fixed",
    "notice_fixed",
    "phase_paused",
    "phase_turned",
    "rescore_open",
    "malformed_upload",
    "scale_zero",
    "invalid_result",
    "drawn_already",
)
BOARD_ERRORS: ErrorCodes = ("scope_missing", "board_not_open")
NEW_NAME_ERRORS: ErrorCodes = ("name_length", "name_blank", "name_characters")
RELEASE_ERRORS: ErrorCodes = (*_STORAGE_FAILURES, "sealing_unavailable", "busy")
"""Errors of operations that store a release or a guess."""
_PARSER_ERRORS: ErrorCodes = ("unavailable", "parsing_memory_limit", "parsing_time_limit")
UPLOAD_ERRORS: ErrorCodes = (
    *TEAM_ERRORS,
    "disqualified",
    "quota_used_up",
    *RELEASE_ERRORS,
    *_PARSER_ERRORS,
)
CHECK_ERRORS: ErrorCodes = (
    *TEAM_ERRORS,
    "disqualified",
    "too_many_checks",
    *STORED_FILE_ERRORS,
    "busy",
    *_PARSER_ERRORS,
)


def build_error_responses(*codes: ErrorCode) -> dict[int | str, dict[str, Any]]:
    """Return the ``responses`` of a route for the errors that do not follow from its inputs."""
    return {status: {CODES_KEY: names} for status, names in group_by_status(codes).items()}


def group_by_status(codes: Iterable[ErrorCode]) -> dict[int, list[str]]:
    """Return the codes by status, without duplicates and in the given order."""
    codes_by_status: dict[int, list[str]] = {}
    for status, code in dict.fromkeys(map(_find_status, codes)):
        codes_by_status.setdefault(status, []).append(code)
    return dict(sorted(codes_by_status.items()))


def _find_status(code: ErrorCode) -> tuple[int, str]:
    """Return a code with its status. An unknown or ambiguous code fails when its route is defined."""
    matches = [known for known in _STATUSES_AND_CODES if code in (known, known[1])]
    if len(matches) != 1:
        raise ValueError(f"the error code {code!r} is unknown or ambiguous")
    return matches[0]
