"""A track without distances, counts or an order whose attackers answer several questions at once."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import collect_scoring_versions
from anoncup.competition.writer import set_weights
from anoncup.errors import (
    DomainError,
    FileProblem,
    InvalidCompetition,
    InvalidResult,
    InvalidUpload,
    NotFound,
)
from anoncup.evaluation import results
from anoncup.evaluation.attacks import rate_attack
from anoncup.evaluation.evaluate import Verdict, check_rules, evaluate
from anoncup.evaluation.results import judge_guess
from anoncup.evaluation.scales import check_scales, scales
from anoncup.excessive.question import AdviceQuestion, resolve_question
from anoncup.messages import Message
from anoncup.plugins import TRACKS, InstalledParts, Package
from anoncup.runner.jobs import ScoreJob
from anoncup.schemas import parse_verdict
from anoncup.testing.parts import BrokenLaw, TrackCase, iter_method_cases
from anoncup.testing.tracks import check_track
from anoncup.tracks.files import Files, fixed_header
from anoncup.tracks.model import AnyContext, AnyQuestion, ShownAnswer, TargetFiles
from anoncup.tracks.outcomes import Outcome
from app.boards.verdicts import extract_numbers
from tests.support import small_track
from tests.support.small_track import (
    HINTED_TRACK,
    SMALL_TRACK,
    NumberOriginal,
    NumberTarget,
    build_cases,
    build_competition_toml,
    build_original,
    format_column,
    parse_column,
    read_answer,
)

ORIGINAL = NumberOriginal((10.0, 20.0, 30.0, 40.0))
RELEASED = (10.0, 20.0, 5.0)
ANSWER = (True, False, True, True)
"""The members are 10, 30 and 40. Of these only 10 is released; 20 is released but is no member."""


@pytest.fixture(autouse=True)
def installed_track(monkeypatch: pytest.MonkeyPatch) -> None:
    small_track.install(monkeypatch)


def evaluate_example(extra_text: str = small_track.FIRST_QUESTION_TOML) -> Verdict:
    return evaluate(
        parse_competition(build_competition_toml(extra_toml=extra_text)), ORIGINAL, RELEASED, ANSWER
    )


def test_scores_equal_hand_computed_values() -> None:
    result = evaluate_example()
    assert result.measures["left_out"].value == 2 / 3
    assert result.measures["shift"].value == pytest.approx(25 - 35 / 3)
    # The scales are 0.5 and 40 - 10. U is the largest scaled loss, cut at 1; weights only select measures.
    assert result.utility == 1.0
    reweighted_rules = parse_with_weights({"left_out": 0.0})
    assert evaluate(reweighted_rules, ORIGINAL, RELEASED, ANSWER).utility == pytest.approx((25 - 35 / 3) / 30)
    # "seen" is right about 10 only: 0.25 for the question "member", which is less than by chance.
    # Its guess for the question "first" is 10, which is right; chance is a quarter.
    seen_attacker, everybody_attacker, foremost_attacker = result.attackers.values()
    assert (seen_attacker.rate.value, seen_attacker.rate.risk) == (1.0, 1.0)
    assert seen_attacker.rate.details == {"member": 0.25, "first": 1.0}
    assert seen_attacker.risks == {"member": 0.0, "first": 1.0}
    assert (everybody_attacker.rate.value, everybody_attacker.rate.risk) == (0.75, 0.5)
    assert (foremost_attacker.rate.value, foremost_attacker.rate.baseline) == (1.0, 0.25)
    assert (result.security, result.overall) == (1.0, 1.0)
    assert (result.excessive, result.violations) == (None, ())


def parse_with_weights(weights: dict[str, float]) -> Any:
    return parse_competition(set_weights(build_competition_toml(), weights))


def test_questions_that_are_not_asked_are_not_rated(monkeypatch: pytest.MonkeyPatch) -> None:
    unasked_attacker = replace(SMALL_TRACK.attackers["foremost"], attack=lambda _: pytest.fail("nobody asks"))
    monkeypatch.setitem(SMALL_TRACK.attackers, "foremost", unasked_attacker)
    result = evaluate_example("")
    assert result.attackers["seen"].rate.value == 0.25
    assert result.attackers["seen"].rate.details == {"member": 0.25}
    foremost_rate = result.attackers["foremost"].rate
    assert (foremost_rate.value, foremost_rate.risk, foremost_rate.trials) == (0.0, 0.0, None)
    assert str(foremost_rate.note) == "this competition does not ask the question that this attacker answers"
    assert result.security == 0.5


def test_question_with_the_largest_risk_decides() -> None:
    rules, attacker = parse_competition(build_competition_toml()), SMALL_TRACK.attackers["seen"]
    context = SMALL_TRACK.build_context(rules, NumberOriginal((1.0, 2.0, 3.0, 4.0)), (2.0,))
    guesses = {"member": (0.5,) * 4, "first": 2}
    rate = rate_attack(attacker, guesses, ANSWER, context, track=SMALL_TRACK).rate
    assert (rate.value, rate.risk, rate.baseline) == (0.5, 0.0, 0.5)
    guesses = {"member": (0.6, 0.4, 0.6, 0.6), "first": 2}
    rate = rate_attack(attacker, guesses, ANSWER, context, track=SMALL_TRACK).rate
    assert rate.risk == pytest.approx(0.2)
    assert rate.details == {"member": pytest.approx(0.6), "first": 0.0}


def test_verdicts_round_trip_with_their_risks() -> None:
    verdict_json = evaluate_example().to_json()
    stored_verdict = json.loads(json.dumps(verdict_json, allow_nan=False))
    result = json.dumps({"value": {"verdict": stored_verdict, "scorer": "1", "steps": 1}}).encode()
    ScoreJob(competition_file="", files={}, secret=b"").read_result(result)
    assert stored_verdict["excessive"] is None
    assert stored_verdict["attackers"]["everybody"] == {
        "rate": 0.75, "version": 1, "baseline": 0.5, "risk": 0.5, "details": {"sure": 1.0}
    }  # fmt: skip
    verdict = parse_verdict(stored_verdict)
    assert verdict.excessive is None
    assert [attacker.effective_risk for attacker in verdict.attackers.values()] == [1.0, 0.5, 1.0]
    board_numbers = extract_numbers(stored_verdict)
    assert board_numbers.attackers == {"seen": 1.0, "everybody": 0.5, "foremost": 1.0}
    assert board_numbers.risks == {"seen": {"member": 0.0, "first": 1.0}}
    assert board_numbers.correct == {}


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a package provide the measure ``shift``, and another one the track."""
    packages = (
        Package("extra", "1.0", "extra:PLUGIN", ("small.measures.shift",)),
        Package("small-cup", "1.0", "small:PLUGIN", ("tracks.small",)),
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
    measure = replace(SMALL_TRACK.measures["shift"], **changes)
    track = replace(SMALL_TRACK, measures={**SMALL_TRACK.measures, "shift": measure})
    monkeypatch.setitem(TRACKS, "small", track)
    with pytest.raises(InvalidResult, match=r"measures\.shift of the package extra returned"):
        evaluate_example()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_impossible_scale_names_its_package(provider: None, value: float) -> None:
    measure = replace(SMALL_TRACK.measures["shift"], scale=lambda _: value)
    with pytest.raises(InvalidResult, match=f"of the package extra returned {value}"):
        scales(replace(SMALL_TRACK, measures={"shift": measure}), ORIGINAL, {})


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
    rules = parse_competition(build_competition_toml())
    context = SMALL_TRACK.build_context(rules, ORIGINAL, RELEASED)
    question = replace(SMALL_TRACK.questions["member"], judge=lambda *_, **__: outcome)
    with pytest.raises(InvalidResult, match=r"questions\.member of the package small-cup returned"):
        judge_guess(question, (0.5,) * 4, ANSWER, context)


@pytest.mark.parametrize("scale", [0.0, -1.0, None, lambda _: 0.0, lambda _: 1e-12])
def test_scales_must_be_positive(scale: Any) -> None:
    measure = replace(SMALL_TRACK.measures["left_out"], scale=scale)
    track = replace(SMALL_TRACK, measures={**SMALL_TRACK.measures, "left_out": measure})
    rules = parse_competition(build_competition_toml())
    with pytest.raises(InvalidCompetition, match="left_out has no scale") as excinfo:
        check_scales(track, ORIGINAL, rules, scales(track, ORIGINAL, rules.measures))
    assert excinfo.value.code == "scale_zero"


@pytest.mark.parametrize(
    ("extra_text", "key"),
    [
        ("[excessive]\nthreshold = 0.1", "excessive"),
        ("[limits]\nmin_rows_kept = 0.5", "min_rows_kept"),
        ("[publication]\nshuffle_targets = true", "shuffle_targets"),
        ("[measures.rows]\nweight = 1.0", "measures.rows"),
    ],
)
def test_settings_that_the_track_lacks_are_refused(extra_text: str, key: str) -> None:
    with pytest.raises(InvalidCompetition, match=key):
        parse_competition(build_competition_toml(extra_toml=extra_text))


def test_fractional_weights_are_refused_for_largest_loss_utility() -> None:
    with pytest.raises(InvalidCompetition, match=r"measures\.shift") as excinfo:
        parse_with_weights({"shift": 0.5})
    assert excinfo.value.code == "weight_of_largest"


def test_track_without_distances_has_no_advice_and_no_violations() -> None:
    rules = parse_competition(build_competition_toml())
    assert check_rules(rules, ORIGINAL, RELEASED, ANSWER) == ((), None, ())
    with pytest.raises(NotFound) as excinfo:
        resolve_question(AdviceQuestion(), rules)
    assert excinfo.value.code == "no_distances"
    assert issubclass(NotFound, DomainError)
    assert collect_scoring_versions(rules).keys() == {
        "measures.left_out", "measures.shift", "attackers.seen", "attackers.everybody", "attackers.foremost"
    }  # fmt: skip


def test_small_track_keeps_all_laws() -> None:
    check_track(SMALL_TRACK, build_cases())
    check_track(SMALL_TRACK, build_cases(extra_toml=""))


class ListWithAnswer(tuple[float, ...]):
    """A release that keeps its answer; its files do not have it."""

    answer: tuple[bool, ...]


def copy_answer(target: NumberTarget) -> dict[str, Any]:
    """Attack with the answer itself, if the target has it."""
    answer = getattr(target.values, "answer", (False,) * 20)
    return {"member": tuple(map(float, answer)), "first": 1}


def expect_broken_law(law: str, cases: list[TrackCase] | None = None, **changes: Any) -> None:
    with pytest.raises(BrokenLaw, match=law):
        check_track(replace(SMALL_TRACK, **changes), cases or build_cases())


def change_question(name: str, **changes: Any) -> dict[str, AnyQuestion]:
    return {**SMALL_TRACK.questions, name: replace(SMALL_TRACK.questions[name], **changes)}


def test_target_must_not_depend_on_the_answer() -> None:
    attackers = {"seen": replace(SMALL_TRACK.attackers["seen"], attack=copy_answer)}
    case = build_cases()[0]
    check_track(replace(SMALL_TRACK, attackers=attackers), [case])
    release = ListWithAnswer(case.release)
    release.answer = case.answer
    law = "seen: what it sees does not depend on the answer"
    expect_broken_law(law, [replace(case, release=release)], attackers=attackers)


def read_values_only(files: Files, *_: object) -> Any:
    """Read a target, but return the numbers without their original."""
    return parse_column(files["list"], "list", "number")


@pytest.mark.parametrize("write", [None, lambda release, *_: {"list": format_column("number", release)}])
def test_parsed_target_must_be_attackable(write: Any) -> None:
    def parse_target(files: Files, original: NumberOriginal, _: object) -> NumberTarget:
        return NumberTarget(original, read_values_only(files))

    target_files = TargetFiles(write=write, parse=parse_target)
    check_track(replace(SMALL_TRACK, target_files=target_files), build_cases())
    law = "seen: it can attack what is read from the files of a target"
    expect_broken_law(law, target_files=TargetFiles(write=write, parse=read_values_only))


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_blind_guesses_must_get_the_baseline(score: float) -> None:
    """A quarter of the rows are members, so a constant guess is right for more or less than half of them."""
    quarter_case = replace(
        build_cases()[0], release=build_original().values[:5], answer=tuple(row < 5 for row in range(20))
    )
    check_track(SMALL_TRACK, [quarter_case])
    questions = change_question("member", make_blind_guess=lambda *_: (score,) * 20)
    expect_broken_law("member: a blind guess gets the baseline", [quarter_case], questions=questions)


def test_intervals_of_blind_guesses_must_contain_the_baseline() -> None:
    def judge_narrowly(guess: Any, *_: Any) -> Outcome:
        return Outcome(0.9 if np.mean(guess) < 1 else 1.0, 0.5, interval=(0.8, 1.0))

    questions = change_question(
        "member", judge=judge_narrowly, make_perfect_guess=lambda answer: (1.0,) * len(answer)
    )
    law = "member: a blind guess gets the baseline"
    expect_broken_law(law, build_cases(extra_toml=""), questions=questions, attackers={})


def read_quoting_cells(content: bytes, context: AnyContext) -> Any:
    """Read an answer correctly, but quote the refused cell in the problem."""
    try:
        return read_answer(content, context)
    except InvalidUpload as error:
        last_line = "".join(content.decode(errors="replace").splitlines()[-1:])
        raise InvalidUpload([replace(problem, value=last_line) for problem in error.problems]) from None


def judge_refusing_others(guess: Any, answer: Any, context: Any) -> Outcome:
    if guess != SMALL_TRACK.questions["member"].make_perfect_guess(answer):
        raise InvalidUpload([FileProblem("member", 1, None, "unknown", Message("nobody is that"))])
    return small_track.judge_member(guess, answer, context)


@pytest.mark.parametrize(
    ("law", "changes"),
    [
        (
            "small: no cell of an answer is repeated where it is refused",
            {"answer_spec": replace(SMALL_TRACK.answer_spec, read=read_quoting_cells)},
        ),
        (
            "first: a first that is no table is refused",
            {"questions": change_question("first", read=lambda *_: 1), "attackers": {}},
        ),
        (
            "what is refused does not depend on the answer",
            {"questions": change_question("member", judge=judge_refusing_others)},
        ),
        (
            "member: it counts all individuals",
            {"questions": change_question("member", asks_identity=True)},
        ),
    ],
)
def test_track_that_breaks_a_law_is_rejected(law: str, changes: dict[str, Any]) -> None:
    expect_broken_law(law, [replace(build_cases()[0], answer=(True,) * 20)], **changes)


def test_published_files_are_reproducible_and_hide_the_answer() -> None:
    for publish in (
        lambda release, *_: {"list": format_column("number", sorted(release))},
        lambda release, *rest: {"list": format_column("number", rest[-1].permutation(release).tolist())},
    ):
        check_track(replace(SMALL_TRACK, target_files=TargetFiles(write=publish)), build_cases())
    rng = np.random.default_rng(0)
    broken: dict[str, Any] = {
        "others get": lambda release, *_: {"other": format_column("number", release)},
        "the same numbers": lambda release, *_: {
            "list": format_column("number", rng.permutation(release).tolist())
        },
        "does not depend on the answer": lambda _, answer, *__: {"list": format_column("member", answer)},
    }
    for law, publish in broken.items():
        expect_broken_law(law, target_files=TargetFiles(write=publish))


def test_sealed_release_may_be_published_with_its_answer() -> None:
    sealed_track = replace(
        SMALL_TRACK,
        target_files=TargetFiles(
            specs=(replace(SMALL_TRACK.release_files[0], header=fixed_header("member")),),
            write=lambda _, answer, *__: {"list": format_column("member", answer)},
            seals_release=True,
        ),
    )
    sealed_cases = [replace(case, other_answer=None) for case in build_cases()]
    check_track(sealed_track, sealed_cases)
    rules = sealed_cases[0].rules
    assert all(case.other_answer is None for case in iter_method_cases(sealed_track, rules, build_original()))
    assert all(case.other_answer != case.answer for case in build_cases())


HIDDEN = "what others get does not depend on the answer"
SAME_PART = "the part of the answer that targets show stays the same"


def rotate(answer: tuple[bool, ...], *_: object) -> tuple[bool, ...]:
    return (answer[-1], *answer[:-1])


@pytest.mark.parametrize(
    ("shown_answer", "law"),
    [
        (None, HIDDEN),
        (ShownAnswer(lambda *_: 0, rotate), HIDDEN),
        (ShownAnswer(lambda answer, _: answer, rotate), SAME_PART),
        (ShownAnswer(lambda *_: 0, lambda answer, *_: answer), "the rest of the answer is varied"),
    ],
)
def test_target_may_depend_on_the_declared_part_of_the_answer_only(
    shown_answer: ShownAnswer[Any, Any, Any] | None, law: str
) -> None:
    check_track(HINTED_TRACK, build_cases())
    target_files = replace(HINTED_TRACK.target_files, shown_answer=shown_answer)
    expect_broken_law(law, target_files=target_files)
