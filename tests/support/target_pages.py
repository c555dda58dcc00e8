"""What the page of a target says."""

import re
from html import unescape

from httpx2 import Response


def text_of(answer: Response) -> str:
    return unescape(re.sub(r"<[^>]*>", "", answer.text))
