"""Jobs of workers, done in the sandbox: score, judge, advise, allocate, and write the files of targets."""

import secrets
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from numpy.random import Generator, default_rng

from anoncup.competition.ranking_functions import rank_board
from anoncup.errors import FileProblem, InvalidInput, InvalidUpload
from anoncup.evaluation.evaluate import evaluate
from anoncup.evaluation.results import judge_guess, serialize_outcome
from anoncup.evaluation.threshold_report import make_report
from anoncup.excessive.question import AdviceQuestion
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.runner.answers import ProgressPipe
from anoncup.runner.jobs import (
    AdviceJob,
    AllocateJob,
    Files,
    JudgeJob,
    RankJob,
    ScoreJob,
    TargetFilesJob,
    WorkerInputs,
)
from anoncup.runner.loading import load_original, load_rules
from anoncup.tracks.capabilities import AllocationContext
from anoncup.tracks.files import GUESS_FILE
from anoncup.tracks.generators import create_generator
from anoncup.tracks.model import AnyContext, AnyTrack, ReleaseContext, TeamData
from anoncup.tracks.ranking_board import Ranked

SCORER_VERSION = version("anoncup")
"""Version of the scoring code as a whole. Each measure also has its own version."""


def score(job: ScoreJob, progress: ProgressPipe) -> dict[str, Any]:
    """Return the verdict on a release."""
    rules, original = load_rules(job.competition_file), load_original(job)
    release = TRACKS[rules.track].parse_release(job.files, original, rules, job.inputs.own_files)[0]
    context = _build_release_context(job, rules, original, release)
    answer = _read_answer(job.secret, context)
    verdict = evaluate(rules, original, release, answer, progress=progress, context=context)
    return {"verdict": verdict.to_json(), "scorer": SCORER_VERSION, "steps": progress.total}


def _build_release_context(
    job: ScoreJob | TargetFilesJob, rules: Rules, original: Any, release: Any
) -> AnyContext:
    """Return the context in which the true answer to a release is read."""
    track = TRACKS[rules.track]
    sizes = track.count_sizes(original, release)
    return ReleaseContext(rules, sizes, lambda: original, release, *_read_inputs(job.inputs, track))


def _read_answer(secret: bytes, context: AnyContext) -> Any:
    """Return the true answer to a release."""
    return TRACKS[context.rules.track].answer_spec.read(secret, context)


def write_target_files(job: TargetFilesJob, _: ProgressPipe) -> Files:
    """Return a target's files, rewritten so that no trace of the uploaded bytes remains."""
    rules, original = load_rules(job.competition_file), load_original(job)
    track = TRACKS[rules.track]
    release = track.parse_release(job.files, original, rules, job.inputs.own_files)[0]
    if track.target_files.write is None:
        return track.write_release_canonically(release)
    assert job.secret is not None  # noqa: S101  # given for such tracks
    context = _build_release_context(job, rules, original, release)
    answer = _read_answer(job.secret, context)
    return track.write_target(answer, context, default_rng(secrets.randbits(128)))


_GeneratorFactory = Callable[[str], Generator]


def _read_inputs(inputs: WorkerInputs, track: AnyTrack) -> tuple[Files, _GeneratorFactory | None, TeamData]:
    """Return the organizers' files, the generators by purpose if the track allocates files, and the team."""
    keys = {purpose: bytes.fromhex(key) for purpose, key in inputs.keys.items()}
    create = None if track.allocation is None else lambda purpose: create_generator(keys[purpose])
    return inputs.organizer_files, create, TeamData(inputs.team, inputs.own_files)


def allocate(job: AllocateJob, _: ProgressPipe) -> Files:
    """Return the files that the track makes from its original, for one team or for all."""
    rules, original = load_rules(job.competition_file), load_original(job)
    track = TRACKS[rules.track]
    organizer_files, generator, team = _read_inputs(job.inputs, track)
    assert track.allocation is not None  # noqa: S101  # only such tracks get this job
    assert generator is not None  # noqa: S101  # given for such tracks
    context = AllocationContext(rules, organizer_files, generator, team.name)
    files = track.allocation.make_files(original, context)
    return {name: files[name] for name in job.file_names if files}


def advise(job: AdviceJob, progress: ProgressPipe) -> dict[str, Any]:
    """Return a threshold report."""
    rules, original = load_rules(job.competition_file), load_original(job)
    return make_report(AdviceQuestion(**job.question), rules, original, progress=progress).to_json()


def judge(job: JudgeJob, _: ProgressPipe) -> dict[str, Any]:
    """Return the outcome of a guess on a target, or the problems for which it is refused."""
    rules = load_rules(job.competition_file)
    track = TRACKS[rules.track]
    try:
        question = track.require_question(rules, job.question)
    except InvalidInput as error:
        problem = FileProblem(GUESS_FILE, None, None, error.code, error.message)
        return {"refused": InvalidUpload([problem]).to_json()}
    context: AnyContext = ReleaseContext(
        rules,
        job.sizes,
        lambda: load_original(job),
        None,
        *_read_inputs(job.inputs, track),
        TeamData(job.guesser, job.guesser_files),
    )
    # Problems of the answer are not for the guesser, so it is read outside of the block.
    answer = _read_answer(job.secret, context)
    try:
        guess = question.read(job.guess, context)
        outcome = judge_guess(question, guess, answer, context)
    except InvalidUpload as error:
        # Problems of other files, such as those of the organizers, are not for the guesser either.
        if any(problem.file != question.file.name for problem in error.problems):
            raise
        return {"refused": error.to_json()}
    return {"outcome": serialize_outcome(outcome)}


def rank(job: RankJob, _: ProgressPipe) -> tuple[Ranked, ...]:
    """Return the teams of a board as a ranking function ranks them."""
    return rank_board(job.function, job.board)
