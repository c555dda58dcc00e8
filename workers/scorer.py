"""The program of the scoring child: requests in, steps and verdicts out, a line of JSON each.

It can reach no store: what a request names by digest it asks its parent for, and gets behind a line of JSON.
Before it reads the first request it builds the walls that it was told to, and ends if it cannot.

usage: python -m workers.scorer PARENT_PID MEMORY_MB '{"files": …, "calls": …, "warm": true}'
PARENT_PID is 0 where numbers of processes mean nothing, and bubblewrap ends what it started.
"""

import ctypes
import json
import os
import resource
import secrets
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

from numpy.random import Generator, default_rng

from app.errors import InvalidCompetition
from app.scoring import kernels
from app.scoring.attacking import guesses_of
from app.scoring.competition_file import parse_competition
from app.scoring.draws import generator_of
from app.scoring.evaluate import Progress, Verdict, evaluate
from app.scoring.excessive import question
from app.scoring.fingerprint import fingerprint
from app.scoring.registry import About, Track
from app.scoring.rules import Rules
from app.scoring.sampling import sample_release
from app.scoring.tracks import TRACKS
from workers import walls
from workers.prepared import Digests, Prepared, originals
from workers.walls import Walls

PR_SET_PDEATHSIG = 1
LIMITS = {
    resource.RLIMIT_CORE: 0,  # no picture of the memory on the disk when it crashes
    resource.RLIMIT_FSIZE: 2**26,
    # What follows is counted by user, and web, worker and databases may have the same one.
    resource.RLIMIT_NOFILE: 256,
    resource.RLIMIT_NPROC: 4096,
    resource.RLIMIT_SIGPENDING: 64,
}
"""Of a file's bytes, descriptors, threads (but root's) and signals that wait."""
SCORER = version("anoncup")
"""Of the rules as a whole; each number carries its own version besides."""


def main() -> None:
    parent, memory_mb, told = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    end_with(parent)
    limit(memory_mb * 2**20)
    if told["warm"]:
        kernels.load()
    kernels.keep_nothing()
    worker = Worker(sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0))
    walls.stand(Walls(told["files"], told["calls"]), folder=Path(tempfile.gettempdir()))
    be_silent()
    desk = Desk(worker.fetch, originals(worker.fetch))
    while request := worker.heard():
        answer(request, desk, worker)


def limit(memory: int) -> None:
    """Not more memory, and ``LIMITS``, or what there is of them."""
    for kind, wanted in {resource.RLIMIT_AS: memory, **LIMITS}.items():
        granted = resource.getrlimit(kind)[1]
        most = wanted if granted == resource.RLIM_INFINITY else min(wanted, granted)
        resource.setrlimit(kind, (most, most))


def be_silent() -> None:
    """Nothing that prints may speak in the answers' channel, or reach the worker's log."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def end_with(parent: int) -> None:
    """The worker's death is this process's too, even by kill -9."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if parent and os.getppid() != parent:
        sys.exit("the worker is gone")


@dataclass(frozen=True, slots=True)
class Worker:
    """The parent, at the other end of two pipes."""

    incoming: BinaryIO
    outgoing: BinaryIO

    def heard(self) -> Any:
        """Its next line; None once it has closed the pipe."""
        line = self.incoming.readline()
        return json.loads(line) if line else None

    def say(self, message: dict[str, Any]) -> None:
        left = memoryview(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        while left:
            left = left[self.outgoing.write(left) or 0 :]

    def fetch(self, digest: str) -> bytes:
        """The content of that SHA-256; a parent that does not have it ends this process."""
        self.say({"fetch": digest})
        return self.incoming.read(self.heard()["length"])

    def step(self, number: int, of: int, name: str) -> None:
        self.say({"step": number, "of": of, "name": name})


@dataclass(frozen=True, slots=True)
class Desk:
    """What every request is worked on with."""

    fetch: Callable[[str], bytes]
    original: Callable[[Digests, str], Prepared]


def answer(request: dict[str, Any], desk: Desk, worker: Worker) -> None:
    try:
        found = WORK[request["kind"]](request, desk, worker.step)
        worker.say({"verdict": found, "scorer": SCORER})
    except MemoryError:
        worker.say({"failed": "memory", "trace": ""})
    except InvalidCompetition:
        worker.say({"unreadable": True})
    except Exception:
        # The frames, not the message: a message may quote what must stay secret.
        worker.say({"failed": "crash", "trace": "".join(traceback.format_tb(sys.exc_info()[2]))})


def score(request: dict[str, Any], desk: Desk, progress: Progress) -> dict[str, Any]:
    digests = tuple(sorted(request["original"].items()))
    rules, tables, prepared = desk.original(digests, request["competition_file"])
    track = TRACKS[rules.track]
    release, _ = track.parse_release(contents(request, desk), tables, rules)
    about = About(
        rules, track.sizes(tables, release), lambda: tables, release, *aids_in(request["aids"], track)
    )
    source = track.answers.read(request["secret"].encode(), about)
    verdict = evaluate(rules, prepared, release, source, progress=progress)
    of_release = {"resembles": resembled(rules, prepared, verdict)}
    return verdict.to_json() | of_release | ({"reach": [*map(list, verdict.reach)]} if verdict.reach else {})


def original_in(request: dict[str, Any], desk: Desk) -> dict[str, bytes]:
    return {name: desk.fetch(digest) for name, digest in request["original"].items()}


def contents(request: dict[str, Any], desk: Desk) -> dict[str, bytes]:
    """The files of a release."""
    return {name: desk.fetch(digest) for name, digest in request["files"].items()}


def rewrite(request: dict[str, Any], desk: Desk, __: Progress) -> dict[str, Any]:
    """A target's files as the service itself writes them: no trace of the uploaded bytes."""
    rules = parse_competition(request["competition_file"])
    track = TRACKS[rules.track]
    tables, _ = track.parse_original(original_in(request, desk), rules)
    release, _ = track.parse_release(contents(request, desk), tables, rules)
    files = (
        track.canonical(release) if track.published is None else published(request, rules, tables, release)
    )
    return {"files": {name: text.decode() for name, text in files.items()}}


def published(request: dict[str, Any], rules: Rules, tables: Any, release: Any) -> dict[str, bytes]:
    """What others get of a release where that depends on its answer, or on what the service draws for it."""
    track = TRACKS[rules.track]
    assert track.published is not None  # noqa: S101  # or it would not be asked
    about = About(
        rules, track.sizes(tables, release), lambda: tables, release, *aids_in(request["aids"], track)
    )
    answer = track.answers.read(request["secret"].encode(), about)
    return track.published(release, answer, about, default_rng(secrets.randbits(128)))


Drawer = Callable[[str], Generator]


def aids_in(told: dict[str, dict[str, str]], track: Track) -> tuple[dict[str, bytes], Drawer | None]:
    """What organizers hold, and what draws for the team by purpose, if the service draws in this track."""
    truth = {name: content.encode("latin-1") for name, content in told["truth"].items()}
    keys = {purpose: bytes.fromhex(key) for purpose, key in told["keys"].items()}
    return truth, None if track.draw is None else lambda purpose: generator_of(keys[purpose])


def draw(request: dict[str, Any], desk: Desk, __: Progress) -> dict[str, Any]:
    """What a track draws from its original, for one team or for all."""
    rules = parse_competition(request["competition_file"])
    track = TRACKS[rules.track]
    tables, _ = track.parse_original(original_in(request, desk), rules)
    truth, generator = aids_in(request["aids"], track)
    assert track.draw is not None  # noqa: S101  # or it would not be asked
    assert generator is not None  # noqa: S101  # since it draws
    made = track.draw.make(tables, truth, rules, generator)
    return {"files": {name: made[name].decode() for name in request["names"]}}


def resembled(rules: Rules, prepared: Any, verdict: Verdict) -> list[dict[str, object]]:
    """The sample methods that the release resembles; the evidence, which is long, for the closest only."""
    alike = [each.to_json() for each in fingerprint(rules, prepared, verdict)]
    return alike[:1] + [without_evidence(each) for each in alike[1:]]


def without_evidence(alike: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in alike.items() if name != "evidence"}


def advise(request: dict[str, Any], desk: Desk, progress: Progress) -> dict[str, Any]:
    digests = tuple(sorted(request["original"].items()))
    rules, _, prepared = desk.original(digests, request["competition_file"])
    asked = question.Question(**request["question"])
    return question.answer(asked, rules, prepared, progress=progress).to_json()


def judge(request: dict[str, Any], desk: Desk, _: Progress) -> dict[str, Any]:
    """What a guess on a target came to."""
    rules, sizes = parse_competition(request["competition_file"]), request["sizes"]
    track, digests = TRACKS[rules.track], tuple(sorted(request["original"].items()))
    question = track.questions[request["question"]]
    about = About(
        rules,
        sizes,
        lambda: desk.original(digests, request["competition_file"])[1],
        None,
        *aids_in(request["aids"], track),
    )
    guess = question.read(desk.fetch(request["guess"]), about)
    answer = track.answers.read(request["secret"].encode(), about)
    found = question.judge(guess, answer, sizes, **rules.questions.get(question.name, {}))
    return {"outcome": {name: value for name, value in asdict(found).items() if value is not None}}


def sample(request: dict[str, Any], desk: Desk, _: Progress) -> dict[str, Any]:
    """A sample method's release of the original, and its secret."""
    digests = tuple(sorted(request["original"].items()))
    rules, tables, _ = desk.original(digests, request["competition_file"])
    files = sample_release(
        TRACKS[rules.track], request["method"], tables, rules, default_rng(request["seed"])
    )
    return {"files": {name: content.decode() for name, content in files.items()}}


def attack(request: dict[str, Any], desk: Desk, _: Progress) -> dict[str, Any]:
    """What a built-in attacker guesses of a target, by question."""
    digests = tuple(sorted(request["original"].items()))
    rules, tables, prepared = desk.original(digests, request["competition_file"])
    track = TRACKS[rules.track]
    target = track.target_of(prepared, track.read_target(contents(request, desk), tables, rules))
    attacker = track.attackers[request["attacker"]]
    found = guesses_of(attacker, target, track=track, rules=rules, rng=default_rng(request["seed"]))
    return {"files": {name: content.decode() for name, content in found.items()}}


WORK: Mapping[str, Callable[[dict[str, Any], Desk, Progress], dict[str, Any]]] = {
    "Request": score,
    "Inquiry": advise,
    "Trial": judge,
    "Rewriting": rewrite,
    "Drawing": draw,
    "Sampling": sample,
    "Attack": attack,
}
"""What is done with each kind of ``workers.work``."""


if __name__ == "__main__":
    main()
