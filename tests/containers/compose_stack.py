"""The services of docker-compose.yml, run unchanged by the machine's engine, and their users."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.containers.engine import CommandResult, ContainerEngine, require_success, run
from tests.support.arena import PASSWORD
from tests.support.service_processes import find_free_port
from tests.support.wait import poll_until

IMAGE = "anoncup-trial"
SERVERS = ("postgres", "redis")
LONG_RUNNING = ("web", "worker", "reports", "scheduler")
SERVICES = (*LONG_RUNNING, "deliveries")
"""All services of the image that keep running. The last has no health check."""
COMMAND_LINE = "from anoncup.cli.main import main; main()"
API_CALL = """
import json, sys
from anoncup.cli.connection import connect
with connect() as client:
    print(client.send(*sys.argv[1:], json=json.load(sys.stdin)).text)
"""


@dataclass(frozen=True)
class ContainerUser:
    """A person who uses the command line and the API with their own configuration."""

    folder: Path
    url: str
    prefix: tuple[str, ...]

    def run(self, program: str, *arguments: str, stdin: str = "") -> str:
        """Run a Python program that must succeed, in the network of the containers."""
        command = (*self.prefix, sys.executable, "-c", program, *arguments)
        env = {"XDG_CONFIG_HOME": str(self.folder), "ANONCUP_URL": self.url, "NO_PROXY": "127.0.0.1"}
        return require_success(command, run(command, stdin=stdin, env=env))

    def __call__(self, *arguments: str | Path, stdin: str = "") -> str:
        return self.run(COMMAND_LINE, *map(str, arguments), stdin=stdin)

    def read_json(self, *arguments: str | Path, stdin: str = "") -> Any:
        """Run a command with ``--json`` and return the parsed output."""
        return json.loads(self(*arguments, "--json", stdin=stdin))

    def call_api(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request for which there is no command."""
        return json.loads(self.run(API_CALL, method, path, stdin=json.dumps(body)))


@dataclass
class ComposeStack:
    engine: ContainerEngine
    folder: Path
    port: int
    project: str
    files: tuple[str, ...]
    servers: tuple[str, ...]
    users: dict[str, ContainerUser] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def compose(self, *arguments: str, stdin: str = "") -> str:
        files = [part for file in self.files for part in ("--file", file)]
        options = ("--project-name", self.project, "--env-file", str(self.folder / ".env"), *files)
        command = (*self.engine.prefix, *self.engine.compose_command, *options, *arguments)
        return require_success(command, run(command, stdin=stdin, env=self.engine.env))

    def start(self) -> None:
        """Start all services with the documented command and wait until they are healthy."""
        self.compose("up", "--detach", "--no-build")
        for name in (*self.servers, *LONG_RUNNING):
            assert poll_until(partial(self.is_healthy, name)), self.read_logs(name)

    def start_database(self) -> None:
        """Start Postgres only, for a restore."""
        self.compose("up", "--detach", "--no-build", "postgres")

    def run_once(self, name: str, *command: str, backups: Path) -> str:
        """Run a command in a new container of a service, with a folder for backups."""
        return self.compose("run", "--rm", "-T", "-v", f"{backups}:/backups", name, "anoncup", *command)

    def stop(self, *options: str) -> None:
        removal = ("down", "--timeout", "60", *options)
        self.compose(*removal)
        # podman-compose removes the first container of each service only, however many it started.
        leftovers = self.list_containers()
        if leftovers:
            # Workers first, then their dependencies; podman 4 removes those of one command in any order.
            for name in reversed(leftovers):
                self.engine("rm", "--force", name)
            self.compose(*removal)

    def is_healthy(self, name: str) -> bool:
        return all(self.engine.is_healthy(container) for container in self.list_containers(name))

    def list_containers(self, name: str | None = None) -> list[str]:
        """Return the containers of a service in order, or all."""
        labels = {"project": self.project} | ({"service": name} if name else {})
        filters = [f"--filter=label=com.docker.compose.{key}={value}" for key, value in labels.items()]
        return sorted(self.engine("ps", "--all", "--format", "{{.Names}}", *filters).split())

    def read_logs(self, name: str) -> str:
        results = [self.engine.run("logs", container) for container in self.list_containers(name)]
        return "\n".join(result.stdout + result.stderr for result in results)

    def run_inside(self, name: str, *command: str, stdin: str = "") -> CommandResult:
        """Run a command in the first container of a service."""
        return self.engine.run("exec", "--interactive", self.list_containers(name)[0], *command, stdin=stdin)

    def get_user(self, user_name: str) -> ContainerUser:
        if user_name not in self.users:
            folder = self.folder / user_name
            folder.mkdir()
            self.users[user_name] = ContainerUser(folder, self.url, self.engine.prefix)
        return self.users[user_name]

    def get_organizer(self) -> ContainerUser:
        """Return the first account, which is created as docs/hosting.md says."""
        if "Ada" not in self.users:
            command = ("anoncup", "admin", "create-user", "Ada", "--role", "administrator")
            self.compose("exec", "-T", "web", *command, "--password-stdin", stdin=PASSWORD + "\n")
            self.get_user("Ada")("login", "--name", "Ada", "--password-stdin", stdin=PASSWORD + "\n")
        return self.get_user("Ada")

    def sign_up_member(self, name: str, *, slug: str) -> ContainerUser:
        """Sign up a user with a team named after them."""
        invite = self.get_organizer().call_api("POST", f"/competitions/{slug}/invites", {})["code"]
        user = self.get_user(name)
        arguments = (
            "sign-up",
            "--invite",
            invite,
            "--team",
            f"Team {name}",
            "--name",
            name,
            "--password-stdin",
        )
        user(*arguments, stdin=PASSWORD + "\n")
        return user


@contextmanager
def run_stack(
    engine: ContainerEngine,
    folder: Path,
    *,
    project: str = IMAGE,
    files: tuple[str, ...] = ("docker-compose.yml",),
    servers: tuple[str, ...] = SERVERS,
    settings: Mapping[str, str] | None = None,
) -> Iterator[ComposeStack]:
    """Run the service under an unused ``project`` name and remove it with all its data afterwards."""
    stack = ComposeStack(engine, folder, find_free_port(), project, files, servers)
    passwords = {f"{name}_PASSWORD": os.urandom(12).hex() for name in ("POSTGRES", "REDIS")}
    variables = passwords | {"PORT": str(stack.port), "ANONCUP_IMAGE": IMAGE} | dict(settings or {})
    (folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in variables.items()))
    # An earlier run that was killed leaves its containers.
    stack.stop("--volumes")
    try:
        stack.start()
        yield stack
    finally:
        stack.stop("--volumes")
