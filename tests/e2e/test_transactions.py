"""A contest of the transactions track through the real processes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.tracks.linkage.permutation import secret_csv
from anoncup.tracks.transactions import TRANSACTIONS
from anoncup.tracks.transactions.example import tc400
from anoncup.tracks.transactions.tables import files_of
from app.config import Settings
from tests.e2e.stack import local_score, open_contest, shop_file, web, worker

pytestmark = pytest.mark.full

RELEASES: dict[str, dict[str, Any]] = {
    "balance_clusters": {"clusters": 60, "smallest": 4},
    "delete_customers": {"share": 0.2},
    "cheating_permutation": {},
}


@pytest.mark.full
def test_the_service_stores_what_the_local_score_prints(settings: Settings, tmp_path: Path) -> None:
    file, tables = shop_file("shop"), tc400()
    original, rules = files_of(tables), parse_competition(file)
    with web(tmp_path) as url, worker(tmp_path):
        contest = open_contest(url, file=file, original=original, slug="shop")
        for method, parameters in RELEASES.items():
            rng = np.random.default_rng(4)
            chosen = TRANSACTIONS.methods[method]
            made = TRANSACTIONS.anonymize(chosen, tables, rules, rng, parameters)
            released, source = TRANSACTIONS.shuffle(*made, rng=rng)
            release, secret = files_of(released), secret_csv(source)
            found = contest.until(contest.send(release, secret), lambda now: now["finished_at"] is not None)
            result: Any = found["result"]
            assert result == local_score(contest, tmp_path, original, release, secret)
            rejected = method == "cheating_permutation"
            assert found["status"] == ("REJECTED" if rejected else "SCORED")
            assert found["rows"] == len(source)
