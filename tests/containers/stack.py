"""The services of docker-compose.yml, brought up as they are by the machine's engine, and who uses them."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.containers.engine import Engine, Ran, run, succeeded
from tests.e2e.stack import free_port
from tests.support.arena import PASSWORD
from tests.support.wait import eventually

IMAGE = "anoncup-trial"
SERVERS = ("postgres", "redis")
LASTING = ("web", "worker", "reports", "scheduler")


@dataclass(frozen=True)
class Person:
    """Somebody who uses the command line on a machine of their own."""

    folder: Path
    url: str
    within: tuple[str, ...]

    def run(self, *words: str | Path, typed: str = "") -> Ran:
        command = (sys.executable, "-c", "from anoncup.cli.main import main; main()", *map(str, words))
        env = {"XDG_CONFIG_HOME": str(self.folder), "ANONCUP_URL": self.url, "NO_PROXY": "127.0.0.1"}
        return run((*self.within, *command), typed=typed, env=env)

    def __call__(self, *words: str | Path, typed: str = "") -> str:
        return succeeded(("anoncup", *map(str, words)), self.run(*words, typed=typed))

    def told(self, *words: str | Path, typed: str = "") -> Any:
        """What the command answers programs."""
        return json.loads(self(*words, "--json", typed=typed))


@dataclass
class Stack:
    engine: Engine
    folder: Path
    port: int
    project: str
    files: tuple[str, ...]
    servers: tuple[str, ...]
    people: dict[str, Person] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def compose(self, *words: str, typed: str = "") -> str:
        files = [part for file in self.files for part in ("--file", file)]
        options = ("--project-name", self.project, "--env-file", str(self.folder / ".env"), *files)
        command = (*self.engine.within, *self.engine.composer, *options, *words)
        return succeeded(command, run(command, typed=typed, env=self.engine.env))

    def up(self, *, scale: Mapping[str, int] | None = None) -> None:
        """Start all of it with the documented command; back once everything lasting is healthy."""
        scaled = [part for name, number in (scale or {}).items() for part in ("--scale", f"{name}={number}")]
        self.compose("up", "--detach", "--no-build", *scaled)
        for name in (*self.servers, *LASTING):
            assert eventually(partial(self.healthy, name)), self.logs(name)

    def start_database(self) -> None:
        """Start Postgres alone, for a restore."""
        self.compose("up", "--detach", "--no-build", "postgres")

    def once(self, name: str, *command: str, backups: Path) -> str:
        """A command in a container of its own like those of a service, with a folder for backups."""
        return self.compose("run", "--rm", "-T", "-v", f"{backups}:/backups", name, "anoncup", *command)

    def down(self, *options: str) -> None:
        removal = ("down", "--timeout", "60", *options)
        self.compose(*removal)
        # podman-compose has removed the first container of each service only, however many it started.
        left = self.containers()
        if left:
            # Workers before what they depend on; podman 4 removes those of one command in any order.
            for name in reversed(left):
                self.engine("rm", "--force", name)
            self.compose(*removal)

    def healthy(self, name: str) -> bool:
        return all(self.engine.healthy(container) for container in self.containers(name))

    def containers(self, name: str | None = None) -> list[str]:
        """Those of a service, the first one first, or all."""
        labels = {"project": self.project} | ({"service": name} if name else {})
        filters = [f"--filter=label=com.docker.compose.{key}={value}" for key, value in labels.items()]
        return sorted(self.engine("ps", "--all", "--format", "{{.Names}}", *filters).split())

    def logs(self, name: str) -> str:
        found = [self.engine.run("logs", container) for container in self.containers(name)]
        return "\n".join(ran.out + ran.err for ran in found)

    def inside(self, name: str, *command: str, typed: str = "") -> Ran:
        """A command in the first container of a service."""
        return self.engine.run("exec", "--interactive", self.containers(name)[0], *command, typed=typed)

    def person(self, name: str) -> Person:
        if name not in self.people:
            folder = self.folder / name
            folder.mkdir()
            self.people[name] = Person(folder, self.url, self.engine.within)
        return self.people[name]

    def organizer(self) -> Person:
        """The first account, made as docs/hosting.md says."""
        if "Ada" not in self.people:
            command = ("anoncup", "admin", "create-user", "Ada", "--role", "administrator")
            self.compose("exec", "-T", "web", *command, "--password-stdin", typed=PASSWORD + "\n")
            self.person("Ada")("login", "--name", "Ada", "--password-stdin", typed=PASSWORD + "\n")
        return self.person("Ada")

    def member(self, name: str, *, slug: str) -> Person:
        """Somebody who signs up with a team of the same name."""
        invite = self.organizer()("organize", "invites", slug).strip()
        person = self.person(name)
        words = ("sign-up", "--invite", invite, "--team", f"Team {name}", "--name", name, "--password-stdin")
        person(*words, typed=PASSWORD + "\n")
        return person


@contextmanager
def brought_up(
    engine: Engine,
    folder: Path,
    *,
    project: str = IMAGE,
    files: tuple[str, ...] = ("docker-compose.yml",),
    servers: tuple[str, ...] = SERVERS,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Stack]:
    """A service of its own, removed with everything it kept; ``project`` is a name that is nobody's own."""
    stack = Stack(engine, folder, free_port(), project, files, servers)
    passwords = {f"{name}_PASSWORD": os.urandom(12).hex() for name in ("POSTGRES", "REDIS")}
    given = passwords | {"PORT": str(stack.port), "ANONCUP_IMAGE": IMAGE} | dict(settings or {})
    (folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    # A run that was killed leaves its containers.
    stack.down("--volumes")
    try:
        stack.up()
        yield stack
    finally:
        stack.down("--volumes")
