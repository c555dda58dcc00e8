"""Choose the language of a page."""

from collections.abc import Iterable

from fastapi import Request

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
