"""A track in an environment of its own gives the service what it gives a program in that environment."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from anoncup.runner import sandbox
from tests.support.environments import EXAMPLE_TRACK, PackageEnvironment, create_environment

pytestmark = pytest.mark.full

TRACK_STEPS = """
import json
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.errors import InvalidUpload
from anoncup.plugins import TRACKS
from anoncup.runner.originals import MakeExampleJob, ParseOriginalJob
from anoncup.runner.jobs import CheckReleaseJob, ReadGuessJob, ReadReleaseJob
from anoncup.tracks.model import TeamData
from app.config import Settings
from app.core.processes import package_calls, parsing, runners

parsing.enable(Settings(sandbox="wanted"))
package_calls.enable()
track, text = TRACKS["places"], template("places")
rules = parse_competition(text)
data = track.examples.make_data(rules, 40, 1)
common = {"competition_file": text, "original": data}


def do(job):
    return parsing.read_original(job, "places")


original = do(ParseOriginalJob(in_use=False, **common))
example = do(MakeExampleJob(**common))
secret = example.files.pop("secret")
upload = {"files": example.files, "secret": secret, "team": TeamData()}
parsed = do(ReadReleaseJob(**common, **upload))
guess = b"original_row\\n" + b"7\\n" + b"0\\n" * (parsed.sizes["rows"] - 1)


def read_guess(content):
    return do(ReadGuessJob(**common, guess=content, guesser=TeamData(), question="link", sizes=parsed.sizes))


def find_refusal(act):
    try:
        act()
    except InvalidUpload as refusal:
        return [[problem.code, problem.row, str(problem.message)] for problem in refusal.problems]


print(json.dumps({
    "header": track.release_files[0].header(rules),
    "row_limits": track.release_files[0].row_limits({"originals": 40}, rules),
    "data": {name: content.decode() for name, content in data.items()},
    "original": [original.individuals, original.scales, len(original.remarks)],
    "example": {name: content.decode() for name, content in example.files.items()},
    "score": json.loads(example.score)["overall"],
    "sizes": parsed.sizes,
    "check": do(CheckReleaseJob(**common, **upload))[0],
    "guess": [read_guess(guess).answered, read_guess(guess).content.decode()],
    "refusals": [
        find_refusal(
            lambda: do(ReadReleaseJob(**common, **upload | {"files": {"moved": b"x,y\\n1,two\\n"}}))
        ),
        find_refusal(lambda: read_guess(b"original_row\\nx\\n")),
    ],
}))
runners.end_all()
"""
DESCRIBE = """
import json, sys
from pathlib import Path
from anoncup.plugins import describe_interpreter
Path(sys.argv[1]).write_text(json.dumps(describe_interpreter()))
"""
NOISE = """
import os, sys
print("noise")
os.write(1, b"noise\\n")
os.write(2, b"noise\\n")
assert not sys.stdin.read(), "the requests are for the service's program"
"""
"""Code of a package that reads and prints when it is imported."""


@dataclass(frozen=True)
class Service:
    """A service with a package in an environment of its own, which has the same versions."""

    packages: Path
    environment: PackageEnvironment

    def describe(self) -> None:
        file = self.environment.folder / "package.json"
        completed = self.environment.run("-c", DESCRIBE, file, cwd=self.packages)
        assert completed.returncode == 0, completed.stderr

    def run(self, code: str) -> Any:
        """Run a program of the service and return its JSON output."""
        completed = subprocess.run(
            [sys.executable, "-P", "-c", code],
            env={"ANONCUP_PACKAGES": str(self.packages)},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert completed.returncode == 0, completed.stderr
        assert "noise" not in completed.stderr
        return json.loads(completed.stdout.splitlines()[-1])

    @property
    def steps(self) -> Path:
        (steps,) = self.environment.folder.glob("lib/python*/site-packages/anoncup_places/steps.py")
        return steps


def install(tmp_path: Path) -> Service:
    environment = create_environment(tmp_path / "packages/places")
    track = Path(shutil.copytree(EXAMPLE_TRACK, tmp_path / "track"))
    plugin = track / "anoncup_places/__init__.py"
    plugin.write_text(plugin.read_text() + NOISE)
    environment.install(track, tmp_path / "wheels")
    (packages,) = environment.folder.glob("lib/python*/site-packages")
    (packages / "noise.pth").write_text("import os; os.write(2, b'noise')\n")
    service = Service(tmp_path / "packages", environment)
    service.describe()
    return service


def test_service_gets_what_a_program_in_the_environment_gets(tmp_path: Path) -> None:
    service = install(tmp_path)
    answers = service.run(TRACK_STEPS)
    local_code = TRACK_STEPS.replace('parsing.enable(Settings(sandbox="wanted"))\n', "")
    local = service.environment.run("-c", local_code, cwd=tmp_path)
    assert local.returncode == 0, local.stderr
    assert answers == json.loads(local.stdout.splitlines()[-1])
    assert all(answers["refusals"])


FIND_CHANGES = """
import json, os
from pathlib import Path
from anoncup.competition.parser import parse_competition
from anoncup.competition.required_packages import list_packages
from anoncup.competition.scoring_versions import collect_scoring_versions
from anoncup.competition.templates import template
from anoncup.competition.writer import replace_scored_by
from anoncup.errors import CompetitionUnavailable
from anoncup.plugins import TRACKS
from anoncup.runner.jobs import TargetFilesJob
from anoncup.runner.originals import SampleReleaseJob
from app.config import Settings
from app.core.processes import package_calls, parsing, runners
from workers import jobs

settings = Settings(sandbox="wanted")
parsing.enable(settings)
package_calls.enable()
text = template("places")
rules = parse_competition(text)
file = replace_scored_by(text, collect_scoring_versions(rules))
track = TRACKS["places"]
data = track.examples.make_data(rules, 40, 1)
folder = Path(os.environ["ANONCUP_PACKAGES"], "places")
description = folder / "package.json"
content = description.read_text()
sample = SampleReleaseJob(competition_file=text, original=data, method="blur", seed=1, answer=None)
release = {"moved": parsing.read_original(sample, "places")["moved"]}


def install(version):
    changed = json.loads(content)
    changed["plugins"][0]["version"] = version
    replacement = description.with_suffix(".new")
    replacement.write_text(json.dumps(changed))
    replacement.replace(description)


def write_target(competition_file):
    job = TargetFilesJob(
        competition_file=competition_file, original=data, files=release, file_names=("moved",)
    )
    try:
        return sorted(jobs.run(job, settings))
    except CompetitionUnavailable as problem:
        return str(problem)


def find_template():
    return runners._runners["places"][0].template.process.pid


answers = [write_target(file)]
first_template = find_template()
install("0.1.0")
answers += [write_target(file), find_template() != first_template]
install("0.2.0")
answers += [write_target(file), write_target(text)]
install("0.1.0")
answers += [write_target(file)]
folder.rename(folder.with_name("elsewhere"))
answers += [write_target(file), write_target(text)]
try:
    track.examples.make_data(rules, 41, 1)
except CompetitionUnavailable as problem:
    answers += [str(problem)]
folder.with_name("elsewhere").rename(folder)
answers += [write_target(file)]
print(json.dumps(answers))
runners.end_all()
"""


def test_jobs_wait_while_another_version_or_none_is_installed(tmp_path: Path) -> None:
    target = ["moved"]
    missing = "requires.anoncup-places: the package anoncup-places is not installed"
    assert install(tmp_path).run(FIND_CHANGES) == [
        target,
        target,
        True,
        "scored_by: packages.anoncup-places counts in version 0.1.0; version 0.2.0 is installed",
        "version 0.1.0 of the package anoncup-places was installed when the service started, and 0.2.0 is "
        "now: the service must be restarted",
        target,
        missing,
        missing,
        missing,
        target,
    ]


CALL = """
import json
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.errors import Unavailable
from anoncup.plugins import TRACKS
from app.config import Settings, get_settings
from app.core.processes import package_calls, parsing, runners
package_calls.enable()
try:
    rules = parse_competition(template("places"))
    data = TRACKS["places"].examples.make_data(rules, 1, 1)
    print(json.dumps({name: text.decode() for name, text in data.items()}))
except Unavailable as problem:
    print(json.dumps([problem.code, problem.message.values["package"]]))
runners.end_all()
"""
READ_PATHS = """

def make_example_data(rules, rows, seed):
    return ANSWERS

from pathlib import Path
ANSWERS = {}
for name, path in PATHS.items():
    try:
        ANSWERS[name] = Path(path).read_bytes()[:1]
    except OSError as problem:
        ANSWERS[name] = type(problem).__name__.encode()
"""


@pytest.mark.skipif(not sandbox.get_available().is_complete, reason="needs Landlock and seccomp")
def test_package_is_imported_inside_the_sandbox(tmp_path: Path) -> None:
    paths = {
        "own": tmp_path / "packages/places/lib/own.txt",
        "other": tmp_path / "packages/other/package.json",
        "key": tmp_path / "keys/private.key",
    }
    service = install(tmp_path)
    for path in paths.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
    paths["parent"] = Path("/proc/1/environ")
    named_paths = {name: str(path) for name, path in paths.items()}
    service.steps.write_text(f"{service.steps.read_text()}\nPATHS = {named_paths}\n{READ_PATHS}")
    denied = "PermissionError"
    assert service.run(CALL) == {"own": "s", "other": denied, "key": denied, "parent": denied}


@pytest.mark.parametrize("code", ["raise KeyError", "import os; os._exit(0)", "while True: pass"])
def test_failure_of_a_package_names_the_package(tmp_path: Path, code: str) -> None:
    service = install(tmp_path)
    service.steps.write_text(f"{service.steps.read_text()}\n{code}\n")
    assert service.run(CALL) == ["package_failed", "anoncup-places"]


def test_missing_interpreter_names_the_package(tmp_path: Path) -> None:
    service = install(tmp_path)
    (service.environment.folder / "bin/python").unlink()
    assert service.run(CALL) == ["package_failed", "anoncup-places"]
