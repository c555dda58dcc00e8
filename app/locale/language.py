"""What people read: English in code and templates, every other language in a gettext catalogue."""

import re
from collections.abc import Mapping
from decimal import localcontext
from functools import cache
from gettext import NullTranslations
from pathlib import Path
from types import MappingProxyType

from babel import Locale
from babel.numbers import format_decimal

from anoncup.catalogues import chained, installed
from anoncup.messages import FIELD, Counted, Message, filled

FOLDER = Path(__file__).parent
DOMAIN = "anoncup"
ENGLISH = "en"
LANGUAGES = (ENGLISH, *sorted(each.parent.parent.name for each in FOLDER.glob(f"*/LC_MESSAGES/{DOMAIN}.po")))
COUNTS_TRIED = 200
"""Every plural category of whole numbers that CLDR knows has one below."""

NUMBER = re.compile(r"(-?)([0-9][0-9,]*)(?:\.([0-9]+))?(%?)")
"""As ``format`` writes it."""
ANY_NUMBER = "-1,234,567.8%"
"""In which all signs are."""
SENTENCE = re.compile(r"[A-Za-z]+ [a-z]+")
"""Of what is no name."""

NO_LABELS: Mapping[str, str] = MappingProxyType({})


class Words:
    """A language: called with an English text, optionally with values for its ``{names}``, it says it.

    Numbers among the values get the language's signs, whole ones its thousands separators, too.
    """

    def __init__(
        self, language: str, catalogue: NullTranslations, labels: Mapping[str, str] = NO_LABELS
    ) -> None:
        self.language = language
        self.locale = Locale.parse(language)
        self.catalogue = catalogue
        self.labels = labels
        self.as_in_english = NUMBER.sub(self.signed, ANY_NUMBER) == ANY_NUMBER

    def __call__(self, text: str, /, **values: object) -> str:
        return self.filled(self.catalogue.gettext(text), values)

    def pgettext(self, context: str, text: str, /, **values: object) -> str:
        """A text that has several meanings, in this one."""
        return self.filled(self.catalogue.pgettext(context, text), values)

    def ngettext(self, one: str, many: str, n: int, /, **values: object) -> str:
        """The form for ``n`` of the thing; ``{n}`` is the number itself."""
        return self.filled(self.catalogue.ngettext(one, many, n), {"n": n, **values})

    def forms(self, one: str, many: str) -> dict[str, str]:
        """The text by plural category, for a script that counts by itself."""
        counts = range(COUNTS_TRIED, -1, -1)
        return {self.locale.plural_form(n): self.catalogue.ngettext(one, many, n) for n in counts}

    def label(self, name: str, default: str | None = None) -> str:
        """What a part, a state or an act is called; KeyError if it has no name and there is no default.

        What is none of ours may be in a package's catalogue by the name itself: else in its English one.
        """
        if (text := self.labels.get(name)) is not None:
            return self(text)
        for texts in (self.catalogue, catalogue(ENGLISH)):
            if (said := texts.gettext(name)) != name:
                return said
        if default is None:
            raise KeyError(name)
        return default

    def say(self, message: Message) -> str:
        """What the service says: its template translated, then its values put in."""
        return filled(self.template(message), message.values, say=self.within, number=self.formed)

    def template(self, message: Message) -> str:
        """In this language, and in the form for what it counts."""
        if isinstance(message, Counted):
            return self.catalogue.ngettext(*message.forms, message.count)
        return self.catalogue.gettext(message.template)

    def within(self, message: Message) -> str:
        """A message that another's value is: what a name of ours is called, else as by itself."""
        return self.label(f"value_{message.template}", "") or self.say(message)

    def knows(self, message: Message) -> bool:
        """Whether no sentence of it, nor of its values, would be English among words of another language."""
        if self.language == ENGLISH:
            return True
        template = message.template
        said = self.template(message) != template or not SENTENCE.search(FIELD.sub("", template))
        return said and all(self.knows(each) for each in message.values.values() if isinstance(each, Message))

    def filled(self, text: str, values: Mapping[str, object]) -> str:
        return text.format(**{name: self.shown(value) for name, value in values.items()}) if values else text

    def shown(self, value: object) -> object:
        """A number with the language's signs, a whole one by its thousands; all else as it is."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        return self.formed(value, "," if isinstance(value, int) else "")

    def formed(self, value: float, form: str) -> str:
        """A number in a form of ``format``; whole ones without one are shown."""
        if not form and isinstance(value, int):
            return str(self.shown(value))
        return self.written(format(value, form))

    def written(self, text: str) -> str:
        """Numbers as ``format`` writes them, with the language's signs in place of the English ones.

        Digits stay as they are; a percentage gets the sign where the language has it.
        """
        return text if self.as_in_english else NUMBER.sub(self.signed, text)

    def signed(self, number: re.Match[str]) -> str:
        minus, whole, decimals, percent = number.groups(default="")
        signs = self.locale.number_symbols["latn"]
        if "," in whole:
            with localcontext(prec=len(whole) + 9):  # Babel reckons with what it writes
                whole = format_decimal(int(whole.replace(",", "")), locale=self.locale)
        digits = f"{whole}{signs['decimal']}{decimals}" if decimals else whole
        if percent:
            form = self.locale.percent_formats[None]
            digits = f"{form.prefix[0]}{digits}{form.suffix[0]}".replace("%", signs["percentSign"])
        return f"{signs['minusSign'] if minus else ''}{digits}"


@cache
def catalogue(language: str) -> NullTranslations:
    """A language's texts: ours, then what packages add."""
    return chained([(DOMAIN, FOLDER), *installed()], language)


def in_language(language: str) -> Words:
    return Words(language, catalogue(language))
