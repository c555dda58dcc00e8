"""Texts with values and plurals, and the check of catalogues."""

import pytest
from babel.messages.catalog import Catalog

from app.core.locale.language import load_translator
from tests.support.catalogues import (
    list_faults,
)


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
