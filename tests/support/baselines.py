"""Baselines that an organizer adds."""

from typing import Any

from tests.support.arena import noisy_release
from tests.support.contest import Contest


def add(contest: Contest, name: str = "add_noise", *, seed: int = 77) -> Any:
    table, secret = noisy_release(seed, contest.arena.table)
    files = {"anonymized": ("a.csv", table), "secret": ("s.csv", secret)}
    return contest.arena.post(f"{contest.path}/baselines", files=files, data={"name": name})
