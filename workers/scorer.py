"""The program of the scoring child: reads jobs, reports progress and returns results.

It has no access to the store: its parent hands over the files that a job names by digest. It enters the
sandbox before it reads the first job, and ends if it cannot.
"""

import secrets
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Protocol

from numpy.random import Generator, default_rng

from anoncup.competition.parser import parse_competition
from anoncup.competition.ranking_functions import rank_board
from anoncup.errors import FileProblem, InvalidCompetition, InvalidInput, InvalidResult, InvalidUpload
from anoncup.evaluation.evaluate import evaluate
from anoncup.evaluation.results import judge_guess, serialize_outcome
from anoncup.evaluation.threshold_report import make_report
from anoncup.excessive import ProgressCallback
from anoncup.excessive.question import AdviceQuestion
from anoncup.geometry import kernels
from anoncup.plugins import INSTALLED, TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.capabilities import AllocationContext
from anoncup.tracks.files import GUESS_FILE
from anoncup.tracks.generators import create_generator
from anoncup.tracks.model import AnyContext, AnyTrack, ReleaseContext, TeamData
from anoncup.tracks.ranking_board import RankingBoard
from workers.jobs import (
    AdviceJob,
    AllocateJob,
    Job,
    JudgeJob,
    RankJob,
    ReleaseJob,
    ScoreJob,
    TargetFilesJob,
    WorkerInputs,
    read_request,
)

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
        job = read_request(request, HANDLERS)
        content = HANDLERS[type(job)](job, context, report_step)
        pipe.send({"verdict": content, "scorer": SCORER_VERSION})
    except MemoryError:
        pipe.send({"failed": "memory", "trace": "", "package": ""})
    except InvalidCompetition:
        pipe.send({"unreadable": True})
    except Exception as error:
        # Only the frames and the type: an error's message may quote secrets, unless it is ours.
        trace = "".join([*traceback.format_tb(error.__traceback__), type(error).__qualname__])
        trace += f": {error}" if isinstance(error, InvalidResult) else ""
        pipe.send({"failed": "crash", "trace": trace, "package": _find_failed_package(error)})


def _find_failed_package(error: Exception) -> str:
    """Return the package whose code raised the error or returned a wrong result; empty if there is none."""
    if isinstance(error, InvalidResult):
        return str(error.message.values.get("package", ""))
    names = {
        package.entry.partition(":")[0].partition(".")[0]: package.name for package in INSTALLED.packages
    }
    modules = [
        str(frame.f_globals.get("__name__")).partition(".")[0]
        for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    return next((names[module] for module in reversed(modules) if module in names), "")


def score(job: ScoreJob, context: JobContext, progress: ProgressCallback) -> dict[str, Any]:
    """Return the verdict on a submission."""
    rules, original = _load_original(job, context)
    release = _read_release(job, rules, original, context)
    release_context = _build_release_context(job, rules, original, release, context)
    answer = _read_answer(job.secret, release_context)
    verdict = evaluate(rules, original, release, answer, progress=progress, context=release_context)
    return verdict.to_json()


def _load_original(job: Job, context: JobContext) -> _LoadedOriginal:
    """Return the rules and the cached original of a job."""
    return context.load_original(tuple(sorted(job.original.items())), job.competition_file)


def _read_original(job: Job, context: JobContext) -> _LoadedOriginal:
    """Return the rules and the original of a job, which is not kept."""
    rules = parse_competition(job.competition_file)
    original, _ = TRACKS[rules.track].parse_original(_fetch_files(job.original, context), rules)
    return rules, original


def _read_release(job: ReleaseJob, rules: Rules, original: Any, context: JobContext) -> Any:
    own_files = _fetch_files(job.inputs.own_files, context)
    release_files = _fetch_files(job.files, context)
    return TRACKS[rules.track].parse_release(release_files, original, rules, own_files)[0]


def _build_release_context(
    job: ReleaseJob, rules: Rules, original: Any, release: Any, context: JobContext
) -> AnyContext:
    """Return the context in which the true answer to a release is read."""
    track = TRACKS[rules.track]
    sizes = track.count_sizes(original, release)
    inputs = _read_inputs(job.inputs, track, context)
    return ReleaseContext(rules, sizes, lambda: original, release, *inputs)


def _read_answer(secret: str, release_context: AnyContext) -> Any:
    """Return the true answer to a release."""
    return TRACKS[release_context.rules.track].answer_spec.read(secret.encode(), release_context)


def _fetch_files(digests: Mapping[str, str], context: JobContext) -> dict[str, bytes]:
    """Return the content of each file by name."""
    return {name: context.fetch(digest) for name, digest in digests.items()}


def write_target_files(job: TargetFilesJob, context: JobContext, __: ProgressCallback) -> dict[str, Any]:
    """Return a target's files, rewritten so that no trace of the uploaded bytes remains."""
    rules, original = _read_original(job, context)
    track = TRACKS[rules.track]
    release = _read_release(job, rules, original, context)
    if track.target_files.write is None:
        files = track.write_release_canonically(release)
    else:
        assert job.secret is not None  # noqa: S101  # given for such tracks
        release_context = _build_release_context(job, rules, original, release, context)
        answer = _read_answer(job.secret, release_context)
        files = track.write_target(answer, release_context, default_rng(secrets.randbits(128)))
    return _serialize_files(files)


def _serialize_files(files: Mapping[str, bytes]) -> dict[str, Any]:
    return {"files": {name: content.decode() for name, content in files.items()}}


_GeneratorFactory = Callable[[str], Generator]


def _read_inputs(
    inputs: WorkerInputs, track: AnyTrack, context: JobContext
) -> tuple[dict[str, bytes], _GeneratorFactory | None, TeamData]:
    """Return the organizers' files, the generators by purpose if the track allocates files, and the team."""
    organizer_files = {name: content.encode("latin-1") for name, content in inputs.organizer_files.items()}
    keys = {purpose: bytes.fromhex(key) for purpose, key in inputs.keys.items()}
    create = None if track.allocation is None else lambda purpose: create_generator(keys[purpose])
    team = TeamData(inputs.team, _fetch_files(inputs.own_files, context))
    return organizer_files, create, team


def allocate(job: AllocateJob, context: JobContext, __: ProgressCallback) -> dict[str, Any]:
    """Return the files that the track makes from its original, for one team or for all."""
    rules, original = _read_original(job, context)
    track = TRACKS[rules.track]
    organizer_files, generator, team = _read_inputs(job.inputs, track, context)
    assert track.allocation is not None  # noqa: S101  # only such tracks get this job
    assert generator is not None  # noqa: S101  # given for such tracks
    allocation_context = AllocationContext(rules, organizer_files, generator, team.name)
    files = track.allocation.make_files(original, allocation_context)
    return _serialize_files({name: files[name] for name in job.file_names if files})


def advise(job: AdviceJob, context: JobContext, progress: ProgressCallback) -> dict[str, Any]:
    """Return a threshold report."""
    rules, original = _load_original(job, context)
    return make_report(AdviceQuestion(**job.question), rules, original, progress=progress).to_json()


def judge(job: JudgeJob, context: JobContext, _: ProgressCallback) -> dict[str, Any]:
    """Return the outcome of a guess on a target, or the problems for which it is refused."""
    rules = parse_competition(job.competition_file)
    track = TRACKS[rules.track]
    try:
        guess_question = track.require_question(rules, job.question)
    except InvalidInput as error:
        problem = FileProblem(GUESS_FILE, None, None, error.code, error.message)
        return {"refused": InvalidUpload([problem]).to_json()}
    release_context: AnyContext = ReleaseContext(
        rules,
        job.sizes,
        lambda: _load_original(job, context)[1],
        None,
        *_read_inputs(job.inputs, track, context),
        TeamData(job.guesser, _fetch_files(job.guesser_files, context)),
    )
    # Problems of the answer are not for the guesser, so it is read outside of the block.
    answer = _read_answer(job.secret, release_context)
    try:
        guess = guess_question.read(context.fetch(job.guess), release_context)
        outcome = judge_guess(guess_question, guess, answer, release_context)
    except InvalidUpload as error:
        # Problems of other files, such as those of the organizers, are not for the guesser either.
        if any(problem.file != guess_question.file.name for problem in error.problems):
            raise
        return {"refused": error.to_json()}
    return {"outcome": serialize_outcome(outcome)}


def rank(job: RankJob, _: JobContext, __: ProgressCallback) -> dict[str, Any]:
    """Return the teams of a board as a ranking function ranks them."""
    from pydantic import TypeAdapter  # noqa: PLC0415  # other jobs do not need it

    ranked = rank_board(job.function, TypeAdapter(RankingBoard).validate_python(job.board))
    return {"ranked": [asdict(team) for team in ranked]}


HANDLERS: Mapping[type[Job], Callable[[Any, JobContext, ProgressCallback], dict[str, Any]]] = {
    ScoreJob: score,
    AdviceJob: advise,
    JudgeJob: judge,
    TargetFilesJob: write_target_files,
    AllocateJob: allocate,
    RankJob: rank,
}


def make_original_loader(fetch: Callable[[str], bytes]) -> Callable[[Digests, str], _LoadedOriginal]:
    """Return a cached function that loads an original, fetching its files with ``fetch``."""

    @lru_cache(maxsize=_CACHE_SIZE)
    def load_original(digests: Digests, competition_file: str) -> _LoadedOriginal:
        rules = parse_competition(competition_file)
        track = TRACKS[rules.track]
        return rules, track.parse_original({name: fetch(digest) for name, digest in digests}, rules)[0]

    return load_original
