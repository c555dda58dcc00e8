"""The pages that disqualify a team."""

from tests.support.arena import Arena

DESK = "/competitions/small/organize"


def sent(arena: Arena, team: str, seed: int = 1) -> str:
    return str(arena.submit(team, seed=seed).json()["id"])
