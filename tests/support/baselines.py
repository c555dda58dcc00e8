"""Upload of a baseline as an organizer."""

from typing import Any

from tests.support.arena import build_noisy_release
from tests.support.contest import Contest


def add_baseline(contest: Contest, name: str = "add_noise", *, seed: int = 77) -> Any:
    table, secret = build_noisy_release(seed, contest.arena.table)
    files = {"anonymized": ("a.csv", table), "secret": ("s.csv", secret)}
    return contest.arena.post(f"{contest.path}/baselines", files=files, data={"name": name})
