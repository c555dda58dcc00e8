"""The program of the scoring child: reads jobs, reports progress and returns results.

It has no access to the store: its parent hands over the files that a job names by digest. It enters the
sandbox before it reads the first job, and ends if it cannot.
"""

import secrets
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Protocol

from numpy.random import Generator, default_rng

from anoncup.competition.parser import parse_competition
from anoncup.errors import InvalidCompetition
from anoncup.evaluation.attacks import write_guesses
from anoncup.evaluation.evaluate import Verdict, evaluate
from anoncup.evaluation.fingerprint import fingerprint
from anoncup.evaluation.samples import build_sample_release
from anoncup.excessive import ProgressCallback, question
from anoncup.geometry import kernels
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.generators import create_generator
from anoncup.tracks.model import AnyContext, AnyTrack, ReleaseContext

SCORER_VERSION = version("anoncup")
"""Version of the scoring code as a whole. Each measure also has its own version."""
_CACHE_SIZE = 2
"""Number of originals kept between jobs."""

Digests = tuple[tuple[str, str], ...]
"""Name and SHA-256 of each file of an original."""
_LoadedOriginal = tuple[Rules, Any]
"""The rules and the original, which also caches derived values."""


class ParentPipe(Protocol):
    """The connection to the parent, see ``app.processes.child_entry``."""

    def receive(self) -> Any: ...

    def send(self, message: Mapping[str, Any]) -> None: ...

    def fetch(self, digest: str) -> bytes: ...


def prepare(*, warm: bool) -> None:
    if warm:
        kernels.load()
    kernels.disable_cache_writes()


def run(pipe: ParentPipe) -> None:
    context = JobContext(pipe.fetch, make_original_loader(pipe.fetch))
    while request := pipe.receive():
        _answer_request(request, context, pipe)


@dataclass(frozen=True, slots=True)
class JobContext:
    """Access to files and originals, shared by all jobs."""

    fetch: Callable[[str], bytes]
    load_original: Callable[[Digests, str], _LoadedOriginal]


def _answer_request(request: dict[str, Any], context: JobContext, pipe: ParentPipe) -> None:
    def report_step(number: int, total: int, name: str) -> None:
        pipe.send({"step": number, "of": total, "name": name})

    try:
        content = HANDLERS[request["kind"]](request, context, report_step)
        pipe.send({"verdict": content, "scorer": SCORER_VERSION})
    except MemoryError:
        pipe.send({"failed": "memory", "trace": ""})
    except InvalidCompetition:
        pipe.send({"unreadable": True})
    except Exception:
        # Only the frames: an error's message may quote secrets.
        pipe.send({"failed": "crash", "trace": "".join(traceback.format_tb(sys.exc_info()[2]))})


def score(request: dict[str, Any], context: JobContext, progress: ProgressCallback) -> dict[str, Any]:
    digests = tuple(sorted(request["original"].items()))
    rules, original = context.load_original(digests, request["competition_file"])
    track = TRACKS[rules.track]
    release, _ = track.parse_release(_fetch_release(request, context), original, rules)
    _, source = _read_secret(request, rules, original, release)
    verdict = evaluate(rules, original, release, source, progress=progress)
    return verdict.to_json() | {"resembles": _find_resemblances(rules, original, verdict)}


def _read_secret(
    request: dict[str, Any], rules: Rules, original: Any, release: Any
) -> tuple[AnyContext, Any]:
    """Return the true answer to a release, and the context in which it was read."""
    track = TRACKS[rules.track]
    sizes, inputs = track.count_sizes(original, release), _read_inputs(request["inputs"], track)
    release_context = ReleaseContext(rules, sizes, lambda: original, release, *inputs)
    return release_context, track.answer_spec.read(request["secret"].encode(), release_context)


def _fetch_original(request: dict[str, Any], context: JobContext) -> dict[str, bytes]:
    return {name: context.fetch(digest) for name, digest in request["original"].items()}


def _fetch_release(request: dict[str, Any], context: JobContext) -> dict[str, bytes]:
    """Return the content of each file of the release."""
    return {name: context.fetch(digest) for name, digest in request["files"].items()}


def write_target_files(request: dict[str, Any], context: JobContext, __: ProgressCallback) -> dict[str, Any]:
    """Return a target's files, rewritten so that no trace of the uploaded bytes remains."""
    rules = parse_competition(request["competition_file"])
    track = TRACKS[rules.track]
    original, _ = track.parse_original(_fetch_original(request, context), rules)
    release, _ = track.parse_release(_fetch_release(request, context), original, rules)
    if track.target_files.write is None:
        files = track.write_release_canonically(release)
    else:
        release_context, answer = _read_secret(request, rules, original, release)
        rng = default_rng(secrets.randbits(128))
        files = track.target_files.write(release, answer, release_context, rng)
    return {"files": {name: text.decode() for name, text in files.items()}}


_GeneratorFactory = Callable[[str], Generator]


def _read_inputs(
    inputs: dict[str, dict[str, str]], track: AnyTrack
) -> tuple[dict[str, bytes], _GeneratorFactory | None]:
    """Return the organizers' files, and the generators by purpose if the track allocates files."""
    organizer_files = {name: content.encode("latin-1") for name, content in inputs["organizer_files"].items()}
    keys = {purpose: bytes.fromhex(key) for purpose, key in inputs["keys"].items()}
    return organizer_files, None if track.allocation is None else lambda purpose: create_generator(
        keys[purpose]
    )


def allocate(request: dict[str, Any], context: JobContext, __: ProgressCallback) -> dict[str, Any]:
    """Return the files that the track draws from its original, for one team or for all."""
    rules = parse_competition(request["competition_file"])
    track = TRACKS[rules.track]
    original, _ = track.parse_original(_fetch_original(request, context), rules)
    organizer_files, generator = _read_inputs(request["inputs"], track)
    assert track.allocation is not None  # noqa: S101  # only such tracks get this job
    assert generator is not None  # noqa: S101  # given for such tracks
    files = track.allocation.make_files(original, organizer_files, rules, generator)
    return {"files": {name: files[name].decode() for name in request["names"]}}


def _find_resemblances(rules: Rules, original: Any, verdict: Verdict) -> list[dict[str, object]]:
    """Return the sample methods that the release resembles, closest first.

    Only the closest has its evidence, which is long.
    """
    resemblances = [resemblance.to_json() for resemblance in fingerprint(rules, original, verdict)]
    for resemblance in resemblances[1:]:
        del resemblance["evidence"]
    return resemblances


def advise(request: dict[str, Any], context: JobContext, progress: ProgressCallback) -> dict[str, Any]:
    digests = tuple(sorted(request["original"].items()))
    rules, original = context.load_original(digests, request["competition_file"])
    advice_question = question.AdviceQuestion(**request["question"])
    return question.answer(advice_question, rules, original, progress=progress).to_json()


def judge(request: dict[str, Any], context: JobContext, _: ProgressCallback) -> dict[str, Any]:
    """Return the outcome of a guess on a target."""
    rules, sizes = parse_competition(request["competition_file"]), request["sizes"]
    track, digests = TRACKS[rules.track], tuple(sorted(request["original"].items()))
    guess_question = track.questions[request["question"]]
    release_context: AnyContext = ReleaseContext(
        rules,
        sizes,
        lambda: context.load_original(digests, request["competition_file"])[1],
        None,
        *_read_inputs(request["inputs"], track),
    )
    guess = guess_question.read(context.fetch(request["guess"]), release_context)
    answer = track.answer_spec.read(request["secret"].encode(), release_context)
    outcome = guess_question.judge(guess, answer, sizes, **rules.questions.get(guess_question.name, {}))
    return {"outcome": {name: value for name, value in asdict(outcome).items() if value is not None}}


def sample(request: dict[str, Any], context: JobContext, _: ProgressCallback) -> dict[str, Any]:
    """Return the files of a sample method's release, including its secret."""
    digests = tuple(sorted(request["original"].items()))
    rules, original = context.load_original(digests, request["competition_file"])
    files = build_sample_release(
        TRACKS[rules.track], request["method"], original, rules, default_rng(request["seed"])
    )
    return {"files": {name: content.decode() for name, content in files.items()}}


def attack(request: dict[str, Any], context: JobContext, _: ProgressCallback) -> dict[str, Any]:
    """Return a built-in attacker's guess for each question it answers."""
    digests = tuple(sorted(request["original"].items()))
    rules, original = context.load_original(digests, request["competition_file"])
    track = TRACKS[rules.track]
    target = track.parse_target(_fetch_release(request, context), original, rules)
    attacker = track.attackers[request["attacker"]]
    guesses = write_guesses(attacker, target, track=track, rules=rules, rng=default_rng(request["seed"]))
    return {"files": {name: content.decode() for name, content in guesses.items()}}


HANDLERS: Mapping[str, Callable[[dict[str, Any], JobContext, ProgressCallback], dict[str, Any]]] = {
    "ScoreJob": score,
    "AdviceJob": advise,
    "JudgeJob": judge,
    "TargetFilesJob": write_target_files,
    "AllocateJob": allocate,
    "SampleJob": sample,
    "AttackJob": attack,
}
"""The handler of each kind of job in ``workers.jobs``."""


def make_original_loader(fetch: Callable[[str], bytes]) -> Callable[[Digests, str], _LoadedOriginal]:
    """Return a cached function that loads an original, fetching its files with ``fetch``."""

    @lru_cache(maxsize=_CACHE_SIZE)
    def load_original(digests: Digests, competition_file: str) -> _LoadedOriginal:
        rules = parse_competition(competition_file)
        track = TRACKS[rules.track]
        return rules, track.parse_original({name: fetch(digest) for name, digest in digests}, rules)[0]

    return load_original
