"""Choose the language of a page, and put messages into it."""

from collections.abc import Iterable, Sequence
from functools import reduce

from fastapi import Request

from anoncup.messages import Message, replace_control_characters
from anoncup.plugins import INSTALLED
from app.core.locale.language import ENGLISH, LANGUAGES, Translator, load_translator

COOKIE = "anoncup_language"


def negotiate_translator(request: Request) -> Translator:
    return load_translator(_negotiate_language(request))


def adapt_to_track(t: Translator, track: str) -> Translator:
    """Return a translator that does not describe parts of packages by texts of built-in parts.

    A part that a package adds to the track may have the name of a built-in one.
    """
    return t.with_package_texts(INSTALLED.package_texts.get(track, frozenset()))


def _negotiate_language(request: Request) -> str:
    """Return the language of ``?lang=``, else of the cookie, else the first supported one of the browser."""
    requested = [request.query_params.get("lang", ""), request.cookies.get(COOKIE, "")]
    chosen_language = next((language for language in requested if language in LANGUAGES), None)
    accepted = request.headers.get("accept-language", "").split(",")
    return chosen_language or match_accepted_language(entry.split(";")[0].strip() for entry in accepted)


def match_accepted_language(accepted: Iterable[str]) -> str:
    """Return the first supported language of an ``Accept-Language`` list, or English.

    Each tag falls back to shorter ones: ``zh-Hant-TW`` to ``zh_Hant``, then to ``zh``.
    """
    languages = {language.lower(): language for language in LANGUAGES}
    for tag in accepted:
        parts = tag.lower().replace("-", "_").split("_")
        for length in range(len(parts), 0, -1):
            if supported := languages.get("_".join(parts[:length])):
                return supported
    return ENGLISH


_MAX_NAMED = 3
"""Maximum number of names in a list. Further names are only counted."""


def translate_sentence(message: Message, t: Translator) -> str:
    """Return a message as a sentence. English messages get a capital letter and a full stop."""
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
