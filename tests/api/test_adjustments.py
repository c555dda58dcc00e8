"""Penalties and bonuses of teams, which formulas add up."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from anoncup.rules.toml_text import replace_tables
from tests.support.arena import Arena
from tests.support.contest import Contest

FORMULA_TOML = '[ranking]\norder = "descending"\ndefence = "1 - utility + adjustment"\n'


@pytest.fixture
def contest(client: TestClient) -> Contest:
    contest = Contest.create(client, extra_toml=FORMULA_TOML)
    for team in ("red", "blue"):
        contest.submit(team)
    return contest


def find_team_id(contest: Contest, team: str) -> str:
    return next(str(row["team_id"]) for row in contest.get_board(organizer=True)["rows"] if row["team"] == team)


def adjust(contest: Contest, team: str, points: object, reason: str = "late", **access: Any) -> Any:
    body = {"team_id": find_team_id(contest, team), "points": points, "reason": reason}
    token = access.get("token", contest.arena.organizer_token)
    return contest.arena.post(f"/competitions/{contest.arena.slug}/adjustments", token=token, json=body)
