"""Names in a sentence, and sentences in a paragraph."""

from collections.abc import Iterable, Sequence
from functools import reduce

from app.locale.language import Words

NAMED = 3
"""So many are named; of more it is said how many there are."""


def listed(names: Sequence[str], t: Words) -> str:
    """``A``, ``A and B``, ``A, B and C``, ``A, B, C and 9 more``; not empty."""
    said = [t.pgettext("a name in a list", "{name}", name=name) for name in names]
    if more := len(said[NAMED:]):
        names = with_commas(said[:NAMED], t)
        return t.ngettext("{names} and {n} more", "{names} and {n} more", more, names=names)
    *others, last = said
    return t("{names} and {last}", names=with_commas(others, t), last=last) if others else last


def with_commas(names: Iterable[str], t: Words) -> str:
    return reduce(lambda before, name: t("{names}, {name}", names=before, name=name), names)


def paragraph(sentences: Iterable[str], t: Words) -> str:
    """One after the other, with a space between them where the language has one; empty of none."""
    return reduce(
        lambda one, two: t.pgettext("sentences", "{one} {two}", one=one, two=two) if one else two,
        sentences,
        "",
    )
