"""Which errors each operation answers: most follow from what its route takes, the rest stands beside it."""

from collections.abc import Iterable, Mapping
from typing import Any

Answers = Mapping[int, tuple[str, ...]]
CODES = "x-codes"

VISITORS_TOO: Answers = {401: ("invalid_token",)}
SIGNED_IN: Answers = {401: ("not_signed_in", "invalid_token"), 403: ("scope_missing",)}
BY_COOKIE: Answers = {403: ("cross_site",)}
"""Of a browser's session, where the request would change something."""
THROTTLED: Answers = {429: ("too_many_tries",)}
STORED: Answers = {503: ("database_unavailable",)}
PARAMETERS: Answers = {422: ("invalid_request",)}
"""Where a parameter is more than a text."""

BY_PARAMETER: Mapping[str, Answers] = {
    "slug": {404: ("no_such_competition",), 503: ("competition_unavailable",)},
    "name": {404: ("no_such_phase",)},
    "file": {404: ("no_such_file", "file_lost"), 503: ("storage_unavailable", "file_damaged")},
    "submission_id": {404: ("no_such_submission",)},
    "target_id": {404: ("no_such_target", "no_targets_yet")},
    "team_id": {404: ("no_such_team",)},
    "token_id": {404: ("no_such_token",)},
    "rescore_id": {404: ("no_such_rescore",)},
    "report_id": {404: ("no_such_report",)},
    "announcement_id": {404: ("no_such_announcement",)},
    "cursor": {422: ("invalid_cursor",)},
    "X-Confirm-Password": {403: ("password_needed",), 422: ("wrong_password",), 429: ("too_many_tries",)},
    "Idempotency-Key": {422: ("idempotency_key", "idempotency_key_reused")},
}

COMPETITION_FILE = (
    "not_toml",
    "encoding",
    "too_large",
    "missing_key",
    "unknown_key",
    "wrong_type",
    "wrong_value",
    "unknown_column",
    "column_in_both_roles",
    "unknown_measure",
    "measure_without_weight",
    "unknown_attacker",
    "attacker_never_counts",
    "no_weights",
)
BY_BODY: Mapping[str, Answers] = {
    "application/json": {
        400: ("bad_request",),
        408: ("too_slow",),
        413: ("too_large",),
        422: ("invalid_request",),
    },
    "application/toml": {
        400: ("bad_request",),
        408: ("too_slow",),
        413: ("too_large",),
        422: (*COMPETITION_FILE, "invalid_request"),
    },
    "text/csv": {
        400: ("bad_request",),
        408: ("too_slow",),
        413: ("too_large",),
        422: ("malformed_upload", "invalid_request"),
    },
    "multipart/form-data": {
        400: ("bad_request",),
        408: ("too_slow",),
        413: ("too_large",),
        422: ("malformed_upload",),
    },
}

READ: Answers = {404: ("file_lost",), 503: ("storage_unavailable", "file_damaged")}
"""Where a stored file is."""
TEAM: Answers = {403: ("not_in_a_team",)}
ORGANIZER: Answers = {403: ("not_organizer",)}
REVISION: Answers = {
    404: ("file_lost",),
    409: ("changed_meanwhile", "fixed", "notice_fixed", "phase_paused", "phase_turned", "rescore_open"),
    422: ("malformed_upload",),
    503: ("storage_unavailable", "file_damaged"),
}
JUDGED: Answers = {403: ("not_organizer",), 409: ("nothing_to_change",)}
BOARD: Answers = {403: ("scope_missing", "board_not_open")}
NEW_NAME = ("name_length", "name_blank", "name_characters")
UPLOAD: Answers = {
    403: ("not_in_a_team", "disqualified"),
    429: ("quota_used_up",),
    503: ("storage_unavailable", "file_damaged", "sealing_unavailable", "unavailable", "busy"),
}


def refusing(*parts: Answers) -> dict[int | str, dict[str, Any]]:
    """What does not follow from what a route takes, as its decorator takes it."""
    return {status: {CODES: codes} for status, codes in merged(parts).items()}


def merged(parts: Iterable[Answers]) -> dict[int, tuple[str, ...]]:
    """The codes by status, each once, in the order they are given."""
    found: dict[int, dict[str, None]] = {}
    for part in parts:
        for status, codes in part.items():
            found.setdefault(status, {}).update(dict.fromkeys(codes))
    return {status: tuple(found[status]) for status in sorted(found)}
