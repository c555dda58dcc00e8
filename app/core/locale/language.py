"""Translate texts and numbers by gettext catalogues.

Code and templates have messages in English. Labels are keys, whose texts are in the catalogues of all
languages.
"""

import re
from collections.abc import Mapping
from copy import copy
from functools import cache
from gettext import NullTranslations
from pathlib import Path

from babel import Locale

from anoncup.catalogues import find_package_catalogues, find_track_catalogues, load_translations
from anoncup.messages import Message, MessageValue, PluralMessage, fill_template

FOLDER = Path(__file__).parent
_FEATURE_FOLDERS = sorted(FOLDER.parents[1].glob("*/locale"))
"""Folders of the catalogues of the features, and of ``core``."""
_DOMAIN = "anoncup"
_LABEL_DOMAIN = "labels"
ENGLISH = "en"
LANGUAGES = (ENGLISH, *sorted(path.parent.parent.name for path in FOLDER.glob(f"*/LC_MESSAGES/{_DOMAIN}.po")))

NUMBER_PATTERN = re.compile(r"-?[0-9][0-9,]*(?:\.[0-9]+)?")
"""A number as written by ``format``."""


class Translator:
    """Translate English texts to one language and fill in values for their ``{names}``.

    Numbers among the values are written with the signs of the language, integers also with its thousands
    separators.
    """

    def __init__(self, language: str, catalogue: NullTranslations) -> None:
        self.language = language
        self.catalogue = catalogue
        symbols = Locale.parse(language).number_symbols["latn"]
        self.signs = str.maketrans(
            {"-": symbols["minusSign"], ",": symbols["group"], ".": symbols["decimal"]}
        )
        self.package_texts: frozenset[str] = frozenset()

    def __call__(self, text: str, /, **values: MessageValue) -> str:
        return self.fill(self.catalogue.gettext(text), values)

    def pgettext(self, context: str, text: str, /, **values: MessageValue) -> str:
        """Translate a text whose meaning depends on the context."""
        return self.fill(self.catalogue.pgettext(context, text), values)

    def ngettext(self, singular: str, plural: str, n: int, /, **values: MessageValue) -> str:
        """Translate to the plural form for ``n``; ``{n}`` in the text is the number."""
        return self.fill(self.catalogue.ngettext(singular, plural, n), {"n": n, **values})

    def with_package_texts(self, keys: frozenset[str]) -> "Translator":
        """Return a translator that takes the labels with these keys from packages only."""
        translator = copy(self)
        translator.package_texts = keys
        return translator

    def label(self, name: str, default: str | None = None) -> str:
        """Return the label of a part, state or action in this language, else in English.

        Return the default, or raise KeyError without one, if no catalogue has the label.
        """
        sources = (
            (load_package_catalogue(self.language), load_package_catalogue(ENGLISH))
            if name in self.package_texts
            else (self.catalogue, load_catalogue(ENGLISH), load_package_catalogue(ENGLISH))
        )
        for source in sources:
            if (translation := source.gettext(name)) != name:
                return translation
        if default is None:
            raise KeyError(name)
        return default

    def translate_message(self, message: Message) -> str:
        """Translate the template of a message, in the plural form for its count, and fill in its values."""
        if isinstance(message, PluralMessage):
            return self.fill(self.catalogue.ngettext(*message.forms, message.count), message.values)
        return self.fill(self.catalogue.gettext(message.template), message.values)

    def translate_value(self, message: Message) -> str:
        """Translate a message that is a value of another one: its label if it has one, else its text."""
        return self.label(f"value_{message.template}", "") or self.translate_message(message)

    def fill(self, text: str, values: Mapping[str, MessageValue]) -> str:
        return fill_template(
            text, values, render_message=self.translate_value, format_number=self.format_number
        )

    def localize(self, number: float) -> str:
        return self.format_number(number, "")

    def format_number(self, number: float, spec: str) -> str:
        """Format a number by a format specification; integers without one get thousands separators."""
        is_whole = isinstance(number, int) and not isinstance(number, bool)
        return self.localize_numbers(format(number, spec or ("," if is_whole else "")))

    def localize_numbers(self, text: str) -> str:
        """Replace the English signs of numbers in a text by those of the language; keep the digits."""
        return NUMBER_PATTERN.sub(lambda match: match[0].translate(self.signs), text)


@cache
def load_catalogue(language: str) -> NullTranslations:
    """Return the texts of a language: ours, those of built-in tracks, then those of installed plug-ins.

    English texts are in the code, so that a plug-in could replace any of ours. It only has labels there.
    """
    own = [(domain, folder) for folder in _FEATURE_FOLDERS for domain in (_DOMAIN, _LABEL_DOMAIN)]
    of_packages = [] if language == ENGLISH else find_package_catalogues()
    return load_translations([*own, *find_track_catalogues(), *of_packages], language)


@cache
def load_package_catalogue(language: str) -> NullTranslations:
    """Return the texts of installed plug-ins in a language."""
    return load_translations(find_package_catalogues(), language)


@cache
def load_translator(language: str) -> Translator:
    return Translator(language, load_catalogue(language))
