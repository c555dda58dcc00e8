"""``make words`` keeps the translation of a text that changes, and ``make check`` asks for it."""

from collections import defaultdict
from pathlib import Path

from babel.messages.catalog import Catalog

from tests.support.catalogues import (
    get_label_path,
    index_messages,
    list_catalogues,
    list_faults,
    read_catalogue,
    read_labels,
    update_labels,
    update_messages,
)
from tests.support.package_catalogues import format_catalogue

OLD, NEW, JAPANESE = "The score of a team", "The total score of a team", "チームのスコア"
UNCHANGED, SIMILAR_TO_UNCHANGED = "Sign in again", "Sign in again now"


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
    return path


def test_changed_message_keeps_its_translation_until_somebody_has_checked_it(tmp_path: Path) -> None:
    content = format_catalogue({OLD: JAPANESE, UNCHANGED: "再ログイン"})
    path = write(get_label_path("anoncup", tmp_path, "ja"), content)
    for _ in range(2):
        template = Catalog()
        for text in (NEW, UNCHANGED, SIMILAR_TO_UNCHANGED):
            template.add(text)
        update_messages(template, tmp_path, "ja")
        catalogue = read_catalogue(path)
        translations = [message.string for message in catalogue if message.id]
        assert translations == [JAPANESE, "再ログイン", ""]
        faults = [f"marked as fuzzy: {NEW}", f"not translated: {SIMILAR_TO_UNCHANGED}"]
        assert list_faults(template, catalogue) == faults


def test_changed_label_keeps_its_translation_until_somebody_has_checked_it(tmp_path: Path) -> None:
    write(get_label_path("labels", tmp_path, "en"), format_catalogue({"score": NEW}))
    content = f"#. {OLD}\n" + format_catalogue({"score": JAPANESE}).partition("\n\n")[2]
    path = write(get_label_path("labels", tmp_path, "ja"), content)
    for _ in range(2):
        update_labels("labels", tmp_path, "ja")
        assert f'#, fuzzy\nmsgid "score"\nmsgstr "{JAPANESE}"' in path.read_text("utf-8")
        faults = list_faults(read_labels("labels", tmp_path), read_labels("labels", tmp_path, "ja"))
        assert faults == [f"marked as fuzzy: {NEW}"]


def test_a_text_has_one_translation_in_all_folders() -> None:
    """The pages merge the catalogues, so that of two translations any would win."""
    translations = defaultdict(set)
    for path in list_catalogues():
        if path.parts[-3] == "ja":
            for key, message in index_messages(read_catalogue(path)).items():
                translations[key].add(str(message.string))
    assert {key: texts for key, texts in translations.items() if len(texts) > 1} == {}
