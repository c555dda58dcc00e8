"""Names: what is taken for one, and which are the same."""

import unicodedata
from string import ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.errors import InvalidInput
from app.services.accounts import names

PLANES = (0, 1, 2, 14)
"""Of Unicode: they have all characters with another form and all that are ignored. The others are empty,
private or full of ideographs that are only themselves."""
EVERY = [
    chr(code)
    for plane in PLANES
    for code in range(plane << 16, (plane + 1) << 16)
    if not 0xD800 <= code < 0xE000
]
LOOK_ALIKES = {
    "a variation selector": "Team b\ufe0fob",
    "a variation selector of the supplement": "Team bob\U000e0101",
    "the empty pattern of Braille": "Team\u2800bob",
    "a grapheme joiner": "Team b\u034fob",
    "two spaces": "Team  bob",
    "a space that does not break": "Team\u00a0bob",
    "an ideographic space": "Team\u3000bob",
    "outer spaces": "\u2003Team bob ",
    "capitals": "TEAM BOB",
    "full width": "Ｔｅａｍ　ｂｏｂ",
    "mathematical letters": "𝐓𝐞𝐚𝐦 𝖻𝗈𝖻",
    "Cyrillic small letters": "Team b\u043eb",
    "Cyrillic capitals, too": "\u0422\u0435\u0430m \u042cо\u042c",
    "Greek": "Team b\u03bfb",
    "Armenian": "Team b\u0585b",
    "two letters for one": "Tearn bob",
    "a letter with nothing in it": "Te\u17b4am bob",
}


def same(one: str, other: str) -> bool:
    """As the unique columns see it."""
    return any(names.columns(one)[each] == names.columns(other)[each] for each in names.columns(one))


@pytest.mark.parametrize("other", LOOK_ALIKES.values(), ids=LOOK_ALIKES)
def test_a_name_that_looks_like_team_bob_is_team_bob(other: str) -> None:
    assert same("Team bob", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("力", "カ"),
        ("二ノ宮", "ニノ宮"),
        ("ハチ", "八チ"),
        ("TEAM \u0412\u041e\u0412", "Team bob"),
        ("PayPaI", "PayPal"),
        ("\u03bdictor", "victor"),
        ("B0B", "BOB"),
        ("Ian", "lan"),
        ("Team |", "Team 1"),
        ("Straße", "STRASSE"),
        ("\u1fb3x", "\u0391\u0399X"),
    ],
)
def test_confusable_names_are_the_same(one: str, other: str) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("は", "ば"),
        ("ば", "ぱ"),
        ("ハハ", "ババ"),
        ("ツ", "ッ"),
        ("赤組", "青組"),
        ("あ", "ア"),
        ("シ", "ツ"),
        ("ソ", "ン"),
        ("東京A", "東京B"),
        ("匿名化工房", "匿名加工房"),
        ("Team bob", "Teambob"),
        ("Team I", "Team L"),
        ("Anna", "Avva"),
        ("Team U", "Team Y"),
        ("Café", "Cafe"),
        ("👩\u200d👧", "👩\u200d👦"),
    ],
)
def test_names_that_people_mean_to_differ_differ(one: str, other: str) -> None:
    assert not same(one, other)


def test_letters_and_numbers_of_teams_all_differ_but_where_they_look_alike() -> None:
    for each in ("key", "look", "capitals"):
        numbered = {getattr(names, each)(f"Team {one}") for one in range(200)}
        assert len(numbered) == 200
        assert len({getattr(names, each)(f"Team {letter}") for letter in ascii_uppercase}) == 26


@pytest.mark.full
def test_the_skeleton_of_a_skeleton_is_itself_for_every_character() -> None:
    assert [one for one in EVERY if names.skeleton(names.skeleton(one)) != names.skeleton(one)] == []


@pytest.mark.full
@given(st.text())
def test_the_skeleton_of_a_skeleton_is_itself(text: str) -> None:
    assert names.skeleton(names.skeleton(text)) == names.skeleton(text)


def spellings(text: str) -> set[str]:
    """Of the same name, as keyboards and programs write it."""
    forms = {unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    return forms | {text.casefold(), text.upper(), text.lower(), f" {text}\u3000", f"{text}\ufe0f"}


@pytest.mark.full
def test_every_character_has_one_key_however_it_is_written() -> None:
    assert [one for one in EVERY if len(set(map(names.key, spellings(one)))) > 1] == []


@given(st.text())
def test_equal_names_have_equal_keys(text: str) -> None:
    alike = {text, unicodedata.normalize("NFC", text), f"\u2003{text} ", text.replace(" ", "\u2800  ")}
    folded = {names.folded(each) for each in alike} | {unicodedata.normalize("NFKC", text)}
    assert {names.key(each) for each in alike | folded} == {names.key(text)}
    assert {names.look(each) for each in alike} == {names.look(text)}


@given(st.text(min_size=1, max_size=names.LONGEST))
def test_a_name_that_is_kept_is_kept_as_it_is_when_it_comes_again(text: str) -> None:
    try:
        kept = names.clean(text)
    except InvalidInput:
        return
    assert names.clean(kept) == kept
    assert names.key(kept)
    assert names.look(kept)
    assert names.capitals(kept)


def refusal(name: str) -> str:
    with pytest.raises(InvalidInput) as refused:
        names.clean(name)
    return refused.value.code


@pytest.mark.parametrize(
    "name",
    [
        "\u2800",
        "\u3164",
        "\u115f\u1160",
        "\uffa0",
        "\ufe0f",
        "\u034f",
        "\u0301",
        "\u20dd",
        "\u200d",
        "\U0001d159",
        "\u0301 \u0302",
        "\u200b",
        "\u2060\u00ad",
    ],
    ids=ascii,
)
def test_a_name_that_nobody_sees_is_none(name: str) -> None:
    assert refusal(name) == "name_blank"


@pytest.mark.parametrize(
    "name",
    [
        "a\u2800b",
        "a\u3164b",
        "a\uffa0b",
        "a\u200bb",
        "a\u202eb",
        "a\x00b",
        "a\ud800b",
        "a\ue000b",
        "a\ufffeb",
        "a\ufdd0b",
        "a\u2066b",
        "a\U0001d159b",
    ],
    ids=ascii,
)
def test_a_name_hides_nothing_in_it(name: str) -> None:
    assert refusal(name) == "name_characters"


@pytest.mark.parametrize("name", ["", "  \u3000", "x" * (names.LONGEST + 1)])
def test_a_name_has_one_to_a_hundred_characters(name: str) -> None:
    assert refusal(name) == "name_length"


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
        "=",
        "x" * 100,
    ],
)
def test_whatever_can_be_seen_is_a_name(name: str) -> None:
    assert names.clean(name) == unicodedata.normalize("NFC", name)


def test_the_data_is_unicodes() -> None:
    assert len(names.prototypes()) == 6355
    assert names.prototypes()[ord("m")] == "rn"
    assert len(names.IGNORABLE) == len(set(names.IGNORABLE)) == 4174
