"""Catalogues of packages, regional variants of languages, and plurals and numbers by CLDR."""

import sys
from collections.abc import Iterator
from gettext import NullTranslations
from pathlib import Path

import pytest

from anoncup.messages import Message, PluralMessage
from anoncup.plugins import InstalledParts
from app.core.locale.language import LANGUAGES, Translator, load_translator
from app.core.pages import language as languages
from app.core.pages.language import adapt_to_track
from tests.support.package_catalogues import format_catalogue, install_catalogue, open_package_folder

JAPANESE_COINS = format_catalogue(
    {
        "A coin is tossed.": "コインを投げます。",
        "Sign in": "別の言葉",
        "measure_coin": "コインの指標",
        "measure_mean_mae": "別の名前",
    }
)
ENGLISH_COINS = format_catalogue(
    {"measure_coin": "Tossed coins", "measure_coin_description": "How often heads came up."}
)


POLISH = """
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);\\n"

msgid "{found} row is left; at least {needed} must be"
msgid_plural "{found} rows are left; at least {needed} must be"
msgstr[0] "Został {found} wiersz z {needed}."
msgstr[1] "Zostały {found} wiersze z {needed}."
msgstr[2] "Zostało {found} wierszy z {needed}."
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder for packages with catalogues, with German and Polish added to the languages."""
    monkeypatch.setattr(languages, "LANGUAGES", ("de", *LANGUAGES, "pl"))
    with open_package_folder(tmp_path) as folder:
        yield folder


def test_package_catalogue_adds_but_does_not_override_messages(packages: Path) -> None:
    install_catalogue(packages, "coins", "ja", JAPANESE_COINS)
    install_catalogue(packages, "coins", "en", ENGLISH_COINS)
    de, en, ja = map(load_translator, ("de", "en", "ja"))
    assert (ja("A coin is tossed."), en("A coin is tossed.")) == ("コインを投げます。", "A coin is tossed.")
    assert ja("Sign in") == "サインイン"
    labels = {t.language: t.label("measure_coin") for t in (de, en, ja)}
    assert labels == {"de": "Tossed coins", "en": "Tossed coins", "ja": "コインの指標"}
    assert ja.label("measure_mean_mae") != "別の名前"
    assert "coins" not in sys.modules


def test_part_of_a_package_is_not_labelled_by_texts_of_a_built_in_part(
    packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = frozenset({"measure_pairs", "measure_tails"})
    monkeypatch.setattr(languages, "INSTALLED", InstalledParts({}, package_texts={"coins": own}))
    install_catalogue(packages, "coins", "ja", format_catalogue({"measure_pairs": "硬貨の組"}))
    ja = load_translator("ja")
    coins = adapt_to_track(ja, "coins")
    assert coins.label("measure_pairs", "pairs") == "硬貨の組"
    assert coins.label("measure_tails", "tails") == "tails"
    assert coins.label("measure_marginals") == ja.label("measure_marginals")
    assert adapt_to_track(ja, "membership").label("measure_tails") == ja.label("measure_tails") != "tails"


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        (["PT-br", "en"], "pt_BR"),
        (["zh-Hant-TW"], "zh_Hant"),
        (["de-AT", "ja"], "de"),
        (["fr", "ja-JP"], "ja"),
        (["", "*", "fr"], "en"),
    ],
)
def test_closest_variant_of_the_browser_language_is_chosen(
    monkeypatch: pytest.MonkeyPatch, accepted: list[str], expected: str
) -> None:
    monkeypatch.setattr(languages, "LANGUAGES", ("en", "de", "ja", "pt_BR", "zh_Hant"))
    assert languages.match_accepted_language(accepted) == expected


def test_integers_are_formatted_by_language() -> None:
    german = Translator("de", NullTranslations())
    assert german("{rows} rows", rows=1234567) == "1.234.567 rows"
    assert german.localize(0.5) == "0,5"


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("de", "-1,234,567.85", "-1.234.567,85"),
        ("de", "1.2346e-07", "1,2346e-07"),
        ("de", "<0.01 ≈0 – −2.5×10⁻⁹", "<0,01 ≈0 – −2,5×10⁻⁹"),
        ("sv", "-0.50", "−0,50"),
        ("pl", "12,345.0", "12\xa0345,0"),
    ],
)
def test_number_uses_separators_of_its_language_and_keeps_digits(code: str, text: str, expected: str) -> None:
    assert Translator(code, NullTranslations()).localize_numbers(text) == expected


def test_numbers_in_messages_are_formatted_by_language() -> None:
    german = Translator("de", NullTranslations())
    template = "{a:,} of {b:.6g}, {c:.0f}, {b:.4f} and {d}"
    message = Message(template, a=12345, b=0.123456789, c=1234.5, d=(1234, 0.5))
    assert german.translate_message(message) == "12.345 of 0,123457, 1234, 0,1235 and 1.234, 0,5"
    assert str(message) == "12,345 of 0.123457, 1234, 0.1235 and 1234, 0.5"


ROWS_LEFT = (
    "{found} row is left; at least {needed} must be",
    "{found} rows are left; at least {needed} must be",
)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, "Został 1 wiersz z 1,5."),
        (12, "Zostało 12 wierszy z 1,5."),
        (1022, "Zostały 1\xa0022 wiersze z 1,5."),
    ],
)
def test_counted_message_uses_the_right_plural(packages: Path, count: int, expected: str) -> None:
    install_catalogue(packages, "polski", "pl", POLISH)
    message = PluralMessage(*ROWS_LEFT, "found", found=count, needed=1.5)
    assert load_translator("pl").translate_message(message) == expected


def test_texts_are_formatted_with_values() -> None:
    t = load_translator("ja")
    assert "12,345" in t("Waiting for: {n}.", n=12345)
    with pytest.raises(KeyError):
        t.label("no such name")


def test_texts_of_packages_replace_none_of_ours_and_read_no_attributes(tmp_path: Path) -> None:
    with open_package_folder(tmp_path) as folder:
        install_catalogue(folder, "coins", "en", format_catalogue({"Sign in": "Pay here", "{by} ago": "now"}))
        broken_catalogue = format_catalogue({"x": "y"}).replace("utf-8", "nonsense")
        install_catalogue(folder, "broken", "ja", broken_catalogue)
        english, japanese = load_translator("en"), load_translator("ja")
        assert (english("Sign in"), english("{by} ago", by="1 h")) == ("Sign in", "1 h ago")
        assert japanese("Sign in") != "Sign in"
    for text in ("{by.__class__}", "{by[0]}"):
        assert english.fill(text, {"by": "a value"}) == text
