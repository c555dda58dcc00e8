"""The nightly script of docs/hosting.md, run on three days, and a restore of what it wrote."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from app.config import Settings
from app.processes.embedded_servers import embedded_services
from tests.support.arena import Arena
from tests.support.backups import command, living_on
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent
BOARD = "/api/v1/competitions/small/boards/anonymization"
DAYS = ("2026-11-21", "2026-11-22", "2026-11-23")

DOCKER = f"""#!/bin/sh
# `docker compose run … -v FOLDER:/backups SERVICE anoncup …`, without a container.
while [ "$1" != anoncup ]; do
    [ "$1" = -v ] && folder=${{2%%:*}}
    shift
done
for word; do
    case $word in /backups/*) word=$folder/${{word#/backups/}} ;; esac
    set -- "$@" "$word"
    shift
done
shift
exec {Path(sys.executable).parent / "anoncup"} "$@"
"""


def documented_script() -> str:
    """The block of the document that begins with a shell's line."""
    lines = (ROOT / "docs" / "hosting.md").read_text().splitlines()
    first = lines.index("    #!/bin/sh")
    block = lines[first : lines.index("", first)]
    return textwrap.dedent("\n".join(block)) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where docker-compose.yml would be, with a folder of programs for the script."""
    folder = tmp_path / "anoncup"
    for name in ("backups", "key-backups", "bin"):
        (folder / name).mkdir(parents=True)
    (folder / "nightly").write_text(documented_script().replace("/srv/anoncup", str(folder)))
    (folder / "bin" / "docker").write_text(DOCKER)
    (folder / "bin" / "date").write_text('#!/bin/sh\necho "$DAY"\n')
    for name in ("nightly", "bin/docker", "bin/date"):
        (folder / name).chmod(0o755)
    return folder


def run_nightly(folder: Path, day: str) -> None:
    env = os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "DAY": day}
    answer = subprocess.run(folder / "nightly", env=env, text=True, capture_output=True, check=False)
    assert answer.returncode == 0, answer.stderr


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def make_older(folder: Path, *, days: int) -> None:
    moment = time.time() - days * 86400
    for name in ("backups", "key-backups"):
        for file in (folder / name).iterdir():
            os.utime(file, (moment, moment))


def test_three_nightly_backups_are_written_and_the_last_one_brings_everything_back(
    arena: Arena, settings: Settings, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed, day in enumerate(DAYS):
        arena.submit("red", seed=seed)
        score_everything()
        run_nightly(folder, day)
    assert names(folder / "backups") == {f"cup-{day}.tar.gz" for day in DAYS}
    assert names(folder / "key-backups") == {f"keys-{day}.tar" for day in DAYS}
    board = arena.client.get(BOARD).content

    data = tmp_path / "new"
    backup, keys = (
        folder / "backups" / f"cup-{DAYS[-1]}.tar.gz",
        folder / "key-backups" / f"keys-{DAYS[-1]}.tar",
    )
    assert command("keys", "restore", keys, "--data", data).returncode == 0
    answer = command("restore", backup, "--data", data)
    assert answer.returncode == 0, answer.stderr
    with embedded_services(data) as services, living_on(monkeypatch, services.database_url, data) as client:
        assert client.get(BOARD).content == board


def test_a_second_backup_of_a_day_replaces_the_first_and_old_ones_go_after_two_weeks(
    arena: Arena, settings: Settings, folder: Path
) -> None:
    run_nightly(folder, DAYS[0])
    first = (folder / "backups" / f"cup-{DAYS[0]}.tar.gz").read_bytes()
    run_nightly(folder, DAYS[0])
    assert (folder / "backups" / f"cup-{DAYS[0]}.tar.gz").read_bytes() != first
    make_older(folder, days=14)
    run_nightly(folder, DAYS[1])
    assert names(folder / "backups") == {f"cup-{day}.tar.gz" for day in DAYS[:2]}
    make_older(folder, days=16)
    run_nightly(folder, DAYS[2])
    assert names(folder / "backups") == {f"cup-{DAYS[2]}.tar.gz"}
    assert names(folder / "key-backups") == {f"keys-{DAYS[2]}.tar"}
