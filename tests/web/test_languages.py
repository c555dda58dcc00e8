"""Languages as translators bring them: catalogues of packages, countries' forms, plurals and numbers by CLDR."""

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from gettext import NullTranslations
from importlib import invalidate_caches
from pathlib import Path

import pytest
from babel.localedata import locale_identifiers

from anoncup import schemas
from anoncup.messages import Counted, Message, kept
from anoncup.plugins import TRACKS
from app.db.models import Submission
from app.db.transaction import transaction
from app.locale import language
from app.locale.language import LANGUAGES, Words, in_language
from app.web.organizer.audit_entries import leaves
from app.web.site import language as languages
from tests.support.arena import Arena
from tests.support.submission_pages import scored
from tests.web.reader import page

COINS = """
msgid ""
msgstr "Content-Type: text/plain; charset=utf-8\\n"

msgid "A coin is tossed."
msgstr "コインを投げます。"

msgid "Sign in"
msgstr "別の言葉"

msgid "measure_coin"
msgstr "コインの指標"

msgid "measure_mean_mae"
msgstr "別の名前"
"""
ENGLISH_COINS = """
msgid ""
msgstr "Content-Type: text/plain; charset=utf-8\\n"

msgid "measure_coin"
msgstr "Tossed coins"

msgid "measure_coin_said"
msgstr "How often heads came up."
"""


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

MICRODATA = TRACKS["microdata"]


def installed(folder: Path, package: str, language: str, catalogue: str) -> None:
    """A package with a catalogue, as its entry point names it; its code must not be needed."""
    paths = {
        folder / package / "locale" / language / "LC_MESSAGES" / f"{package}.po": catalogue,
        folder / package / "__init__.py": "raise AssertionError('nobody needs its code')\n",
        folder
        / f"{package}-1.0.dist-info"
        / "METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n",
        folder
        / f"{package}-1.0.dist-info"
        / "entry_points.txt": f"[anoncup.locale]\n{package} = {package}\n",
    }
    for path, content in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    invalidate_caches()  # of the folder, too, if a thread of an earlier test has looked into it meanwhile
    forget()


def forget() -> None:
    """What was read of the catalogues before."""
    language.catalogue.cache_clear()
    languages.words_in.cache_clear()


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where packages are installed that bring words; of a language that we have none of, too."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(languages, "LANGUAGES", ("de", *LANGUAGES, "pl"))
    forget()
    yield tmp_path
    forget()


def test_a_package_brings_a_catalogue_of_its_own_which_changes_none_of_our_words(packages: Path) -> None:
    installed(packages, "coins", "ja", COINS)
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
    assert german.shown(0.5) == "0,5"
    assert german.shown(True) is True


@pytest.mark.parametrize(
    ("said", "text", "written"),
    [
        ("de", "-1,234,567.85", "-1.234.567,85"),
        ("de", "12.3%", "12,3\xa0%"),
        ("de", "1.2346e-07", "1,2346e-07"),
        ("de", "1234.5", "1234,5"),
        ("de", "<0.01 ≈0 – −2.5×10⁻⁹", "<0,01 ≈0 – −2,5×10⁻⁹"),
        ("sv", "-0.50", "−0,50"),
        ("tr", "5%", "%5"),
        ("pl", "12,345.0", "12\xa0345,0"),
        ("hi", "1,234,567.0", "12,34,567.0"),
        ("de", "1" + ",000" * 40 + ".0", "1" + ".000" * 40 + ",0"),
    ],
)
def test_a_number_gets_the_signs_of_its_language_and_keeps_its_digits(
    said: str, text: str, written: str
) -> None:
    assert Words(said, NullTranslations()).written(text) == written


@pytest.mark.full
def test_each_language_that_there_is_can_write_numbers_and_english_and_japanese_write_them_alike() -> None:
    text = "-1,234,567.85 and 12.3%"
    for each in locale_identifiers():
        written = Words(each, NullTranslations()).written(text)
        assert re.sub(r"\D", "", written) == re.sub(r"\D", "", text)
        assert written == text or each not in LANGUAGES


PAGES = ("/submissions/{one}", "/competitions/{slug}/rules", "/competitions/{slug}/boards/anonymization")
VERSIONS_AND_CLOCKS = re.compile(r"\b\d+(\.\d+\.|:\d+:|:)\d+\b")


def seen(arena: Arena, path: str, language: str) -> str:
    """What somebody of a team reads and hears of a page, without formulas, times, versions and what is to be copied."""
    html = page(arena, path, team="red", language=language).text
    html = re.sub(r"<(script|math|time|pre)\b.*?</\1>", "", html.partition("<main")[2], flags=re.DOTALL)
    heard = re.findall(r'aria-label="([^"]*)"', html)
    return VERSIONS_AND_CLOCKS.sub(
        "", "\n".join([*re.split(r"[ \n]+", re.sub(r"<[^>]*>", " ", html)), *heard])
    )


@pytest.mark.full
def test_pages_and_pictures_have_the_signs_of_the_readers_language_in_every_number(
    arena: Arena, packages: Path
) -> None:
    one = scored(arena)
    for path in PAGES:
        place = path.format(one=one, slug=arena.slug)
        english, german = seen(arena, place, "en"), seen(arena, place, "de")
        points = re.findall(r"\d\.\d", english)
        assert len(points) > 10
        assert re.findall(r"\d\.\d", german) == []
        assert re.sub(r"(?<=\d)\.(?=\d)", ",", english) == german.replace("\xa0%", "%")
        assert ("%" in english) == ("\xa0%" in german)


def test_a_form_takes_numbers_with_the_point_in_every_language(arena: Arena, packages: Path) -> None:
    fields = [
        re.findall(
            r'<input[^>]*value="[\d.]+"',
            page(arena, f"/competitions/{arena.slug}/organize/measures", organizer=True, language=each).text,
        )
        for each in ("en", "de")
    ]
    assert any("0." in field for field in fields[0])
    assert fields[0] == fields[1]


def test_messages_say_their_numbers_in_each_form_with_the_signs_of_the_language() -> None:
    german = Words("de", NullTranslations())
    said = Message("{a:,} of {b:.6g}, {c:.0f} and {d}", a=12345, b=0.123456789, c=1234.5, d=(1234, 0.5))
    assert german.say(said) == "12.345 of 0,123457, 1234 and 1.234, 0,5"
    assert str(said) == "12,345 of 0.123457, 1234 and 1234, 0.5"


LEFT = ("{found} row is left; at least {needed} must be", "{found} rows are left; at least {needed} must be")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (1, "Został 1 wiersz z 1,5."),
        (3, "Zostały 3 wiersze z 1,5."),
        (12, "Zostało 12 wierszy z 1,5."),
        (1022, "Zostały 1\xa0022 wiersze z 1,5."),
    ],
)
def test_a_message_that_counts_is_said_in_the_form_that_the_language_has_for_its_number(
    packages: Path, found: int, said: str
) -> None:
    installed(packages, "polski", "pl", POLISH)
    message = Counted(*LEFT, "found", found=found, needed=1.5)
    assert in_language("pl").say(message) == said
    assert in_language("pl").knows(message)
    assert not in_language("de").knows(message)


def test_a_page_says_what_counts_in_the_readers_form_also_if_it_was_stored_before_it_had_any(
    arena: Arena, packages: Path
) -> None:
    installed(packages, "polski", "pl", POLISH)
    one = scored(arena)
    forms = [Counted(*LEFT, "found", found=3, needed=4), Message(LEFT[1], found=5, needed=6)]
    with transaction() as session:
        row = session.query(Submission).filter_by(id=one).one()
        row.remarks = [kept("too_few_rows", each) for each in forms]
    polish, japanese, english = (
        page(arena, f"/submissions/{one}", team="red", language=each).text for each in ("pl", "ja", "en")
    )
    assert "Zostały 3 wiersze z 4." in polish
    assert "Zostało 5 wierszy z 6." in polish
    assert "残された個人は 3 人です（4 人以上" in japanese
    assert "残された個人は 5 人です（6 人以上" in japanese
    assert "3 rows are left; at least 4 must be." in english
    answered = schemas.Said.of("too_few_rows", forms[0]).model_dump()
    assert answered.keys() == {"code", "message", "values"}
    assert schemas.Said(**answered).sentence == Message("3 rows are left; at least 4 must be")


PARTS_SHOWN = ("rules", "organize/measures", "organize/rescores")


def test_the_parts_of_a_package_are_called_as_its_catalogue_says_else_by_its_english_else_by_their_names(
    arena: Arena, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(packages, "coins", "ja", COINS)
    installed(packages, "coins", "en", ENGLISH_COINS)
    for name in ("coin", "bare"):
        made = replace(MICRODATA.measures["mean_mae"], name=name)
        monkeypatch.setitem(MICRODATA.measures, name, made)
    titles = {"ja": "コインの指標", "en": "Tossed coins", "de": "Tossed coins"}
    for each, title in titles.items():
        for path in PARTS_SHOWN:
            html = page(arena, f"/competitions/{arena.slug}/{path}", organizer=True, language=each).text
            shown = " ".join(re.sub(r"<[^>]*>", " ", html).split())
            assert f"{title} coin" in shown
            assert "bare" in shown
            assert "別の名前" not in shown
            assert "measure_" not in shown
            assert ("How often heads came up." in shown) == (path != "organize/rescores")


def test_a_name_that_nobody_has_a_label_for_is_none(packages: Path) -> None:
    t = languages.words_in("de")
    assert (t.label("measure_bare", "bare"), t.label("measure_bare", "")) == ("bare", "")
    with pytest.raises(KeyError):
        t.label("measure_bare")


def test_the_log_of_acts_writes_decimals_with_the_signs_of_the_language() -> None:
    noted = {"threshold": 0.25, "shares": [0.5, 1], "weights": {"mean_mae": 1.5}, "name": "v1.5"}
    german, english = (dict(leaves(noted, Words(each, NullTranslations()), "UTC")) for each in ("de", "en"))
    assert list(german.values()) == ["0,25", "0,5, 1", "1,5", "v1.5"]
    assert list(english.values()) == ["0.25", "0.5, 1", "1.5", "v1.5"]
