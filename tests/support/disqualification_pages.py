"""Submissions and paths for tests of the disqualification pages."""

from tests.support.arena import Arena

ORGANIZE_PATH = "/competitions/small/organize"


def submit_release(arena: Arena, team: str, seed: int = 1) -> str:
    return str(arena.submit(team, seed=seed).json()["id"])
