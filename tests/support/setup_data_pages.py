"""Forms of the set-up page for the original data."""

import re

from tests.support.arena import Arena
from tests.support.setup_pages import BASICS
from tests.web.reader import post_form


def begin_setup(beginner: Arena, start: str = "microdata") -> Arena:
    assert post_form(beginner, "/organize/new", BASICS | {"start": start}, organizer=True).status_code == 303
    return beginner


def parse_form(html: str, part: str) -> dict[str, str]:
    """Return the fields of the form whose HTML contains ``part``, as a browser would send them unchanged."""
    form = next(form_html for form_html in re.findall(r"<form.*?</form>", html, re.S) if part in form_html)
    fields = {}
    for tag in re.findall(r"<input[^>]*>", form):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if attributes.get("type") not in {"checkbox", "radio"} or "checked" in tag:
            fields[attributes["name"]] = attributes.get("value", "")
    for name, options in re.findall(r'<select[^>]* name="(\w+)"(.*?)</select>', form, re.S):
        fields[name] = next(iter(re.findall(r'value="(\w+)" selected', options)), "")
    return fields
