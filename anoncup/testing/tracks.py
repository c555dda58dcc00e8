"""What holds for every track as a whole: its files, answers, questions and what others get of a release."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from anoncup.errors import InvalidUpload
from anoncup.testing.parts import (
    ROUNDING,
    BrokenLaw,
    Case,
    Tried,
    another,
    check_attacker,
    check_measure,
    check_method,
    require,
    tried,
)
from anoncup.tracks.files import FileSpec
from anoncup.tracks.model import About, Question, Track

BLIND = 60
"""Blind guesses that are judged."""
HELD, BEYOND_CHANCE = 0.5, 5.0
"""The least share of their 95 % intervals that hold the baseline: those that take an operating point as given
hold it less often than they say; and the deviations of a mean that are chance."""
CANARY = "Nobody7Says7This"
"""In the place of a secret."""


def check_track(track: Track, cases: Iterable[Case]) -> None:
    """All of its parts; its files, answers and guesses go out and come back; whoever knows all is right in
    all; a file that is none is refused with its place; an original that was kept serves as well."""
    cases = list(cases)
    for registry in (track.measures, track.attackers, track.methods, track.questions):
        names = [part.name for part in registry.values()]
        require(names == list(registry), track.name, f"parts stand under their names, not as {names}")
    for one in tried(track, cases):
        check_files(one)
        check_published(one)
        check_questions(one)
    for measure in track.measures.values():
        check_measure(measure, track, cases)
    for attacker in track.attackers.values():
        check_attacker(attacker, track, cases)
    for method in track.methods.values():
        check_method(method, track, cases[:1])


def check_files(one: Tried) -> None:
    track, case = one.track, one.case
    files = track.files_of(case.release)
    require(list(files) == list(track.files), track.name, f"a release is {track.files}, not {list(files)}")
    again, _ = track.parse_release(files, case.original, case.rules)
    require(track.files_of(again) == files, track.name, "a release goes into files and comes back")
    same = track.canonical(again) == track.canonical(case.release)
    require(same, track.name, "equal releases are equal bytes")
    for name in track.files:
        for wrong in broken(files[name]):
            check_refused(one, {**files, name: wrong}, name)


def check_published(one: Tried) -> None:
    """What others get is of the names that were said, the same from the same numbers, and of a release that
    does not tell its answer the same whatever that is."""
    track, case, swapped = one.track, one.case, another(one)
    if (publish := track.published) is None:
        return
    files, again = (publish(case.release, case.answer, one.about, np.random.default_rng(2)) for _ in "12")
    require(set(files) == set(track.target_files), track.name, f"others get {track.target_files}")
    require(files == again, track.name, "the same numbers publish the same target")
    if swapped is not None:
        other = publish(case.release, swapped, one.about, np.random.default_rng(2))
        require(other == files, track.name, "what others get does not depend on the answer")


def broken(content: bytes) -> tuple[bytes, ...]:
    """What is no table, or one with a row too many of cells too many."""
    header = content.partition(b"\n")[0]
    return b"", header + b"\n" + header + b",more\n", b"\xff\x00\n1\n"


def check_unread(part: str, read: Callable[[], Any], file: FileSpec) -> None:
    try:
        read()
    except InvalidUpload as refused:
        named = all(one.file == file.name for one in refused.problems)
        require(named, part, f"what is wrong in {file.name} is said of it")
        return
    raise BrokenLaw(f"{part}: a {file.name} that is no table is refused")


def check_refused(one: Tried, files: Mapping[str, bytes], name: str) -> None:
    try:
        one.track.parse_release(files, one.case.original, one.case.rules)
    except InvalidUpload as refused:
        said = {problem.file for problem in refused.problems}
        require(said <= set(one.track.files), one.track.name, f"a wrong {name} is named, not {said}")
        return
    raise BrokenLaw(f"{one.track.name}: a {name} that is no table is refused")


def check_questions(one: Tried) -> None:
    track, answer, sizes = one.track, one.case.answer, one.sizes
    written = track.answers.write(answer)
    track.answers.check(answer, sizes)
    again = track.answers.write(track.answers.read(written, one.about))
    require(again == written, track.name, "an answer goes into a file and comes back")
    check_answers_refused(one, written, one.about)
    if track.answers.read_alone:
        alone = replace(one.about, sizes={"originals": sizes["originals"]}, release=None)
        track.answers.read(written, alone)
        check_answers_refused(one, written, alone)
    for question in track.asked(one.case.rules).values():
        check_question(question, one)
    check_rivals(track, list(track.asked(one.case.rules)))


def check_answers_refused(one: Tried, written: bytes, about: About) -> None:
    name, answers = one.track.name, one.track.answers
    for wrong in broken(written):
        check_unread(name, lambda: answers.read(wrong, about), answers.file)  # noqa: B023
    for wrong in spoilt(written):
        check_unsaid(name, lambda: answers.read(wrong, about))  # noqa: B023


def spoilt(content: bytes) -> Iterator[bytes]:
    """A file whose last line has something else in one of its cells."""
    *lines, last = content.decode().splitlines()
    cells = last.split(",")
    for place in range(len(cells)):
        changed = [*cells[:place], CANARY, *cells[place + 1 :]]
        yield "\n".join([*lines, ",".join(changed), ""]).encode()


def check_unsaid(part: str, read: Callable[[], Any]) -> None:
    try:
        read()
    except InvalidUpload as refused:
        told = repr([problem.told() for problem in refused.problems])
        require(CANARY not in told, part, "no cell of an answer is repeated where it is refused")


def check_rivals(track: Track, asked: Sequence[str]) -> None:
    """Of nothing that was found E takes nothing, and of all that can be found no more than 1."""
    for risk, teams, most in ((0.0, 0, 0.0), (0.0, 2, 0.0), (0.4, 2, 1.0), (1.0, 2, 1.0)):
        for known in (asked, asked[:1]):
            taken = track.rivals({name: (risk,) * (teams if name in known else 0) for name in asked})
            require(0 <= taken <= most, track.name, f"of guesses E takes from 0 to {most}, not {taken}")


def check_question(question: Question, one: Tried) -> None:
    answer, told = one.case.answer, one.told(question)
    written = question.write(question.perfect(answer))
    found = question.judge(question.read(written, one.about), answer, one.sizes, **told)
    require(found.value == 1.0, question.name, f"who knows all is right in all, not {found.value}")
    if question.counts:
        counted, rows = (found.correct, found.trials, found.baseline), one.sizes["rows"]
        require(counted == (rows, rows, 0), question.name, f"it counts all individuals, not {counted}")
    for wrong in broken(written):
        check_unread(question.name, lambda: question.read(wrong, one.about), question.file)  # noqa: B023
    if question.blind is not None:
        check_blind(question, one)


def check_blind(question: Question, one: Tried) -> None:
    """Where there is an interval it has the baseline in it nearly always; else the mean is near it."""
    rng, told = np.random.default_rng(0), one.told(question)
    found = [
        question.judge(question.blind(one.about, rng), one.case.answer, one.sizes, **told)  # type: ignore[misc]
        for _ in range(BLIND)
    ]
    held = [each.interval[0] <= each.baseline <= each.interval[1] for each in found if each.interval]
    apart = np.array([each.value - each.baseline for each in found])
    near = abs(apart.mean()) <= BEYOND_CHANCE * apart.std() / math.sqrt(BLIND) + ROUNDING
    kept = np.mean(held) >= HELD if held else near
    require(bool(kept), question.name, f"a blind guess gets the baseline, not {apart.mean()} more")
