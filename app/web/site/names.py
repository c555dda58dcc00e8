"""Join names into a list and sentences into a paragraph, in the reader's language."""

from collections.abc import Iterable, Sequence
from functools import reduce

from app.locale.language import Translator

_MAX_NAMED = 3
"""Maximum number of names in a list. Further names are only counted."""


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


def join_sentences(sentences: Iterable[str], t: Translator) -> str:
    """Join the sentences into one text, with spaces between them if the language uses spaces."""
    return reduce(
        lambda joined, sentence: (
            t.pgettext("sentences", "{one} {two}", one=joined, two=sentence) if joined else sentence
        ),
        sentences,
        "",
    )
