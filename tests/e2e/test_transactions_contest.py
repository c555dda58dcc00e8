"""A contest on the transactions track with real processes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.tracks.linkage.permutation import write_secret
from anoncup.tracks.transactions import TRANSACTIONS
from anoncup.tracks.transactions.example import load_tc400
from anoncup.tracks.transactions.release import TransactionOriginal
from anoncup.tracks.transactions.tables import files_of
from app.config import Settings
from tests.support.service_processes import (
    build_shop_file,
    open_contest,
    run_local_score,
    run_web_server,
    run_worker,
)

pytestmark = pytest.mark.full

RELEASES: dict[str, dict[str, Any]] = {
    "balance_clusters": {"clusters": 60, "smallest": 4},
    "delete_customers": {"share": 0.2},
    "cheating_permutation": {},
}


def test_service_stores_the_scores_of_the_local_command(settings: Settings, tmp_path: Path) -> None:
    file, tables = build_shop_file("shop"), load_tc400()
    original, rules = files_of(tables), parse_competition(file)
    with run_web_server(tmp_path) as url, run_worker(tmp_path):
        contest = open_contest(url, file=file, original=original, slug="shop")
        for method, parameters in RELEASES.items():
            rng = np.random.default_rng(4)
            method_entry = TRANSACTIONS.methods[method]
            anonymized = TRANSACTIONS.anonymize(
                method_entry, TransactionOriginal(tables), rules, rng, parameters
            )
            released, source = TRANSACTIONS.shuffle(*anonymized, rng=rng)
            release, secret = files_of(released), write_secret(source)
            submission = contest.wait_until(
                contest.submit_files(release, secret), lambda state: state["finished_at"] is not None
            )
            result: Any = submission["result"]
            assert result == run_local_score(contest, tmp_path, original, release, secret)
            is_rejected = method == "cheating_permutation"
            assert submission["status"] == ("REJECTED" if is_rejected else "SCORED")
            assert submission["rows"] == len(source)
