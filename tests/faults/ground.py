"""The service as its operator runs it: one command, its process tree, its disk; and what it leaves behind."""

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
from pathlib import Path

import psutil
import redis

from app.cli.local_service import environment
from app.processes import child_process
from app.processes.embedded_servers import Services, running_services
from tests.e2e.stack import free_port
from tests.support.s3_server import BUCKET, S3Server

READY_WITHIN_S = 300.0
"""A guard, not a measurement."""
DISK_MB = 96

ROLES: tuple[tuple[str, str], ...] = (
    ("postgres", "pginstall"),
    ("valkey", "valkey-server"),
    ("scoring child", "workers.scorer"),
    ("web", "app.cli.web_server"),
    ("clock", "workers.clock"),
    ("turning child", "workers.lifecycle"),
    ("reports worker", "--queues reports"),
    ("worker", "workers.main worker"),
)
"""A role, and what the command line of its process has in it; the first that fits."""
FORKED = {"worker": "worker", "reports": "reports worker", "scheduler": "clock"}
"""Of forks, which all have the command line of their parent, by the name of the process."""


@dataclass
class Ground:
    """The running service. All of it is below ``folder``; the command is this process's own child."""

    folder: Path
    port: int
    s3: S3Server | None = None
    """Where the files lie, if not in a folder."""
    commands: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)

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
        """The folder of the public files, on a disk of its own."""
        return self.folder / "disk" / "store"

    def settings(self) -> dict[str, str]:
        known = {name: value for name, value in os.environ.items() if not name.startswith("ANONCUP_")}
        for name in ("DATABASE_URL", "REDIS_URL"):
            known.pop(name, None)
        return known | {
            "TMPDIR": str(self.folder / "tmp"),
            "ANONCUP_STORE": f"s3://{BUCKET}/files" if self.s3 else str(self.store),
            **(self.s3.environment if self.s3 else {}),
            "ANONCUP_GRACE_S": "15",
            "ANONCUP_LEASE_S": "4",
            "ANONCUP_SWEEP_EVERY_S": "1",
            "PYTHONUNBUFFERED": "1",
        }

    def keep(self) -> None:
        """Start what has ended of what an init system would keep running. Call it from the main thread."""
        serve = ["serve", "--port", str(self.port), "--data", str(self.data)]
        self._keep("serve", serve, self.settings())
        services = running_services(self.data)
        if services is not None:
            self._keep("second worker", ["worker"], self.settings() | self.workers_settings(services))

    def workers_settings(self, services: Services) -> dict[str, str]:
        shared, _, private = environment(services, self.data)
        return shared | private

    def _keep(self, name: str, arguments: list[str], env: dict[str, str]) -> None:
        running = self.commands.get(name)
        if running is not None and running.poll() is None:
            return
        self.starts[name] = self.starts.get(name, 0) + 1
        command = [sys.executable, "-c", "from anoncup.cli.main import main; main()", *arguments]
        log = self.logs / f"{name.replace(' ', '-')}.log"
        end_with = signal.SIGTERM if name == "serve" else signal.SIGQUIT
        self.commands[name] = child_process.start(command, log=log, env=env, end_with=end_with)

    def is_ready(self) -> bool:
        import httpx2

        try:
            return httpx2.get(f"{self.url}/readyz", timeout=5, trust_env=False).status_code == 200
        except httpx2.HTTPError:
            return False

    def wait_until_ready(self, within_s: float = READY_WITHIN_S) -> None:
        deadline = time.monotonic() + within_s
        while not self.is_ready():
            self.keep()
            if time.monotonic() > deadline:
                said = child_process.tail(self.logs / "serve.log")
                raise TimeoutError(f"not ready again within {within_s:.0f} s; serve.log ends:\n{said}")
            time.sleep(0.2)

    def services(self) -> Services:
        found = running_services(self.data)
        if found is None:
            raise ProcessLookupError("the embedded servers are not running")
        return found

    def processes(self) -> dict[str, list[psutil.Process]]:
        """Every running process of the service by its role; a parent before its children."""
        found: dict[str, list[psutil.Process]] = {}
        for command in self.commands.values():
            with suppress(psutil.NoSuchProcess):
                top = psutil.Process(command.pid)
                if command.poll() is None:
                    role = role_of(top)
                    found.setdefault("supervisor" if role == "other" else role, []).append(top)
                for process in top.children(recursive=True):
                    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                        if process.status() != psutil.STATUS_ZOMBIE:
                            found.setdefault(role_of(process), []).append(process)
        return found

    def postmaster(self) -> psutil.Process | None:
        """The first of the Postgres processes: the parent of all others."""
        servers = self.processes().get("postgres", [])
        pids = {process.pid for process in servers}
        with suppress(psutil.NoSuchProcess):
            return next((process for process in servers if process.ppid() not in pids), None)
        return None

    @contextmanager
    def queue(self) -> Iterator["redis.Redis"]:
        """A connection to Valkey beside the service's own."""
        connection = redis.Redis.from_url(self.services().redis_py_url, socket_timeout=5)
        try:
            yield connection
        finally:
            connection.close()

    def stop(self) -> int:
        """SIGTERM as an operator sends it; the command's exit status."""
        worker, serve = self.commands.get("second worker"), self.commands["serve"]
        for command in (worker, serve):
            if command is not None and command.poll() is None:
                command.terminate()
                with suppress(subprocess.TimeoutExpired):
                    command.wait(120)
        return serve.returncode if serve.returncode is not None else -1

    def end(self) -> None:
        """Whatever still runs of it, at the very end."""
        for name in list(self.commands):
            command = self.commands[name]
            with suppress(psutil.NoSuchProcess):
                below = psutil.Process(command.pid).children(recursive=True)
                for process in below:
                    with suppress(psutil.NoSuchProcess):
                        process.resume()
            command.send_signal(signal.SIGCONT)
        self.stop()
        for process in self.left_running():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if self.s3 is not None:
            self.s3.kill()

    # What is left.

    def running(self) -> list[str]:
        """Every process that has to do with the service, for whoever looks into a run that failed."""
        found = []
        for each in self.left_running():
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                found.append(
                    f"{each.pid} of {each.ppid()}, {each.status()}: {' '.join(each.cmdline())[:150]}"
                )
        return found

    def left_running(self) -> list[psutil.Process]:
        """Processes, other than this one, that were started with a path below the folder."""
        found = []
        kept = {os.getpid(), self.s3.process.pid if self.s3 and self.s3.process else None}
        for process in psutil.process_iter():
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                told = [*process.cmdline(), process.environ().get("TMPDIR", "")]
                if process.pid not in kept and any(str(self.folder) in each for each in told):
                    found.append(process)
        return found

    def leavings(self) -> list[str]:
        """Processes, sockets, temporary files and locks that should have gone with the service."""
        found = [f"process {each.pid} {' '.join(each.cmdline())[:120]}" for each in self.left_running()]
        for path in self.folder.rglob("*"):
            if stat.S_ISSOCK(path.lstat().st_mode):
                found.append(f"socket {path}")
        # multiprocessing keeps an empty folder for a worker's pool; a worker that is killed cannot remove it.
        aside = (path for path in (self.folder / "tmp").rglob("*") if not path.match("tmp/pymp-*"))
        found += [f"temporary file {path}" for path in aside]
        aside = (path for path in self.store.rglob("*") if path.is_file() and len(path.name) != 64)
        found += [f"file aside in the store {path}" for path in aside]
        for name in ("lock", "servers.lock"):
            with (self.data / name).open() as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    found.append(f"lock {name}")
        for path in (self.data / "postgres" / "postmaster.pid", self.data / "services.json"):
            if path.exists():
                found.append(f"file {path}")
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", self.port))
            except OSError:
                found.append(f"port {self.port}")
        return found


def role_of(process: psutil.Process) -> str:
    line = " ".join(process.cmdline())
    parent = process.parent()
    if "workers.forked" in line:
        role = FORKED.get(process.name(), "forking process")
        of_a_pool = "worker" in role and parent is not None and parent.name() == process.name()
        return "pool process" if of_a_pool else role
    for role, part in ROLES:
        if part in line:
            child = "worker" in role and parent is not None and part in " ".join(parent.cmdline())
            return "pool process" if child else role
    if line.startswith("postgres:") or process.name() == "postgres":
        return "postgres"
    return role_of(parent) if parent is not None and "multiprocessing" in line else "other"


@contextmanager
def ground(*, s3: bool = False, keep_folder: bool = False) -> Iterator[Ground]:
    """A fresh installation with a small disk for its files, or an S3 server; ended and removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    for name in ("tmp", "disk", "logs", "data"):
        (folder / name).mkdir()
    mounted = mount(folder / "disk")
    made = Ground(folder, free_port())
    try:
        made.store.mkdir()
        if s3:
            (folder / "s3").mkdir()
            made.s3 = S3Server(folder / "s3")
            made.s3.start()
        yield made
    finally:
        made.end()
        if mounted:
            subprocess.run(["umount", "-l", str(folder / "disk")], check=False)
        if not keep_folder:
            shutil.rmtree(folder, ignore_errors=True)


def mount(folder: Path) -> bool:
    """A disk that can be filled: a tmpfs, where this user may mount one."""
    if os.geteuid() != 0:
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "anoncup-faults", str(folder)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0
