"""Which errors each operation answers: most follow from what its route takes, the rest is listed here."""

from collections.abc import Iterable, Mapping

Answers = Mapping[int, tuple[str, ...]]

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

BY_OPERATION: Mapping[str, tuple[Answers, ...]] = {
    "sign_up": (
        {
            409: ("name_taken", "team_name_taken", "in_a_team"),
            422: (*NEW_NAME, "password_length", "invalid_invite", "team_needed", "another_team"),
        },
    ),
    "join": (
        {
            409: ("in_a_team", "organizes_it", "team_name_taken"),
            422: ("invalid_invite", "team_needed", "another_team", *NEW_NAME),
        },
    ),
    "set_password": ({422: ("invalid_code", "password_length")},),
    "change_password": ({422: ("wrong_password", "password_length")},),
    "create_token": ({401: ("wrong_password",), 422: ("unknown_scope", *NEW_NAME)},),
    "create_user": (
        {403: ("not_administrator",), 409: ("name_taken",), 422: (*NEW_NAME, "password_length")},
    ),
    "create_password_link": (
        {403: ("not_organizer", "in_another_competition"), 404: ("no_such_user",), 422: NEW_NAME},
    ),
    "create_competition": (ORGANIZER, {409: ("slug_taken",)}),
    "replace_competition_file": (ORGANIZER, REVISION),
    "get_original": ({404: ("no_original",)},),
    "put_original": (
        ORGANIZER,
        REVISION,
        {409: ("first_file_missing",), 422: COMPETITION_FILE, 503: ("busy",)},
    ),
    "create_invite": (ORGANIZER,),
    "extend_phase": (
        ORGANIZER,
        {
            409: ("phase_turned", "phases_overlap"),
            422: ("end_passed", "end_too_far", "no_offset", "wrong_value"),
        },
    ),
    "pause_phase": (ORGANIZER, {409: ("phase_closed", "phase_paused")}),
    "resume_phase": (ORGANIZER, {409: ("phase_not_paused", "phase_turned")}),
    "grant_quota": (ORGANIZER, {404: ("no_such_team",), 422: ("invalid_grant",)}),
    "disqualify_team": (JUDGED,),
    "reinstate_team": (JUDGED,),
    "disqualify_submission": (JUDGED,),
    "reinstate_submission": (JUDGED,),
    "score_again": (ORGANIZER, {409: ("not_failed",)}),
    "get_own_team": (TEAM,),
    "create_team_invite": (TEAM,),
    "remove_member": (TEAM, {404: ("no_such_member",), 409: ("last_member",)}),
    "list_teams": (ORGANIZER,),
    "list_organizers": (ORGANIZER,),
    "add_organizer": (
        ORGANIZER,
        {
            404: ("no_such_user",),
            409: ("not_an_organizer", "organizes_it", "in_a_team"),
            422: NEW_NAME,
        },
    ),
    "remove_organizer": (ORGANIZER, {404: ("no_such_organizer",), 409: ("last_organizer",)}),
    "create_submission": (
        UPLOAD,
        {
            404: ("file_lost",),
            409: ("phase_closed", "phase_paused", "too_late", "no_original", "changed_meanwhile"),
            422: ("comment",),
        },
    ),
    "list_submissions": (TEAM,),
    "list_all_submissions": (ORGANIZER,),
    "cancel_submission": (TEAM, {409: ("finished",)}),
    "mark_final": (
        {403: ("not_in_a_team", "disqualified")},
        {409: ("phase_closed", "phase_paused", "not_valid", "too_many_finals")},
    ),
    "get_quota": (TEAM,),
    "follow_submission": ({429: ("too_many_streams",)},),
    "list_targets": (TEAM, {404: ("no_targets_yet",)}),
    "download_targets": (
        TEAM,
        {404: ("no_targets_yet", "file_lost"), 503: ("storage_unavailable", "file_damaged")},
    ),
    "get_manifest": ({404: ("no_targets_yet",)},),
    "get_reveal": ({404: ("no_targets_yet", "not_revealed_yet")},),
    "get_secret": ({404: ("not_revealed_yet", "file_lost"), 503: ("storage_unavailable", "file_damaged")},),
    "create_guess": (
        UPLOAD,
        {403: ("own_target",), 409: ("phase_closed", "phase_paused", "too_late", "target_withdrawn")},
    ),
    "list_guesses": (TEAM,),
    "download_kit": ({404: ("no_original", "file_lost"), 503: ("storage_unavailable", "file_damaged")},),
    "export": (ORGANIZER, {404: ("file_lost",), 503: ("storage_unavailable", "file_damaged")}),
    "add_baseline": (
        ORGANIZER,
        {
            404: ("file_lost",),
            409: ("no_original", "changed_meanwhile", "phase_closed", "team_name_taken"),
            422: ("comment", *NEW_NAME),
            503: ("storage_unavailable", "file_damaged", "sealing_unavailable", "busy"),
        },
    ),
    "remove_baseline": (ORGANIZER, {404: ("no_such_baseline",)}),
    "anonymization_board": (BOARD,),
    "anonymization_csv": (BOARD,),
    "reidentification_board": (BOARD,),
    "reidentification_csv": (BOARD,),
    "matrix_board": (BOARD,),
    "matrix_csv": (BOARD,),
    "begin_rescore": (ORGANIZER, REVISION),
    "list_rescores": (ORGANIZER,),
    "apply_rescore": (
        {409: ("rescore_scoring", "rescore_failed", "rescore_ended", "changed_meanwhile", "phase_turned")},
    ),
    "cancel_rescore": ({409: ("rescore_ended",)},),
    "ask_for_report": (
        ORGANIZER,
        {409: ("no_original",), 422: ("unknown_distance", "unknown_column"), 429: ("too_many_reports",)},
    ),
    "list_reports": (ORGANIZER,),
    "post_announcement": (ORGANIZER, {422: ("no_text", "announcement_text")}),
    "withdraw_announcement": (ORGANIZER, {409: ("service_announcement",)}),
    "audit_log": (ORGANIZER,),
    "queue_health": (ORGANIZER,),
    "metrics": ({404: ("not_found",)},),
    "readyz": ({503: ("clock_stale", "storage_unavailable")},),
}
"""What does not follow from what a route takes."""


def merged(parts: Iterable[Answers]) -> dict[int, tuple[str, ...]]:
    """The codes by status, each once, in the order they are given."""
    found: dict[int, dict[str, None]] = {}
    for part in parts:
        for status, codes in part.items():
            found.setdefault(status, {}).update(dict.fromkeys(codes))
    return {status: tuple(found[status]) for status in sorted(found)}
