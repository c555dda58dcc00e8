"""Wording rules of pages and kit: one term for one thing, consistent spelling, complete catalogues."""

import re
from itertools import zip_longest
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog

from app.locale.language import LANGUAGES
from app.web.site.labels import LABELS
from app.web.site.language import load_translator
from tests.support.catalogues import (
    extract_template,
    list_catalogues,
    list_faults,
    list_forms,
    read_catalogue,
)

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
MISUSED_PUNCTUATION = re.compile(r"(?<![A-Z])\(|(?<!\d)[:](?!\d)|[?!～％]|[Ａ-Ｚａ-ｚ０-９]")
SENTENCE_PREFIXES = ("done_", "http_", "invalid_", "problem_", "said_", "wrong_")


JAPANESE_BY_ENGLISH = {
    english: japanese
    for message in read_catalogue(next(path for path in list_catalogues() if path.parts[-3] == "ja"))
    if message.id
    for english, japanese in zip_longest(
        list_forms(message.id), list_forms(message.string), fillvalue=list_forms(message.string)[-1]
    )
}


def translate_all(language: str) -> dict[str, str]:
    """Return the translation of every English text."""
    t = load_translator(language)
    return {text: t(text) for text in JAPANESE_BY_ENGLISH}


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_thing_has_one_term(language: str) -> None:
    violations = {
        (english, forbidden, preferred)
        for english, text in translate_all(language).items()
        for forbidden, preferred in FORBIDDEN_TERMS.get(language, {}).items()
        if english not in DEFINING_TEXTS
        and re.search(build_pattern(forbidden), re.sub(r"\{\w+\}", "", text).casefold())
    }
    assert violations == set()


def build_pattern(term: str) -> str:
    """Return a pattern that matches Latin terms as whole words and Japanese terms anywhere."""
    return rf"\b{re.escape(term)}\b" if term.isascii() else re.escape(term.casefold())


def test_japanese_spacing_and_punctuation_are_consistent() -> None:
    normalized = [
        re.sub(JAPANESE_VALUES, "", re.sub(NUMBER_FORMAT, "}", text)) for text in JAPANESE_BY_ENGLISH.values()
    ]
    assert [text for text in normalized if MISSING_SPACE.search(text)] == []
    assert [
        text
        for text in normalized
        if re.search(JAPANESE_CHARACTER, text) and MISUSED_PUNCTUATION.search(text)
    ] == []


def test_refusals_are_sentences_in_both_languages() -> None:
    for name in LABELS:
        if name.startswith(SENTENCE_PREFIXES):
            english, japanese = (load_translator(language).label(name) for language in ("en", "ja"))
            assert english[0].isupper() or english.startswith("{"), name
            assert english.rstrip(")")[-1] in ".…?", name
            assert japanese[-1] in "。…", name


def test_percentages_are_written_without_a_space() -> None:
    assert [text for pair in JAPANESE_BY_ENGLISH.items() for text in pair if " %" in text] == []


def test_glossary_contains_all_preferred_terms() -> None:
    glossary = (Path(__file__).parents[2] / "docs" / "words.md").read_text()
    preferred = {name for name in FORBIDDEN_TERMS["ja"].values() if "（" not in name}
    assert {name for name in preferred if name not in glossary} == set()


@pytest.mark.full
@pytest.mark.parametrize("path", list_catalogues(), ids=lambda path: path.parts[-3])
def test_catalogues_are_complete(path: Path) -> None:
    assert list_faults(extract_template(), read_catalogue(path)) == []


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
