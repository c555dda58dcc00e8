"""Sentences and lists of names in the reader's language."""

from collections.abc import Iterable, Sequence
from functools import reduce

from anoncup.messages import Message, replace_control_characters
from app.core.locale.language import ENGLISH, Translator

_MAX_NAMED = 3
"""Maximum number of names in a list. Further names are only counted."""


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


def join_names(names: Sequence[str], t: Translator) -> str:
    """Return ``A``, ``A and B``, ``A, B and C`` or ``A, B, C and 9 more``; ``names`` must not be empty."""
    quoted = [t.pgettext("a name in a list", "{name}", name=name) for name in names]
    if omitted_count := len(quoted[_MAX_NAMED:]):
        names = _join_with_commas(quoted[:_MAX_NAMED], t)
        return t.ngettext("{names} and {n} more", "{names} and {n} more", omitted_count, names=names)
    *first, last = quoted
    return t("{names} and {last}", names=_join_with_commas(first, t), last=last) if first else last


def _join_with_commas(names: Iterable[str], t: Translator) -> str:
    return reduce(lambda joined, name: t("{names}, {name}", names=joined, name=name), names)
