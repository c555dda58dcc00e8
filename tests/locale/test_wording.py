"""Wording rules of pages and kit: one term for one thing, consistent spelling, complete catalogues."""

import re
from itertools import zip_longest
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog

from app.locale.language import LANGUAGES, load_translator
from tests.support.catalogues import (
    LABEL_CATALOGUES,
    get_label_path,
    iter_catalogues,
    list_catalogues,
    list_faults,
    list_forms,
    read_catalogue,
    read_labels,
    update_labels,
)
from tests.support.translations import LABEL_KEYS

FORBIDDEN_TERMS = {
    "ja": {
        "公開データ": "匿名加工データ",
        "匿名加工表": "匿名加工データ",
        "匿名化デ": "匿名加工データ",
        "匿名化フ": "匿名加工する",
        "匿名化ボ": "匿名加工ボード",
        "匿名化・": "匿名加工する",
        "匿名化す": "匿名加工する",
        "公開部分": "匿名加工データ",
        "対応表": "秘密ファイル",
        "暗号化": "封印",
        "試行回数": "送信回数",
        "アップロード数": "送信回数",
        "基準値": "尺度",
        "集計対象": "算入",
        "標的": "攻撃対象",
        "対象データ": "攻撃対象",
        "攻撃プログラム": "組み込みの攻撃者",
        "攻撃手法": "攻撃者",
        "標準の攻撃者": "組み込みの攻撃者",
        "組み込み攻撃者": "組み込みの攻撃者",
        "参考行": "ベースライン",
        "スコア": "得点",
        "順位表": "ボード",
        "対戦表": "攻撃マトリクス",
        "規則": "ルール",
        "裁定": "失格の扱い",
        "順列": "置換",
        "見出し": "ヘッダー行",
        "購買記録": "購買レコード",
        "マイクロデータ": "個票データ",
        "くじ引き": "無作為",
        "方式 I": "（距離のルールを文で）",
        "確実さ": "見逃しにくさ",
        "リジェクト": "却下",
        "形式エラー": "受付不可",
        "オラクル": "手がかり",
        "slug": "アドレス",
        "スラッグ": "アドレス",
        "大会": "コンテスト",
        "コンテストファイル": "設定ファイル",
        "操作記録": "操作履歴",
        "ほかの": "他の",
        "だれ": "誰",
        "稀": "まれ",
        "わかり": "分かり",
        "わかる": "分かる",
        "わから": "分から",
    },
    "en": {
        "anonymized table": "release",
        "anonymized row": "row of the release",
        "draws lots": "picks at random",
        "board of the attackers": "re-identification board",
        "going on": "open now",
        "entries": "submissions",
        "records": "individuals, or purchases",
        "slug": "address",
        "oracle": "clue",
        "judged": "scored",
        "approach i": "(the rule in a sentence)",
        "hand in": "send",
        "hands in": "sends",
        "for good": "permanently",
        "anew": "again",
        "surer": "more confident",
        "log of acts": "audit log",
        "taken in": "accepted",
        "in force": "applied",
    },
}
"""Terms that must not be used, with their replacements."""

DEFINING_TEXTS = {"The secret", "## The secret"}
"""Texts that define a term and may use its other name."""

JAPANESE_CHARACTER = "[\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff々]"
JAPANESE_VALUES = r"\{(?:which|by|what|individual|phase|state|names)\}"
"""Placeholders whose values are Japanese words."""
NUMBER_FORMAT = r":[.,0-9a-z]+\}"
"""The format of a number at the end of its placeholder."""
MISSING_SPACE = re.compile(rf"{JAPANESE_CHARACTER}[A-Za-z0-9{{]|[A-Za-z0-9%}}]{JAPANESE_CHARACTER}")
ADDRESS = re.compile(r"https?://[!-~]+")
MISUSED_PUNCTUATION = re.compile(r"(?<![A-Z])\(|(?<!\d)[:](?!\d)|[?!～％]|[Ａ-Ｚａ-ｚ０-９]")
SENTENCE_PREFIXES = ("done_", "http_", "invalid_", "problem_", "said_", "wrong_")


JAPANESE_CATALOGUES = (
    *(read_catalogue(path) for path in list_catalogues() if path.parts[-3] == "ja"),
    *(read_labels(*labels, "ja") for labels in LABEL_CATALOGUES),
)
TEXTS = [
    {"en": english, "ja": japanese}
    for catalogue in JAPANESE_CATALOGUES
    for message in catalogue
    if message.id
    for english, japanese in zip_longest(
        list_forms(message.id), list_forms(message.string), fillvalue=list_forms(message.string)[-1]
    )
]
"""Every message and label by language."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_thing_has_one_term(language: str) -> None:
    violations = {
        (text["en"], forbidden, preferred)
        for text in TEXTS
        for forbidden, preferred in FORBIDDEN_TERMS.get(language, {}).items()
        if text["en"] not in DEFINING_TEXTS
        and re.search(build_pattern(forbidden), re.sub(r"\{\w+\}", "", text[language]).casefold())
    }
    assert violations == set()


def build_pattern(term: str) -> str:
    """Return a pattern that matches Latin terms as whole words and Japanese terms anywhere."""
    return rf"\b{re.escape(term)}\b" if term.isascii() else re.escape(term.casefold())


def test_japanese_spacing_and_punctuation_are_consistent() -> None:
    texts = [re.sub(ADDRESS, "", re.sub(NUMBER_FORMAT, "}", text["ja"])) for text in TEXTS]
    normalized = [re.sub(JAPANESE_VALUES, "", text) for text in texts]
    assert [text for text in normalized if MISSING_SPACE.search(text)] == []
    assert [
        text
        for text in normalized
        if re.search(JAPANESE_CHARACTER, text) and MISUSED_PUNCTUATION.search(text)
    ] == []


def test_refusals_are_sentences_in_both_languages() -> None:
    for name in LABEL_KEYS:
        if name.startswith(SENTENCE_PREFIXES):
            english, japanese = (load_translator(language).label(name) for language in ("en", "ja"))
            assert english[0].isupper() or english.startswith("{"), name
            assert english.rstrip(")")[-1] in ".…?", name
            assert japanese[-1] in "。…", name


def test_percentages_are_written_without_a_space() -> None:
    assert [text for pair in TEXTS for text in pair.values() if " %" in text] == []


def test_glossary_contains_all_preferred_terms() -> None:
    glossary = (Path(__file__).parents[2] / "docs" / "words.md").read_text()
    preferred = {name for name in FORBIDDEN_TERMS["ja"].values() if "（" not in name}
    assert {name for name in preferred if name not in glossary} == set()


@pytest.mark.full
def test_catalogues_are_complete() -> None:
    faults = {path: list_faults(template, catalogue) for path, template, catalogue in iter_catalogues()}
    assert len(faults) > len(LABEL_CATALOGUES)
    assert not any(faults.values()), faults


def write_labels(folder: Path, language: str, texts: dict[str, str], comment: str = "") -> None:
    path = get_label_path("coins", folder, language)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(f'{comment}msgid "{key}"\nmsgstr "{text}"\n\n' for key, text in {"": "", **texts}.items())
    )


def test_label_is_missing_until_its_english_text_is_translated(tmp_path: Path) -> None:
    def list_label_faults() -> list[str]:
        return list_faults(read_labels("coins", tmp_path), read_labels("coins", tmp_path, "ja"))

    write_labels(tmp_path, "en", {"toss": "Toss {n} coins"})
    assert list_label_faults() == ["not there: Toss {n} coins"]
    update_labels("coins", tmp_path, "ja")
    assert list_label_faults() == ["not translated: Toss {n} coins"]
    write_labels(tmp_path, "ja", {"toss": "{n} 枚"}, comment="#. Toss {n} coins\n")
    assert list_label_faults() == []
    update_labels("coins", tmp_path, "ja")
    assert list_label_faults() == []
    write_labels(tmp_path, "en", {"toss": "Throw {n} coins"})
    assert list_label_faults() == ["not there: Throw {n} coins", "said nowhere: Toss {n} coins"]
    update_labels("coins", tmp_path, "ja")
    assert list_label_faults() == ["not translated: Throw {n} coins"]


def test_catalogue_faults_are_reported() -> None:
    template, catalogue = Catalog(), Catalog(locale="ja")
    for text in ("Same", "New", "{n} rows", "Empty", "Guessed"):
        template.add(text)
    for text, translation in {"Same": "同じ", "Old": "古い", "{n} rows": "{m} 行", "Empty": ""}.items():
        catalogue.add(text, translation)
    catalogue.add("Guessed", "推測", flags=["fuzzy"])
    assert list_faults(template, catalogue) == [
        "not there: New",
        "said nowhere: Old",
        "values that there are not: {n} rows",
        "not translated: Empty",
        "marked as fuzzy: Guessed",
    ]


def test_texts_are_formatted_with_values_and_plurals() -> None:
    t = load_translator("ja")
    assert "12,345" in t("Waiting for: {n}.", n=12345)
    assert t.plural_forms(
        "{rows} line below the header line", "{rows} lines below the header line"
    ).keys() == {"other"}
    english = load_translator("en").plural_forms("{rows} line", "{rows} lines")
    assert english == {"one": "{rows} line", "other": "{rows} lines"}
    with pytest.raises(KeyError):
        t.label("no such name")
