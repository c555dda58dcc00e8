"""Pages: creating a competition."""

from collections.abc import Callable
from typing import Any

from app.db.models import ThresholdReport
from app.db.transaction import transaction
from app.services.contests import competitions
from tests.support.arena import PASSWORD, numbers

OF = "/competitions/{slug}/organize"

TABLE: dict[str, tuple[int, int, int, int, int, int]] = {
    # route: visitor, other team, own team, organizer, other organizer, administrator
    "GET /organize/new": (303, 403, 403, 200, 200, 200),
    "POST /organize/new": (303, 403, 403, 303, 303, 303),
    f"GET {OF}/basics": (303, 403, 403, 200, 403, 200),
    f"POST {OF}/basics": (303, 403, 403, 303, 403, 303),
    f"GET {OF}/data": (303, 403, 403, 200, 403, 200),
    f"GET {OF}/measures": (303, 403, 403, 200, 403, 200),
    f"GET {OF}/threshold": (303, 403, 403, 200, 403, 200),
    f"POST {OF}/threshold/reports": (303, 403, 403, 303, 403, 303),
    f"GET {OF}/threshold/{{report_id}}": (303, 403, 403, 200, 403, 200),
    # the report is not made: there is nothing to use
    f"POST {OF}/threshold/{{report_id}}/use": (303, 403, 403, 409, 403, 409),
    f"GET {OF}/publication": (303, 403, 403, 200, 403, 200),
    f"POST {OF}/publication": (303, 403, 403, 303, 403, 303),
    f"GET {OF}/file": (303, 403, 403, 200, 403, 200),
    f"POST {OF}/file": (303, 403, 403, 200, 403, 200),
    f"GET {OF}/competition.toml": (303, 403, 403, 200, 403, 200),
    # there are submissions: data and columns are fixed
    f"POST {OF}/original/{{file}}": (303, 403, 403, 409, 403, 409),
    # no file waits for names of its columns
    f"POST {OF}/original/{{file}}/names": (303, 403, 403, 409, 403, 409),
    # its track draws nothing, and asks for nothing that organizers would hold
    f"POST {OF}/truth/{{file}}": (303, 403, 403, 404, 403, 404),
    f"POST {OF}/data": (303, 403, 403, 409, 403, 409),
    f"POST {OF}/data/check": (303, 403, 403, 200, 403, 200),
    # other rules become a re-score set, of which there may be one
    f"POST {OF}/measures": (303, 403, 403, 422, 403, 422),
    f"POST {OF}/threshold": (303, 403, 403, 422, 403, 422),
}


def a_new_one(_: Any) -> dict[str, Any]:
    """What the first step asks for."""
    days = {"anonymization_start": "10T09:00", "anonymization_end": "20T09:00"}
    fields = {"start": "2015", "slug": f"page-{next(numbers)}", "title_en": "A cup", "zone": "Asia/Tokyo"}
    return {"data": fields | {name: f"2031-01-{day}" for name, day in days.items()}}


def the_same_basics(stage: Any) -> dict[str, Any]:
    with transaction() as session:
        rules = competitions.find(session, None, stage.arena.slug).rules
    start, end = (at.strftime("%Y-%m-%dT%H:%M") for at in (rules.phases[0].start, rules.phases[0].end))
    window = {"anonymization_start": start, "anonymization_end": end}
    return {"data": {"title_en": "Small cup", "zone": "UTC"} | window}


def publication(_: Any) -> dict[str, Any]:
    counts = ("valid_per_day", "valid_total", "attempts_per_day", "attempts_total", "guesses_per_target")
    fields = {"board": "public", "feedback": "hidden", "rule": "score", "finals": "2", "file_mb": "64"}
    fields |= {"digits": "2", "owners": "shown", "reveal_notice_hours": "24"}
    fields |= {"password": PASSWORD}
    return {"data": fields | dict.fromkeys(counts, "50")}


def the_same_file(stage: Any) -> dict[str, Any]:
    with transaction() as session:
        return {
            "data": {"text": competitions.find(session, None, stage.arena.slug).row.file, "do": "compare"}
        }


def same_columns(stage: Any) -> dict[str, Any]:
    with transaction() as session:
        digest = competitions.find(session, None, stage.arena.slug).row.original["original"]
    roles = ("quasi_identifier", "quasi_identifier", "sensitive", "sensitive")
    swapped = {f"role_{place}": role for place, role in enumerate(roles)} | {"role_2": "quasi_identifier"}
    return {"data": {"of": digest} | swapped}


def a_report(stage: Any) -> dict[str, Any]:
    """One that no worker has made yet, of the competition that is asked for."""
    with transaction() as session:
        row = competitions.find(session, None, stage.arena.slug).row
        user = stage.users["organizer"]
        made = ThresholdReport(
            competition_id=row.id, user_id=user, file=row.file, original=row.original, question={"groups": []}
        )
        session.add(made)
        session.flush()
        return {"report_id": made.id}


CONTENT: dict[str, Callable[[Any], dict[str, Any]]] = {
    "POST /organize/new": a_new_one,
    f"POST {OF}/basics": the_same_basics,
    f"POST {OF}/threshold/reports": lambda _: {"data": {"groups": "sex", "bits": "20", "draws": "0"}},
    f"POST {OF}/publication": publication,
    f"POST {OF}/file": the_same_file,
    f"POST {OF}/original/{{file}}": lambda _: {
        "files": {"table": ("t.csv", b"sex,age,income,rent\nf,1,2,3\n")}
    },
    f"POST {OF}/original/{{file}}/names": lambda _: {"data": {"held": "0" * 64, "first": "data"}},
    f"POST {OF}/data": same_columns,
    f"POST {OF}/data/check": same_columns,
}
"""What is sent with a request, from the ``Stage``."""
PLACES: dict[str, Callable[[Any], dict[str, Any]]] = {
    f"GET {OF}/threshold/{{report_id}}": a_report,
    f"POST {OF}/threshold/{{report_id}}/use": a_report,
}
"""What the names in a path stand for, where the stage's own do not do."""
