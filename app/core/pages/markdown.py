"""Render texts of organizers as HTML: Markdown, and plain text with web addresses."""

import re
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

_ADDRESS = re.compile(r"(https?://[!#-;=?-Z_a-z~]+(?<![!'),.:;?]))")
"""Ends where Japanese text or punctuation goes on, which need no space after an address."""
_SAFE_SCHEME = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_LINK = Markup('<a href="{0}" rel="nofollow noopener">{0}</a>')


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
_MARKDOWN.validateLink = lambda url: _SAFE_SCHEME.match(url) is not None  # type: ignore[method-assign]


@lru_cache(maxsize=64)  # the overview of a competition is the most visited page
def render_markdown(text: str) -> Markup:
    """Return Markdown as HTML, with headings below the page's own."""
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        token.attrs.pop("style", None)  # the alignment of a table's column, which the CSP forbids
        if token.type.startswith("heading"):
            token.tag = f"h{min(int(token.tag[1:]) + 1, 6)}"
        _adapt_links(token.children or [])
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return Markup(html)  # noqa: S704  # the renderer escapes texts


def _adapt_links(tokens: list[Token]) -> None:
    """Mark links as foreign, and make links of the web addresses in other text."""
    depth = 0
    for token in tokens:
        if token.tag == "a":
            depth += token.nesting
        if token.type == "link_open":
            token.attrs["rel"] = "nofollow noopener"
        elif token.type == "text" and not depth:
            token.type, token.content = "html_inline", link_addresses(token.content)


def link_addresses(text: str) -> Markup:
    """Return plain text as HTML in which web addresses are links."""
    parts = _ADDRESS.split(text)  # the odd ones are addresses
    return Markup().join(_LINK.format(part) if index % 2 else part for index, part in enumerate(parts))
