"""What the service says, in the reader's language: its template translated, then its values put in."""

from app.language import ENGLISH, Words
from app.messages import Message


def sentence(message: Message, t: Words) -> str:
    """As a sentence by itself, which the translations are and the English becomes."""
    text = t.say(message)
    if t.language != ENGLISH:
        return text
    begun = text[:1].upper() if message.template[:1].isalpha() else text[:1]  # a name stays as it is written
    return begun + text[1:] + ("" if text.endswith((".", "?")) else ".")
