"""Access to the pages for creating a competition."""

from collections.abc import Callable
from typing import Any

from app.competitions import competitions
from app.core.db.models import ThresholdReport
from app.core.db.transaction import transaction
from tests.support.arena import serial_numbers

ORGANIZE_PATH = "/competitions/{slug}/organize"

TABLE: dict[str, tuple[int, int, int, int, int, int]] = {
    # route: visitor, other team, own team, organizer, other organizer, administrator
    "GET /organize/new": (303, 403, 403, 200, 200, 200),
    "POST /organize/new": (303, 403, 403, 303, 303, 303),
    f"GET {ORGANIZE_PATH}/data": (303, 403, 403, 200, 403, 200),
    f"GET {ORGANIZE_PATH}/threshold": (303, 403, 403, 200, 403, 200),
    f"POST {ORGANIZE_PATH}/threshold/reports": (303, 403, 403, 303, 403, 303),
    f"GET {ORGANIZE_PATH}/threshold/{{report_id}}": (303, 403, 403, 200, 403, 200),
    # the report is unfinished and cannot be used
    f"POST {ORGANIZE_PATH}/threshold/{{report_id}}/use": (303, 403, 403, 409, 403, 409),
    f"GET {ORGANIZE_PATH}/file": (303, 403, 403, 200, 403, 200),
    f"POST {ORGANIZE_PATH}/file": (303, 403, 403, 200, 403, 200),
    f"POST {ORGANIZE_PATH}/file/preview": (303, 403, 403, 200, 403, 200),
    f"GET {ORGANIZE_PATH}/competition.toml": (303, 403, 403, 200, 403, 200),
    # data and columns are fixed because there are submissions
    f"POST {ORGANIZE_PATH}/original/{{file}}": (303, 403, 403, 409, 403, 409),
    # no file is staged
    f"POST {ORGANIZE_PATH}/original/{{file}}/import": (303, 403, 403, 409, 403, 409),
    # the track has no allocation and no organizer data
    f"POST {ORGANIZE_PATH}/truth/{{file}}": (303, 403, 403, 404, 403, 404),
    f"POST {ORGANIZE_PATH}/data": (303, 403, 403, 409, 403, 409),
}


def build_new_competition(_: Any) -> dict[str, Any]:
    """Build the form of the first step."""
    days = {"anonymization_start": "10T09:00", "anonymization_end": "20T09:00"}
    fields = {
        "start": "2015",
        "slug": f"page-{next(serial_numbers)}",
        "title_en": "A cup",
        "zone": "Asia/Tokyo",
    }
    return {"data": fields | {name: f"2031-01-{day}" for name, day in days.items()}}


def build_unchanged_file(scenario: Any) -> dict[str, Any]:
    with transaction() as session:
        return {
            "data": {
                "text": competitions.find(session, None, scenario.arena.slug).competition.file,
                "do": "compare",
            }
        }


def build_changed_columns(scenario: Any) -> dict[str, Any]:
    with transaction() as session:
        digest = competitions.find(session, None, scenario.arena.slug).original["original"]
    roles = ("quasi_identifiers", "quasi_identifiers", "sensitive", "sensitive")
    fields = {f"role_{position}": role for position, role in enumerate(roles)} | {
        "role_2": "quasi_identifiers"
    }
    return {"data": {"of": digest} | fields}


def create_report(scenario: Any) -> dict[str, Any]:
    """Add a report of the competition that no worker has made yet."""
    with transaction() as session:
        row = competitions.find(session, None, scenario.arena.slug)
        user = scenario.users["organizer"]
        report = ThresholdReport(
            round_id=row.id, user_id=user, file=row.file, original=row.original, question={"groups": []}
        )
        session.add(report)
        session.flush()
        return {"report_id": report.id}


CONTENT: dict[str, Callable[[Any], dict[str, Any]]] = {
    "POST /organize/new": build_new_competition,
    f"POST {ORGANIZE_PATH}/threshold/reports": lambda _: {
        "data": {"groups": "sex", "bits": "20", "draws": "0"}
    },
    f"POST {ORGANIZE_PATH}/file": build_unchanged_file,
    f"POST {ORGANIZE_PATH}/file/preview": build_unchanged_file,
    f"POST {ORGANIZE_PATH}/original/{{file}}": lambda _: {
        "files": {"table": ("t.csv", b"sex,age,income,rent\nf,1,2,3\n")}
    },
    f"POST {ORGANIZE_PATH}/original/{{file}}/import": lambda _: {"data": {"held": "0" * 64}},
    f"POST {ORGANIZE_PATH}/data": build_changed_columns,
}
"""Content of the requests, built from the ``AccessScenario``."""
PATH_PARAMS: dict[str, Callable[[Any], dict[str, Any]]] = {
    f"GET {ORGANIZE_PATH}/threshold/{{report_id}}": create_report,
    f"POST {ORGANIZE_PATH}/threshold/{{report_id}}/use": create_report,
}
"""Path parameters that differ from those of the scenario."""
