"""Leaders of a board at any time."""

from datetime import datetime
from typing import Any

from app.db.models import Competition, Evaluation, Submission


def leaders_at(told: dict[str, Any], moment: datetime) -> list[tuple[str, int]]:
    past = [one for one in told["leaders"] if datetime.fromisoformat(one["at"]) <= moment]
    names = [team["team"] for team in told["teams"]]
    return [(names[one["team"]], one["rank"]) for one in past[-1]["first"]] if past else []


TIMES: dict[Any, tuple[str, ...]] = {
    Competition: ("created_at",),
    Submission: ("received_at",),
    Evaluation: ("created_at", "finished_at"),
}
