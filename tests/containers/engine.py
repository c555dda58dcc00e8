"""What runs containers on this machine, and what is peculiar to it: Docker, or podman with podman-compose."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.processes import child_process
from tests.support.wait import eventually

ROOT = Path(__file__).parent.parent.parent
BASES = ("python:3.13-slim", "valkey/valkey:8-bookworm", "postgres:18-bookworm")
"""What the Dockerfile and docker-compose.yml are made from."""
BUILDING_S = 3600
NEVER_LONG_S = 600


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


def run(command: Sequence[str], *, typed: str = "", env: dict[str, str] | None = None) -> Ran:
    """The finished command, whatever became of it."""
    done = subprocess.run(
        command,
        input=typed,
        env=os.environ | (env or {}),
        cwd=ROOT,
        text=True,
        capture_output=True,
        timeout=BUILDING_S,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def answers(*command: str) -> bool:
    return shutil.which(command[0]) is not None and run(command).status == 0


@dataclass(frozen=True)
class Engine:
    """``within`` comes before every command that starts containers or speaks to them."""

    name: str
    composer: tuple[str, ...]
    env: dict[str, str]
    building: tuple[str, ...] = ()
    within: tuple[str, ...] = ()

    @property
    def waits(self) -> bool:
        """Whether its composer obeys ``depends_on`` and watches health by itself."""
        return self.name == "docker"

    def __call__(self, *words: str, typed: str = "") -> str:
        """Its answer to a command, which must succeed."""
        return succeeded((*self.within, self.name, *words), self.run(*words, typed=typed))

    def run(self, *words: str, typed: str = "") -> Ran:
        return run((*self.within, self.name, *words), typed=typed, env=self.env)

    def healthy(self, container: str) -> bool:
        if self.waits:
            return self("inspect", "--format", "{{.State.Health.Status}}", container).strip() == "healthy"
        return self.run("healthcheck", "run", container).status == 0

    def build(self, tag: str, *, target: str) -> None:
        """From the repository's Dockerfile; not within its network, since packages are fetched."""
        # The other format of images, podman's own choice, has no place for a health check.
        form = () if self.name == "docker" else ("--format", "docker")
        command = (self.name, "build", *form, *self.building, "--target", target, "--tag", tag, ".")
        succeeded(command, run(command))


def succeeded(command: Sequence[str], ran: Ran) -> str:
    assert ran.status == 0, f"{' '.join(command)}: {ran.status}\n{ran.out[-3000:]}\n{ran.err[-6000:]}"
    return ran.out


@contextmanager
def engine(folder: Path) -> Iterator[Engine]:
    """The engine of this machine, or a skipped test."""
    if answers("docker", "info") and answers("docker", "compose", "version"):
        yield Engine("docker", ("docker", "compose"), {})
    elif answers("podman", "info"):
        composer = (sys.executable, "-m", "podman_compose")
        if os.geteuid() != 0:
            yield Engine("podman", composer, {})
            return
        with private_network(folder) as within:
            yield Engine("podman", composer, settings(folder), building=BUILT_BY_ROOT, within=within)
    else:
        pytest.skip("skipped: no engine (neither docker with compose nor podman answers)")


BUILT_BY_ROOT = ("--isolation", "chroot", "--network", "host", "--volume", "/etc/ssl/certs:/etc/ssl/certs:ro")
"""Inside a container or a sandbox, where a build can neither have a network of its own nor this machine's
certificates otherwise."""


def settings(folder: Path) -> dict[str, str]:
    """For a root without systemd, and without the right to raise its own limits."""
    if Path("/run/systemd/system").exists():
        return {}
    limits = (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC))
    ulimits = [f'"{name}={number}:{number}"' for name, number in ((n, at_most(kind)) for n, kind in limits)]
    runtime = 'runtime = "runc"' if shutil.which("runc") else ""
    text = f"""
[containers]
default_ulimits = [{", ".join(ulimits)}]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
{runtime}
"""
    (folder / "containers.conf").write_text(text)
    return {"CONTAINERS_CONF": str(folder / "containers.conf")}


def at_most(kind: int, most: int = 16384) -> int:
    _, hard = resource.getrlimit(kind)
    return most if hard == resource.RLIM_INFINITY else min(most, hard)


@contextmanager
def private_network(folder: Path) -> Iterator[tuple[str, ...]]:
    """What enters a network namespace: bridges, ports and rules of the firewall end with it."""
    log = folder / "network.log"
    shell = (
        "/bin/sh",
        "-c",
        "exec unshare --net sh -c 'ip link set lo up && echo up && exec sleep infinity'",
    )
    holder = child_process.start(shell, log=log)
    try:
        assert eventually(lambda: child_process.tail(log) != ""), "the network namespace was not made"
        assert child_process.tail(log) == "up"
        yield ("nsenter", "--target", str(holder.pid), "--net")
    finally:
        holder.kill()
        holder.wait(NEVER_LONG_S)


def have_bases(engine: Engine, folder: Path) -> None:
    """See that the images to build from are here: made by ANONCUP_BASE_IMAGES, or pulled, or skip."""
    if all(engine.run("image", "inspect", name).status == 0 for name in BASES):
        return
    script = os.environ.get("ANONCUP_BASE_IMAGES")
    if script and engine.name == "podman":
        command = (script, str(folder / "bases"))
        succeeded(command, run(command, env={"MIRROR": mirror()}))
        return
    for name in BASES:
        if run((engine.name, "pull", f"docker.io/{name if '/' in name else f'library/{name}'}")).status != 0:
            pytest.skip(
                f"skipped: no base images: {name} cannot be pulled, and ANONCUP_BASE_IMAGES names no script"
            )


def mirror() -> str:
    """Where this machine's own packages come from, if Debian's: for a script that makes images of them."""
    listed = ("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian")
    known = run(listed).out.split() if answers(*listed) else []
    return os.environ.get("MIRROR") or next(iter(known), "")
