"""The language of a page."""

from collections.abc import Mapping
from functools import cache

from fastapi import Request

from app.language import ENGLISH, LANGUAGES, Words, catalogue
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
    asked += [
        entry.split(";")[0].strip()[:2] for entry in request.headers.get("accept-language", "").split(",")
    ]
    return next((language for language in asked if language in LANGUAGES), ENGLISH)


def title_in(titles: Mapping[str, str], language: str) -> str:
    return titles.get(language) or next(iter(titles.values()))
