"""Pages of the small track."""

from tests.support import small_track
from tests.support.arena import Arena
from tests.support.uploads import score_everything


def submitted(small: Arena, team: str, seed: int = 1) -> str:
    """A release that is sent, and scored by a worker's child."""
    sent = {name: (f"{name}.csv", content) for name, content in small_track.files(seed).items()}
    answer = small.post("/competitions/small/submissions", token=small.team(team), files=sent)
    assert answer.status_code == 202, answer.text
    score_everything()
    return str(answer.json()["id"])
