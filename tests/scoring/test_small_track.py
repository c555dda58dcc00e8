"""A track without distances, counts or an order, whose attackers answer several questions at once."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.rules_text import with_threshold, with_weights
from anoncup.competition.scoring_versions import what_counts
from anoncup.competition.writer import with_publication
from anoncup.errors import DomainError, InvalidCompetition, InvalidUpload, NotFound
from anoncup.evaluation.attacks import rate_of_attack
from anoncup.evaluation.evaluate import Verdict, attacker_json, evaluate, judge
from anoncup.evaluation.fingerprint import fingerprint
from anoncup.evaluation.scales import check_scales, scales
from anoncup.excessive.question import Question, checked
from anoncup.schemas import read
from anoncup.testing.parts import BrokenLaw, methods_tried
from anoncup.testing.tracks import check_track
from anoncup.tracks.model import About
from anoncup.tracks.outcomes import Outcome, Rate, rate_of_outcome
from app.services.boards.verdicts import numbers
from tests.support import small_track
from tests.support.small_track import SMALL, Prepared, cases, original, read_answer, text, written
from workers.job_schema import is_verdict

PREPARED = Prepared(4, (10.0, 20.0, 30.0, 40.0))
RELEASED = (10.0, 20.0, 5.0)
ANSWER = (True, False, True, True)
"""Of the members 10, 30 and 40 the first is released; 20, which is released, is none."""


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    small_track.install(monkeypatch)


def verdict(more: str = small_track.FIRST) -> Verdict:
    return evaluate(parse_competition(text(more=more)), PREPARED, RELEASED, ANSWER)


def test_the_numbers_are_those_worked_out_by_hand() -> None:
    found = verdict()
    assert found.measures["left_out"].value == 2 / 3
    assert found.measures["shift"].value == pytest.approx(25 - 35 / 3)
    # Scales: 0.5, and 40 - 10. The largest, cut at 1, is U; weights say no more than which weigh.
    assert found.utility == 1.0
    heavy = replace_weights({"left_out": 0.0})
    assert evaluate(heavy, PREPARED, RELEASED, ANSWER).utility == pytest.approx((25 - 35 / 3) / 30)
    # "seen" is right about 10 and about nobody else: 0.25 for the members, which is less than by chance.
    # The first is 10: right, of which a quarter is chance.
    seen, everybody, foremost = found.attackers.values()
    assert (seen.rate.rate, seen.rate.risk) == (1.0, 1.0)
    assert seen.rate.details == {"member": 0.25, "first": 1.0}
    assert seen.rate.risks == {"member": 0.0, "first": 1.0}
    assert (everybody.rate.rate, everybody.rate.risk) == (0.75, 0.5)
    assert (foremost.rate.rate, foremost.rate.baseline) == (1.0, 0.25)
    assert (found.security, found.overall) == (1.0, 1.0)
    assert (found.excessive, found.violations) == (None, ())


def replace_weights(weights: dict[str, float]) -> Any:
    return parse_competition(with_weights(text(), weights))


def test_what_is_not_asked_is_not_rated(monkeypatch: pytest.MonkeyPatch) -> None:
    idle = replace(SMALL.attackers["foremost"], attack=lambda _: pytest.fail("nobody asks"))
    monkeypatch.setitem(SMALL.attackers, "foremost", idle)
    found = verdict("")
    assert found.attackers["seen"].rate.rate == 0.25
    assert found.attackers["seen"].rate.details == {"member": 0.25}
    foremost = found.attackers["foremost"].rate
    assert (foremost.rate, foremost.risk, foremost.trials) == (0.0, 0.0, None)
    assert str(foremost.note) == "this competition does not ask the question that this attacker answers"
    assert found.security == 0.5


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("chance", [0.0, 0.01, 0.5, 1.0])
def test_e_takes_what_is_beyond_chance(value: float, chance: float) -> None:
    risk = rate_of_outcome(Outcome(value, chance)).risk
    expected = 0.0 if chance == 1 else max(0.0, 1 - (1 - value) / (1 - chance))
    assert risk == pytest.approx(expected)
    assert 0 <= risk <= 1


def test_of_links_nothing_is_taken_off() -> None:
    assert Rate(0.3, 3, 10, 0.1).risk == 0.3


def test_the_largest_risk_decides_not_the_largest_rate() -> None:
    rules, seen = parse_competition(text()), SMALL.attackers["seen"]
    said = {"member": (0.5,) * 4, "first": 2}
    rate = rate_of_attack(seen, said, ANSWER, {"originals": 4}, track=SMALL, rules=rules)
    assert (rate.rate, rate.risk, rate.baseline) == (0.5, 0.0, 0.5)
    said = {"member": (0.6, 0.4, 0.6, 0.6), "first": 2}
    rate = rate_of_attack(seen, said, ANSWER, {"originals": 4}, track=SMALL, rules=rules)
    assert rate.risk == pytest.approx(0.2)
    assert rate.details == {"member": pytest.approx(0.6), "first": 0.0}


def test_a_verdict_is_stored_and_read_back_with_its_risks() -> None:
    stored = verdict().to_json() | {"resembles": []}
    plain = json.loads(json.dumps(stored, allow_nan=False))
    assert is_verdict(plain)
    assert plain["excessive"] is None
    assert plain["attackers"]["everybody"] == {
        "rate": 0.75, "version": 1, "baseline": 0.5, "risk": 0.5, "details": {"sure": 1.0}
    }  # fmt: skip
    again = read(plain)
    assert again.excessive is None
    assert [one.taken for one in again.attackers.values()] == [1.0, 0.5, 1.0]
    kept = numbers(again)
    assert kept.attackers == {"seen": 1.0, "everybody": 0.5, "foremost": 1.0}
    assert kept.risks == {"seen": {"member": 0.0, "first": 1.0}}
    assert kept.correct == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"excessive": {"distance": "gower", "mean": 0.1, "max": 0.1, "threshold": None}},
        {"attackers": {"seen": {"rate": 1.0, "version": 1, "baseline": 0.5, "risk": 1.5}}},
        {"attackers": {"seen": {"rate": 1.0, "version": 1, "baseline": 0.5, "details": {"x": "y"}}}},
    ],
)
def test_a_child_that_says_what_the_track_has_not_is_not_believed(wrong: dict[str, Any]) -> None:
    said = verdict().to_json() | {"resembles": []}
    assert is_verdict(said)
    more = wrong.get("attackers", {})
    changed = said | wrong | ({"attackers": said["attackers"] | more} if more else {})
    assert not is_verdict(changed)


def test_a_verdict_of_a_track_with_distances_has_to_say_them() -> None:
    assert attacker_json(Rate(0.5, 1, 2, 0.1, (0.1, 0.9)), 1) == {
        "rate": 0.5, "correct": 1, "trials": 2, "version": 1, "baseline": 0.1, "interval": [0.1, 0.9]
    }  # fmt: skip
    assert attacker_json(Rate(0.5, 1.0, 2, 0.1, sd=0.2), 1)["sd"] == 0.2


def test_measures_bring_their_scales() -> None:
    rules = parse_competition(text())
    found = scales(SMALL, PREPARED, rules.measures)
    assert found == {"left_out": 0.5, "shift": 30.0}
    check_scales(SMALL, PREPARED, rules, found)


@pytest.mark.parametrize("scale", [0.0, -1.0, None, lambda _: 0.0, lambda _: float("nan")])
def test_a_scale_of_nothing_is_refused_with_the_measures_name(scale: Any) -> None:
    measure = replace(SMALL.measures["left_out"], scale=scale)
    track = replace(SMALL, measures={**SMALL.measures, "left_out": measure})
    rules = parse_competition(text())
    with pytest.raises(InvalidCompetition, match="left_out has no scale") as refused:
        check_scales(track, PREPARED, rules, scales(track, PREPARED, rules.measures))
    assert refused.value.code == "scale_zero"


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ("[excessive]\nthreshold = 0.1", "excessive"),
        ("[limits]\nmin_rows_kept = 0.5", "min_rows_kept"),
        ("[publication]\nshuffle_targets = true", "shuffle_targets"),
        ("[measures.rows]\nweight = 1.0", "measures.rows"),
    ],
)
def test_a_file_cannot_ask_for_what_the_track_has_not(more: str, key: str) -> None:
    with pytest.raises(InvalidCompetition, match=key):
        parse_competition(text(more=more))


def test_a_weight_is_on_or_off_where_the_largest_loss_is_u() -> None:
    with pytest.raises(InvalidCompetition, match=r"measures\.shift") as refused:
        replace_weights({"shift": 0.5})
    assert refused.value.code == "weight_of_largest"


def test_settings_are_written_back_without_what_the_track_has_not() -> None:
    file = text()
    rules = parse_competition(file)
    again = with_publication(file, rules.publication, rules.ranking, rules.limits)
    assert "min_rows_kept" not in again
    assert parse_competition(again) == rules
    assert with_threshold(file, None) == file, "no table of a rule that there is not"


def test_there_is_no_advice_and_nothing_resembles() -> None:
    rules = parse_competition(text())
    with pytest.raises(NotFound) as refused:
        checked(Question(), rules)
    assert refused.value.code == "no_distances"
    assert issubclass(NotFound, DomainError)
    assert fingerprint(rules, PREPARED, verdict()) == ()
    assert what_counts(rules).keys() == {
        "measures.left_out", "measures.shift", "attackers.seen", "attackers.everybody", "attackers.foremost"
    }  # fmt: skip


def test_the_rules_alone_say_nothing_of_distances() -> None:
    assert judge(parse_competition(text()), PREPARED, RELEASED, ANSWER) == ((), None)


def test_it_keeps_all_laws() -> None:
    check_track(SMALL, cases())
    check_track(SMALL, cases(more=""))


def peeks(target: Any) -> dict[str, Any]:
    """An attacker that is given the answer."""
    return {"member": tuple(map(float, target.answer)), "first": 1}


def test_a_track_whose_target_tells_the_answer_breaks_a_law() -> None:
    attacker = replace(SMALL.attackers["seen"], attack=peeks)
    one = cases()[0]
    turned = replace(one, other=tuple(not is_in for is_in in one.answer))

    def telling(prepared: Any, release: Any, answer: Any) -> Any:
        return type("Release", (), {"target": type("Target", (), {"answer": answer, "rows": 1})})

    track = replace(
        SMALL,
        attackers={"seen": attacker},
        target_of=lambda *_: type("Target", (), {"answer": one.answer}),
        release_of=telling,
        measures={},
        methods={},
    )
    with pytest.raises(BrokenLaw, match="seen: what it sees does not depend on the answer"):
        check_track(track, [turned])


@pytest.mark.parametrize(
    "blind",
    [lambda about, _: (1.0,) * about.sizes["originals"], lambda about, _: (0.0,) * about.sizes["originals"]],
)
def test_a_guess_that_is_not_blind_breaks_a_law(blind: Any) -> None:
    """On a list of a quarter: whoever says always the same is right in more, or less, than half."""
    question = replace(SMALL.questions["member"], blind=blind)
    track = replace(SMALL, questions={**SMALL.questions, "member": question})
    few = replace(cases()[0], release=original()[:5], answer=tuple(place < 5 for place in range(20)))
    check_track(SMALL, [few])
    with pytest.raises(BrokenLaw, match="member: a blind guess gets the baseline"):
        check_track(track, [few])


def test_a_guess_whose_intervals_miss_the_baseline_breaks_a_law() -> None:
    def narrow(guess: Any, *_: Any) -> Outcome:
        return Outcome(0.9 if np.mean(guess) < 1 else 1.0, 0.5, interval=(0.8, 1.0))

    question = replace(SMALL.questions["member"], judge=narrow, perfect=lambda answer: (1.0,) * len(answer))
    track = replace(SMALL, questions={"member": question}, attackers={})
    with pytest.raises(BrokenLaw, match="member: a blind guess gets the baseline"):
        check_track(track, cases(more=""))


def test_a_question_that_reads_anything_breaks_a_law() -> None:
    question = replace(SMALL.questions["first"], read=lambda *_: 1)
    track = replace(SMALL, questions={**SMALL.questions, "first": question}, attackers={})
    of_the_first = replace(cases()[0], answer=(True,) * 20)
    with pytest.raises(BrokenLaw, match="first: a first that is no table is refused"):
        check_track(track, [of_the_first])


def repeating(content: bytes, about: About) -> Any:
    """As it should be read, but what is refused is said with its cell."""
    try:
        return read_answer(content, about)
    except InvalidUpload as refused:
        last = content.decode(errors="replace").splitlines()[-1:]
        raise InvalidUpload([replace(each, value="".join(last)) for each in refused.problems]) from None


def test_an_answer_that_is_repeated_where_it_is_refused_breaks_a_law() -> None:
    track = replace(SMALL, answers=replace(SMALL.answers, read=repeating))
    with pytest.raises(BrokenLaw, match="small: no cell of an answer is repeated where it is refused"):
        check_track(track, cases())


def publishing(published: Any) -> None:
    check_track(replace(SMALL, published=published), cases())


def test_what_others_get_is_named_drawn_again_the_same_and_tells_no_answer() -> None:
    publishing(lambda release, *_: {"list": written("number", sorted(release))})
    publishing(lambda release, *given: {"list": written("number", given[-1].permutation(release).tolist())})
    drawn = np.random.default_rng(0)
    for broken, law in (
        (lambda release, *_: {"other": written("number", release)}, "others get"),
        (
            lambda release, *_: {"list": written("number", drawn.permutation(release).tolist())},
            "the same numbers",
        ),
        (lambda _, answer, *__: {"list": written("member", answer)}, "does not depend on the answer"),
    ):
        with pytest.raises(BrokenLaw, match=law):
            publishing(broken)


def test_a_release_that_tells_its_answer_may_be_published_by_it() -> None:
    sealed = replace(
        SMALL,
        seals_release=True,
        published=lambda _, answer, *__: {"list": written("member", answer)},
    )
    made = [replace(one, other=None) for one in cases()]
    check_track(sealed, made)
    rules = made[0].rules
    assert all(one.other is None for one in methods_tried(sealed, rules, original()))
    assert all(one.other != one.answer for one in methods_tried(SMALL, rules, original()))


@pytest.mark.parametrize(
    ("rivals", "taken"),
    [
        (lambda found: sum(map(sum, found.values())), "of guesses E takes from 0 to 1.0, not 1.6"),
        (lambda found: max(map(len, found.values())) / 2, "of guesses E takes from 0 to 0.0, not 1.0"),
        (lambda found: -1.0, "of guesses E takes from 0 to 0.0, not -1.0"),  # noqa: ARG005
    ],
)
def test_what_e_takes_of_rivals_stays_within_its_limits(rivals: Any, taken: str) -> None:
    with pytest.raises(BrokenLaw, match=taken):
        check_track(replace(SMALL, rivals=rivals), cases())


def test_a_question_that_counts_individuals_counts_all_of_them() -> None:
    counting = {**SMALL.questions, "member": replace(SMALL.questions["member"], counts=True)}
    with pytest.raises(BrokenLaw, match="member: it counts all individuals"):
        check_track(replace(SMALL, questions=counting), cases())
