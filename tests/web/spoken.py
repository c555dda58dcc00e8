"""What a page says, in each of its languages."""

from anoncup.messages import Message, Value
from app.web.site import sentences
from app.web.site.labels import LABELS
from app.web.site.language import words_in
from tests.support.catalogues import catalogues, forms, read

SAID = {form for path in catalogues() for one in read(path) for form in forms(one.id)}


def said(name: str, /, language: str = "en", **values: object) -> str:
    """A label by its name, else an English text that the pages have, in the language."""
    t = words_in(language)
    if name not in LABELS and name not in SAID:
        raise KeyError(name)
    return t.label(name).format(**values) if name in LABELS else t(name, **values)


def refused(why: str, language: str) -> str:
    """What a page refuses something with: by its label, or in the service's words."""
    return said(why, language) if why in LABELS else sentence(why, language)


def sentence(message: str | Message, /, language: str = "en", **values: Value) -> str:
    """A message of the service, or its template, as the page says it."""
    told = message if isinstance(message, Message) else Message(message, **values)
    if told.template not in SAID:
        raise KeyError(told.template)
    return sentences.sentence(told, words_in(language))
