"""Find missing, unused and inconsistent messages in the translation catalogues.

``python -m tests.support.catalogues`` prints them. ``--update`` merges new messages into the catalogues and
creates those of the languages that follow it.

Messages are English texts of the code. Labels are keys, with a text in the catalogue of every language. A
translation has the English text that it translates as a comment. When that text changes, the old translation is
kept and marked as fuzzy, so that it counts as missing until a translator has removed the mark.
"""

import sys
from collections.abc import Iterator
from contextlib import chdir
from difflib import get_close_matches
from pathlib import Path
from string import Formatter
from tempfile import NamedTemporaryFile, TemporaryDirectory

from babel.messages.catalog import Catalog, Message
from babel.messages.frontend import CommandLineInterface
from babel.messages.pofile import normalize, read_po, write_po

from anoncup import errors
from anoncup.catalogues import find_track_catalogues
from anoncup.errors import DomainError

MessageText = str | list[str] | tuple[str, ...] | None

ROOT = Path(__file__).parents[2]
APP = ROOT / "app"
LOCALE = APP / "core" / "locale"
FOLDERS = sorted(APP.glob("*/locale"))
"""Folders of the catalogues of the features, and of ``core``, which has all other messages as well."""
ENGLISH = "en"
LABEL_CATALOGUES = [*(("labels", folder) for folder in FOLDERS), *find_track_catalogues()]
"""Domains and folders of the catalogues of labels."""
LABEL_HEADER = (
    'msgid ""\nmsgstr ""\n"Language: {language}\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n'
)
ERROR_CLASS_NAMES = [
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, DomainError)
]
TRANSLATION_KEYWORDS = (
    "_",
    "N_",
    "P_:1c,2",
    "t",
    "ngettext:1,2",
    "pgettext:1c,2",
    "Message",
    "PluralMessage:1,2",
    "ScoringError",
    *ERROR_CLASS_NAMES,
)
"""Functions whose texts are translated. Numbers are argument positions, ``c`` marks a context."""


def list_catalogues() -> list[Path]:
    return sorted(APP.glob("*/locale/*/LC_MESSAGES/anoncup.po"))


def list_languages() -> set[str]:
    """Return the languages that English is translated to."""
    return {path.parts[-3] for path in list_catalogues()}


def get_label_path(domain: str, folder: Path, language: str) -> Path:
    return folder / language / "LC_MESSAGES" / f"{domain}.po"


def read_labels(domain: str, folder: Path, language: str = ENGLISH) -> Catalog:
    """Return labels as messages with the key as context and the English text as id."""
    labels, path = Catalog(locale=language), get_label_path(domain, folder, language)
    for message in read_catalogue(path) if path.is_file() else ():
        if message.id:
            comment = " ".join(message.auto_comments)
            english = list_forms(message.string)[0] if language == ENGLISH else comment
            labels.add(english, message.string, flags=message.flags, context=str(message.id))
    return labels


def list_label_keys() -> list[str]:
    """Return the keys of all labels; one that two catalogues have occurs twice."""
    return [key for catalogue in LABEL_CATALOGUES for key, _ in index_messages(read_labels(*catalogue))]


def run_babel(*arguments: str) -> None:
    """Run pybabel in the checkout, so that catalogues name source files relative to it."""
    with chdir(ROOT):
        CommandLineInterface().run(["pybabel", "-q", *arguments])  # type: ignore[no-untyped-call]


def write_template(path: Path) -> None:
    """Write the messages of the code and the templates."""
    keywords = [part for name in TRANSLATION_KEYWORDS for part in ("-k", name)]
    options = ("--no-default-keywords", "--add-location=file", "--sort-by-file", "--no-wrap")
    run_babel(
        "extract", "-F", "pyproject.toml", *keywords, *options, "-o", str(path), "anoncup", "app", "workers"
    )


def extract_template() -> Catalog:
    with TemporaryDirectory() as folder:
        write_template(Path(folder, "anoncup.pot"))
        return read_catalogue(Path(folder, "anoncup.pot"))


def select_messages(template: Catalog, folder: Path) -> Catalog:
    """Return the messages of the template that the feature with this folder of catalogues says."""
    selected = Catalog()
    for message in template:
        places = [place for place in message.locations if find_folder(place[0]) == folder]
        if message.id and places:
            selected.add(message.id, locations=places, flags=message.flags, context=message.context)
    return selected


def find_folder(source: str) -> Path:
    """Return the folder of the catalogues that have the messages of a source file."""
    folder = ROOT.joinpath(*Path(source).parts[:2], "locale")
    return folder if folder in FOLDERS else LOCALE


def update_catalogues(*new_languages: str) -> None:
    """Merge the code's messages into every catalogue and new languages. Obsolete messages are removed."""
    template, languages = extract_template(), {*new_languages, *list_languages()}
    for folder in FOLDERS:
        for language in languages:
            update_messages(select_messages(template, folder), folder, language)
    for language in languages:
        for domain, folder in LABEL_CATALOGUES:
            update_labels(domain, folder, language)


def update_messages(template: Catalog, folder: Path, language: str) -> None:
    path = get_label_path("anoncup", folder, language)
    if path.is_file():
        suggest_translations(template, read_catalogue(path))
    options = ("--no-wrap", "--no-fuzzy-matching", "--ignore-obsolete", "--ignore-pot-creation-date")
    locations = ("-d", str(folder), "-D", "anoncup", "--init-missing")
    with NamedTemporaryFile(suffix=".pot") as file:
        write_po(file, template, width=0, sort_by_file=True, include_lineno=False)
        file.flush()
        run_babel("update", "-i", file.name, *locations, "-l", language, *options)


def suggest_translations(template: Catalog, catalogue: Catalog) -> None:
    """Give new messages the translations of similar ones that are no longer said, marked as fuzzy."""
    messages, translations = index_messages(template), index_messages(catalogue)
    unused = {key[1]: entry for key, entry in translations.items() if entry.string and key not in messages}
    for key in messages.keys() - translations.keys():
        for similar in get_close_matches(key[1], unused, n=1):
            if messages[key].pluralizable == unused[similar].pluralizable:
                messages[key].string = unused[similar].string
                messages[key].flags.add("fuzzy")


def update_labels(domain: str, folder: Path, language: str) -> None:
    """Write the catalogue of a language with all labels; those whose English text has changed are fuzzy."""
    translations = {message.context: message for message in read_labels(domain, folder, language)}
    content = LABEL_HEADER.format(language=language)
    for key, english in index_messages(read_labels(domain, folder)):
        translation = translations.get(key)
        text = str(translation.string) if translation else ""
        is_fuzzy = translation and text and (translation.fuzzy or translation.id != english)
        mark = "#, fuzzy\n" if is_fuzzy else ""
        content += f'\n#. {english}\n{mark}msgid "{key}"\nmsgstr {normalize(text, width=0)}\n'
    path = get_label_path(domain, folder, language)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def read_catalogue(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file)


def list_faults(template: Catalog, catalogue: Catalog) -> list[str]:
    """Return one line for each thing that a translator has to do."""
    messages, translations = index_messages(template), index_messages(catalogue)
    missing = [f"not there: {text}" for _, text in sorted(messages.keys() - translations.keys())]
    unused = [f"said nowhere: {text}" for _, text in sorted(translations.keys() - messages.keys())]
    faulty = [
        f"{reason}: {key[1]}"
        for key, translation in translations.items()
        if (reason := find_fault(translation))
    ]
    return missing + unused + faulty


def index_messages(catalogue: Catalog) -> dict[tuple[str, str], Message]:
    return {
        (message.context or "", list_forms(message.id)[0]): message for message in catalogue if message.id
    }


def list_forms(text: MessageText) -> tuple[str, ...]:
    """Return the singular and the plurals, or the only text."""
    return tuple(text) if isinstance(text, list | tuple) else (text or "",)


def find_fault(message: Message) -> str | None:
    """Return what is wrong with a translation, or None."""
    if not all(list_forms(message.string)):
        return "not translated"
    if message.fuzzy:
        return "marked as fuzzy"
    if not extract_placeholders(message.string) <= extract_placeholders(message.id):
        return "values that there are not"
    return (
        "a number that is not said"
        if "n" in extract_placeholders(message.id) - extract_placeholders(message.string)
        else None
    )


def extract_placeholders(text: MessageText) -> set[str]:
    """Return the names of the placeholders in braces."""
    return {
        name for form in list_forms(text) for _, name, _, _ in Formatter().parse(form) if name is not None
    }


def main() -> int:
    if "--update" in sys.argv:
        update_catalogues(*sys.argv[2:])
    lines = [
        f"{path.relative_to(ROOT)}: {line}"
        for path, template, catalogue in iter_catalogues()
        for line in list_faults(template, catalogue)
    ]
    sys.stdout.writelines(" ".join(line.split()) + "\n" for line in lines)
    return 1 if lines else 0


def iter_catalogues() -> Iterator[tuple[Path, Catalog, Catalog]]:
    """Yield the path of each translated catalogue, what it must contain, and what it contains."""
    template = extract_template()
    for path in list_catalogues():
        yield path, select_messages(template, path.parents[2]), read_catalogue(path)
    for domain, folder in LABEL_CATALOGUES:
        for language in sorted(list_languages()):
            path = get_label_path(domain, folder, language)
            yield path, read_labels(domain, folder), read_labels(domain, folder, language)


if __name__ == "__main__":
    sys.exit(main())
