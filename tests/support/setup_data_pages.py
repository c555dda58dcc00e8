"""The set-up page of the original data."""

import re

from tests.support.arena import Arena
from tests.support.setup_pages import BASICS
from tests.web.reader import send


def begun(beginner: Arena, start: str = "microdata") -> Arena:
    assert send(beginner, "/organize/new", BASICS | {"start": start}, organizer=True).status_code == 303
    return beginner


def form_of(shown: str, part: str) -> dict[str, str]:
    """The fields of the form with this in its address, as a browser would send them unchanged."""
    form = next(one for one in re.findall(r"<form.*?</form>", shown, re.S) if part in one)
    fields = {}
    for tag in re.findall(r"<input[^>]*>", form):
        given = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if given.get("type") not in {"checkbox", "radio"} or "checked" in tag:
            fields[given["name"]] = given.get("value", "")
    for name, options in re.findall(r'<select[^>]* name="(\w+)"(.*?)</select>', form, re.S):
        fields[name] = next(iter(re.findall(r'value="(\w+)" selected', options)), "")
    return fields
