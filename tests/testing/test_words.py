"""The check that a package's catalogues name its parts in every language."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from anoncup.catalogues import LANGUAGES
from anoncup.rules.parameters import Parameter
from anoncup.testing.parts import BrokenLaw
from anoncup.testing.words import check_words, list_required_keys
from anoncup.tracks.files import FileSpec
from anoncup.tracks.linkage.question import LINK_QUESTION
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.plugin import Plugin
from tests.support.package_catalogues import format_catalogue
from tests.support.track_package import install_package

COIN = Parameter("coin", "amount", default=1.0)
PLUGIN = Plugin(
    api=0,
    measures={"microdata": {"coins": Measure("coins", 1, lambda _, coin=1.0: coin, (COIN,))}},
    attackers={"microdata": {"thief": Attacker("thief", 1, lambda target: target)}},
    methods={"microdata": {"mint": Method("mint", lambda *_: _, (Parameter("k", "whole", default=3),))}},
)
REQUIRED_KEYS = (
    "measure_coins",
    "measure_coins_description",
    "parameter_coin",
    "attacker_thief",
    "attacker_thief_description",
    "method_mint",
)
CATALOGUE_TEXTS = {key: f"{key} says" for key in REQUIRED_KEYS}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The locale folder of an installed package ``coins`` that has no catalogues yet."""
    install_package(tmp_path, "coins", "")
    (tmp_path / "coins.py").unlink()
    (tmp_path / "coins").mkdir()
    (tmp_path / "coins/__init__.py").write_text("")
    entries = tmp_path / "coins-1.0.dist-info/entry_points.txt"
    entries.write_text("[anoncup.locale]\ncoins = coins\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "coins", raising=False)
    return tmp_path / "coins/locale"


def write_catalogue(folder: Path, language: str, texts: dict[str, str]) -> None:
    catalogue = folder / language / "LC_MESSAGES/coins.po"
    catalogue.parent.mkdir(parents=True)
    catalogue.write_text(format_catalogue(texts), encoding="utf-8")


def test_parts_and_new_parameters_need_names() -> None:
    assert tuple(list_required_keys(PLUGIN)) == REQUIRED_KEYS


def test_complete_catalogues_are_accepted(folder: Path) -> None:
    for language in LANGUAGES:
        write_catalogue(folder, language, CATALOGUE_TEXTS)
    check_words(PLUGIN)


def test_all_missing_texts_are_reported_with_their_languages(folder: Path) -> None:
    write_catalogue(folder, "en", {name: CATALOGUE_TEXTS[name] for name in REQUIRED_KEYS[1:]})
    write_catalogue(folder, "ja", {name: CATALOGUE_TEXTS[name] for name in REQUIRED_KEYS[:1]})
    missing_texts = [f"{REQUIRED_KEYS[0]} in en", *(f"{key} in ja" for key in REQUIRED_KEYS[1:])]
    with pytest.raises(BrokenLaw) as excinfo:
        check_words(PLUGIN)
    assert str(excinfo.value) == f"words: not said are {', '.join(missing_texts)}"


def test_tracks_need_names_for_files_and_questions() -> None:
    track: AnyTrack = replace(
        MICRODATA,
        name="small",
        original_files=(FileSpec("numbers"),),
        release_files=(FileSpec("list"),),
        answer_spec=replace(MICRODATA.answer_spec, file=FileSpec("secret", kind="list")),
        questions={name: replace(LINK_QUESTION, name=name) for name in ("member", "first")},
    )
    assert {*list_required_keys(Plugin(api=0, tracks={"small": track}))} == {
        "track_small", "about_small", "file_list", "file_description_list", "original_numbers",
        "secret_rules_list", "secret_description_list",
        "question_member", "question_asks_member", "guess_description_member", "guess_guide_member",
        "guess_rules_member",
        "question_first", "question_asks_first", "guess_description_first", "guess_guide_first",
        "guess_rules_first",
    }  # fmt: skip


def test_own_question_with_a_built_in_name_needs_own_texts(folder: Path) -> None:
    question = replace(LINK_QUESTION, file=replace(LINK_QUESTION.file, format_description="CSV"))
    plugin = Plugin(api=0, tracks={"pairs": replace(MICRODATA, name="pairs", questions={"link": question})})
    texts = {key: f"{key} says" for key in list_required_keys(plugin)}
    write_catalogue(folder, "en", texts)
    write_catalogue(folder, "ja", {key: text for key, text in texts.items() if key != "guess_rules_link"})
    with pytest.raises(BrokenLaw, match=r"^words: not said are guess_rules_link in ja$"):
        check_words(plugin)


def test_placeholders_must_agree_between_languages(folder: Path) -> None:
    write_catalogue(folder, "en", CATALOGUE_TEXTS | {"measure_coins_description": "of {k} rows"})
    write_catalogue(folder, "ja", CATALOGUE_TEXTS)
    with pytest.raises(BrokenLaw, match="ja has the fields of en"):
        check_words(PLUGIN)
