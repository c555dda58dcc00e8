"""Contract tests for measures, attackers and methods, for the built-in ones and for plug-ins.

A law is a property that every part of a kind must have. The caller provides the cases on which the laws are
checked: releases of example data. ``BrokenLaw`` names the part and the law that does not hold.
"""

import inspect
import math
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from anoncup.errors import InvalidInput, InvalidResult, InvalidUpload
from anoncup.evaluation.attacks import AttackerResult, make_guesses, rate_attack
from anoncup.evaluation.ranking import rounding_threshold
from anoncup.evaluation.results import ResultChecker, judge_guess
from anoncup.evaluation.scales import scales
from anoncup.rules.model import Rules
from anoncup.rules.parameters import Parameter
from anoncup.rules.settings import MeasureSettings, Parameters
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.files import Files
from anoncup.tracks.generators import derive_generator
from anoncup.tracks.memo import get_memo
from anoncup.tracks.model import AnyQuestion, AnyTrack, ReleaseContext, Sizes, TeamData
from anoncup.tracks.parts import (
    AnyAttacker,
    AnyMeasure,
    AnyMethod,
    AnyScoredRelease,
    BuiltInGuess,
    Guesses,
    HasRows,
)

SEED = b"laws"
"""Seed of the generators of allocations."""
_SHUFFLE_COUNT = 3
"""Number of random row orders in which each release is checked."""
ROUNDING_TOLERANCE = 1e-9
"""Relative difference that the order of rows may cause in a value."""


class BrokenLaw(AssertionError):
    """A part violates a law."""


@dataclass(frozen=True, slots=True)
class TrackCase:
    """A release of an original with its true answer; ``other_answer`` is another possible answer.

    ``team`` is the team of the release and ``guesser`` the one that guesses, each with its own files.
    """

    rules: Rules
    original: Any
    release: Any
    answer: Any
    other_answer: Any = None
    team: TeamData = field(default_factory=TeamData)
    guesser: TeamData | None = None
    organizer_files: Files = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckedCase:
    """A case on which the laws are checked, with its track."""

    track: AnyTrack
    case: TrackCase

    @property
    def sizes(self) -> Sizes:
        return self.track.count_sizes(self.case.original, self.case.release)

    @property
    def context(self) -> ReleaseContext[object, object]:
        """The context of a scoring worker."""
        case = self.case
        return ReleaseContext(
            case.rules,
            self.sizes,
            lambda: case.original,
            case.release,
            case.organizer_files,
            None
            if self.track.allocation is None
            else lambda purpose: derive_generator(SEED, purpose, case.team.name),
            case.team,
            case.guesser,
        )

    def get_parameters(self, question: AnyQuestion) -> Parameters:
        return self.case.rules.questions.get(question.name, {})

    def make_guesses(self, attacker: AnyAttacker, target: object) -> Guesses:
        return make_guesses(attacker, target, track=self.track, rules=self.case.rules)

    def rate(self, attacker: AnyAttacker, guesses: Guesses, answer: object) -> AttackerResult:
        return rate_attack(attacker, guesses, answer, self.context, track=self.track)

    def build_target(self) -> object:
        return self.track.build_target(self.case.answer, self.context)

    def parse_release(self, files: Files) -> Any:
        return self.track.parse_release(files, self.case.original, self.case.rules, self.case.team.own_files)[
            0
        ]

    def build_target_from_files(self) -> object:
        """Return what attackers see of the release as it is read from its files."""
        parsed_release = self.parse_release(self.track.files_of(self.case.release))
        return self.track.build_target(self.case.answer, replace(self.context, release=parsed_release))

    def add_answer(self, answer: object) -> AnyScoredRelease:
        return self.track.add_answer(answer, self.context)

    def shuffle(self, seed: int) -> "CheckedCase":
        """Return the case with the rows of the release in another order."""
        rng = np.random.default_rng(seed)
        release, answer = self.track.shuffle(self.case.release, self.case.answer, rng=rng)
        return CheckedCase(self.track, replace(self.case, release=release, answer=answer, other_answer=None))


def list_checked_cases(track: AnyTrack, cases: Iterable[TrackCase]) -> list[CheckedCase]:
    """Return the cases with their track; raise ValueError if there are none."""
    checked_cases = [CheckedCase(track, case) for case in cases]
    if not checked_cases:
        raise ValueError("a law is tried on one case at least")
    for original in {id(checked.case.original): checked.case.original for checked in checked_cases}.values():
        rows, frame = getattr(original, "rows", None), track.build_frames(original)[0]
        require(rows == len(frame), track.name, f"an original has its rows, not {rows}")
    return checked_cases


def iter_method_cases(
    track: AnyTrack, rules: Rules, original: HasRows, *, seed: int = 0
) -> Iterator[TrackCase]:
    """Yield a case with shuffled rows for each sample method.

    If the track neither shuffles rows nor seals releases, the case also has another answer. Where the service
    allocates the answer, it is the team's own file.
    """
    rng, other_rng = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    needs_other_answer = not (track.can_shuffle or track.target_files.seals_release)
    answer_name = track.answer_spec.file.name
    for method in track.methods.values():
        release, answer = track.anonymize(method, original, rules, rng, {})
        other_answer = (
            track.anonymize(method, original, rules, other_rng, {})[1] if needs_other_answer else None
        )
        own_files = {answer_name: track.answer_spec.write(answer)} if track.allocates_answer else {}
        yield TrackCase(
            rules,
            original,
            *track.shuffle(release, answer, rng=rng),
            other_answer,
            TeamData(own_files=own_files),
        )


def require(condition: bool, part: str, law: str) -> None:
    if not condition:
        raise BrokenLaw(f"{part}: {law}")


@contextmanager
def valid_results(part: str) -> Iterator[None]:
    """Raise BrokenLaw if a service would refuse a result of the part."""
    try:
        yield
    except InvalidResult as error:
        raise BrokenLaw(f"{part}: {error}") from None


def check_measure(measure: AnyMeasure, track: AnyTrack, cases: Iterable[TrackCase]) -> None:
    """Check the laws of a measure.

    - The value is a finite float, 0 or more, and does not depend on the order of the rows.
    - The details are finite numbers by name.
    - A measure that may have a weight is 0 for the original itself and has a scale above rounding noise.
    - A measure is exact or in data units, not both.
    - A measure that does not read the answer does not depend on it.
    - The inputs are not modified, nor what is memoized of the original.
    """
    _check_parameters(measure.name, measure.parameters, measure.compute)
    if measure.largest_cell is not None:
        require(not measure.is_exact, measure.name, "it says that it is exact, and that it reads cells")
        _check_parameters(measure.name, measure.parameters, measure.largest_cell)
    checked_cases = list_checked_cases(track, cases)
    one_per_original = {id(checked.case.original): checked for checked in reversed(checked_cases)}
    for checked in one_per_original.values() if measure.weighs else ():
        _check_weight(measure, checked)
    for checked in checked_cases:
        checked.build_target()  # memoizes what targets need of the original
        scored = checked.add_answer(checked.case.answer)
        with unchanged_inputs(measure.name, checked, scored.release, scored.target):
            value = _compute_value(measure, scored)
            _check_details(measure, scored, track)
        require(
            value == _compute_value(measure, checked.add_answer(checked.case.answer)),
            measure.name,
            "the same release has the same value",
        )
        for seed in range(_SHUFFLE_COUNT if checked.track.can_shuffle else 0):
            shuffled = checked.shuffle(seed)
            other_value = _compute_value(measure, shuffled.add_answer(shuffled.case.answer))
            is_close = math.isclose(
                other_value, value, rel_tol=ROUNDING_TOLERANCE, abs_tol=ROUNDING_TOLERANCE
            )
            require(
                is_close, measure.name, f"the order of the rows is no matter: {value}, then {other_value}"
            )
        if not measure.reads_secret and (other_answer := find_other_answer(checked)) is not None:
            other_value = measure.compute(checked.add_answer(other_answer))
            require(value == other_value, measure.name, "it says that it does not read the answer")


def _compute_value(measure: AnyMeasure, scored: Any) -> float:
    value = measure.compute(scored)
    require(type(value) is float, measure.name, f"a float, as float(…) makes, not {type(value).__name__}")
    require(math.isfinite(value) and value >= 0, measure.name, f"finite and not below 0, not {value}")
    return value


def _check_details(measure: AnyMeasure, scored: Any, track: AnyTrack) -> None:
    if measure.details is not None:
        details = measure.details(scored)
        with valid_results(measure.name):
            ResultChecker(track.name, f"measures.{measure.name}").require_details(details)


def _check_weight(measure: AnyMeasure, checked: CheckedCase) -> None:
    identity_release = checked.track.scaling.identity_release
    if identity_release is not None:
        value = _compute_value(measure, identity_release(checked.case.original))
        require(value == 0.0, measure.name, f"the original as it is has lost nothing, not {value}")
    single_measure_track = replace(checked.track, measures={measure.name: measure})
    weights = {measure.name: MeasureSettings(weight=1.0)}  # without it, that of a package has no scale
    scale = scales(single_measure_track, checked.case.original, weights)[measure.name]
    rounding = rounding_threshold(measure, checked.case.original, {})
    require(
        scale > rounding,
        measure.name,
        f"it needs a scale above {rounding}, not {scale}: name one of its own with scale=",
    )


def check_attacker(attacker: AnyAttacker, track: AnyTrack, cases: Iterable[TrackCase]) -> None:
    """Check the laws of an attacker.

    - There is a guess for each of its questions, in the form that the question asks for.
    - The rate is a float in [0, 1].
    - The result is deterministic, and the rate is the same for the release as it is read from its files.
      Nothing that an attacker sees can therefore depend on the answer.
    - A guess made from the result survives the round trip through its file and scores the reported rate.
    - The inputs are not modified, nor what is memoized of the original.
    """
    _check_parameters(attacker.name, attacker.parameters, attacker.attack)
    for name in attacker.questions:
        require(name in track.questions, attacker.name, f"no question {name}")
    for checked in list_checked_cases(track, cases):
        with valid_results(attacker.name):
            _check_attack(attacker, checked)


def _check_attack(attacker: AnyAttacker, checked: CheckedCase) -> None:
    name, answer = attacker.name, checked.case.answer
    target = checked.build_target()
    with unchanged_inputs(name, checked, target):
        guesses = checked.make_guesses(attacker, target)
    result = checked.rate(attacker, guesses, answer)
    value = result.rate.value
    require(type(value) is float and 0 <= value <= 1, name, f"a rate in [0, 1], not {value}")
    repeated_guesses = pickle.dumps(checked.make_guesses(attacker, checked.build_target()))
    require(repeated_guesses == pickle.dumps(guesses), name, "the same target has the same answer")
    guesses_from_files = checked.make_guesses(attacker, checked.build_target_from_files())
    result_from_files = checked.rate(attacker, guesses_from_files, answer)
    require(result_from_files == result, name, "what it sees does not depend on the answer")
    other_answer = find_other_answer(checked)
    if not attacker.reads_secret and other_answer is not None:
        other_value = checked.rate(attacker, guesses, other_answer).rate.value
        require(other_value == value, name, "it says that its rate does not depend on the answer")
    for question, guess in guesses.items():
        _check_guess(name, checked.track.questions[question], guess, checked)


def _check_guess(name: str, question: AnyQuestion, guess: object, checked: CheckedCase) -> None:
    sent = guess.sample(np.random.default_rng(0)) if isinstance(guess, BuiltInGuess) else guess
    if sent is None:
        return
    rate = judge_guess(question, guess, checked.case.answer, checked.context)
    outcome = question.judge(
        _read_back(name, question, sent, checked.context),
        checked.case.answer,
        checked.context,
        **checked.get_parameters(question),
    )
    is_sampled = rate.sd is not None  # the rate is an expectation, and the guess is one random sample
    require(is_sampled or outcome.value == rate.value, name, "its guess is judged as it is rated")


def _read_back(name: str, question: AnyQuestion, guess: Any, context: ReleaseContext[object, object]) -> Any:
    """Return a guess after writing it to its file and reading it back; the file must stay the same."""
    file_content = question.write(guess)
    try:
        parsed = question.read(file_content, context)
    except InvalidUpload as error:
        raise BrokenLaw(f"{name}: no team could send its guess: {error.problems[0].message}") from None
    require(question.write(parsed) == file_content, name, "its guess comes out of its file as it went in")
    return parsed


def check_method(method: AnyMethod, track: AnyTrack, cases: Iterable[TrackCase]) -> None:
    """Check the laws of a sample method.

    - It makes a valid release with a valid answer.
    - It is deterministic for a given generator.
    - It does not modify the original.
    """
    for checked in list_checked_cases(track, cases):
        _check_parameters(method.name, method.parameters, method.apply)
        files = [_run_method(method, checked) for _ in range(2)]
        require(files[0] == files[1], method.name, "the same numbers draw the same release")


def _run_method(method: AnyMethod, checked: CheckedCase) -> tuple[dict[str, bytes], bytes]:
    """Apply a method, check that its release and answer can be read back, and return the files of both."""
    track, case = checked.track, checked.case
    with unchanged_inputs(method.name, checked):
        release, answer = track.anonymize(method, case.original, case.rules, np.random.default_rng(1), {})
    files, answer_file = track.files_of(release), track.answer_spec.write(answer)
    if track.allocates_answer:
        own_files = {**case.team.own_files, track.answer_spec.file.name: answer_file}
        case = replace(case, team=replace(case.team, own_files=own_files))
    try:
        parsed_release = CheckedCase(track, case).parse_release(files)
    except InvalidUpload as error:
        raise BrokenLaw(f"{method.name}: its release would be refused: {error}") from None
    sizes = track.count_sizes(case.original, parsed_release)
    try:
        track.answer_spec.check(answer, sizes)
    except InvalidInput as error:
        raise BrokenLaw(f"{method.name}: its answer would be refused: {error}") from None
    context = CheckedCase(track, replace(case, release=parsed_release)).context
    require(
        track.answer_spec.write(track.answer_spec.read(answer_file, context)) == answer_file,
        method.name,
        "its answer is read",
    )
    return files, answer_file


def _check_parameters(name: str, parameters: Sequence[Parameter], function: Callable[..., Any]) -> None:
    """Check that the function accepts the parameters by name, with the declared defaults for numbers."""
    signature_parameters = inspect.signature(function).parameters
    for parameter in parameters:
        require(parameter.name in signature_parameters, name, f"it takes no {parameter.name}")
        default = signature_parameters[parameter.name].default
        require(
            not parameter.is_number or default == parameter.default,
            name,
            f"{parameter.name} is {default} by default",
        )


def find_other_answer(checked: CheckedCase) -> Any | None:
    """Return another answer of the same sizes, or None if the case has none and the track cannot shuffle."""
    if checked.case.other_answer is not None or not checked.track.can_shuffle:
        return checked.case.other_answer
    rng = np.random.default_rng(0)
    return checked.track.shuffle(checked.case.release, checked.case.answer, rng=rng)[1]


@contextmanager
def unchanged_inputs(part: str, checked: CheckedCase, *given: object) -> Iterator[None]:
    """Raise BrokenLaw if the block changed the inputs of a part.

    All parts share one original and one target, so a part must change neither their arrays nor those that are
    memoized of them. ``given``: what the part is given besides the original.
    """
    memo = get_memo(checked.case.original)
    snapshot, arrays = _take_snapshot(checked), _list_arrays(memo, *given)
    yield
    is_unchanged = _take_snapshot(checked) == snapshot and arrays <= _list_arrays(memo, *given)
    require(is_unchanged, part, "what it is given stays as it is")


def _take_snapshot(checked: CheckedCase) -> tuple[Any, ...]:
    case, track = checked.case, checked.track
    original_files = [write_csv(frame) for frame in track.build_frames(case.original)]
    return original_files, track.files_of(case.release), pickle.dumps(case.answer)


def _list_arrays(*objects: object) -> set[bytes]:
    """Return the contents of all arrays in these objects."""
    buffers: list[pickle.PickleBuffer] = []
    pickle.dumps(objects, protocol=5, buffer_callback=buffers.append)
    return {buffer.raw().tobytes() for buffer in buffers}
