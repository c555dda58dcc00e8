"""Run the contract tests on the track and on what it assigns to teams, and check its texts."""

from anoncup_cup2026 import CUP2026, PLUGIN

from anoncup import template
from anoncup.competition.parser import parse_rounds
from anoncup.testing.allocations import check_allocation
from anoncup.testing.parts import iter_method_cases
from anoncup.testing.tracks import check_track
from anoncup.testing.words import check_words


def test_the_track_and_its_cohorts_keep_the_laws():
    rules = parse_rounds(template("cup2026"))["final"]
    for seed in range(3):
        files = CUP2026.examples.make_data(rules, 240, seed)
        original, _ = CUP2026.parse_original(files, rules)
        check_track(CUP2026, list(iter_method_cases(CUP2026, rules, original)))
        check_allocation(CUP2026, rules, {"candidates": files["candidates"]}, {"register": files["register"]})


def test_everything_has_a_name_in_every_language():
    check_words(PLUGIN)
