"""Sentences of the service in the reader's language: known by their code and form, said with their values.

What is stored or refused carries a code and an English sentence. A form finds the values in it; a sentence of
an unknown form is said by its code alone, and none is passed on in English to a Japanese page.
"""

import re
from ast import literal_eval
from collections.abc import Callable

from app.errors import Problem
from app.language import Words
from app.web.sentence_forms import EXPECTED, FORMS

COMPILED = {
    key: tuple((variant, re.compile(form, re.DOTALL)) for variant, form in forms.items())
    for key, forms in FORMS.items()
}
OF_ROWS = ("secret", "guess")
"""Files of one column, whose name says nothing."""


def fault(problem: Problem, t: Words) -> str:
    """One thing wrong in a file: where, and what."""
    unsaid = problem.file not in OF_ROWS and problem.code != "header"  # which names it itself
    at = {"row": problem.row and f"{problem.row:,}", "column": problem.column if unsaid else None}
    place = "_".join(name for name, value in at.items() if value)
    where = t.label(f"fault_at_{place}").format(**at) if place else ""
    return where + said("bad", problem.code, str(problem.message), t)


def said(kind: str, code: str, sentence: str, t: Words) -> str:
    """A sentence with its values, else by the word of its code."""
    return (
        with_values(kind, code, sentence, t)
        or t.label(f"{kind}_{code}", "")
        or t("{sentence}.", sentence=sentence[:1].upper() + sentence[1:].rstrip("."))
    )


def with_values(kind: str, code: str, sentence: str, t: Words) -> str | None:
    """A sentence by the word of its form; None if it has none of the known forms."""
    for variant, form in COMPILED.get(f"{kind}_{code}", ()):
        if found := form.fullmatch(sentence):
            values = {name: shown_value(name, text, t) for name, text in found.groupdict().items()}
            return t.label(f"{kind}_{code}_{variant}").format(**values)
    return None


def note(sentence: str, t: Words) -> str:
    """What an attacker says about its answer."""
    return said("note", "assignment", sentence, t)


def shown_value(name: str, text: str, t: Words) -> str:
    show = SHOWN.get(name)
    if show:
        return show(text, t)
    return f"{int(text):,}" if re.fullmatch(r"[0-9]{1,15}", text) else text


def unquoted(text: str, _: Words) -> str:
    """A name that the sentence quotes as Python does."""
    return str(literal_eval(text)) if re.fullmatch(r"(['\"]).*\1", text, re.DOTALL) else text


def expected(text: str, t: Words) -> str:
    """What a value of the competition file must be."""
    if text in EXPECTED:
        return t.label(f"expected_{EXPECTED[text]}")
    is_choice, choices = text.startswith("one of "), text.removeprefix("one of ")
    return t("one of {choices}", choices=choices) if is_choice else text


SHOWN: dict[str, Callable[[str, Words], str]] = {
    "distance": lambda text, t: t.label(f"distance_{text}", text),
    "expected": expected,
    "name": unquoted,
    "phase": lambda text, t: t.label(text, text),
    "which": lambda text, t: t.label(f"which_{text}", text),
    "written": unquoted,
}
"""By the name of a value in a form: how people read it. Other values are numbers or names as they stand."""
