"""Contract tests for whole tracks: files, answers, questions and targets."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from anoncup.errors import InvalidUpload
from anoncup.testing.parts import (
    ROUNDING_TOLERANCE,
    BrokenLaw,
    CheckedCase,
    TrackCase,
    check_attacker,
    check_measure,
    check_method,
    find_other_answer,
    list_checked_cases,
    require,
)
from anoncup.tracks.files import Files
from anoncup.tracks.model import AnyQuestion, AnyTrack, ReleaseContext

_BLIND_GUESS_COUNT = 60
"""Number of blind guesses that are judged for each question."""
MIN_COVERAGE, MAX_STANDARD_ERRORS = 0.5, 5.0
"""Smallest share of the 95 % intervals that must contain the baseline, and largest distance of a mean from
the baseline in standard errors. The share is below 0.95 because intervals for a fixed operating point contain
the baseline less often than they state.
"""
CANARY = "Nobody7Says7This"
"""Stands for a secret cell, which must not appear in error messages."""


def check_track(track: AnyTrack, cases: Iterable[TrackCase]) -> None:
    """Check the laws of a track and of all of its parts.

    - Files, answers and guesses survive a round trip through their file formats.
    - A perfect guess scores 1.
    - Malformed files are refused, and the error names the file.
    - What is read from the files of a target can be attacked.
    - The files of a target depend only on the part of the answer that the track declares as shown.
    """
    cases = list(cases)
    for registry in (track.measures, track.attackers, track.methods, track.questions):
        names = [part.name for part in registry.values()]
        require(names == list(registry), track.name, f"parts stand under their names, not as {names}")
    for checked in list_checked_cases(track, cases):
        _check_files(checked)
        _check_target_files(checked)
        _check_questions(checked)
    for measure in track.measures.values():
        check_measure(measure, track, cases)
    for attacker in track.attackers.values():
        check_attacker(attacker, track, cases)
    for method in track.methods.values():
        check_method(method, track, cases[:1])


def _check_files(checked: CheckedCase) -> None:
    track, case = checked.track, checked.case
    files = track.files_of(case.release)
    require(
        list(files) == list(track.release_file_names),
        track.name,
        f"a release is {track.release_file_names}, not {list(files)}",
    )
    parsed_release = checked.parse_release(files)
    require(track.files_of(parsed_release) == files, track.name, "a release goes into files and comes back")
    is_equal = track.write_release_canonically(parsed_release) == track.write_release_canonically(
        case.release
    )
    require(is_equal, track.name, "equal releases are equal bytes")
    for name in track.release_file_names:
        for malformed in _make_malformed(files[name]):
            malformed_files = {**files, name: malformed}
            _check_malformed_refused(
                track.name,
                lambda: checked.parse_release(malformed_files),  # noqa: B023
                name,
                track.release_file_names,
            )


def _check_target_files(checked: CheckedCase) -> None:
    """Check target files that are not those of the release, and that attackers can attack what is read."""
    target_files = checked.track.target_files
    if target_files.write is None and target_files.parse is None:
        return
    files = _write_target_files(checked)
    if target_files.parse is not None or not target_files.specs:
        _check_parsed_target(checked, files)


def _write_target_files(checked: CheckedCase) -> dict[str, bytes]:
    """Check the names of the files, and that they depend only on the declared part of the answer."""
    track, case, other_answer = checked.track, checked.case, _find_hidden_variant(checked)
    files, repeated_files = (
        track.write_target(case.answer, checked.context, np.random.default_rng(2)) for _ in "12"
    )
    require(set(files) == set(track.target_file_names), track.name, f"others get {track.target_file_names}")
    require(files == repeated_files, track.name, "the same numbers publish the same target")
    if other_answer is not None:
        other_files = track.write_target(other_answer, checked.context, np.random.default_rng(2))
        require(other_files == files, track.name, "what others get does not depend on the answer")
    return files


def _find_hidden_variant(checked: CheckedCase) -> Any | None:
    """Return another answer of which targets show the same part; None if the case has none."""
    shown_answer, answer, context = (
        checked.track.target_files.shown_answer,
        checked.case.answer,
        checked.context,
    )
    if shown_answer is None:
        return find_other_answer(checked)
    other_answer = shown_answer.vary_rest(answer, context, np.random.default_rng(3))
    write = checked.track.answer_spec.write
    require(write(other_answer) != write(answer), checked.track.name, "the rest of the answer is varied")
    require(
        shown_answer.extract(other_answer, context) == shown_answer.extract(answer, context),
        checked.track.name,
        "the part of the answer that targets show stays the same",
    )
    return other_answer


def _check_parsed_target(checked: CheckedCase, files: Files) -> None:
    track, case = checked.track, checked.case
    for attacker in track.attackers.values():
        try:
            guesses = checked.make_guesses(attacker, track.parse_target(files, case.original, case.rules))
            checked.rate(attacker, guesses, case.answer)
        except Exception as error:
            law = f"it can attack what is read from the files of a target, but: {error!r}"
            raise BrokenLaw(f"{attacker.name}: {law}") from error


def _make_malformed(content: bytes) -> tuple[bytes, ...]:
    """Return malformed variants of a CSV file: empty, a row with too many cells, not UTF-8."""
    header = content.partition(b"\n")[0]
    return b"", header + b"\n" + header + b",more\n", b"\xff\x00\n1\n"


def _check_malformed_refused(
    part: str, read: Callable[[], Any], file_name: str, possible_names: Sequence[str] = ()
) -> None:
    """Check that a malformed file is refused, and that the error names it or one of ``possible_names``."""
    try:
        read()
    except InvalidUpload as error:
        named_files = {problem.file for problem in error.problems}
        require(
            named_files <= {file_name, *possible_names},
            part,
            f"a wrong {file_name} is named, not {named_files}",
        )
        return
    raise BrokenLaw(f"{part}: a {file_name} that is no table is refused")


def _check_questions(checked: CheckedCase) -> None:
    track, answer, sizes = checked.track, checked.case.answer, checked.sizes
    answer_file = track.answer_spec.write(answer)
    track.answer_spec.check(answer, sizes)
    round_trip = track.answer_spec.write(track.answer_spec.read(answer_file, checked.context))
    require(round_trip == answer_file, track.name, "an answer goes into a file and comes back")
    _check_malformed_answers(checked, answer_file, checked.context)
    if track.answer_spec.reads_without_release:
        reduced_context = replace(checked.context, sizes={"originals": sizes["originals"]}, release=None)
        track.answer_spec.read(answer_file, reduced_context)
        _check_malformed_answers(checked, answer_file, reduced_context)
    for question in track.select_questions(checked.case.rules).values():
        _check_question(question, checked)


def _check_malformed_answers(
    checked: CheckedCase, answer_file: bytes, context: ReleaseContext[object, object]
) -> None:
    name, answer_spec = checked.track.name, checked.track.answer_spec
    for malformed in _make_malformed(answer_file):
        _check_malformed_refused(name, lambda: answer_spec.read(malformed, context), answer_spec.file.name)  # noqa: B023
    for malformed in _corrupt_last_line(answer_file):
        _check_not_repeated(name, lambda: answer_spec.read(malformed, context))  # noqa: B023


def _corrupt_last_line(content: bytes) -> Iterator[bytes]:
    """Yield copies of a file, each with another cell of the last line replaced by ``CANARY``."""
    *lines, last = content.decode().splitlines()
    cells = last.split(",")
    for index in range(len(cells)):
        changed_cells = [*cells[:index], CANARY, *cells[index + 1 :]]
        yield "\n".join([*lines, ",".join(changed_cells), ""]).encode()


def _check_not_repeated(part: str, read: Callable[[], Any]) -> None:
    try:
        read()
    except InvalidUpload as error:
        descriptions = repr([problem.describe() for problem in error.problems])
        require(CANARY not in descriptions, part, "no cell of an answer is repeated where it is refused")


def _check_question(question: AnyQuestion, checked: CheckedCase) -> None:
    answer, parameters = checked.case.answer, checked.get_parameters(question)
    guess_file = question.write(question.make_perfect_guess(answer))
    outcome = question.judge(
        question.read(guess_file, checked.context), answer, checked.context, **parameters
    )
    require(outcome.value == 1.0, question.name, f"who knows all is right in all, not {outcome.value}")
    if question.asks_identity:
        counts, rows = (outcome.correct, outcome.trials, outcome.baseline), checked.sizes["rows"]
        require(counts == (rows, rows, 0), question.name, f"it counts all individuals, not {counts}")
    _check_refusals(question, checked, guess_file)
    for malformed in _make_malformed(guess_file):
        _check_malformed_refused(
            question.name,
            lambda: question.read(malformed, checked.context),  # noqa: B023
            question.file.name,
        )
    if question.make_blind_guess is not None:
        _check_blind_guesses(question, checked)


def _check_refusals(question: AnyQuestion, checked: CheckedCase, guess_file: bytes) -> None:
    """Check that a guess on one answer is not refused on another: its team would learn which one it is."""
    other_answer = _find_hidden_variant(checked)
    if other_answer is None:
        return
    guess = question.read(guess_file, checked.context)
    try:
        question.judge(guess, other_answer, checked.context, **checked.get_parameters(question))
    except InvalidUpload:
        raise BrokenLaw(f"{question.name}: what is refused does not depend on the answer") from None


def _check_blind_guesses(question: AnyQuestion, checked: CheckedCase) -> None:
    """Check that blind guesses score the baseline.

    Most of their intervals must contain it; without intervals, their mean must be close to it.
    """
    rng, parameters = np.random.default_rng(0), checked.get_parameters(question)
    outcomes = [
        question.judge(
            question.make_blind_guess(checked.context, rng),  # type: ignore[misc]
            checked.case.answer,
            checked.context,
            **parameters,
        )
        for _ in range(_BLIND_GUESS_COUNT)
    ]
    contains_baseline = [
        outcome.interval[0] <= outcome.baseline <= outcome.interval[1]
        for outcome in outcomes
        if outcome.interval
    ]
    differences = np.array([outcome.value - outcome.baseline for outcome in outcomes])
    is_near = (
        abs(differences.mean())
        <= MAX_STANDARD_ERRORS * differences.std() / math.sqrt(_BLIND_GUESS_COUNT) + ROUNDING_TOLERANCE
    )
    is_consistent = np.mean(contains_baseline) >= MIN_COVERAGE if contains_baseline else is_near
    require(
        bool(is_consistent), question.name, f"a blind guess gets the baseline, not {differences.mean()} more"
    )
