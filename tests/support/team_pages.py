"""Submissions and targets for tests of team pages."""

import re
from html import unescape

from httpx2 import Response

from tests.support.arena import Arena
from tests.support.uploads import score_everything


def submit_and_score(arena: Arena) -> str:
    identifier = str(arena.submit("red").json()["id"])
    score_everything()
    return identifier


def extract_text(response: Response) -> str:
    return unescape(re.sub(r"<[^>]*>", "", response.text))
