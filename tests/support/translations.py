"""Expected texts of pages in each language."""

from anoncup.messages import Message, MessageValue
from app.core.locale.language import load_translator
from app.core.pages.language import translate_sentence
from tests.support.catalogues import list_catalogues, list_forms, list_label_keys, read_catalogue

LABEL_KEYS = set(list_label_keys())
MESSAGE_KEYS = {
    form for path in list_catalogues() for message in read_catalogue(path) for form in list_forms(message.id)
}


def translate(name: str, /, language: str = "en", **values: MessageValue) -> str:
    """Translate a label, given by its name, or an English text of the pages.

    Raises ``KeyError`` for a text that no catalogue has.
    """
    t = load_translator(language)
    if name not in LABEL_KEYS and name not in MESSAGE_KEYS:
        raise KeyError(name)
    return t.label(name).format(**values) if name in LABEL_KEYS else t(name, **values)


def translate_problem(problem: str, language: str) -> str:
    """Translate a problem given by the name of its label or as a message of the service."""
    return translate(problem, language) if problem in LABEL_KEYS else translate_message(problem, language)


def translate_message(message: str | Message, /, language: str = "en", **values: MessageValue) -> str:
    """Return the sentence that a page shows for a message of the service or its template."""
    full_message = message if isinstance(message, Message) else Message(message, **values)
    if full_message.template not in MESSAGE_KEYS:
        raise KeyError(full_message.template)
    return translate_sentence(full_message, load_translator(language))
