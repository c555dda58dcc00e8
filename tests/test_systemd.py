"""deploy/systemd: valid units that keep the private keys from the web process."""

import os
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest

from app.config import Settings
from app.db.logins import ROLES, get_login_path

UNIT_FOLDER = Path(__file__).parent.parent / "deploy" / "systemd"
UNITS = sorted(path.name for path in UNIT_FOLDER.glob("anoncup*.*") if path.is_file())
SERVICE_UNITS = [name for name in UNITS if name.endswith(".service")]
needs_analyzer = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze"
)


@pytest.fixture
def installed_units(tmp_path: Path) -> Path:
    """A folder with the units, in which the command has its path on this machine."""
    folder = tmp_path / "units"
    shutil.copytree(UNIT_FOLDER, folder)
    for path in folder.glob("*.service"):
        path.write_text(path.read_text().replace("/opt/anoncup/bin", str(Path(sys.executable).parent)))
    return folder


def run_systemd_analyze(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"SYSTEMD_UNIT_PATH": f"{folder}:", "SYSTEMD_COLORS": "0"}
    return subprocess.run(
        ["systemd-analyze", *arguments], env=env, capture_output=True, text=True, check=False
    )


def read_unit(name: str) -> ConfigParser:
    """Return a unit merged with the settings of all units. A repeated key has its last value."""
    parser = ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read([UNIT_FOLDER / "anoncup-.service.d" / "hardened.conf", UNIT_FOLDER / name])
    return parser


def read_environment(name: str) -> dict[str, str]:
    lines = re.findall(r"^Environment=(.*)$", (UNIT_FOLDER / name).read_text(), re.MULTILINE)
    return dict(entry.split("=", 1) for line in lines for entry in line.split())


@needs_analyzer
@pytest.mark.parametrize("name", UNITS)
def test_systemd_verifies_a_unit_without_warnings(installed_units: Path, name: str) -> None:
    completed = run_systemd_analyze(
        installed_units, "verify", str(installed_units / name.replace("@.", "@1."))
    )
    assert (completed.returncode, completed.stdout + completed.stderr) == (0, "")


@needs_analyzer
def test_systemd_reports_a_broken_unit(installed_units: Path) -> None:
    common = installed_units / "anoncup-.service.d" / "hardened.conf"
    common.write_text(common.read_text().replace("ProtectHome", "ProtectHom"))
    assert (
        "ProtectHom"
        in run_systemd_analyze(installed_units, "verify", str(installed_units / "anoncup-web.service")).stderr
    )


@needs_analyzer
@pytest.mark.parametrize("name", SERVICE_UNITS)
def test_services_pass_systemds_security_analysis(installed_units: Path, name: str) -> None:
    unit_name = name.replace("@.", "@1.")
    completed = run_systemd_analyze(
        installed_units, "security", "--offline=yes", "--threshold=20", "--no-pager", unit_name
    )
    assert completed.returncode == 0, completed.stdout[-500:]


def test_only_workers_and_the_clock_can_read_private_keys() -> None:
    (owner,) = re.findall(
        r"^d /etc/anoncup/private +0700 (\S+)", (UNIT_FOLDER / "tmpfiles.conf").read_text(), re.M
    )
    key_services = {name for name in SERVICE_UNITS if "ANONCUP_OPENING_KEYS_DIR" in read_environment(name)}
    without_keys = {"anoncup-web.service", "anoncup-deliveries.service"}
    assert (
        key_services
        == {name for name in SERVICE_UNITS if read_unit(name)["Service"]["User"] == owner} - without_keys
    )
    assert key_services == {
        name for name in SERVICE_UNITS if re.match("anoncup-(worker|reports|scheduler)", name)
    }
    for name in without_keys:
        assert read_unit(name)["Service"]["InaccessiblePaths"] == "-/etc/anoncup/private"


@pytest.mark.parametrize("name", SERVICE_UNITS)
def test_each_service_uses_its_own_database_role(name: str) -> None:
    variables, user = read_environment(name), read_unit(name)["Service"]["User"]
    process = Path(variables["PGPASSFILE"]).parent.name
    assert variables["PGPASSFILE"] == str(get_login_path(Path("/etc/anoncup/roles"), process))
    assert variables["PGUSER"] == {**ROLES, "owner": "anoncup"}[process]
    folders = re.findall(r"^d (\S+) +0700 (\S+)", (UNIT_FOLDER / "tmpfiles.conf").read_text(), re.M)
    assert (f"/etc/anoncup/roles/{process}", user) in folders
    match = re.match("anoncup-(web|worker|reports|scheduler|deliveries|migrate)", name)
    assert match
    roles = {"reports": "worker", "deliveries": "worker", "scheduler": "worker", "migrate": "owner"}
    assert process == roles.get(match[1], match[1])


@pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="there is no systemd-sysusers")
def test_systemd_creates_three_users_in_one_group(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    command = ["systemd-sysusers", f"--root={tmp_path}", str(UNIT_FOLDER / "sysusers.conf")]
    subprocess.run(command, check=True, capture_output=True)
    groups = (tmp_path / "etc" / "group").read_text()
    (members,) = re.findall(r"^anoncup:[^:]*:\d+:(.*)$", groups, re.MULTILINE)
    assert set(members.split(",")) == {"anoncup-web", "anoncup-worker", "anoncup-owner"}


def test_services_run_as_the_created_users() -> None:
    users = re.findall(r"^u (\S+)", (UNIT_FOLDER / "sysusers.conf").read_text(), re.MULTILINE)
    assert {read_unit(name)["Service"]["User"] for name in SERVICE_UNITS} == set(users)


@pytest.mark.full
@pytest.mark.parametrize("name", SERVICE_UNITS)
def test_units_use_existing_settings_and_commands(name: str) -> None:
    variable_names = {f"ANONCUP_{field.upper()}" for field in Settings.model_fields} | {
        "NUMBA_CACHE_DIR",
        "PGUSER",
        "PGPASSFILE",
    }
    assert set(read_environment(name)) <= variable_names
    arguments = read_unit(name)["Service"]["ExecStart"].removeprefix("/opt/anoncup/bin/anoncup ").split()
    completed = subprocess.run(
        [sys.executable, "-c", "from anoncup.cli.main import main; main()", *arguments, "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr


def test_scoring_memory_limit_is_below_the_workers() -> None:
    limit = read_unit("anoncup-worker@.service")["Service"]["MemoryMax"]
    scoring = read_environment("anoncup-worker@.service")["ANONCUP_SCORING_MEMORY_MB"]
    assert int(limit.removesuffix("G")) * 1024 > int(scoring)


@pytest.mark.parametrize(
    "name",
    [
        "anoncup-web.service",
        "anoncup-worker@.service",
        "anoncup-reports.service",
        "anoncup-scheduler.service",
        "anoncup-deliveries.service",
    ],
)
def test_units_require_the_sandbox_and_limit_threads(name: str) -> None:
    hardening = (UNIT_FOLDER / "anoncup-.service.d" / "hardened.conf").read_text()
    for call in ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp"):
        assert f" {call}" in hardening
    assert "Environment=ANONCUP_SANDBOX=required\n" in hardening
    assert int(read_unit(name)["Service"]["TasksMax"]) <= (1024 if name == "anoncup-web.service" else 256)
