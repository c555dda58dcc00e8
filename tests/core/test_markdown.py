"""Texts of organizers become harmless HTML."""

import re
import sys
from html.parser import HTMLParser

import pytest

from app.core.pages.markdown import link_addresses, render_markdown

HARMLESS_TAG = "h[2-6]|p|br|hr|a|em|strong|code|pre|blockquote|ul|ol|li|table|thead|tbody|tr|th|td"
HOSTILE_LINKS = (
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "&#106;avascript:alert(1)",
    "java&Tab;script:alert(1)",
    "vbscript:msgbox(1)",
    "data:text/html;base64,PHNjcmlwdD4=",
    "data:image/png;base64,AAAA",
    "file:///etc/passwd",
    "//elsewhere.example",
    "/sign-out",
    "?lang=ja",
)
LINK_FORMS = (
    "[a]({})",
    "[a](<{}>)",
    "<{}>",
    "[a]\n\n[a]: {}",
    "![a]({})",
    "[![a]({0})]({0})",
    "**[a]({} 't')**",
)
HOSTILE_TEXTS = (
    "<script>alert(1)</script>",
    "a <img src=x onerror=alert(1)> b",
    "<style>body { display: none }</style>",
    "<!-- <a href=/> -->",
    "[a](https://x.example \"' onclick=alert(1) x='\")",
    '```"><script>alert(1)</script>\n<b>\n```',
    "| a<script> |\n|:-:|\n| <iframe src=https://x.example> |",
    "https://x.example/<script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "![tracker](https://x.example/p.png)",
)


class TagCollector(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def list_tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
    collector = TagCollector()
    collector.feed(html)
    return collector.tags


@pytest.mark.parametrize(
    "text", [*HOSTILE_TEXTS, *(form.format(link) for form in LINK_FORMS for link in HOSTILE_LINKS)]
)
def test_hostile_markdown_has_only_harmless_elements_and_links(text: str) -> None:
    for html in (render_markdown(text), render_markdown(f"> - {text}"), link_addresses(text)):
        for tag, attributes in list_tags(html):
            assert re.fullmatch(HARMLESS_TAG, tag)
            if tag == "a":
                assert re.match("https?://x.example", attributes.pop("href") or "")
                assert attributes.pop("rel") == "nofollow noopener"
            assert attributes.keys() <= {"title", "class", "start"}


def test_markdown_has_headings_below_the_pages_own_tables_and_links() -> None:
    html = render_markdown(
        "# Prizes\n\n###### Small\n\n| a | b |\n|--:|---|\n| 1 | **2** |\n\n"
        "[site](https://a.example), <me@a.example>, [mail](mailto:me@a.example)、https://a.example/b?c=1&d=2。"
    )
    links = [attributes["href"] for tag, attributes in list_tags(html) if tag == "a"]
    mail = "mailto:me@a.example"
    assert links == ["https://a.example", mail, mail, "https://a.example/b?c=1&d=2"]
    assert "<h2>Prizes</h2>" in html
    assert "<h6>Small</h6>" in html
    assert "<td>1</td>\n<td><strong>2</strong></td>" in html


def test_addresses_in_plain_text_are_links_without_what_follows_them() -> None:
    text = "詳細はhttps://a.example/x。(http://b.example/?q=<1>) 'https://c.example'! [d](https://d.example)"
    html = link_addresses(text)
    links = [attributes["href"] for _, attributes in list_tags(html)]
    assert links == ["https://a.example/x", "http://b.example/?q=", "https://c.example", "https://d.example"]
    assert "&lt;1&gt;" in html


@pytest.mark.parametrize(
    "part",
    [
        "[",
        "*a _",
        "> ",
        "`",
        "<",
        "- ",
        "[a](",
        "![[]()",
        "*a **b ",
        "https://",
        "| a\n|--\n",
        "&",
        "  - a\n",
    ],
)
def test_work_grows_no_faster_than_the_text(part: str) -> None:
    longest = (part * 5000)[:5000]
    assert len(render_markdown(longest)) < 1_000_000
    assert count_calls(longest + " ") <= 2.2 * count_calls(longest[:2500])


def count_calls(text: str) -> int:
    """Return how many functions are called and left while a text is rendered for the first time."""
    events = 0

    def count(*_: object) -> None:
        nonlocal events
        events += 1

    sys.setprofile(count)
    try:
        render_markdown(text)
    finally:
        sys.setprofile(None)
    return events
