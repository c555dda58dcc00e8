"""The nightly script of docs/hosting.md, run on three days, and a restore of its backups."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from app.config import Settings
from app.operations.embedded_servers import run_embedded_services
from tests.support.arena import Arena
from tests.support.backups import open_restored_client, run_command
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent
BOARD_URL = "/api/v1/competitions/small/boards/anonymization"
DAYS = ("2026-11-21", "2026-11-22", "2026-11-23")

DOCKER_SCRIPT = f"""#!/bin/sh
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


def read_documented_script() -> str:
    """Return the shell script in the document."""
    lines = (ROOT / "docs" / "hosting.md").read_text().splitlines()
    first_line = lines.index("    #!/bin/sh")
    block = lines[first_line : lines.index("", first_line)]
    return textwrap.dedent("\n".join(block)) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of docker-compose.yml, with replacements for programs that the script calls."""
    folder = tmp_path / "anoncup"
    for name in ("backups", "key-backups", "bin"):
        (folder / name).mkdir(parents=True)
    (folder / "nightly").write_text(read_documented_script().replace("/srv/anoncup", str(folder)))
    (folder / "bin" / "docker").write_text(DOCKER_SCRIPT)
    (folder / "bin" / "date").write_text('#!/bin/sh\necho "$DAY"\n')
    for name in ("nightly", "bin/docker", "bin/date"):
        (folder / name).chmod(0o755)
    return folder


def run_nightly(folder: Path, day: str) -> None:
    env = os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "DAY": day}
    completed = subprocess.run(folder / "nightly", env=env, text=True, capture_output=True, check=False)
    assert completed.returncode == 0, completed.stderr


def list_names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def backdate_backups(folder: Path, *, days: int) -> None:
    moment = time.time() - days * 86400
    for name in ("backups", "key-backups"):
        for file in (folder / name).iterdir():
            os.utime(file, (moment, moment))


def test_last_of_three_nightly_backups_can_be_restored(
    arena: Arena, settings: Settings, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed, day in enumerate(DAYS):
        arena.submit("red", seed=seed)
        score_everything()
        run_nightly(folder, day)
    assert list_names(folder / "backups") == {f"cup-{day}.tar.gz" for day in DAYS}
    assert list_names(folder / "key-backups") == {f"keys-{day}.tar" for day in DAYS}
    board = arena.client.get(BOARD_URL).content

    data = tmp_path / "new"
    backup = folder / "backups" / f"cup-{DAYS[-1]}.tar.gz"
    keys = folder / "key-backups" / f"keys-{DAYS[-1]}.tar"
    assert run_command("keys", "restore", keys, "--data", data).returncode == 0
    completed = run_command("restore", backup, "--data", data)
    assert completed.returncode == 0, completed.stderr
    with (
        run_embedded_services(data) as services,
        open_restored_client(monkeypatch, services.database_url, data) as client,
    ):
        assert client.get(BOARD_URL).content == board


def test_backups_are_replaced_daily_and_deleted_after_two_weeks(
    arena: Arena, settings: Settings, folder: Path
) -> None:
    run_nightly(folder, DAYS[0])
    first_backup = (folder / "backups" / f"cup-{DAYS[0]}.tar.gz").read_bytes()
    run_nightly(folder, DAYS[0])
    assert (folder / "backups" / f"cup-{DAYS[0]}.tar.gz").read_bytes() != first_backup
    backdate_backups(folder, days=14)
    run_nightly(folder, DAYS[1])
    assert list_names(folder / "backups") == {f"cup-{day}.tar.gz" for day in DAYS[:2]}
    backdate_backups(folder, days=16)
    run_nightly(folder, DAYS[2])
    assert list_names(folder / "backups") == {f"cup-{DAYS[2]}.tar.gz"}
    assert list_names(folder / "key-backups") == {f"keys-{DAYS[2]}.tar"}
