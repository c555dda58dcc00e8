"""The program of the scoring child: requests in, steps and verdicts out.

It can reach no store: what a request names by digest it asks its parent for. It enters the sandbox before it
reads the first request, and ends if it cannot.
"""

import secrets
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any, Protocol

from numpy.random import Generator, default_rng

from anoncup.competition.parser import parse_competition
from anoncup.errors import InvalidCompetition
from anoncup.evaluation.attacks import guesses_of
from anoncup.evaluation.evaluate import Progress, Verdict, evaluate
from anoncup.evaluation.fingerprint import fingerprint
from anoncup.evaluation.samples import sample_release
from anoncup.excessive import question
from anoncup.geometry import kernels
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.generators import generator_of
from anoncup.tracks.model import About, Track
from workers.original_cache import Digests, Prepared, originals

SCORER = version("anoncup")
"""Of the rules as a whole; each number carries its own version besides."""


class Pipe(Protocol):
    """The connection to the parent, see ``app.processes.child_entry``."""

    def receive(self) -> Any: ...

    def send(self, message: Mapping[str, Any]) -> None: ...

    def fetch(self, digest: str) -> bytes: ...


def prepare(*, warm: bool) -> None:
    if warm:
        kernels.load()
    kernels.keep_nothing()


def run(pipe: Pipe) -> None:
    desk = Desk(pipe.fetch, originals(pipe.fetch))
    while request := pipe.receive():
        answer(request, desk, pipe)


@dataclass(frozen=True, slots=True)
class Desk:
    """What every request is worked on with."""

    fetch: Callable[[str], bytes]
    original: Callable[[Digests, str], Prepared]


def answer(request: dict[str, Any], desk: Desk, pipe: Pipe) -> None:
    def report_step(number: int, of: int, name: str) -> None:
        pipe.send({"step": number, "of": of, "name": name})

    try:
        found = WORK[request["kind"]](request, desk, report_step)
        pipe.send({"verdict": found, "scorer": SCORER})
    except MemoryError:
        pipe.send({"failed": "memory", "trace": ""})
    except InvalidCompetition:
        pipe.send({"unreadable": True})
    except Exception:
        # The frames, not the message: a message may quote what must stay secret.
        pipe.send({"failed": "crash", "trace": "".join(traceback.format_tb(sys.exc_info()[2]))})


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
    return verdict.to_json() | {"resembles": resembled(rules, prepared, verdict)}


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
"""What is done with each kind of ``workers.jobs``."""
