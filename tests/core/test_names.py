"""Names of people and teams: which are valid, and which are the same name."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.errors import InvalidInput
from app.core.identity import names

SPELLINGS = {
    "a variation selector": "Team b\ufe0fob",
    "a variation selector of the supplement": "Team bob\U000e0101",
    "a grapheme joiner": "Team b\u034fob",
    "a letter with nothing in it": "Te\u17b4am bob",
    "two spaces": "Team  bob",
    "a space that does not break": "Team\u00a0bob",
    "an ideographic space": "Team\u3000bob",
    "outer spaces": "\u2003Team bob ",
    "capitals": "TEAM BOB",
    "full width": "Ｔｅａｍ　ｂｏｂ",
    "mathematical letters": "𝐓𝐞𝐚𝐦 𝖻𝗈𝖻",
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_other_spellings_of_a_name_have_its_key(spelling: str) -> None:
    assert names.build_key(spelling) == names.build_key("Team bob") == "team bob"


@pytest.mark.parametrize(
    ("name", "other_name"),
    [("Straße", "STRASSE"), ("\u1fb3x", "\u0391\u0399X"), ("ｶﾞ", "ガ"), ("①組", "1組")],
)
def test_case_and_width_are_folded(name: str, other_name: str) -> None:
    assert names.build_key(name) == names.build_key(other_name)


@pytest.mark.parametrize(
    ("name", "other_name"),
    [
        ("は", "ば"),
        ("ツ", "ッ"),
        ("あ", "ア"),
        ("カ", "力"),
        ("匿名化工房", "匿名加工房"),
        ("Team bob", "Teambob"),
        ("Team I", "Team L"),
        ("Café", "Cafe"),
        ("👩\u200d👧", "👩\u200d👦"),
    ],
)
def test_different_names_have_different_keys(name: str, other_name: str) -> None:
    assert names.build_key(name) != names.build_key(other_name)


@given(st.text(min_size=1, max_size=names.MAX_NAME_LENGTH))
def test_cleaning_a_name_is_idempotent(text: str) -> None:
    try:
        cleaned_name = names.clean_name(text)
    except InvalidInput:
        return
    assert names.clean_name(cleaned_name) == cleaned_name
    assert names.build_key(cleaned_name)


REFUSED_NAMES = {
    "name_blank": [
        *("\u2800", "\u3164", "\u115f\u1160", "\uffa0", "\ufe0f", "\u034f", "\u0301", "\u20dd", "\u200d"),
        *("\U0001d159", "\u0301 \u0302", "\u200b", "\u2060\u00ad"),
    ],
    "name_characters": [
        *("a\u2800b", "a\u3164b", "a\uffa0b", "a\u200bb", "a\u202eb", "a\x00b", "a\ud800b", "a\ue000b"),
        *("a\ufffeb", "a\ufdd0b", "a\u2066b", "a\U0001d159b"),
    ],
    "name_length": ["", "  \u3000", "x" * (names.MAX_NAME_LENGTH + 1)],
}


@pytest.mark.parametrize(
    ("code", "name"), [(code, name) for code, texts in REFUSED_NAMES.items() for name in texts], ids=ascii
)
def test_blank_invisible_or_long_name_is_refused(code: str, name: str) -> None:
    with pytest.raises(InvalidInput) as excinfo:
        names.clean_name(name)
    assert excinfo.value.code == code


@pytest.mark.parametrize(
    "name",
    [
        "❤\ufe0f",
        "1\ufe0f\u20e3",
        "👩\u200d👩\u200d👧",
        "🩷",
        "?",
        "力",
        "한글",
        "हिन्दी",
        "葛\U000e0100城",
        "É",
        "=SUM(A1:A9)",
        "\\'; DROP TABLE teams; --",
        "x" * 100,
    ],
)
def test_visible_text_is_a_valid_name(name: str) -> None:
    assert names.clean_name(name) == unicodedata.normalize("NFC", name)


def test_invisible_characters_are_those_of_unicode() -> None:
    assert len(names.IGNORABLE_CODE_POINTS) == len(set(names.IGNORABLE_CODE_POINTS)) == 4174
