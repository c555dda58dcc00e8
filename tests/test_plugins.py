"""Packages that bring parts: found by their entry points, each taken whole or left out alone."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from anoncup.plugins import BUILT_IN, discovered
from tests.support.plugin_installation import install

PART = """
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.plugin import Plugin
from anoncup.lazy import deferred_in
by = deferred_in(__name__)
def coins(name="coins"):
    return {"microdata": {name: Measure(name, 1, by("compute"), weighs=True, reads_secret=False)}}
def compute(release):
    return 0.25
"""
FINE = f"{PART}\nPLUGIN = Plugin(api=0, measures=coins())\n"
BROKEN = {
    "import nothing_that_there_is": "ModuleNotFoundError: No module named 'nothing_that_there_is'",
    "raise SystemExit(3)": "SystemExit: 3",
    "PLUGIN = 7": "coins:PLUGIN is no Plugin",
    "nothing = 1": "AttributeError: module 'coins' has no attribute 'PLUGIN'",
    "PLUGIN = Plugin(api=7, measures=coins())": "it is made for api 7; this is api 0",
    "PLUGIN = Plugin(api=0, measures=7)": "AttributeError: 'int' object has no attribute 'items'",
    "PLUGIN = Plugin(api=0, measures={'chess': coins()['microdata']})": "there is no track chess",
    "PLUGIN = Plugin(api=0, measures=coins('mean_mae'))": "there is mean_mae already",
    "PLUGIN = Plugin(api=0, measures=coins('euc1'))": "there is euc1 already",
    "PLUGIN = Plugin(api=0, attackers=coins())": "coins is no Attacker",
    "PLUGIN = Plugin(api=0, measures={'microdata': {'tails': coins()['microdata']['coins']}})": (
        "tails is called coins: a name is one word of small letters, the same in both"
    ),
    "PLUGIN = Plugin(api=0, measures=coins('two words'))": (
        "two words is called two words: a name is one word of small letters, the same in both"
    ),
    "PLUGIN = Plugin(api=0, attackers={'microdata': {'a': Attacker('a', 1, by('x'), question='why')}})": (
        "a answers why, which microdata does not ask"
    ),
    "PLUGIN = Plugin(api=0, measures=coins(), formulas={'microdata': {'coins': '<math>'}})": (
        "the formula of coins is no math element"
    ),
    "PLUGIN = Plugin(api=0, measures=coins(), formulas={'microdata': {'coins': '<script/>'}})": (
        "the formula of coins is no math element"
    ),
    "PLUGIN = Plugin(api=0, formulas={'microdata': {'coins': '<math/>'}})": (
        "a formula of coins, which is no measure of microdata"
    ),
}


def listed(folder: Path) -> list[dict[str, object]]:
    return json.loads(said(folder, "-m", "anoncup.cli", "plugins", "--json"))  # type: ignore[no-any-return]


def said(folder: Path, *words: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """What Python says with these packages installed besides."""
    done = subprocess.run(
        [sys.executable, *words],
        env={"PYTHONPATH": str(folder), **(environment or {})},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose packages this process imports, and forgets afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def test_a_packages_parts_join_their_track_and_the_track_stays_as_it_was(on_path: Path) -> None:
    install(on_path, "coins", FINE)
    before = dict(BUILT_IN["microdata"].measures)
    found = discovered(BUILT_IN)
    assert found.tracks["microdata"].measures.keys() - before.keys() == {"coins"}
    assert BUILT_IN["microdata"].measures == before
    assert found.tracks["transactions"] is BUILT_IN["transactions"]
    (package,) = found.packages
    assert (package.name, package.version, package.broken) == ("coins", "1.0", "")
    assert found.bringer("microdata.measures.coins") is package
    assert found.bringer("microdata.measures.mean_mae") is None


@pytest.mark.parametrize(("code", "why"), BROKEN.items())
def test_a_package_that_does_not_fit_is_left_out_whole_and_says_why(
    on_path: Path, code: str, why: str
) -> None:
    install(on_path, "coins", f"{PART}\n{code}\n")
    install(on_path, "others", FINE.replace("coins", "others"))
    found = discovered(BUILT_IN)
    assert {one.name: one.broken for one in found.packages} == {"coins": why, "others": ""}
    assert found.tracks["microdata"].measures.keys() - BUILT_IN["microdata"].measures.keys() == {"others"}


def test_of_two_packages_that_bring_the_same_the_first_is_taken(tmp_path: Path) -> None:
    install(tmp_path, "a_coins", FINE)
    install(tmp_path, "b_coins", FINE)
    first, second = listed(tmp_path)
    assert (first["name"], first["parts"]) == ("a-coins", ["microdata.measures.coins"])
    assert (second["name"], second["parts"], second["broken"]) == ("b-coins", [], "there is coins already")


def test_a_track_may_come_from_one_package_and_its_measure_from_another(tmp_path: Path) -> None:
    track = "from dataclasses import replace\nfrom anoncup.tracks.microdata import MICRODATA\n"
    made = "PLUGIN = Plugin(api=0, tracks={'chess': replace(MICRODATA, name='chess')})\n"
    install(tmp_path, "z_chess", track + PART + made)
    install(tmp_path, "a_coins", FINE.replace('{"microdata"', '{"chess"'))
    assert [one["parts"] for one in listed(tmp_path)] == [["chess.measures.coins"], ["tracks.chess"]]


@pytest.mark.full
def test_a_broken_package_stops_neither_the_list_nor_a_competition_file(tmp_path: Path) -> None:
    install(tmp_path, "coins", "import nothing_that_there_is")
    (found,) = listed(tmp_path)
    assert found["broken"] == "ModuleNotFoundError: No module named 'nothing_that_there_is'"
    program = "from anoncup import parse_competition, template; parse_competition(template(2015))"
    said(tmp_path, "-c", program)


def test_what_packages_import_loads_no_numbers() -> None:
    modules = "anoncup.tracks.plugin, anoncup.tracks.parts, anoncup.tracks.model, anoncup.rules.parameters"
    said(Path(), "-c", f"import {modules}, sys; assert not {{'numpy', 'pandas'}} & set(sys.modules)")


@pytest.mark.full
def test_the_library_has_all_that_it_names() -> None:
    said(Path(), "-c", "from anoncup import *; import anoncup; assert set(anoncup.__all__) <= set(globals())")


REQUIRES = "[requires]\ncoins = "
ASKED = f"""
import sys
from anoncup.errors import InvalidCompetition
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
try:
    print(dict(parse_competition(template(2015) + {REQUIRES!r} + sys.argv[1]).requires))
except InvalidCompetition as problem:
    print(problem.code, problem)
"""


@pytest.mark.parametrize(
    ("version", "wanted", "told"),
    [
        ("1.0", '">=0.3"', "{'coins': '>=0.3'}"),
        ("1.0rc1", '">=0.3"', "{'coins': '>=0.3'}"),
        (
            "1.0",
            '"==1.1.*"',
            "package_version requires.coins: version ==1.1.* of the package coins is needed; 1.0 is",
        ),
        (
            "one",
            '">=0"',
            "package_version requires.coins: version >=0 of the package coins is needed; one is installed",
        ),
        ("1.0", '"new"', "wrong_value requires.coins must be versions such as >=0.3 or ==1.2.*"),
        ("1.0", "3", "wrong_value requires.coins must be a text of 1 to 200 characters"),
        ("", '">=0.3"', "package_missing requires.coins: the package coins is not installed"),
    ],
)
def test_a_file_that_needs_a_package_is_refused_where_it_is_not_installed_like_that(
    tmp_path: Path, version: str, wanted: str, told: str
) -> None:
    if version:
        install(tmp_path, "coins", FINE, version=version)
    assert said(tmp_path, "-c", ASKED, wanted).startswith(told)


def test_a_package_that_does_not_work_is_not_what_a_file_needs(tmp_path: Path) -> None:
    install(tmp_path, "coins", "import nothing_that_there_is")
    found = said(tmp_path, "-c", ASKED, '">=0"')
    assert found == "package_broken requires.coins: the package coins is installed, but does not work\n"
