"""Several questions are rated together, and what parts of packages return is checked."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anoncup.errors import InvalidCompetition, InvalidResult
from anoncup.evaluation import results
from anoncup.evaluation.attacks import make_guesses, rate_attack
from anoncup.evaluation.evaluate import evaluate
from anoncup.evaluation.scales import check_scales, scales
from anoncup.plugins import TRACKS, InstalledParts, Package
from anoncup.schemas.verdicts import AttackerVerdict
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.model import AnyContext, AnyQuestion, AnyTrack
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.parts import AnyAttacker, Attacker
from tests.support.small_release import ORIGINAL, RULES, TABLE

LINK = MICRODATA.questions["link"]
QUESTIONS: dict[str, AnyQuestion] = {
    name: replace(LINK, name=name, judge=lambda outcome, *_: outcome, optional=name == "second")
    for name in ("first", "second")
}
TWO_QUESTIONS: AnyTrack = replace(MICRODATA, questions=QUESTIONS)
"""A track with two questions, whose guesses are their own outcomes."""
CONTEXT: AnyContext = MICRODATA.build_context(replace(RULES, questions={"second": {}}), ORIGINAL, TABLE)
BOTH: AnyAttacker = Attacker("both", 1, lambda outcomes: outcomes, question=("first", "second"))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Outcome(0.6, 0.5), Outcome(0.3), {"rate": 0.3, "baseline": 0.0}),
        (Outcome(0.75, 0.5), Outcome(0.3), {"rate": 0.75, "baseline": 0.5, "risk": 0.5}),
        (Outcome(0.5, 0.5), Outcome(0.0), {"rate": 0.5, "baseline": 0.5, "risk": 0.0}),
        (Outcome(0.0), Outcome(0.5, correct=3, trials=6), {"rate": 0.5, "correct": 3, "trials": 6}),
    ],
)
def test_question_with_the_largest_risk_decides(
    first: Outcome, second: Outcome, expected: dict[str, float]
) -> None:
    guesses = {"first": first, "second": second}
    stored = rate_attack(BOTH, guesses, None, CONTEXT, track=TWO_QUESTIONS).to_json()
    assert stored == {"baseline": 0.0, "version": 1} | expected | {
        "details": {"first": first.value, "second": second.value},
        "risks": {"first": pytest.approx(first.risk), "second": second.risk},
    }
    effective_risk = AttackerVerdict.model_validate(stored).effective_risk
    assert effective_risk == pytest.approx(max(first.risk, second.risk))


def test_questions_that_are_not_asked_are_not_rated() -> None:
    guesses = {"first": Outcome(0.25), "second": Outcome(1.0)}
    asked = make_guesses(BOTH, guesses, track=TWO_QUESTIONS, rules=RULES)
    assert asked == {"first": guesses["first"]}
    idle: AnyAttacker = Attacker("idle", 1, lambda _: pytest.fail("nobody asks"), question="second")
    assert make_guesses(idle, guesses, track=TWO_QUESTIONS, rules=RULES) == {}
    rate = rate_attack(idle, {}, None, CONTEXT, track=TWO_QUESTIONS).rate
    assert (rate.value, rate.risk, rate.trials) == (0.0, 0.0, None)
    assert str(rate.note) == "this competition does not ask the question that this attacker answers"


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a package provide the measure ``cor_mae``, and another one the track."""
    packages = (
        Package("extra", "1.0", "extra:PLUGIN", ("microdata.measures.cor_mae",)),
        Package("small-cup", "1.0", "small:PLUGIN", ("tracks.microdata",)),
    )
    monkeypatch.setattr(results, "INSTALLED", InstalledParts({}, packages))


IMPOSSIBLE_NUMBERS: list[Any] = [math.nan, math.inf, -math.inf, -1e-9, "0.5", None, 10**400, np.array([0.5])]


@pytest.mark.parametrize(
    "changes",
    [
        *({"compute": lambda _, value=value: value} for value in IMPOSSIBLE_NUMBERS),
        {"details": lambda _: {"part": math.nan}},
    ],
)
def test_impossible_value_of_a_measure_names_its_package(
    monkeypatch: pytest.MonkeyPatch, provider: None, changes: Any
) -> None:
    measure = replace(MICRODATA.measures["cor_mae"], **changes)
    track = replace(MICRODATA, measures={**MICRODATA.measures, "cor_mae": measure})
    monkeypatch.setitem(TRACKS, "microdata", track)
    with pytest.raises(InvalidResult, match=r"measures\.cor_mae of the package extra returned"):
        evaluate(RULES, ORIGINAL, TABLE, np.arange(6))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_impossible_scale_names_its_package(provider: None, value: float) -> None:
    measure = replace(MICRODATA.measures["cor_mae"], scale=lambda _: value)
    with pytest.raises(InvalidResult, match=f"of the package extra returned {value}"):
        scales(replace(MICRODATA, measures={"cor_mae": measure}), ORIGINAL, {})


@pytest.mark.parametrize("guess", [np.arange(1, 7), np.full(6, -2), np.full(6, 0.5)], ids=repr)
def test_guess_of_rows_that_do_not_exist_names_the_attacker(guess: Any) -> None:
    careless: AnyAttacker = Attacker("careless", 1, lambda _: guess)
    with pytest.raises(InvalidResult, match=r"attackers\.careless returned .* a row number from -1 to 5"):
        rate_attack(careless, {"link": guess}, np.arange(6), CONTEXT, track=MICRODATA)


@pytest.mark.parametrize(
    "outcome",
    [
        *(Outcome(value) for value in (*IMPOSSIBLE_NUMBERS, 1.0000000000000002)),
        Outcome(0.5, math.nan),
        Outcome(0.5, correct=-1),
        Outcome(0.5, interval=(0.1, math.inf)),
        Outcome(0.5, details={"auc": math.nan}),
        "0.5",
    ],
    ids=repr,
)
def test_impossible_outcome_names_the_package_of_the_track(provider: None, outcome: Any) -> None:
    with pytest.raises(InvalidResult, match=r"^questions\.first of the package small-cup returned"):
        rate_attack(BOTH, {"first": outcome}, None, CONTEXT, track=TWO_QUESTIONS)


@pytest.mark.parametrize("scale", [0.0, -1.0, None, lambda _: 0.0, lambda _: 1e-12])
def test_scales_must_be_positive(scale: Any) -> None:
    measure = replace(MICRODATA.measures["cor_mae"], scale=scale, compute=lambda _: 0.0)
    track = replace(MICRODATA, measures={**MICRODATA.measures, "cor_mae": measure})
    with pytest.raises(InvalidCompetition, match="cor_mae has no scale") as excinfo:
        check_scales(track, ORIGINAL, RULES, scales(track, ORIGINAL, RULES.measures))
    assert excinfo.value.code == "scale_zero"
