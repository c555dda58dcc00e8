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
import numpy as np
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.errors import InvalidCompetition, InvalidUpload
from anoncup.evaluation.scales import scales
from anoncup.plugins import TRACKS
from anoncup.tracks.model import ReleaseContext, TeamData
from anoncup.tracks.uploads import parse_upload
from app.processes import remote_calls
from app.processes.remote_values import is_within_rules

remote_calls.enable()
track, rng = TRACKS["places"], np.random.default_rng(5)
rules = parse_competition(template("places"))
data = track.examples.make_data(rules, 40, 1)
original, remarks = track.parse_original(data, rules)
release, answer = track.anonymize(track.methods["blur"], original, rules, rng, {"km": 3.0})
next_number = rng.random()
release, answer = track.shuffle(release, answer, rng=np.random.default_rng(6))
files, secret = track.files_of(release), track.answer_spec.write(answer)
remote_calls.end_all()  # another child computes the values again
upload = parse_upload(track, rules, original, files, secret, team=TeamData())
context = ReleaseContext(rules, upload.sizes, lambda: original)
question = track.questions["link"]
guess = question.read(b"original_row\\n" + b"7\\n" + b"0\\n" * (upload.sizes["rows"] - 1), context)


def find_refusal(call, *arguments):
    try:
        call(*arguments)
    except InvalidUpload as refusal:
        return [[problem.code, problem.row, str(problem.message)] for problem in refusal.problems]


print(json.dumps({
    "header": track.release_files[0].header(rules),
    "row_limits": track.release_files[0].row_limits({"originals": 40}, rules),
    "data": {name: content.decode() for name, content in data.items()},
    "rows": [original.rows, upload.sizes, len(remarks)],
    "files": {name: content.decode() for name, content in files.items()},
    "secret": secret.decode(),
    "guess": [question.count_answered(guess), question.write(guess).decode()],
    "refusals": [
        find_refusal(track.parse_release, {"moved": b"x,y\\n1,two\\n"}, original, rules, {}),
        find_refusal(track.answer_spec.read, b"original_row\\n1\\n1\\n", context),
    ],
    "frames": [frame.to_dict("list") for frame in remote_calls.build_frames(track, original)],
    "is_next_number_new": next_number not in np.random.default_rng(5).random(10_000),
    "scales": remote_calls.run_where_installed(track, scales, track, original, rules.measures),
    "accepted": remote_calls.run_where_installed(
        track, is_within_rules, rules, original, upload.release, upload.answer
    ),
}))
remote_calls.end_all()
"""
READING_CODE = """

def make_example_data(rules, rows, seed):
    from pathlib import Path
    answers = {}
    for name, path in PATHS.items():
        try:
            answers[name] = Path(path).read_bytes()[:1]
        except OSError as problem:
            answers[name] = type(problem).__name__.encode()
    return answers
"""
READ_PATHS = """
import json
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from app.processes import remote_calls
remote_calls.enable()
rules = parse_competition(template("places"))
data = TRACKS["places"].examples.make_data(rules, 1, 1)
print(json.dumps({name: text.decode() for name, text in data.items()}))
remote_calls.end_all()
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
        return json.loads(completed.stdout)


def install(tmp_path: Path, extra_code: str = "") -> Service:
    environment = create_environment(tmp_path / "packages/places")
    track = Path(shutil.copytree(EXAMPLE_TRACK, tmp_path / "track"))
    plugin, steps = track / "anoncup_places/__init__.py", track / "anoncup_places/steps.py"
    plugin.write_text(plugin.read_text() + NOISE)
    steps.write_text(steps.read_text() + extra_code)
    environment.install(track, tmp_path / "wheels")
    service = Service(tmp_path / "packages", environment)
    service.describe()
    return service


def test_service_gets_what_a_program_in_the_environment_gets(tmp_path: Path) -> None:
    service = install(tmp_path)
    answers = service.run(TRACK_STEPS)
    local = service.environment.run("-c", TRACK_STEPS, cwd=tmp_path)
    assert local.returncode == 0, local.stderr
    assert answers == json.loads(local.stdout.splitlines()[-1]) | {"is_next_number_new": True}
    assert answers["accepted"] is True
    assert [refusal is not None for refusal in answers["refusals"]] == [True, True]


FIND_CHANGES = """
import json, os, shutil, sys
from pathlib import Path
from numpy.random import default_rng
from anoncup.competition.parser import parse_competition
from anoncup.competition.required_packages import list_packages
from anoncup.competition.scoring_versions import collect_scoring_versions
from anoncup.competition.templates import template
from anoncup.competition.writer import replace_scored_by
from anoncup.errors import CompetitionUnavailable
from anoncup.evaluation.samples import build_sample_release
from anoncup.plugins import TRACKS
from app.config import Settings
from app.processes import remote_calls
from workers import scoring_child
from workers.jobs import TargetFilesJob

remote_calls.enable()
text = template("places")
rules = parse_competition(text)
file = replace_scored_by(text, collect_scoring_versions(rules))
track = TRACKS["places"]
data = track.examples.make_data(rules, 40, 1)
folder = Path(os.environ["ANONCUP_PACKAGES"], "places")
description = folder / "package.json"
content = description.read_text()
release = build_sample_release(track, "blur", track.parse_original(data, rules)[0], rules, default_rng(1))
scoring_child.read_content = lambda digest, *_: (data | release)[digest]


def install(version):
    changed = json.loads(content)
    changed["plugins"][0]["version"] = version
    replacement = description.with_suffix(".new")
    replacement.write_text(json.dumps(changed))
    replacement.replace(description)


def write_target(competition_file):
    job = TargetFilesJob(competition_file, {"places": "places"}, {"moved": "moved"}, file_names=("moved",))
    try:
        return sorted(scoring_child.run(job, Settings(), warm=False).content["files"])
    except CompetitionUnavailable as problem:
        return str(problem)


def find_child():
    return scoring_child._slots["places"].child.process.pid


answers = [write_target(file)]
first_child = find_child()
install("0.1.0")
answers += [write_target(file), find_child() != first_child]
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
scoring_child.end_all()
remote_calls.end_all()
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


@pytest.mark.skipif(not sandbox.get_available().is_complete, reason="needs Landlock and seccomp")
def test_child_reads_its_environment_and_no_other(tmp_path: Path) -> None:
    paths = {
        "own": tmp_path / "packages/places/lib/own.txt",
        "other": tmp_path / "packages/other/package.json",
        "key": tmp_path / "keys/private.key",
    }
    service = install(
        tmp_path, f"{READING_CODE}\nPATHS = { {name: str(path) for name, path in paths.items()} }\n"
    )
    for path in paths.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
    answers = service.run(READ_PATHS)
    assert answers == {"own": "s", "other": "PermissionError", "key": "PermissionError"}
