"""What holds for every part of every track: held to here, and by whoever writes a part of his own.

A law that is broken raises :class:`BrokenLaw`, which says what of which part. Laws are tried on cases:
releases of data that whoever asks brings along. ``anoncup.testing`` is the face of this.
"""

import inspect
import math
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anoncup.errors import InvalidInput, InvalidUpload
from anoncup.evaluation.attacks import asked, rate_of_attack, said_to
from anoncup.evaluation.scales import scales
from anoncup.rules.model import Rules
from anoncup.rules.parameters import Parameter
from anoncup.rules.settings import Parameters
from anoncup.tracks.model import About, Question, Sizes, Tables, Track
from anoncup.tracks.outcomes import Rate
from anoncup.tracks.parts import Attacker, Measure, Method

SHUFFLES = 3
"""Other orders that a release is looked at in."""
ROUNDING = 1e-9
"""What an order of rows may change of a number, relative to it."""


class BrokenLaw(AssertionError):
    """Of a part: which law it does not keep."""


@dataclass(frozen=True, slots=True)
class Case:
    """A release of an original, and the answer that its makers hold; ``other``: another that they could."""

    rules: Rules
    original: Tables
    release: Tables
    answer: Any
    other: Any = None


@dataclass(frozen=True, slots=True)
class Tried:
    """A case as the track prepares it."""

    track: Track
    case: Case
    prepared: Any

    @property
    def sizes(self) -> Sizes:
        return self.track.sizes(self.case.original, self.case.release)

    @property
    def about(self) -> About:
        return About(self.case.rules, self.sizes, lambda: self.case.original, self.case.release)

    def told(self, question: Question) -> Parameters:
        return self.case.rules.questions.get(question.name, {})

    def rated(self, attacker: Attacker, said: Any, answer: Any) -> Rate:
        return rate_of_attack(attacker, said, answer, self.sizes, track=self.track, rules=self.case.rules)

    def target(self) -> Any:
        return self.track.target_of(self.prepared, self.case.release)

    def release(self) -> Any:
        return self.track.release_of(self.prepared, self.case.release, self.case.answer)

    def shuffled(self, seed: int) -> "Tried":
        """The same release in another order."""
        rng = np.random.default_rng(seed)
        release, answer = self.track.shuffle(self.case.release, self.case.answer, rng=rng)
        return Tried(self.track, Case(self.case.rules, self.case.original, release, answer), self.prepared)


def tried(track: Track, cases: Iterable[Case]) -> list[Tried]:
    """The cases, prepared; ValueError if there are none."""
    cases = list(cases)
    if not cases:
        raise ValueError("a law is tried on one case at least")
    prepared = {
        id(case.original): counted(track, track.prepare(case.original, case.rules), case.original)
        for case in by_original(cases)
    }
    return [Tried(track, case, prepared[id(case.original)]) for case in cases]


def counted(track: Track, prepared: Any, original: Tables) -> Any:
    rows = getattr(prepared, "rows", None)
    require(rows == track.individuals(original), track.name, f"a prepared original has its rows, not {rows}")
    return prepared


def by_original(cases: Sequence[Case]) -> list[Case]:
    """The first case of each original."""
    return list({id(case.original): case for case in reversed(cases)}.values())


def methods_tried(track: Track, rules: Rules, original: Tables, *, seed: int = 0) -> Iterator[Case]:
    """A case of each sample method, in a new order; where a release tells neither its order nor its answer
    with another answer beside it."""
    rng, others = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    alike = not (track.shuffles or track.seals_release)
    for method in track.methods.values():
        release, answer = track.anonymize(method, original, rules, rng, {})
        other = track.anonymize(method, original, rules, others, {})[1] if alike else None
        yield Case(rules, original, *track.shuffle(release, answer, rng=rng), other)


def require(kept: bool, part: str, law: str) -> None:
    if not kept:
        raise BrokenLaw(f"{part}: {law}")


def check_measure(measure: Measure, track: Track, cases: Iterable[Case]) -> None:
    """Of every release a finite float from 0 up, the same in any order; 0 of the original if it may weigh;
    a scale above 0 on every original; what it does not read makes no difference; what it gets stays as it is.
    """
    check_parameters(measure.name, measure.parameters, measure.compute)
    cases = list(cases)
    for one in tried(track, by_original(cases)) if measure.weighs else ():
        check_weight(measure, one)
    for one in tried(track, cases):
        with left_alone(measure.name, one):
            value = measured(measure, one)
        require(value == measured(measure, one), measure.name, "the same release has the same value")
        for seed in range(SHUFFLES if one.track.shuffles else 0):
            other = measured(measure, one.shuffled(seed))
            kept = math.isclose(other, value, rel_tol=ROUNDING, abs_tol=ROUNDING)
            require(kept, measure.name, f"the order of the rows is no matter: {value}, then {other}")
        if not measure.reads_secret and (swapped := another(one)) is not None:
            other = measure.compute(track.release_of(one.prepared, one.case.release, swapped))
            require(value == other, measure.name, "it says that it does not read the answer")


def measured(measure: Measure, one: Tried) -> float:
    value = measure.compute(one.release())
    require(type(value) is float, measure.name, f"a float, not {type(value).__name__}")
    require(math.isfinite(value) and value >= 0, measure.name, f"finite and not below 0, not {value}")
    return value


def check_weight(measure: Measure, one: Tried) -> None:
    if one.track.untouched is not None:
        still = measure.compute(one.track.untouched(one.prepared))
        require(still == 0.0, measure.name, f"the original as it is has lost nothing, not {still}")
    alone = replace(one.track, measures={measure.name: measure})
    scale = scales(alone, one.prepared, {})[measure.name]
    require(scale > 0, measure.name, f"it needs a scale above 0, not {scale}: say one of its own")


def check_attacker(attacker: Attacker, track: Track, cases: Iterable[Case]) -> None:
    """Its rate is one, in [0, 1]; the same target gives the same answer, whoever may be behind it; where it
    makes a guess, that is judged as it is rated, in a file and back; what it gets stays as it is."""
    check_parameters(attacker.name, attacker.parameters, attacker.attack)
    for name in attacker.questions:
        require(name in track.questions, attacker.name, f"no question {name}")
    for one in tried(track, cases):
        check_attack(attacker, one)


def check_attack(attacker: Attacker, one: Tried) -> None:
    name, answer = attacker.name, one.case.answer
    with left_alone(name, one):
        said = attacker.attack(one.target())
    rate = one.rated(attacker, said, answer)
    require(type(rate.rate) is float and 0 <= rate.rate <= 1, name, f"a rate in [0, 1], not {rate.rate}")
    again = pickle.dumps(attacker.attack(one.target()))
    require(again == pickle.dumps(said), name, "the same target has the same answer")
    swapped = another(one)
    if swapped is not None:
        target = one.track.release_of(one.prepared, one.case.release, swapped).target
        other = one.rated(attacker, attacker.attack(target), answer)
        require(other == rate, name, "what it sees does not depend on the answer")
    if not attacker.reads_secret and swapped is not None:
        other = one.rated(attacker, said, swapped)
        require(other.rate == rate.rate, name, "it says that its rate does not depend on the answer")
    for question in asked(attacker, one.track, one.case.rules).values():
        check_guess(name, question, said_to(attacker, said)[question.name], one)


def check_guess(name: str, question: Question, said: Any, one: Tried) -> None:
    guess, told = question.guess_of(said, np.random.default_rng(0)), one.told(question)
    if guess is None:
        return
    rate = question.rated(said, one.case.answer, one.sizes, **told)
    judged = question.judge(sent(name, question, guess, one.about), one.case.answer, one.sizes, **told)
    drawn = rate.sd is not None  # one guess of many that it could have drawn
    require(drawn or judged.value == rate.rate, name, "its guess is judged as it is rated")


def sent(name: str, question: Question, guess: Any, about: About) -> Any:
    """The guess as it comes out of its file."""
    written = question.write(guess)
    try:
        read = question.read(written, about)
    except InvalidUpload as refused:
        raise BrokenLaw(f"{name}: no team could send its guess: {refused.problems[0]}") from None
    require(question.write(read) == written, name, "its guess comes out of its file as it went in")
    return read


def check_method(method: Method, track: Track, cases: Iterable[Case]) -> None:
    """It makes a release that a team could send with its answer, the same one from the same numbers, of an
    original that stays as it is."""
    for one in tried(track, cases):
        check_parameters(method.name, method.parameters, method.apply)
        files = [made(method, one) for _ in range(2)]
        require(files[0] == files[1], method.name, "the same numbers draw the same release")


def made(method: Method, one: Tried) -> tuple[dict[str, bytes], bytes]:
    """The release and its answer, as files that have been read again."""
    track, case = one.track, one.case
    with left_alone(method.name, one):
        release, answer = track.anonymize(method, case.original, case.rules, np.random.default_rng(1), {})
    files = track.files_of(release)
    try:
        again, _ = track.parse_release(files, case.original, case.rules)
    except InvalidUpload as refused:
        raise BrokenLaw(f"{method.name}: its release would be refused: {refused.problems[0]}") from None
    sizes = track.sizes(case.original, again)
    try:
        track.answers.check(answer, sizes)
    except InvalidInput as refused:
        raise BrokenLaw(f"{method.name}: its answer would be refused: {refused}") from None
    written = track.answers.write(answer)
    about = About(case.rules, sizes, lambda: case.original, again)
    require(
        track.answers.write(track.answers.read(written, about)) == written, method.name, "its answer is read"
    )
    return files, written


def check_parameters(name: str, parameters: Sequence[Parameter], function: Callable[..., Any]) -> None:
    """The function takes them by their names, and by default a number is what is said of it."""
    taken = inspect.signature(function).parameters
    for one in parameters:
        require(one.name in taken, name, f"it takes no {one.name}")
        usual = taken[one.name].default
        require(not one.is_number or usual == one.default, name, f"{one.name} is {usual} by default")


def another(one: Tried) -> Any | None:
    """An answer of the same sizes that is another; None where nobody knows one."""
    if one.case.other is not None or not one.track.shuffles:
        return one.case.other
    rng = np.random.default_rng(0)
    return one.track.shuffle(one.case.release, one.case.answer, rng=rng)[1]


class left_alone:  # noqa: N801  # reads as a statement
    """What a part gets is as it was when it is done."""

    def __init__(self, part: str, one: Tried) -> None:
        self.part, self.one, self.before = part, one, content(one)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            require(content(self.one) == self.before, self.part, "what it is given stays as it is")


def content(one: Tried) -> tuple[Any, ...]:
    case, files_of = one.case, one.track.files_of
    return files_of(case.original), files_of(case.release), pickle.dumps(case.answer)
