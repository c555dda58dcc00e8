"""Run the contract tests on the measure, the attacker and the method, and check their texts."""

from anoncup_example import PLUGIN

from anoncup import TRACKS, generate_households, parse_competition, template
from anoncup.testing.parts import check_attacker, check_measure, check_method, iter_method_cases
from anoncup.testing.words import check_words

MICRODATA = TRACKS["microdata"]


def test_the_parts_keep_the_laws():
    rules = parse_competition(template("2015"))
    table = generate_households(60, seed=1).to_csv(index=False).encode()
    original, _ = MICRODATA.parse_original({"original": table}, rules)
    cases = list(iter_method_cases(MICRODATA, rules, original))
    check_measure(MICRODATA.measures["combinations_lost"], MICRODATA, cases)
    check_attacker(MICRODATA.attackers["nearest_total"], MICRODATA, cases)
    check_method(MICRODATA.methods["round_values"], MICRODATA, cases)


def test_everything_has_a_name_in_every_language():
    check_words(PLUGIN)
