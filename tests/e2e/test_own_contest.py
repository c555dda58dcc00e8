"""``anoncup demo --competition``: an organizer plays a contest of their own before teams do."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from anoncup.client import Client
from tests.support.service_processes import build_own_environment, find_free_port
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full

COMPETITION = """
format = 1
slug = "own-cup"
title = { en = "Own cup", ja = "自分のコンテスト" }
track = "microdata"
timezone = "Asia/Tokyo"
[columns]
quasi_identifiers = ["性別", "年代"]
sensitive = ["収入"]
[measures.mean_mae]
weight = 1.0
[excessive]
threshold = 0.4
"""
PHASES = """
[[phases]]
name = "anonymization"
start = 2027-01-10T09:00:00
end = 2027-01-24T09:00:00
[[phases]]
name = "reidentification"
start = 2027-01-25T09:00:00
end = 2027-02-08T09:00:00
"""
ROWS = [f"{'男女'[row % 2]},{20 + row % 5 * 10}代,{300 + row * 7}" for row in range(40)]
TABLE = "\r\n".join(["性別,年代,収入", *ROWS, ""])


MONTHLY_COMPETITION = """
format = 1
slug = "own-shop"
title = { ja = "自分の店" }
track = "monthly"
timezone = "Asia/Tokyo"
[measures.deleted]
weight = 1.0
[description]
terms = true
ja = "誰も特定しません。"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.toml").write_text(COMPETITION + PHASES, "utf-8")
    (tmp_path / "元データ.csv").write_bytes(TABLE.encode("cp932"))
    return tmp_path


def build_command(port: int, competition: str = "own.toml", *originals: str) -> list[str]:
    files = [word for name in originals or ("元データ.csv",) for word in ("--original", name)]
    options = ["--competition", competition, *files, "--port", str(port), "--data", "data"]
    return [sys.executable, "-m", "anoncup.cli", "demo", *options]


@contextmanager
def run_demo(folder: Path, port: int, *files: str) -> Iterator[str]:
    """Run the demo until it is ready; yield what it has printed."""
    log = folder / "demo.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            build_command(port, *files), cwd=folder, env=build_own_environment(), stdout=output, stderr=output
        )
    try:
        poll_until(
            lambda: process.poll() is not None or "ready: http" in log.read_text(), timeout_s=5 * TIMEOUT_S
        )
        assert "ready: http" in log.read_text(), log.read_text()
        yield log.read_text()
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(TIMEOUT_S)
        finally:
            process.kill()  # its servers and workers end with it


def run_refused(folder: Path, port: int, *files: str) -> str:
    completed = subprocess.run(
        build_command(port, *files),
        cwd=folder,
        env=build_own_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (completed.returncode, "Traceback" in completed.stderr) == (2, False), completed.stderr
    return completed.stderr


def test_own_contest_with_japanese_columns_is_played(folder: Path) -> None:
    port = find_free_port()
    with run_demo(folder, port) as printed:
        assert "own-cup: Own cup (0 is best)" in printed
        accounts = json.loads((folder / "data/demo.json").read_text())["accounts"]
        assert (folder / "data/demo.json").stat().st_mode & 0o777 == 0o600
        organizer = next(account for account in accounts if account["role"] == "organizer")
        with Client(f"http://127.0.0.1:{port}", organizer["token"]) as client:
            competition = client.get_competition("own-cup")
            board = client.get_board("own-cup")
            attacks = client.get_attackers_board("own-cup")
            file = client.get_competition_file("own-cup")
    assert (competition.state, competition.original_rows) == ("reidentification", len(ROWS))
    assert {row.team for row in board.rows if row.rank} >= {"add_noise", "microaggregate"}
    assert any(row.identified for row in attacks.rows)
    assert 'quasi_identifiers = ["性別", "年代"]' in file
    (folder / "own.toml").write_text((COMPETITION + PHASES).replace("0.4", "0.3"), "utf-8")
    refusal = run_refused(folder, port)
    assert "has a contest own-cup with other rules or data: give another folder with --data" in refusal


def test_own_contest_with_files_that_the_service_draws_is_played(folder: Path) -> None:
    (folder / "shop.toml").write_text(MONTHLY_COMPETITION + PHASES, "utf-8")
    customers = [f"{number:03},f,1980-01-01,日本" for number in range(1, 11)]
    purchases = [
        f"{number:03},{month:02}{number:03},2023-{month:02}-05,10:00,{number % 4:03},100,{month}"
        for month in range(1, 13)
        for number in range(1, 11)
    ]
    for name, lines in {
        "customers.csv": ["customer,sex,birth,country", *customers],
        "transactions.csv": ["customer,invoice,date,time,good,price,quantity", *purchases],
    }.items():
        (folder / name).write_text("\n".join([*lines, ""]), "utf-8")
    with run_demo(folder, find_free_port(), "shop.toml", "customers.csv", "transactions.csv") as printed:
        assert "own-shop: 自分の店 (0 is best)" in printed
        assert "pseudonyms in own-shop" in printed


@pytest.mark.parametrize(
    ("competition", "table", "place"),
    [
        (COMPETITION.replace("0.4", "-1"), TABLE, "excessive.threshold"),
        (COMPETITION.replace("threshold = 0.4", ""), TABLE, "threshold = … below [excessive] in own.toml"),
        (COMPETITION, TABLE.replace("300", "three"), "元データ.csv, row 1"),
    ],
)
def test_contest_that_cannot_be_played_is_refused_before_anything_starts(
    folder: Path, competition: str, table: str, place: str
) -> None:
    (folder / "own.toml").write_text(competition, "utf-8")
    (folder / "元データ.csv").write_bytes(table.encode("cp932"))
    assert place in run_refused(folder, find_free_port())
    assert not (folder / "data").exists()
