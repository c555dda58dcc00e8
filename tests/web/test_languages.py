"""Languages as translators bring them: catalogues of packages, countries' forms, plurals and numbers by CLDR."""

import sys
from collections.abc import Iterator
from gettext import NullTranslations
from pathlib import Path

import pytest

from app import language
from app.language import Words, in_language
from app.web.site import languages

COINS = """
msgid ""
msgstr "Content-Type: text/plain; charset=utf-8\\n"

msgid "A coin is tossed."
msgstr "コインを投げます。"

msgid "Sign in"
msgstr "別の言葉"
"""


@pytest.fixture
def coins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package is installed that adds a part and says it in Japanese."""
    catalogue = tmp_path / "coins" / "locale" / "ja" / "LC_MESSAGES" / "coins.po"
    entry = tmp_path / "coins-1.0.dist-info" / "entry_points.txt"
    for path in (catalogue, entry):
        path.parent.mkdir(parents=True)
    catalogue.write_text(COINS)
    entry.write_text("[anoncup.locale]\ncoins = coins\n")
    (entry.parent / "METADATA").write_text("Metadata-Version: 2.1\nName: coins\nVersion: 1.0\n")
    (tmp_path / "coins" / "__init__.py").write_text("raise AssertionError('nobody needs its code')\n")
    monkeypatch.syspath_prepend(tmp_path)
    language.catalogue.cache_clear()
    yield
    language.catalogue.cache_clear()


def test_a_package_brings_a_catalogue_of_its_own_which_changes_none_of_our_words(coins: None) -> None:
    ja, en = in_language("ja"), in_language("en")
    assert (ja("A coin is tossed."), en("A coin is tossed.")) == ("コインを投げます。", "A coin is tossed.")
    assert ja("Sign in") == "サインイン"
    assert "coins" not in sys.modules


@pytest.mark.parametrize(
    ("accepted", "found"),
    [
        (["pt-BR", "en"], "pt_BR"),
        (["PT-br"], "pt_BR"),
        (["zh-Hant-TW"], "zh_Hant"),
        (["de-AT", "ja"], "de"),
        (["fr", "ja-JP"], "ja"),
        (["", "*", "fr"], "en"),
    ],
)
def test_the_nearest_form_of_the_browsers_language_is_taken(
    monkeypatch: pytest.MonkeyPatch, accepted: list[str], found: str
) -> None:
    monkeypatch.setattr(languages, "LANGUAGES", ("en", "de", "ja", "pt_BR", "zh_Hant"))
    assert languages.of_browser(accepted) == found


def test_whole_numbers_are_written_as_the_language_does() -> None:
    german, hindi = (Words(each, NullTranslations()) for each in ("de", "hi"))
    assert german("{rows} rows", rows=1234567) == "1.234.567 rows"
    assert hindi.shown(1234567) == "12,34,567"
