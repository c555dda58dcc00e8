"""Examples of every body, put together from one realistic value per field."""

from collections.abc import Mapping
from typing import Any

from app.wire import Failed

Json = Any
Schema = Mapping[str, Any]

ID = "0197f3a2-5c1e-7d43-9b60-2f4e8c1d7a55"
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
MOMENT = "2027-01-11T05:30:00Z"

TOML = """format = 1
slug = "small-cup"
title = { en = "Small cup", ja = "小さな杯" }
track = "microdata"
timezone = "Asia/Tokyo"

[columns]
quasi_identifiers = ["sex", "age"]
sensitive = ["income"]

[measures.mean_mae]
weight = 1.0

[[phases]]
name = "anonymization"
start = 2027-01-10T09:00:00+09:00
end = 2027-01-24T09:00:00+09:00
"""
TABLE = "sex,age,income\nf,30,412\nm,20,388\nf,40,405\n"
SECRET = "original_row\n2\n3\n1\n"  # noqa: S105  # a file
GUESS = "original_row\n0\n3\n1\n"
BOARD = "rank,team,entries,overall,U,E\n1,Red,4,0.132,0.084,0.18\n"
STREAM = (
    "retry: 3000\n\nevent: progress\nid: " + ID + ".1.5.SCORING\n"
    'data: {"id": "' + ID + '", "status": "SCORING", "step": 5, "steps": 12, "step_name": "euc1", '
    '"attempt": 1, "queue_position": null}\n\n'
)
METRICS = "# HELP anoncup_queue_up Whether the queue can be reached.\nanoncup_queue_up 1.0\n"

PARTS: Mapping[str, str] = {
    "anonymized": TABLE,
    "customers": "customer_id,sex,birthday,country\n12346,f,1961-03-04,United Kingdom\n",
    "transactions": "customer_id,receipt_id,date,time,goods,unit_price,quantity\n"
    "12346,541431,2011-01-18,10:01,23166,1.04,2\n",
    "secret": SECRET,
    "guess": GUESS,
    "comment": "groups of 5, income rounded",
    "name": "5-anonymous",
}
"""What a multipart request carries."""

PLACES: Mapping[str, tuple[str, str]] = {
    "announcement_id": (ID, "the announcement's"),
    "file": ("original.csv", "the file's name, with `.csv`"),
    "name": ("anonymization", "`anonymization` or `reidentification`"),
    "report_id": (ID, "the report's"),
    "rescore_id": (ID, "the set's"),
    "slug": ("small-cup", "the competition's short name"),
    "submission_id": (ID, "the submission's"),
    "target_id": (ID, "the target's"),
    "team_id": (ID, "the team's"),
    "token_id": (ID, "the token's"),
    "user_id": (ID, "the person's"),
}
"""An example and the meaning of each name in a path."""

MOVED = {8: 3, 11: 12, 14: 16, 17: 11, 20: 6, 27: 1, 36: 1}
RESULT = {
    "verdict": "accepted",
    "violations": [],
    "warnings": [],
    "measures": {"mean_mae": {"value": 18.25, "version": 1, "rounding": 2.1e-06}},
    "attackers": {
        "id_rand": {
            "rate": 0.18,
            "correct": 9,
            "trials": 50,
            "version": 1,
            "baseline": 0.02,
            "interval": [0.0977, 0.3081],
        }
    },
    "excessive": {
        "distance": "gower",
        "mean": 0.0613,
        "max": 0.1442,
        "threshold": 0.2,
        "histogram": {"counts": [MOVED.get(place, 0) for place in range(50)], "end": 0.2},
    },
    "utility": 0.084,
    "security": 0.18,
    "overall": 0.132,
}

VALUES: Mapping[str, Json] = {
    "action": "phase.extend",
    "actor": "Ada",
    "after": {"end": "2027-01-25T09:00:00+09:00"},
    "amount": 5,
    "answered": 41,
    "at": MOMENT,
    "attacker": "Blue",
    "attackers": {"id_rand": 0.18},
    "attempt": 1,
    "before": {"end": "2027-01-24T09:00:00+09:00"},
    "baseline": False,
    "bits": 50,
    "broker_depth": 0,
    "built_in": False,
    "cap": "valid_per_day",
    "code": "q3c1Jt2nUe0VbW8s",
    "comment": "groups of 5, income rounded",
    "commitment": DIGEST,
    "competition": "small-cup",
    "correct": 9,
    "created_at": MOMENT,
    "current": True,
    "database": "ok",
    "disqualified": False,
    "distance": "gower",
    "draws": 1000,
    "en": "The deadline moves by a day.",
    "end": "2027-01-25T09:00:00+09:00",
    "entries": 4,
    "expires_at": "2027-07-10T05:30:00Z",
    "expires_in_days": 180,
    "files": {"anonymized.csv": DIGEST},
    "final": True,
    "finals": False,
    "finished": 12,
    "finished_at": "2027-01-11T05:30:04Z",
    "groups": ["sex", "age"],
    "digits": 2,
    "guesses_left": 2,
    "hidden": False,
    "id": ID,
    "identified": 31,
    "invite": "q3c1Jt2nUe0VbW8s",
    "ja": "締切を一日延ばします。",
    "last_sweep_s": 4.2,
    "clock_s": 0.6,
    "left": 7,
    "limit": 10,
    "measures": {"mean_mae": 18.25},
    "move_following": False,
    "name": "Rei",
    "new": "eight quiet foxes",
    "number": 17,
    "old": "seven quiet foxes",
    "oldest_waiting_s": 1.5,
    "on_front": True,
    "organizes": [],
    "original_files": ["original.csv"],
    "original_rows": 50,
    "reveal_at": "2027-02-08T00:00:00Z",
    "original_sha256": {"original.csv": DIGEST},
    "overall": 0.132,
    "own": True,
    "owners": 4,
    "password": "seven quiet foxes",
    "paused": False,
    "phase": "anonymization",
    "question": {"groups": ["sex", "age"], "distance": "gower", "bits": 50, "draws": 1000, "seconds": 0.0},
    "queue": "ok",
    "queue_depth": 0,
    "queue_position": 0,
    "quota_left": {"valid_per_day": 9, "valid_total": 99, "attempts_per_day": 49, "attempts_total": 499},
    "rank": 1,
    "rank_sum": 3.0,
    "rate": 0.18,
    "received_at": MOMENT,
    "remarks": [
        {
            "code": "read_as_cp932",
            "message": "original is not UTF-8; it was read as Shift_JIS (CP932)",
            "values": {"file": "original"},
        }
    ],
    "report": {"distance": "gower", "threshold": 0.2},
    "resets_at": "2027-01-11T15:00:00Z",
    "result": RESULT,
    "rivals": 0.12,
    "role": "participant",
    "rows": 50,
    "salt": "5f2b8c0e91d74a36",
    "scopes": ["read", "submit"],
    "scorer": "1",
    "scoring": {"evaluations": 1},
    "seconds": 0.0,
    "secret_sha256": DIGEST,
    "security": 0.18,
    "sha256": {"anonymized.csv": DIGEST},
    "slug": "small-cup",
    "start": "2027-01-10T09:00:00+09:00",
    "started_at": "2027-01-11T05:30:01Z",
    "status": "SCORED",
    "step": 12,
    "step_name": "euc1",
    "steps": 12,
    "subject": "anonymization",
    "submission_id": ID,
    "submissions": 4,
    "target": "target-07",
    "target_id": ID,
    "targets": 3,
    "team": "Red",
    "team_id": ID,
    "timezone": "Asia/Tokyo",
    "title": {"en": "Small cup", "ja": "小さな杯"},
    "token": "anoncup_Yk1mV3o5c2lIb0ZQdVhqZ0xOYTZ3RTdSdDRCOQ",
    "token_name": "laptop",
    "total": 12,
    "track": "microdata",
    "trials": 50,
    "text": {"en": "The deadline moves by a day.", "ja": "締切を一日延ばします。"},
    "tried": 150,
    "used": 3,
    "user_id": ID,
    "uses": 20,
    "utility": 0.084,
    "violations": [],
    "waiting": {"evaluations": 2},
    "warnings": [
        {
            "code": "sent_before",
            "message": "your team has sent this very table 2 times before",
            "values": {"times": 2},
        }
    ],
    "withdrawn": False,
}
"""One value per name of a field; those that are null for most are null here, too."""

NULL = {"cancelled_at", "applied_at", "disqualified_at", "frozen_from", "revoked_at", *Failed.model_fields}

ELSEWHERE: Mapping[str, Mapping[str, Json]] = {
    "Alive": {"status": "ok"},
    "Board": {"measures": ["mean_mae"], "attackers": ["id_rand"]},
    "Cap": {"name": "valid_per_day"},
    "Entrant": {"name": "Red"},
    "GuessReceipt": {"status": "QUEUED"},
    "Manifest": {"sha256": DIGEST},
    "ManifestEntry": {"name": "target-07"},
    "Phase": {"name": "anonymization", "end": "2027-01-24T09:00:00+09:00"},
    "Ready": {"status": "ok"},
    "Receipt": {"status": "QUEUED"},
    "ReportSummary": {"status": "QUEUED"},
    "Revealed": {"name": "target-07"},
    "Target": {"name": "target-07", "own": False, "team": None},
    "TeamJudged": {"name": "Red", "disqualified_at": MOMENT},
    "Team": {"name": "Red"},
    "Token": {"name": "laptop", "kind": "api"},
    "MatrixTarget": {"own": False, "team": None},
}
"""What a field of one model says that is not what fields of that name say."""

WHOLE: Mapping[str, Json] = {"Verdict": RESULT, "Said": VALUES["warnings"][0]}
"""Models that an example is known for as a whole: of their parts some exclude others."""


class Missing(LookupError):
    """A field that no example value is known for."""


def example_of(schema: Schema, models: Mapping[str, Schema], *, model: str = "", field: str = "") -> Json:
    """What a body of this schema may look like."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return WHOLE[name] if name in WHOLE else example_of(models[name], models, model=name, field=field)
    if field in ELSEWHERE.get(model, {}):
        return ELSEWHERE[model][field]
    if "anyOf" in schema:
        given = next(one for one in schema["anyOf"] if one.get("type") != "null")
        null = field in NULL and nullable(schema)
        return None if null else example_of(given, models, model=model, field=field)
    if "properties" in schema:
        fields = schema["properties"].items()
        return {name: example_of(one, models, model=model, field=name) for name, one in fields}
    if schema.get("type") == "array" and points_at_a_model(schema["items"]):
        return [example_of(schema["items"], models)]
    return value_of(schema, field)


def nullable(schema: Schema) -> bool:
    return any(one.get("type") == "null" for one in schema.get("anyOf", ()))


def points_at_a_model(schema: Schema) -> bool:
    return any("$ref" in one for one in (schema, *schema.get("anyOf", ())))


def value_of(schema: Schema, field: str) -> Json:
    if "enum" in schema and VALUES.get(field) not in schema["enum"]:
        return schema["enum"][0]
    if field not in VALUES:
        raise Missing(field)
    return VALUES[field]
