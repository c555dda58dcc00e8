"""Submissions of the small track."""

from tests.support import small_track
from tests.support.arena import Arena
from tests.support.uploads import score_everything


def submit_and_score(arena: Arena, team: str, seed: int = 1) -> str:
    """Submit a release and score it in a worker's child. Return its identifier."""
    files = {
        name: (f"{name}.csv", content) for name, content in small_track.build_release_files(seed).items()
    }
    response = arena.post("/competitions/small/submissions", team=team, files=files)
    assert response.status_code == 202, response.text
    score_everything()
    return str(response.json()["id"])
