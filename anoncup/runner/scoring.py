"""What jobs about uploads, and those of workers, do in the sandbox."""

import secrets
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from numpy.random import Generator, default_rng

from anoncup.competition.ranking_functions import rank_board
from anoncup.errors import FileProblem, InvalidInput, InvalidUpload
from anoncup.evaluation.evaluate import check_rules, evaluate, explain_too_few_rows
from anoncup.evaluation.results import judge_guess, serialize_outcome
from anoncup.evaluation.threshold_report import make_report
from anoncup.excessive.question import AdviceQuestion
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.runner import jobs
from anoncup.runner.answers import ProgressSender
from anoncup.runner.jobs import Files, WorkerInputs
from anoncup.tables.files import Remark
from anoncup.tracks.capabilities import AllocationContext
from anoncup.tracks.files import GUESS_FILE, SECRET_FILE
from anoncup.tracks.generators import create_generator
from anoncup.tracks.model import AnyContext, AnyTrack, ReleaseContext, TeamData
from anoncup.tracks.parts import HasRows
from anoncup.tracks.ranking_board import Ranked
from anoncup.tracks.uploads import ParsedUpload, check_partial_upload, parse_upload

SCORER_VERSION = version("anoncup")
"""Version of the scoring code as a whole. Each measure also has its own version."""


def read_release(job: jobs.ReadReleaseJob, _: object) -> jobs.ParsedRelease:
    rules, track, original = job.load()
    parsed = parse_upload(track, rules, original, job.files, job.secret, team=job.team)
    release, answer, shuffled = parsed.release, parsed.answer, {}
    if rules.publication.shuffle_targets:
        release, answer = track.shuffle(release, answer, rng=default_rng(secrets.randbits(128)))
        shuffled = track.files_of(release)
    return jobs.ParsedRelease(
        shuffled, dict(parsed.sizes), track.answer_spec.write(answer), tuple(parsed.remarks)
    )


def check_release(job: jobs.CheckReleaseJob, _: object) -> tuple[int, tuple[Remark, ...]]:
    rules, track, original = job.load()
    if job.secret is None or not job.files.keys() >= set(track.release_file_names):
        is_sent = job.secret is not None and not track.allocates_answer
        received = {**job.files, SECRET_FILE: job.secret or b""} if is_sent else job.files
        check_partial_upload(track, rules, original, received, job.team)
        return 0, ()
    parsed = parse_upload(track, rules, original, job.files, job.secret, team=job.team)
    return parsed.sizes["rows"], (*parsed.remarks, *_list_rule_warnings(rules, original, parsed))


def _list_rule_warnings(rules: Rules, original: HasRows, parsed: ParsedUpload) -> tuple[Remark, ...]:
    """Return warnings of broken rules, and of a secret that may belong to another file, as the verdict will.

    If the check runs out of memory, only the number of rows is checked: a real upload needs less memory and
    would be accepted.
    """
    try:
        violations, _, warnings = check_rules(rules, original, parsed.release, parsed.answer)
    except MemoryError:
        message = explain_too_few_rows(rules, parsed.sizes)
        return (Remark("too_few_rows", message),) if message else ()
    return (*(Remark(violation.code, violation.message) for violation in violations), *warnings)


def read_guess(job: jobs.ReadGuessJob, _: object) -> jobs.ParsedGuess:
    rules = job.load_rules()
    question = TRACKS[rules.track].require_question(rules, job.question)
    context: AnyContext = ReleaseContext(rules, job.sizes, job.load_original, guesser=job.guesser)
    guess = question.read(job.guess, context)
    answered_count = question.count_answered(guess)
    remarks = question.find_remarks(guess) if answered_count else [jobs.NO_ANSWER]
    return jobs.ParsedGuess(question.write(guess), answered_count, tuple(remarks))


def score(job: jobs.ScoreJob, progress: ProgressSender) -> dict[str, Any]:
    """Return the verdict on a release."""
    rules, track, original = job.load()
    release = track.parse_release(job.files, original, rules, job.inputs.own_files)[0]
    context = _build_release_context(job, rules, original, release)
    answer = _read_answer(job.secret, context)
    verdict = evaluate(rules, original, release, answer, progress=progress, context=context)
    return {"verdict": verdict.to_json(), "scorer": SCORER_VERSION, "steps": progress.total}


def _build_release_context(
    job: jobs.ScoreJob | jobs.TargetFilesJob, rules: Rules, original: Any, release: Any
) -> AnyContext:
    """Return the context in which the true answer to a release is read."""
    track = TRACKS[rules.track]
    sizes = track.count_sizes(original, release)
    return ReleaseContext(rules, sizes, lambda: original, release, *_read_inputs(job.inputs, track))


def _read_answer(secret: bytes, context: AnyContext) -> Any:
    """Return the true answer to a release."""
    return TRACKS[context.rules.track].answer_spec.read(secret, context)


def write_target_files(job: jobs.TargetFilesJob, _: ProgressSender) -> Files:
    """Return a target's files, rewritten so that no trace of the uploaded bytes remains."""
    rules, track, original = job.load()
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


def allocate(job: jobs.AllocateJob, _: ProgressSender) -> Files:
    """Return the files that the track makes from its original, for one team or for all."""
    rules, track, original = job.load()
    organizer_files, generator, team = _read_inputs(job.inputs, track)
    assert track.allocation is not None  # noqa: S101  # only such tracks get this job
    assert generator is not None  # noqa: S101  # given for such tracks
    context = AllocationContext(rules, organizer_files, generator, team.name)
    files = track.allocation.make_files(original, context)
    return {name: files[name] for name in job.file_names if files}


def advise(job: jobs.AdviceJob, progress: ProgressSender) -> dict[str, Any]:
    """Return a threshold report."""
    rules, _, original = job.load()
    return make_report(AdviceQuestion(**job.question), rules, original, progress=progress).to_json()


def judge(job: jobs.JudgeJob, _: ProgressSender) -> dict[str, Any]:
    """Return the outcome of a guess on a target, or the problems for which it is refused."""
    rules = job.load_rules()
    track = TRACKS[rules.track]
    try:
        question = track.require_question(rules, job.question)
    except InvalidInput as error:
        problem = FileProblem(GUESS_FILE, None, None, error.code, error.message)
        return {"refused": InvalidUpload([problem]).to_json()}
    context: AnyContext = ReleaseContext(
        rules,
        job.sizes,
        job.load_original,
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


def rank(job: jobs.RankJob, _: ProgressSender) -> tuple[Ranked, ...]:
    """Return the teams of a board as a ranking function ranks them."""
    return rank_board(job.function, job.board)
