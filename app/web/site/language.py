"""The language of a page."""

from collections.abc import Iterable, Mapping
from functools import cache

from fastapi import Request

from app.locale.language import ENGLISH, LANGUAGES, Words, catalogue
from app.web.site.labels import LABELS

COOKIE = "anoncup_language"


@cache
def words_in(language: str) -> Words:
    return Words(language, catalogue(language), LABELS)


def words_of(request: Request) -> Words:
    return words_in(language_of(request))


def language_of(request: Request) -> str:
    """``?lang=``, else what was chosen before, else the first of the browser's languages that there is."""
    asked = [request.query_params.get("lang", ""), request.cookies.get(COOKIE, "")]
    chosen = next((language for language in asked if language in LANGUAGES), None)
    accepted = request.headers.get("accept-language", "").split(",")
    return chosen or of_browser(entry.split(";")[0].strip() for entry in accepted)


def of_browser(accepted: Iterable[str]) -> str:
    """The first that there is, as ``zh-Hant-TW``, else ``zh_Hant``, else ``zh``."""
    known = {language.lower(): language for language in LANGUAGES}
    for each in accepted:
        parts = each.lower().replace("-", "_").split("_")
        for length in range(len(parts), 0, -1):
            if found := known.get("_".join(parts[:length])):
                return found
    return ENGLISH


def title_in(titles: Mapping[str, str], language: str) -> str:
    return titles.get(language) or next(iter(titles.values()))
