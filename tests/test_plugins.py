"""Packages with parts: found by their entry points, each loaded as a whole or left out alone."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from anoncup.plugins import BUILT_IN, discover_environments, discover_plugins
from anoncup.tracks.descriptions import describe
from anoncup.tracks.plugin import Plugin
from tests.support.track_package import install_package

PART_CODE = """
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.plugin import Plugin
from anoncup.lazy import lazy_in
by = lazy_in(__name__)
def coins(name="coins"):
    return {"microdata": {name: Measure(name, 1, by("compute"), weighs=True, reads_secret=False)}}
def compute(release):
    return 0.25
"""
WORKING_CODE = f"{PART_CODE}\nPLUGIN = Plugin(api=0, measures=coins())\n"
BROKEN_PLUGINS = {
    "import nothing_that_there_is": "ModuleNotFoundError: No module named 'nothing_that_there_is'",
    "raise SystemExit(3)": "SystemExit: 3",
    "PLUGIN = 7": "coins:PLUGIN is no Plugin",
    "nothing = 1": "AttributeError: module 'coins' has no attribute 'PLUGIN'",
    "PLUGIN = Plugin(api=7, measures=coins())": "it is made for api 7; this is api 0",
    "PLUGIN = Plugin(api=0, measures=7)": "AttributeError: 'int' object has no attribute 'items'",
    "PLUGIN = Plugin(api=0, measures={'chess': coins()['microdata']})": "there is no track chess",
    "PLUGIN = Plugin(api=0, measures=coins('mean_mae'))": "there is mean_mae already, perhaps in the same package",
    "PLUGIN = Plugin(api=0, measures=coins('euc1'))": "there is euc1 already, perhaps in the same package",
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
    "PLUGIN = Plugin(api=0, measures=coins(), formulas={'microdata': {'coins': ' '}})": (
        "the formula of coins is not LaTeX"
    ),
    "PLUGIN = Plugin(api=0, measures=coins(), formulas={'microdata': {'coins': '<script/>'}})": (
        "the formula of coins is not LaTeX"
    ),
    "PLUGIN = Plugin(api=0, formulas={'microdata': {'coins': 'x'}})": (
        "a formula of coins, which is no measure of microdata"
    ),
    "PLUGIN = Plugin(api=0, ranking_functions=coins()['microdata'])": "coins is no RankingFunction",
}


def list_packages(folder: Path) -> list[dict[str, object]]:
    return json.loads(run_python(folder, "-m", "anoncup.cli", "plugins", "--json"))  # type: ignore[no-any-return]


def run_python(folder: Path, *arguments: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """Return the output of Python with the packages of the folder."""
    completed = subprocess.run(
        [sys.executable, *arguments],
        env={"PYTHONPATH": str(folder), **(environment or {})},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


@pytest.fixture
def import_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the import path, whose modules are unloaded afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    modules_before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - modules_before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def test_packages_parts_extend_a_copy_of_their_track(import_folder: Path) -> None:
    install_package(import_folder, "coins", WORKING_CODE)
    measures_before = dict(BUILT_IN["microdata"].measures)
    plugins = discover_plugins(BUILT_IN)
    assert plugins.tracks["microdata"].measures.keys() - measures_before.keys() == {"coins"}
    assert BUILT_IN["microdata"].measures == measures_before
    assert plugins.tracks["transactions"] is BUILT_IN["transactions"]
    (package,) = plugins.packages
    assert (package.name, package.version, package.broken) == ("coins", "1.0", "")
    assert plugins.find_provider("microdata.measures.coins") is package
    assert plugins.find_provider("microdata.measures.mean_mae") is None


@pytest.mark.parametrize(("code", "reason"), BROKEN_PLUGINS.items())
def test_broken_package_is_left_out_with_a_reason(import_folder: Path, code: str, reason: str) -> None:
    install_package(import_folder, "coins", f"{PART_CODE}\n{code}\n")
    install_package(import_folder, "others", WORKING_CODE.replace("coins", "others"))
    plugins = discover_plugins(BUILT_IN)
    assert {package.name: package.broken for package in plugins.packages} == {"coins": reason, "others": ""}
    assert plugins.tracks["microdata"].measures.keys() - BUILT_IN["microdata"].measures.keys() == {"others"}


def test_first_of_two_packages_with_the_same_part_wins(tmp_path: Path) -> None:
    install_package(tmp_path, "a_coins", WORKING_CODE)
    install_package(tmp_path, "b_coins", WORKING_CODE)
    first_package, second_package = list_packages(tmp_path)
    assert (first_package["name"], first_package["parts"]) == ("a-coins", ["microdata.measures.coins"])
    assert (second_package["name"], second_package["parts"], second_package["broken"]) == (
        "b-coins",
        [],
        "there is coins already, perhaps in the same package",
    )


def test_packages_may_extend_each_others_tracks(tmp_path: Path) -> None:
    track = "from dataclasses import replace\nfrom anoncup.tracks.microdata import MICRODATA\n"
    plugin = "PLUGIN = Plugin(api=0, tracks={'chess': replace(MICRODATA, name='chess')})\n"
    install_package(tmp_path, "z_chess", f"print('noise')\n{track}{PART_CODE}{plugin}")
    install_package(tmp_path, "a_coins", WORKING_CODE.replace('{"microdata"', '{"chess"'))
    assert [package["parts"] for package in list_packages(tmp_path)] == [
        ["chess.measures.coins"],
        ["tracks.chess"],
    ]


def test_importing_the_plugin_api_loads_no_numeric_packages() -> None:
    modules = "anoncup.tracks.plugin, anoncup.tracks.parts, anoncup.tracks.model, anoncup.rules.parameters"
    run_python(Path(), "-c", f"import {modules}, sys; assert not {{'numpy', 'pandas'}} & set(sys.modules)")


REQUIRES_TOML = "[requires]\ncoins = "
REQUIRES_PROGRAM = f"""
import sys
from anoncup.errors import InvalidCompetition
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
try:
    print(dict(parse_competition(template(2015) + {REQUIRES_TOML!r} + sys.argv[1]).requires))
except InvalidCompetition as problem:
    print(problem.code, problem)
"""


@pytest.mark.parametrize(
    ("version", "specifier", "expected"),
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
def test_required_package_versions_are_checked(
    tmp_path: Path, version: str, specifier: str, expected: str
) -> None:
    if version:
        install_package(tmp_path, "coins", WORKING_CODE, version=version)
    assert run_python(tmp_path, "-c", REQUIRES_PROGRAM, specifier).startswith(expected)


def test_broken_package_does_not_satisfy_a_requirement(tmp_path: Path) -> None:
    install_package(tmp_path, "coins", "import nothing_that_there_is")
    output = run_python(tmp_path, "-c", REQUIRES_PROGRAM, '">=0"')
    assert output == (
        "package_broken requires.coins: the package coins is installed, but does not work: "
        "ModuleNotFoundError: No module named 'nothing_that_there_is'\n"
    )


def write_environment(folder: Path, name: str, content: object) -> None:
    (folder / name).mkdir()
    (folder / name / "package.json").write_text(json.dumps(content))


def describe_environment(plugin: Plugin, *, library: str = version("anoncup")) -> dict[str, object]:
    """Return the content of the file of an environment with one package."""
    package = {"name": "coins", "version": "1.0", "entry": "coins:PLUGIN", "broken": ""}
    versions = {"python": "3.12.1", "numpy": "2.0.0", "pandas": "2.2.3"}
    plugins = [{**package, "plugin": describe(plugin)}]
    return {"library": library, "versions": versions, "plugins": plugins, "catalogues": []}


def test_packages_in_environments_add_tracks_or_say_why_not(tmp_path: Path) -> None:
    folder = tmp_path / "packages"
    folder.mkdir()
    track = replace(BUILT_IN["microdata"], name="chess")
    plugin = Plugin(api=0, tracks={"chess": track})
    foreign_plugin = Plugin(api=0, measures={"microdata": {"mean_mae": track.measures["mean_mae"]}})
    write_environment(folder, "a", describe_environment(plugin))
    write_environment(folder, "b", describe_environment(plugin, library="0.0.1"))
    write_environment(folder, "c", describe_environment(foreign_plugin))
    write_environment(folder, "d", {"library": 7})
    write_environment(folder, "e", describe_environment(plugin))
    installed = discover_environments(folder)
    assert {package.environment: package.broken for package in installed.packages} == {
        "a": "",
        "b": "its environment has version 0.0.1 of anoncup; add it again with anoncup packages add",
        "c": "it extends a track of others: install it into the service's own interpreter",
        "d": "KeyError: 'plugins'",
        "e": "there is chess already, perhaps in the same package",
    }
    provider = installed.find_provider("tracks.chess")
    assert provider is not None
    assert provider.environment == "a"
    assert installed.tracks["chess"].measures.keys() == track.measures.keys()
    (package,) = [package for package in installed.packages if not package.broken]
    assert package.versions["pandas"] == "2.2.3"
    listed = json.loads(run_python(tmp_path, "-m", "anoncup.cli", "plugins", "--data", tmp_path, "--json"))
    assert [entry["environment"] for entry in listed] == [
        package.environment for package in installed.packages
    ]
