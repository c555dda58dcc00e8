"""The pages' words in both languages: a module per area, each a literal ``WORDS`` of key, language, text."""

from functools import cache

from fastapi import Request

from app.web.words import (
    advice,
    boards,
    charts,
    deciding,
    front,
    general,
    malformed,
    measures,
    oversight,
    overview,
    people,
    problems,
    rules,
    rulings,
    running,
    setup,
    states,
    submissions,
    targets,
    uploading,
    verdicts,
)

LANGUAGES = ("en", "ja")
COOKIE = "anoncup_language"

AREAS = (
    general,
    malformed,
    states,
    front,
    overview,
    rules,
    measures,
    boards,
    submissions,
    running,
    charts,
    people,
    problems,
    targets,
    uploading,
    verdicts,
    rulings,
    deciding,
    oversight,
    setup,
    advice,
)
WORDS: dict[str, dict[str, str]] = {key: texts for area in AREAS for key, texts in area.WORDS.items()}


@cache
def in_language(language: str) -> dict[str, str]:
    """Every key's text in one language."""
    return {key: texts[language] for key, texts in WORDS.items()}


def language_of(request: Request) -> str:
    """``?lang=``, else what was chosen before, else the first of the browser's languages that there is."""
    asked = [request.query_params.get("lang", ""), request.cookies.get(COOKIE, "")]
    asked += [
        entry.split(";")[0].strip()[:2] for entry in request.headers.get("accept-language", "").split(",")
    ]
    return next((language for language in asked if language in LANGUAGES), "en")


def title_in(titles: dict[str, str], language: str) -> str:
    return titles.get(language) or next(iter(titles.values()))
