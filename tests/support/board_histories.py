"""The leaders of a board at a moment of its timeline."""

from datetime import datetime
from typing import Any

from app.db.models import Competition, Evaluation, Submission


def find_leaders(timeline: dict[str, Any], moment: datetime) -> list[tuple[str, int]]:
    past_entries = [entry for entry in timeline["leaders"] if datetime.fromisoformat(entry["at"]) <= moment]
    names = [team["team"] for team in timeline["teams"]]
    return (
        [(names[entry["team"]], entry["rank"]) for entry in past_entries[-1]["first"]] if past_entries else []
    )


TIME_COLUMNS: dict[Any, tuple[str, ...]] = {
    Competition: ("created_at",),
    Submission: ("received_at",),
    Evaluation: ("created_at", "finished_at"),
}
