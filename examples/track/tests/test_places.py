"""Run the contract tests on the track with its example data, and check its texts."""

from anoncup_places import PLACES, PLUGIN
from anoncup_places.steps import make_example_data, parse_original

from anoncup import parse_competition, template
from anoncup.testing.parts import iter_method_cases
from anoncup.testing.tracks import check_track
from anoncup.testing.words import check_words


def test_the_track_keeps_the_laws():
    rules = parse_competition(template("places"))
    for seed in range(3):
        places, _ = parse_original(make_example_data(rules, 50, seed), rules)
        check_track(PLACES, list(iter_method_cases(PLACES, rules, places)))


def test_everything_has_a_name_in_every_language():
    check_words(PLUGIN)
