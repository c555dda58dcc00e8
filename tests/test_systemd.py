"""deploy/systemd: units that systemd reads without a word, and that keep the private keys from the web."""

import os
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest

from app.config import Settings
from app.db.logins import ROLES, login_file

SHIPPED = Path(__file__).parent.parent / "deploy" / "systemd"
UNITS = sorted(path.name for path in SHIPPED.glob("anoncup*.*") if path.is_file())
SERVICES = [name for name in UNITS if name.endswith(".service")]
analyzer = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The units with the command where it is on this machine; each template as its first instance."""
    folder = tmp_path / "units"
    shutil.copytree(SHIPPED, folder)
    for path in folder.glob("*.service"):
        path.write_text(path.read_text().replace("/opt/anoncup/bin", str(Path(sys.executable).parent)))
    return folder


def analyzed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"SYSTEMD_UNIT_PATH": f"{folder}:", "SYSTEMD_COLORS": "0"}
    return subprocess.run(["systemd-analyze", *words], env=env, capture_output=True, text=True, check=False)


def unit(name: str) -> ConfigParser:
    """What a unit says together with what all of them say; a key that is repeated has its last value."""
    read = ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read([SHIPPED / "anoncup-.service.d" / "hardened.conf", SHIPPED / name])
    return read


def environment(name: str) -> dict[str, str]:
    lines = re.findall(r"^Environment=(.*)$", (SHIPPED / name).read_text(), re.MULTILINE)
    return dict(entry.split("=", 1) for line in lines for entry in line.split())


@analyzer
@pytest.mark.parametrize("name", UNITS)
def test_systemd_has_nothing_to_say_of_a_unit(installed: Path, name: str) -> None:
    checked = analyzed(installed, "verify", str(installed / name.replace("@.", "@1.")))
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


@analyzer
def test_systemd_says_what_is_wrong_with_a_broken_one(installed: Path) -> None:
    common = installed / "anoncup-.service.d" / "hardened.conf"
    common.write_text(common.read_text().replace("ProtectHome", "ProtectHom"))
    assert "ProtectHom" in analyzed(installed, "verify", str(installed / "anoncup-web.service")).stderr


@analyzer
@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_exposed_as_little_as_systemd_knows(installed: Path, name: str) -> None:
    unit_name = name.replace("@.", "@1.")
    rated = analyzed(installed, "security", "--offline=yes", "--threshold=20", "--no-pager", unit_name)
    assert rated.returncode == 0, rated.stdout[-500:]


def test_only_workers_and_the_clock_are_of_the_user_who_reads_the_private_keys() -> None:
    (owner,) = re.findall(
        r"^d /etc/anoncup/private +0700 (\S+)", (SHIPPED / "tmpfiles.conf").read_text(), re.M
    )
    holders = {name for name in SERVICES if "ANONCUP_OPENING_KEYS_DIR" in environment(name)}
    assert holders == {name for name in SERVICES if unit(name)["Service"]["User"] == owner}
    assert holders == {name for name in SERVICES if re.match("anoncup-(worker|reports|scheduler)", name)}
    assert unit("anoncup-web.service")["Service"]["InaccessiblePaths"] == "-/etc/anoncup/private"


@pytest.mark.parametrize("name", SERVICES)
def test_each_signs_in_to_the_database_with_its_own_role(name: str) -> None:
    told, user = environment(name), unit(name)["Service"]["User"]
    process = Path(told["PGPASSFILE"]).parent.name
    assert told["PGPASSFILE"] == str(login_file(Path("/etc/anoncup/roles"), process))
    assert told["PGUSER"] == {**ROLES, "owner": "anoncup"}[process]
    folders = re.findall(r"^d (\S+) +0700 (\S+)", (SHIPPED / "tmpfiles.conf").read_text(), re.M)
    assert (f"/etc/anoncup/roles/{process}", user) in folders
    kind = re.match("anoncup-(web|worker|reports|scheduler|migrate)", name)
    assert kind
    roles = {"reports": "worker", "scheduler": "clock", "migrate": "owner"}
    assert process == roles.get(kind[1], kind[1])


@pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="there is no systemd-sysusers")
def test_systemd_makes_three_users_who_share_one_group(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    made = ["systemd-sysusers", f"--root={tmp_path}", str(SHIPPED / "sysusers.conf")]
    subprocess.run(made, check=True, capture_output=True)
    groups = (tmp_path / "etc" / "group").read_text()
    (members,) = re.findall(r"^anoncup:[^:]*:\d+:(.*)$", groups, re.MULTILINE)
    assert set(members.split(",")) == {"anoncup-web", "anoncup-worker", "anoncup-owner"}


def test_every_user_is_made_and_none_is_root() -> None:
    made = re.findall(r"^u (\S+)", (SHIPPED / "sysusers.conf").read_text(), re.MULTILINE)
    assert {unit(name)["Service"]["User"] for name in SERVICES} == set(made)


@pytest.mark.full
@pytest.mark.parametrize("name", SERVICES)
def test_the_settings_and_commands_named_exist(name: str) -> None:
    known = {f"ANONCUP_{field.upper()}" for field in Settings.model_fields} | {
        "NUMBA_CACHE_DIR",
        "PGUSER",
        "PGPASSFILE",
    }
    assert set(environment(name)) <= known
    started = unit(name)["Service"]["ExecStart"].removeprefix("/opt/anoncup/bin/anoncup ").split()
    helped = subprocess.run(
        [sys.executable, "-c", "from anoncup.cli.main import main; main()", *started, "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert helped.returncode == 0, helped.stderr


def test_a_score_that_is_too_large_ends_before_its_worker() -> None:
    limit = unit("anoncup-worker@.service")["Service"]["MemoryMax"]
    scoring = environment("anoncup-worker@.service")["ANONCUP_SCORING_MEMORY_MB"]
    assert int(limit.removesuffix("G")) * 1024 > int(scoring)


@pytest.mark.parametrize(
    "name",
    [
        "anoncup-web.service",
        "anoncup-worker@.service",
        "anoncup-reports.service",
        "anoncup-scheduler.service",
    ],
)
def test_units_allow_and_require_the_sandbox_and_count_threads(name: str) -> None:
    allowed = (SHIPPED / "anoncup-.service.d" / "hardened.conf").read_text()
    for call in ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp"):
        assert f" {call}" in allowed
    assert "Environment=ANONCUP_SANDBOX=required\n" in allowed
    assert int(unit(name)["Service"]["TasksMax"]) <= (1024 if name == "anoncup-web.service" else 256)
