"""docker-compose.yml: its keys, passwords, logins and ports. ``make containers`` runs it."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.config import Settings
from app.core.db.logins import ROLES, get_login_path

ROOT = Path(__file__).parent.parent
WORKER_SERVICES = {"worker", "reports"}
OWN_SERVICES = {"keys", "migrate", "web", "scheduler", "deliveries"} | WORKER_SERVICES

Compose = dict[str, Any]


@pytest.fixture(scope="module")
def compose() -> Compose:
    return dict(yaml.safe_load((ROOT / "docker-compose.yml").read_text()))


@pytest.fixture(scope="module")
def services(compose: Compose) -> dict[str, Compose]:
    return dict(compose["services"])


def list_mounts(service: Compose) -> dict[str, str]:
    """Return the volumes of a service, each with the rest of its entry."""
    return dict(entry.split(":", 1) for entry in service.get("volumes", []))


def iterate_texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for part in value.values():
            yield from iterate_texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from iterate_texts(part)
    else:
        yield str(value)


def test_services_that_use_blobs_reach_the_bucket(
    services: dict[str, Compose],
) -> None:
    store_services: dict[str, Compose] = yaml.safe_load((ROOT / "docker-compose.s3.yml").read_text())[
        "services"
    ]
    assert set(store_services) == {name for name in services if "blobs" in list_mounts(services[name])}
    for name, service in store_services.items():
        assert service["networks"] == ["store"], name
        assert {value.partition(":")[2] for value in service["environment"].values()} == {"?set it in .env}"}


def test_only_web_publishes_a_port_on_localhost_by_default(services: dict[str, Compose]) -> None:
    assert [name for name, service in services.items() if "ports" in service] == ["web"]
    assert services["web"]["ports"] == ["${LISTEN:-127.0.0.1}:${PORT:-8000}:8000"]


def test_only_expected_services_mount_private_keys(
    services: dict[str, Compose],
) -> None:
    key_services = {name for name, service in services.items() if "private-keys" in list_mounts(service)}
    # Backups run as migrate, the owner of the tables, and may include the private keys.
    assert key_services == {"keys", "scheduler", "migrate"} | WORKER_SERVICES
    for name in key_services - {"keys"}:
        assert list_mounts(services[name])["private-keys"].endswith(":ro")
    assert not [text for text in iterate_texts(services["web"]) if "private" in text or "OPENING" in text]


def test_passwords_come_from_required_variables(services: dict[str, Compose]) -> None:
    for name, service in services.items():
        for variable, value in service.get("environment", {}).items():
            is_secret = "PASSWORD" in variable or variable.endswith(("_AUTH", "DATABASE_URL", "REDIS_URL"))
            if is_secret and "?passfile=" not in value:
                assert "_PASSWORD:?" in value, (name, variable)


def test_each_process_sees_only_its_own_database_login(
    services: dict[str, Compose],
) -> None:
    for process, names in {
        "web": {"web"},
        "worker": WORKER_SERVICES | {"deliveries", "scheduler"},
    }.items():
        for name in names:
            url, volumes = services[name]["environment"]["DATABASE_URL"], list_mounts(services[name])
            file = get_login_path(Path("/roles"), process)
            assert url.startswith(f"postgresql+psycopg://{ROLES[process]}@"), name
            assert url.endswith(f"?passfile={file}"), name
            assert {volume for volume in volumes if volume.endswith("-role")} == {f"{process}-role"}
            assert volumes[f"{process}-role"] == f"{file.parent}:ro"
            assert not [text for text in iterate_texts(services[name]) if "POSTGRES_PASSWORD" in text], name
    migrate_mounts = list_mounts(services["migrate"])
    assert {migrate_mounts[f"{process}-role"] for process in ROLES} == {
        f"/roles/{process}" for process in ROLES
    }
    assert services["migrate"]["command"][-2:] == ["--roles", "/roles"]


def test_environment_variables_are_known_settings(services: dict[str, Compose]) -> None:
    setting_names = {f"ANONCUP_{name.upper()}" for name in Settings.model_fields}
    variable_names = {key for name in OWN_SERVICES for key in services[name].get("environment", {})}
    assert {key for key in variable_names if key.startswith("ANONCUP_")} <= setting_names


def test_scoring_memory_limit_is_below_the_workers(services: dict[str, Compose]) -> None:
    for worker in (services[name] for name in WORKER_SERVICES):
        limit = worker["deploy"]["resources"]["limits"]["memory"]
        assert int(limit.removesuffix("g")) * 1024 > int(worker["environment"]["ANONCUP_SCORING_MEMORY_MB"])


def test_images_install_only_hashed_requirements() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    installs = [line for line in lines if line.startswith("RUN pip")]
    assert [
        line for line in installs if "--require-hashes -r " not in line and "--no-deps " not in line
    ] == []
    assert len(installs) == 5


def test_lock_files_agree() -> None:
    development_pins = read_pins("requirements-dev.lock")
    server_pins = read_pins("requirements-server.lock")
    assert server_pins < read_pins("requirements.lock") < development_pins
    requirements = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {re.split(r"[\[>=]", requirement)[0] for requirement in requirements} <= {
        pin.partition("==")[0] for pin in server_pins
    }
    names = {pin.partition("==")[0] for pin in development_pins}
    shared_pins = {pin for pin in read_pins("requirements-build.lock") if pin.partition("==")[0] in names}
    assert shared_pins <= development_pins


def read_pins(lock: str) -> set[str]:
    return {line.split()[0] for line in (ROOT / lock).read_text().splitlines() if "==" in line}
