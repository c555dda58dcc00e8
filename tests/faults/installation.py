"""The service as an operator runs it: its command, process tree and disk, and what it leaves behind."""

import fcntl
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import httpx2
import psutil

from app.core.processes import child_process
from app.operations.embedded_servers import EmbeddedServices, find_running_services
from app.operations.local_service import build_environments
from tests.faults.calls import PATIENCE_S
from tests.support.service_processes import build_own_environment, find_free_port

DISK_MB = 96

COMMAND_LINE_PARTS: tuple[tuple[str, str], ...] = (
    ("postgres", "pginstall"),
    ("valkey", "valkey-server"),
    ("runner", "anoncup.runner"),
    ("web", "app.operations.web_server"),
    ("clock", "workers.clock"),
    ("turning child", "workers.lifecycle"),
    ("worker", "--app workers.main"),
)
"""Roles and a part of their processes' command lines; the first match counts."""


@dataclass
class ServiceInstallation:
    """The running service. All its files are below ``folder``; its commands are children of this process."""

    folder: Path
    port: int
    commands: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    start_counts: dict[str, int] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def store(self) -> Path:
        """The folder of the public files, on its own small disk."""
        return self.folder / "disk" / "store"

    def build_settings(self) -> dict[str, str]:
        return build_own_environment() | {
            "TMPDIR": str(self.folder / "tmp"),
            "ANONCUP_STORE": str(self.store),
            "ANONCUP_GRACE_S": "15",
            "ANONCUP_LEASE_S": "4",
            "ANONCUP_SWEEP_EVERY_S": "1",
            "PYTHONUNBUFFERED": "1",
        }

    def start_missing(self) -> None:
        """Start ended commands again, like an init system. Call it from the main thread."""
        serve = ["serve", "--port", str(self.port), "--data", str(self.data)]
        self._start_if_ended("serve", serve, self.build_settings())
        services = find_running_services(self.data)
        if services is not None:
            env = build_environments(services, self.data)
            self._start_if_ended("second worker", ["worker"], self.build_settings() | env.shared | env.worker)

    def _start_if_ended(self, name: str, arguments: list[str], env: dict[str, str]) -> None:
        running = self.commands.get(name)
        if running is not None and running.poll() is None:
            return
        self.start_counts[name] = self.start_counts.get(name, 0) + 1
        command = [sys.executable, "-c", "from anoncup.cli.main import main; main()", *arguments]
        log = self.logs / f"{name.replace(' ', '-')}.log"
        end_with = signal.SIGTERM if name == "serve" else signal.SIGKILL
        self.commands[name] = child_process.start(command, log=log, env=env, parent_death_signal=end_with)

    def is_ready(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/readyz", timeout=30, trust_env=False).status_code == 200
        except httpx2.HTTPError:
            return False

    def wait_until_ready(self, timeout_s: float = PATIENCE_S) -> None:
        deadline = time.monotonic() + timeout_s
        while not self.is_ready():
            self.start_missing()
            if time.monotonic() > deadline:
                log_tail = child_process.read_tail(self.logs / "serve.log")
                raise TimeoutError(f"not ready again within {timeout_s:.0f} s; serve.log ends:\n{log_tail}")
            time.sleep(0.2)

    def find_services(self) -> EmbeddedServices:
        services = find_running_services(self.data)
        if services is None:
            raise ProcessLookupError("the embedded servers are not running")
        return services

    def list_processes(self) -> dict[str, list[psutil.Process]]:
        """Return the running processes of the service by role, parents before their children."""
        by_role: dict[str, list[psutil.Process]] = {}
        for command in self.commands.values():
            with suppress(psutil.NoSuchProcess):
                top = psutil.Process(command.pid)
                if command.poll() is None:
                    role = find_role(top)
                    by_role.setdefault("supervisor" if role == "other" else role, []).append(top)
                for process in top.children(recursive=True):
                    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                        if process.status() != psutil.STATUS_ZOMBIE:
                            by_role.setdefault(find_role(process), []).append(process)
        return by_role

    def stop(self) -> int:
        """Send SIGTERM, as an operator does, and return the exit status of the command."""
        worker, serve = self.commands.get("second worker"), self.commands["serve"]
        for command in (worker, serve):
            if command is not None and command.poll() is None:
                command.terminate()
                with suppress(subprocess.TimeoutExpired):
                    command.wait(300)
        return serve.returncode if serve.returncode is not None else -1

    def kill_all(self) -> None:
        """Resume, stop and kill everything that still runs."""
        for process in chain.from_iterable(self.list_processes().values()):
            with suppress(psutil.NoSuchProcess):
                process.resume()
        self.stop()
        for process in self.list_leftover_processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def list_leftover_processes(self) -> list[psutil.Process]:
        """Return the processes, except this one, that were started with a path below the folder."""
        leftovers = []
        for process in psutil.process_iter():
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                texts = [*process.cmdline(), process.environ().get("TMPDIR", "")]
                if process.pid != os.getpid() and any(str(self.folder) in text for text in texts):
                    leftovers.append(process)
        return leftovers

    def list_leftovers(self) -> list[str]:
        """Return processes, sockets, temporary files and locks that should have ended with the service."""
        leftovers = [
            f"process {process.pid} {' '.join(process.cmdline())[:120]}"
            for process in self.list_leftover_processes()
        ]
        for path in self.folder.rglob("*"):
            if stat.S_ISSOCK(path.lstat().st_mode):
                leftovers.append(f"socket {path}")
        leftovers += [f"temporary file {path}" for path in (self.folder / "tmp").rglob("*")]
        unexpected_paths = (path for path in self.store.rglob("*") if path.is_file() and len(path.name) != 64)
        leftovers += [f"file aside in the store {path}" for path in unexpected_paths]
        for name in ("lock", "servers.lock"):
            with (self.data / name).open() as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    leftovers.append(f"lock {name}")
        for path in (self.data / "postgres" / "postmaster.pid", self.data / "services.json"):
            if path.exists():
                leftovers.append(f"file {path}")
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", self.port))
            except OSError:
                leftovers.append(f"port {self.port}")
        return leftovers


def find_role(process: psutil.Process) -> str:
    line = " ".join(process.cmdline())
    parent = process.parent()
    for role, part in COMMAND_LINE_PARTS:
        if part in line:
            return role
    if line.startswith("postgres:") or process.name() == "postgres":
        return "postgres"
    return find_role(parent) if parent is not None and "multiprocessing.spawn" in line else "other"


@contextmanager
def run_installation(*, keep_folder: bool = False) -> Iterator[ServiceInstallation]:
    """Run a fresh installation with a small disk for its files, and remove it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    for name in ("tmp", "disk", "logs", "data"):
        (folder / name).mkdir()
    is_mounted = mount_small_disk(folder / "disk")
    installation = ServiceInstallation(folder, find_free_port())
    try:
        installation.store.mkdir()
        yield installation
    finally:
        installation.kill_all()
        if is_mounted:
            subprocess.run(["umount", "-l", str(folder / "disk")], check=False)
        if not keep_folder:
            shutil.rmtree(folder, ignore_errors=True)


def mount_small_disk(folder: Path) -> bool:
    """Mount a small tmpfs that can be filled; return False if this user may not."""
    if os.geteuid() != 0:
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "anoncup-faults", str(folder)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0
