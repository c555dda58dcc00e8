"""The text of a target's page."""

import re
from html import unescape

from httpx2 import Response


def extract_text(response: Response) -> str:
    return unescape(re.sub(r"<[^>]*>", "", response.text))
