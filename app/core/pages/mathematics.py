"""Typeset LaTeX as MathML, which browsers show without scripts.

The documentation is built with this module alone, before the service is installed (Dockerfile).
"""

import re
from functools import cache
from typing import Any

from markupsafe import Markup

_PRIME_PATTERN = re.compile(r"<msup>(<mi>[^<]+)</mi><mi>&#x02032;</mi></msup>")
_INDEXED_PRIME_PATTERN = re.compile(
    r"<msubsup>(<mi>[^<]+)</mi>((?:(?!</?msubsup>).)+)<mi>&#x02032;</mi></msubsup>"
)


@cache
def typeset(latex: str) -> Markup:
    """Return a formula as MathML.

    A prime is part of its letter, because a prime in a superscript would be too small to read.
    """
    from latex2mathml.converter import convert  # noqa: PLC0415  # loads its tables of symbols

    mathml = _PRIME_PATTERN.sub(r"\1′</mi>", convert(latex, display="block"))
    mathml = _INDEXED_PRIME_PATTERN.sub(r"<msub>\1′</mi>\2</msub>", mathml)
    return Markup(mathml)  # noqa: S704  # our own, or checked when its package was loaded


def typeset_fence(source: str, *_: Any, **__: Any) -> str:
    """Return the HTML of a ``math`` block of the documentation; the generator of the site calls this."""
    return f'<div class="math" tabindex="0">{typeset(source)}</div>'
