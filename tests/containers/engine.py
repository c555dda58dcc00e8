"""The container engine of this machine and its peculiarities: Docker, or podman with podman-compose."""

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

from app.core.processes import child_process
from tests.support.wait import poll_until

ROOT = Path(__file__).parent.parent.parent
BASE_IMAGES = ("python:3.13-slim", "valkey/valkey:8-bookworm", "postgres:18-bookworm")
"""Base images of the Dockerfile and docker-compose.yml."""
BUILD_TIMEOUT_S = 3600
STOP_TIMEOUT_S = 600


@dataclass(frozen=True)
class CommandResult:
    status: int
    stdout: str
    stderr: str


def run(command: Sequence[str], *, stdin: str = "", env: dict[str, str] | None = None) -> CommandResult:
    """Run a command and return its result, whatever its status."""
    process = subprocess.run(
        command,
        input=stdin,
        env=os.environ | (env or {}),
        cwd=ROOT,
        text=True,
        capture_output=True,
        timeout=BUILD_TIMEOUT_S,
        check=False,
    )
    return CommandResult(process.returncode, process.stdout, process.stderr)


def can_run(*command: str) -> bool:
    return shutil.which(command[0]) is not None and run(command).status == 0


@dataclass(frozen=True)
class ContainerEngine:
    """A container engine. ``prefix`` precedes every command that starts containers or connects to them."""

    name: str
    compose_command: tuple[str, ...]
    env: dict[str, str]
    build_options: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()

    @property
    def can_watch_health(self) -> bool:
        """Whether its compose command obeys ``depends_on`` and watches health by itself."""
        return self.name == "docker"

    def __call__(self, *arguments: str, stdin: str = "") -> str:
        """Run a command that must succeed, and return its output."""
        return require_success((*self.prefix, self.name, *arguments), self.run(*arguments, stdin=stdin))

    def run(self, *arguments: str, stdin: str = "") -> CommandResult:
        return run((*self.prefix, self.name, *arguments), stdin=stdin, env=self.env)

    def is_healthy(self, container: str) -> bool:
        if self.can_watch_health:
            return self("inspect", "--format", "{{.State.Health.Status}}", container).strip() == "healthy"
        return self.run("healthcheck", "run", container).status == 0

    def build(self, tag: str, *, target: str) -> None:
        """Build an image from the repository's Dockerfile, without ``prefix``: packages are downloaded."""
        # Podman's default image format cannot store a health check.
        format_options = () if self.name == "docker" else ("--format", "docker")
        command = (
            self.name,
            "build",
            *format_options,
            *self.build_options,
            "--target",
            target,
            "--tag",
            tag,
            ".",
        )
        require_success(command, run(command))


def require_success(command: Sequence[str], result: CommandResult) -> str:
    assert result.status == 0, (
        f"{' '.join(command)}: {result.status}\n{result.stdout[-3000:]}\n{result.stderr[-6000:]}"
    )
    return result.stdout


@contextmanager
def find_engine(folder: Path) -> Iterator[ContainerEngine]:
    """Yield the engine of this machine, or skip the test."""
    if can_run("docker", "info") and can_run("docker", "compose", "version"):
        yield ContainerEngine("docker", ("docker", "compose"), {})
    elif can_run("podman", "info"):
        compose_command = (sys.executable, "-m", "podman_compose")
        if os.geteuid() != 0:
            yield ContainerEngine("podman", compose_command, {})
            return
        with enter_private_network(folder) as prefix:
            yield ContainerEngine(
                "podman",
                compose_command,
                write_engine_settings(folder),
                build_options=ROOT_BUILD_OPTIONS,
                prefix=prefix,
            )
    else:
        pytest.skip("skipped: no engine (neither docker with compose nor podman answers)")


ROOT_BUILD_OPTIONS = (
    "--isolation",
    "chroot",
    "--network",
    "host",
    "--volume",
    "/etc/ssl/certs:/etc/ssl/certs:ro",
)
"""Build options inside a container or sandbox, where a build otherwise has neither a network nor the
certificates of this machine."""


def write_engine_settings(folder: Path) -> dict[str, str]:
    """Configure the engine for a root user without systemd who cannot raise its own limits."""
    if Path("/run/systemd/system").exists():
        return {}
    limits = (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC))
    ulimits = [
        f'"{name}={number}:{number}"'
        for name, number in ((limit_name, cap_limit(kind)) for limit_name, kind in limits)
    ]
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


def cap_limit(kind: int, cap: int = 16384) -> int:
    _, hard = resource.getrlimit(kind)
    return cap if hard == resource.RLIM_INFINITY else min(cap, hard)


@contextmanager
def enter_private_network(folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield a command prefix that enters a new network namespace.

    Bridges, ports and firewall rules end with the namespace.
    """
    log = folder / "network.log"
    shell = (
        "/bin/sh",
        "-c",
        "exec unshare --net sh -c 'ip link set lo up && echo up && exec sleep infinity'",
    )
    holder = child_process.start(shell, log=log)
    try:
        assert poll_until(lambda: child_process.read_tail(log) != ""), "the network namespace was not made"
        assert child_process.read_tail(log) == "up"
        yield ("nsenter", "--target", str(holder.pid), "--net")
    finally:
        holder.kill()
        holder.wait(STOP_TIMEOUT_S)


def require_base_images(engine: ContainerEngine, folder: Path) -> None:
    """Provide the base images by the script ANONCUP_BASE_IMAGES or by pulling them, or skip the test."""
    if all(engine.run("image", "inspect", name).status == 0 for name in BASE_IMAGES):
        return
    script = os.environ.get("ANONCUP_BASE_IMAGES")
    if script and engine.name == "podman":
        command = (script, str(folder / "bases"))
        require_success(command, run(command, env={"MIRROR": find_package_mirror()}))
        return
    for name in BASE_IMAGES:
        if run((engine.name, "pull", f"docker.io/{name if '/' in name else f'library/{name}'}")).status != 0:
            pytest.skip(
                f"skipped: no base images: {name} cannot be pulled, and ANONCUP_BASE_IMAGES names no script"
            )


def find_package_mirror() -> str:
    """Return the Debian mirror of this machine's packages, for a script that makes images of them."""
    command = ("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian")
    urls = run(command).stdout.split() if can_run(*command) else []
    return os.environ.get("MIRROR") or next(iter(urls), "")
