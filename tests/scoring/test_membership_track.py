"""The track `membership` from files to a verdict: what is refused, drawn, read back and measured."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.errors import InvalidCompetition, InvalidInput, InvalidUpload
from anoncup.evaluation.evaluate import evaluate
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.testing.parts import Case, check_attacker, check_measure, methods_tried
from anoncup.testing.tracks import check_track
from anoncup.tracks.generators import generator_for
from anoncup.tracks.membership.adapter import files_of
from anoncup.tracks.membership.allocation import assignments
from anoncup.tracks.membership.answer import Members
from anoncup.tracks.membership.tables import Original, Table, frame, written
from anoncup.tracks.model import About
from tests.scoring import membership_cases
from tests.scoring import membership_reference as plain
from tests.scoring.membership_cases import rows_of, survey
from tests.support.hypothesis_profiles import examples

pytestmark = pytest.mark.full

TRACK = TRACKS["membership"]
SEED = bytes(range(32))
ATTRIBUTE = '\n[questions.attribute]\nhidden = "disease"\n'


def rules_of(more: str = "") -> Rules:
    return parse_competition(template("membership") + more)


def hiding(original: Original, column: str) -> tuple[Original, dict[str, bytes]]:
    """What everybody knows when a column is hidden, and the truth that the organizers hold."""
    table = original.candidates
    names = [name for name in table.schema.names if name != column]
    return Original(table.only(*names)), {"hidden": written(table.only(column))}


def drawn(original: Original, rules: Rules, truth: Mapping[str, bytes], team: str = "a") -> bytes:
    assert TRACK.draw is not None
    made = TRACK.draw.make(original, truth, rules, lambda purpose: generator_for(SEED, purpose, team))
    assert list(made) == ["members"]
    return made["members"]


def about(original: Original, rules: Rules, truth: Mapping[str, bytes] | None = None) -> About:
    sizes = {"originals": original.rows, "rows": original.rows // 2}
    return About(rules, sizes, lambda: original, truth=truth or {})


def test_the_track_keeps_all_laws() -> None:
    cases = list(methods_tried(TRACK, rules_of(), survey()))
    hidden, truth = hiding(survey(), "disease")
    rules = rules_of(ATTRIBUTE)
    members = TRACK.answers.read(drawn(hidden, rules, truth), about(hidden, rules, truth))
    cases += [Case(rules, hidden, members.table, members), *methods_tried(TRACK, rules, hidden)]
    check_track(TRACK, cases)


def test_a_copy_loses_all_privacy_and_independent_columns_most_utility() -> None:
    original, rules = survey(1000), rules_of()
    cases = methods_tried(TRACK, rules, original)
    copy, independent, noise, copula = (
        evaluate(rules, original, case.release, case.answer) for case in cases
    )
    assert copy.security == 1.0
    assert copy.measures["copies"].value == 1.0
    assert copy.measures["marginals"].value == copy.measures["pairs"].value == 0.0
    assert max(independent.security, copula.security) < 0.2
    assert independent.utility > max(noise.utility, copula.utility, 10 * copy.utility)
    assert copy.excessive is None


def test_a_verdict_has_the_numbers_of_plain_loops() -> None:
    original, rules = survey(30), rules_of()
    members = TRACK.answers.read(drawn(original, rules, {}), about(original, rules))
    release = TRACK.anonymize(TRACK.methods["noise"], original, rules, np.random.default_rng(3), {})[0]
    verdict = evaluate(rules, original, release, members)
    own, rows, everybody = rows_of(members.table), rows_of(release), rows_of(original.candidates)
    measured = {name: getattr(plain, name)(own, rows) for name in TRACK.measures}
    assert {name: each.value for name, each in verdict.measures.items()} == pytest.approx(measured, abs=1e-6)
    weighing = sum(value for name, value in measured.items() if name != "copies")
    assert verdict.utility == pytest.approx(weighing / 5, abs=1e-6)
    truth = [place in set(members.rows.tolist()) for place in range(30)]
    rates = {
        name: plain.tpr(list(map(float, getattr(plain, name)(everybody, rows))), truth)
        for name in TRACK.attackers
    }
    assert {name: each.rate.rate for name, each in verdict.attackers.items()} == pytest.approx(
        {name: float(each) for name, each in rates.items()}
    )
    largest = max(float(rate) for rate in rates.values())
    assert verdict.security == pytest.approx(max(0.0, (largest - 0.01) / 0.99))
    details = verdict.measures["marginals"].details
    assert details is not None
    assert np.mean(list(details.values())) == pytest.approx(measured["marginals"])


def test_everybody_can_draw_a_team_again() -> None:
    original, rules = survey(), rules_of()
    halves = assignments(SEED, ["a", "b"], original.rows)
    for team, half in halves.items():
        table = frame(original.candidates.at(half))
        lines = drawn(original, rules, {}, team).decode().splitlines()
        assert lines[0] == ",".join(["candidate", *table.columns])
        places = [int(line.split(",")[0]) for line in lines[1:]]
        assert places == (np.flatnonzero(half) + 1).tolist()
        rest = [line.partition(",")[2] for line in lines]
        assert rest == table.to_csv(index=False).splitlines()


@st.composite
def files(draw: st.DrawFn) -> tuple[membership_cases.Case, Rules, str | None]:
    """Hostile candidates with rules that fit them; with two columns or more maybe one that is hidden."""
    case = draw(membership_cases.cases())
    schema = case.candidates.schema
    text = template("membership")
    head = text[: text.index("[membership.columns")]
    rest = "\n[[phases]]" + text.partition("[[phases]]")[2]
    columns = [
        f'[membership.columns.{one.name}]\nkind = "numeric"\nleast = {one.least!r}\nmost = {one.most!r}\n'
        for one in schema.numeric
    ] + [
        f'[membership.columns.{one.name}]\nkind = "categorical"\nvalues = {list(one.values)}\n'
        for one in schema.categorical
    ]
    hidden = draw(st.sampled_from([None, *schema.names])) if len(schema.names) > 1 else None
    asked = f'[questions.attribute]\nhidden = "{hidden}"\n' if hidden else ""
    return case, parse_competition(head + "\n".join(columns) + asked + rest), hidden


@given(files())
@examples(60)
def test_hostile_candidates_are_drawn_written_and_read_as_they_are(
    made: tuple[membership_cases.Case, Rules, str | None],
) -> None:
    case, rules, hidden = made
    whole = Original(case.candidates)
    original, truth = hiding(whole, hidden) if hidden else (whole, {})
    again, _ = TRACK.parse_original(files_of(original), rules)
    assert files_of(again) == files_of(original)
    content = drawn(again, rules, truth)
    members = TRACK.answers.read(content, about(again, rules, truth))
    assert TRACK.answers.write(members) == content
    assert rows_of(members.table) == rows_of(case.candidates.at(members.among))
    assert members.among.sum() == len(members.rows) == case.candidates.rows // 2
    for question in TRACK.asked(rules).values():
        guess = question.read(question.write(question.perfect(members)), about(again, rules, truth))
        outcome = question.judge(guess, members, {}, **rules.questions.get(question.name, {}))
        assert outcome.value == (0.0 if outcome.details.get("without_release") == 1 else 1.0)


def hostile_case(made: tuple[membership_cases.Case, Rules, str | None]) -> Case:
    """A release of hostile candidates, whose members the service has drawn."""
    case, rules, hidden = made
    whole = Original(case.candidates)
    original, truth = hiding(whole, hidden) if hidden else (whole, {})
    members = TRACK.answers.read(drawn(original, rules, truth), about(original, rules, truth))
    return Case(rules, original, case.released, members)


@pytest.mark.parametrize("name", TRACK.measures)
def test_measures_of_hostile_releases_keep_their_laws(name: str) -> None:
    @examples(25)
    @given(files())
    def law(made: tuple[membership_cases.Case, Rules, str | None]) -> None:
        case = hostile_case(made)
        check_measure(TRACK.measures[name], TRACK, [case])
        release = TRACK.release_of(case.original, case.release, case.answer)
        value = TRACK.measures[name].compute(release)
        assert 0.0 <= value <= 1.0
        mixed = case.release.at(np.random.default_rng(0).permutation(case.release.rows))
        other = TRACK.measures[name].compute(TRACK.release_of(case.original, mixed, case.answer))
        assert other == pytest.approx(value, rel=1e-9, abs=1e-9)

    law()


@pytest.mark.parametrize("name", TRACK.attackers)
def test_attackers_on_hostile_releases_keep_their_laws(name: str) -> None:
    @examples(25)
    @given(files())
    def law(made: tuple[membership_cases.Case, Rules, str | None]) -> None:
        case = hostile_case(made)
        check_attacker(TRACK.attackers[name], TRACK, [case])
        mixed = case.release.at(np.random.default_rng(0).permutation(case.release.rows))
        scores, others = (
            TRACK.attackers[name].attack(TRACK.target_of(case.original, each))
            for each in (case.release, mixed)
        )
        assert others == pytest.approx(scores, rel=1e-9, abs=1e-9)

    law()


@pytest.mark.parametrize("name", [*TRACK.measures, *TRACK.attackers])
def test_every_number_depends_on_who_the_members_are(name: str) -> None:
    original, rules = survey(40), rules_of()
    released, _ = TRACK.anonymize(TRACK.methods["copy"], original, rules, np.random.default_rng(0), {})
    found = set()
    for team in "abcdef":
        members = TRACK.answers.read(drawn(original, rules, {}, team), about(original, rules))
        release = TRACK.release_of(original, released, members)
        if name in TRACK.measures:
            found.add(TRACK.measures[name].compute(release))
        else:
            scores = TRACK.attackers[name].attack(release.target)
            found.add(TRACK.questions["membership"].rated(scores, members, {}).rate)
    assert len(found) > 1


GOOD = "candidate,age,ill\n1,30,no\n3,50,yes\n"
SMALL = template("membership").partition("[membership.columns")[0] + (
    '[membership.columns.age]\nkind = "numeric"\nleast = 0\nmost = 99\n'
    '[membership.columns.ill]\nkind = "categorical"\nvalues = ["no", "yes", ""]\n'
)
CANDIDATES = b"age,ill\n30,no\n30,no\n50,yes\n70,\n"


def small(more: str = "") -> tuple[Rules, Original]:
    rules = parse_competition(SMALL + more)
    names = ("age",) if more else ("age", "ill")
    lines = [line.split(b",")[: len(names)] for line in CANDIDATES.splitlines()]
    candidates = b"".join(b",".join(line) + b"\n" for line in lines)
    return rules, TRACK.parse_original({"candidates": candidates}, rules)[0]


def test_the_own_file_is_read() -> None:
    rules, original = small()
    members = TRACK.answers.read(GOOD.encode(), about(original, rules))
    assert isinstance(members, Members)
    assert (members.rows.tolist(), members.among.tolist()) == ([0, 2], [True, False, True, False])
    assert rows_of(members.table) == [[30.0, "no"], [50.0, "yes"]]
    TRACK.answers.check(members, {"originals": 4, "rows": 1})
    with pytest.raises(InvalidInput, match="2 members are not half of 6 candidates"):
        TRACK.answers.check(members, {"originals": 6, "rows": 1})


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("candidate,age,ill\n1,30,no\n", {(None, None, "too_few_rows")}),
        (GOOD + "4,70,\n", {(None, None, "too_many_rows")}),
        ("3,31,secret\n4,1,secret\n", {(None, None, "header")}),
        ("candidate,age,ill\n3,50,yes\n1,30,no\n", {(2, "candidate", "not_a_row_number")}),
        ("candidate,age,ill\n1,30,no\n1,30,no\n", {(2, "candidate", "not_a_row_number")}),
        ("candidate,age,ill\n1,30,no\n3.5,50,yes\n", {(2, "candidate", "not_a_row_number")}),
        ("candidate,age,ill\n1,30,no\n5,50,yes\n", {(2, "candidate", "out_of_range")}),
        ("candidate,age,ill\n1,31,no\n3,50,yes\n", {(1, "age", "not_the_original")}),
        ("candidate,age,ill\n1,30,no\n3,50,\n", {(2, "ill", "not_the_original")}),
        ("candidate,age,ill\n1,30,no\n3,50,secret\n", {(2, "ill", "unknown_value")}),
        ("candidate,age,ill\n1,secret,no\n3,50,yes\n", {(1, "age", "not_a_number")}),
        ("candidate,age,ill\n1,30,no\n3,50\n", {(2, None, "ragged_row")}),
    ],
)
def test_of_an_own_file_that_is_wrong_the_place_is_told_and_nothing_else(content: str, found: object) -> None:
    rules, original = small()
    with pytest.raises(InvalidUpload) as caught:
        TRACK.answers.read(content.encode(), about(original, rules))
    problems = caught.value.problems
    assert {(each.row, each.column, each.code) for each in problems} == found
    assert {each.file for each in problems} == {"members"}
    told = [str(each.told()) for each in problems]
    assert not any("secret" in each or "31" in each or "3.5" in each for each in told)


HIDE = '[questions.attribute]\nhidden = "ill"\n'
TRUTH = b"ill\nno\nyes\nyes\n\n"


def test_a_hidden_column_comes_from_the_organizers() -> None:
    rules, original = small(HIDE)
    assert TRACK.draw is not None
    assert [file.name for file in TRACK.draw.truth_of(rules)] == ["hidden"]
    TRACK.draw.check_truth("hidden", TRUTH, original, rules)  # type: ignore[misc]
    members = TRACK.answers.read(GOOD.encode(), about(original, rules, {"hidden": TRUTH}))
    question = TRACK.asked(rules)["attribute"]
    guess = question.read(b"ill\nno\nno\nyes\n\n", about(original, rules))
    found = question.judge(guess, members, {}, hidden="ill")
    # Both members are right, one of them by any constant; the others have yes and "", neither of them no.
    told = {name: found.details[name] for name in ("members", "without_release", "commonest", "others")}
    assert (found.value, found.correct, found.trials) == (1.0, 2, 2)
    assert told == {"members": 1.0, "without_release": 0.5, "commonest": 0.5, "others": 0.5}
    with pytest.raises(InvalidInput, match="only the service knows"):
        question.judge(guess, replace(members, hidden=None), {}, hidden="ill")
    with pytest.raises(InvalidInput, match="hidden is needed"):
        drawn(original, rules, {})


@pytest.mark.parametrize("content", [b"ill\nno\n", b"age\n1\n2\n3\n4\n", b"ill\nno\nsecret\nno\nno\n", b""])
def test_a_wrong_truth_is_refused_and_not_repeated(content: bytes) -> None:
    rules, original = small(HIDE)
    assert TRACK.draw is not None
    with pytest.raises(InvalidUpload) as caught:
        TRACK.draw.check_truth("hidden", content, original, rules)  # type: ignore[misc]
    assert {each.file for each in caught.value.problems} == {"hidden"}
    assert "secret" not in str([each.told() for each in caught.value.problems])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[membership.columns.candidate]\nkind = "numeric"\nleast = 0\nmost = 1\n', "with another name"),
        ('[membership.columns.""]\nkind = "numeric"\nleast = 0\nmost = 1\n', "named by 1 to 80 characters"),
        ('[membership.columns."a\\nb"]\nkind = "numeric"\nleast = 0\nmost = 1\n', "named by 1 to 80"),
        ('[questions.attribute]\nhidden = "nobody"\n', "nobody is not such a column"),
        ('[questions.attribute]\ntolerance = -1\n', "0 or more"),
        ('[questions.membership]\nvalue = "auc"\n', "one of tpr, advantage"),
        ('[questions.link]\n', "not a question of this track"),
    ],
)  # fmt: skip
def test_settings_that_do_not_fit_are_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidCompetition, match=said):
        parse_competition(SMALL.replace('[questions.membership]\nvalue = "tpr"\n', "") + text)


def with_settings(more: str) -> Rules:
    before = "shared = false\nfewest_rows = 0.5\nmost_rows = 2.0\n"
    assert before in SMALL
    return parse_competition(SMALL.replace(before, more))


def test_a_column_called_score_is_one_as_any_other() -> None:
    more = '[membership.columns.score]\nkind = "numeric"\nleast = 0\nmost = 9\n'
    rules = parse_competition(SMALL + more + '[questions.attribute]\nhidden = "score"\n')
    guess = TRACK.questions["attribute"].read(
        b"score\n9\n", About(rules, {"originals": 1}, lambda: pytest.fail("the schema says enough"))
    )
    assert guess.numbers.tolist() == [[9.0]]


def test_without_the_hidden_column_something_is_left_of_a_candidate() -> None:
    only = SMALL.partition("[membership.columns.ill]")[0]
    parse_competition(only)
    with pytest.raises(InvalidCompetition, match="candidates need a column beside age"):
        parse_competition(only + "[questions.attribute]\n")


@pytest.mark.parametrize(
    ("settings", "candidates", "limits"),
    [
        ("", 10, (3, 10)),
        ("fewest_rows = 1.0\nmost_rows = 1.0", 10, (5, 5)),
        ("fewest_rows = 0.7\nmost_rows = 0.9", 20, (7, 9)),
        ("fewest_rows = 0\nmost_rows = 0", 10, (1, 1)),
        ("fewest_rows = 0.1\nmost_rows = 0.3", 2, (1, 1)),
    ],
)
def test_a_release_has_as_many_rows_as_the_competition_lets_it(
    settings: str, candidates: int, limits: tuple[int, int]
) -> None:
    found: Any = with_settings(settings).settings
    assert found.rows(candidates) == limits


def test_more_rows_are_not_fewer() -> None:
    with pytest.raises(InvalidCompetition, match=r"membership\.most_rows must be no less than 0\.5"):
        with_settings("most_rows = 0.4")


def test_the_order_of_a_release_is_not_published() -> None:
    table: Table = survey().candidates
    mixed = table.at(np.random.default_rng(0).permutation(table.rows))
    assert TRACK.canonical(table) == TRACK.canonical(mixed)
    assert TRACK.files_of(table) != TRACK.files_of(mixed)


def test_a_method_is_tried_on_members_drawn_for_it_or_takes_the_teams_own() -> None:
    rules, original = small(HIDE)
    copy, rng = TRACK.methods["copy"], np.random.default_rng(0)
    tried, drawn_here = TRACK.anonymize(copy, original, rules, rng, {})
    assert sorted(rows_of(tried)) == sorted(rows_of(drawn_here.table))
    ages = [row[0] for row in rows_of(original.candidates.at(drawn_here.among))]
    assert [row[0] for row in rows_of(drawn_here.table)] == ages
    told = [row[0] for row in rows_of(drawn_here.hidden.at(drawn_here.among))]
    assert [row[1] for row in rows_of(drawn_here.table)] == told
    members = TRACK.answers.read(GOOD.encode(), about(original, rules))
    released, answer = TRACK.anonymize(copy, original, rules, rng, {}, answer=members)
    assert answer is members
    assert sorted(rows_of(released)) == rows_of(members.table)
