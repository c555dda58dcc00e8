"""Translate messages into sentences in the reader's language."""

from anoncup.messages import Message, replace_control_characters
from app.locale.language import ENGLISH, Translator


def translate_sentence(message: Message, t: Translator, fallback: str | None = None) -> str:
    """Return a message as a sentence. English messages get a capital letter and a full stop.

    If the message is not completely translated, return ``fallback``, or without a fallback the partly
    translated message.
    """
    if fallback is not None and not t.is_translated(message):
        return fallback
    text = replace_control_characters(t.translate_message(message))
    if t.language != ENGLISH:
        return text
    first_letter = text[:1].upper() if message.template[:1].isalpha() else text[:1]  # names keep their case
    return first_letter + text[1:] + ("" if text.endswith((".", "?")) else ".")
