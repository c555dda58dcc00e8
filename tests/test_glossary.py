"""What a package's parts are called, in every language: what its catalogues leave out is named."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from anoncup.catalogues import LANGUAGES
from anoncup.rules.parameters import Parameter
from anoncup.testing.parts import BrokenLaw
from anoncup.testing.words import check_words, keys
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.plugin import Plugin
from tests.support import small_track
from tests.support.plugin_installation import install
from tests.support.several_questions_track import RIDDLES

STEP = Parameter("coin", "amount", default=1.0)
PLUGIN = Plugin(
    api=0,
    measures={"microdata": {"coins": Measure("coins", 1, lambda _, coin=1.0: coin, (STEP,))}},
    attackers={"microdata": {"thief": Attacker("thief", 1, lambda target: target)}},
    methods={"microdata": {"mint": Method("mint", lambda *_: _, (Parameter("k", "whole", default=3),))}},
)
NEEDED = (
    "measure_coins",
    "measure_coins_said",
    "parameter_coin",
    "attacker_thief",
    "attacker_thief_said",
    "method_mint",
)
WORDS = {key: f"{key} says" for key in NEEDED}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a package called coins is installed; its catalogues are still to be written."""
    install(tmp_path, "coins", "")
    (tmp_path / "coins.py").unlink()
    (tmp_path / "coins").mkdir()
    (tmp_path / "coins/__init__.py").write_text("")
    entries = tmp_path / "coins-1.0.dist-info/entry_points.txt"
    entries.write_text("[anoncup.locale]\ncoins = coins\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "coins", raising=False)
    return tmp_path / "coins/locale"


def write(folder: Path, tongue: str, words: dict[str, str]) -> None:
    catalogue = folder / tongue / "LC_MESSAGES/coins.po"
    catalogue.parent.mkdir(parents=True)
    lines = [f'msgid ""\nmsgstr "Language: {tongue}\\nContent-Type: text/plain; charset=utf-8\\n"\n']
    lines += [f'msgid "{key}"\nmsgstr "{text}"\n' for key, text in words.items()]
    catalogue.write_text("\n".join(lines), encoding="utf-8")


def test_its_parts_and_the_parameters_that_nobody_else_has_need_names() -> None:
    assert tuple(keys(PLUGIN)) == NEEDED


def test_names_in_every_language_are_enough(folder: Path) -> None:
    for tongue in LANGUAGES:
        write(folder, tongue, WORDS)
    check_words(PLUGIN)


@pytest.mark.parametrize("key", NEEDED)
@pytest.mark.parametrize("tongue", LANGUAGES)
def test_what_is_not_said_in_one_language_is_named(folder: Path, tongue: str, key: str) -> None:
    for one in LANGUAGES:
        write(folder, one, {name: text for name, text in WORDS.items() if (one, name) != (tongue, key)})
    with pytest.raises(BrokenLaw, match=f"^words: not said are {key} in {tongue}$"):
        check_words(PLUGIN)


def test_all_that_is_missing_is_named_at_once(folder: Path) -> None:
    write(folder, "en", {name: text for name, text in WORDS.items() if name != "attacker_thief_said"})
    with pytest.raises(BrokenLaw) as found:
        check_words(PLUGIN)
    missing = ["attacker_thief_said in en", *(f"{key} in ja" for key in NEEDED)]
    assert str(found.value) == f"words: not said are {', '.join(missing)}"


def test_a_track_needs_names_for_what_pages_show_of_it_and_of_its_questions() -> None:
    assert {*keys(small_track.PLUGIN)} - {
        f"{kind}_{name}{more}"
        for kind, parts, mores in (
            ("measure", small_track.SMALL.measures, ("", "_said")),
            ("attacker", small_track.SMALL.attackers, ("", "_said")),
            ("method", small_track.SMALL.methods, ("",)),
        )
        for name in parts
        for more in mores
    } == {
        "track_small", "about_small", "file_list", "file_said_list", "original_numbers",
        "secret_rules_list", "secret_said_list",
        "question_member", "question_asks_member", "guess_said_member", "guess_guide_member",
        "guess_rules_member",
        "question_first", "question_asks_first", "guess_said_first", "guess_guide_first", "guess_rules_first",
    }  # fmt: skip


def test_the_name_of_a_question_is_asked_for_where_there_are_several_and_what_is_ours_never() -> None:
    one = replace(small_track.SMALL, questions={"member": small_track.MEMBER}, templates={"lists": Path()})
    found = {*keys(Plugin(api=0, tracks={"small": one}))}
    assert "question_member" not in found
    assert {"question_asks_member", "choose_start_lists"} <= found
    more = {"by_foot": MICRODATA.distances["gower"], **MICRODATA.distances}
    ours = replace(RIDDLES, name="riddles", distances=more)
    assert [key for key in keys(Plugin(api=0, tracks={"riddles": ours})) if "link" in key] == []
    asked = {key for key in keys(Plugin(api=0, tracks={"riddles": ours})) if "distance" in key}
    assert asked == {"distance_by_foot", "distance_by_foot_said"}
    assert {"parameter_credit", "parameter_chance"} <= {*keys(Plugin(api=0, tracks={"riddles": RIDDLES}))}


def test_a_field_that_one_language_lacks_is_named(folder: Path) -> None:
    write(folder, "en", WORDS | {"measure_coins_said": "of {k} rows"})
    write(folder, "ja", WORDS)
    with pytest.raises(BrokenLaw, match="ja has the fields of en"):
        check_words(PLUGIN)
