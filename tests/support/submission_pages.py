"""Submissions with their pages."""

from tests.support.arena import Arena
from tests.support.uploads import score_everything


def scored(arena: Arena) -> str:
    identifier = str(arena.submit("red").json()["id"])
    score_everything()
    return identifier
