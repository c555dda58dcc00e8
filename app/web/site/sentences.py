"""What the service says, in the reader's language: its template translated, then its values put in."""

from anoncup.messages import Message, visible
from app.locale.language import ENGLISH, Words


def sentence(message: Message, t: Words, instead: str | None = None) -> str:
    """As a sentence by itself, which the translations are and the English becomes.

    ``instead``: what is said where the reader's language does not know all of it; else it is said as it is.
    """
    if instead is not None and not t.knows(message):
        return instead
    text = visible(t.say(message))
    if t.language != ENGLISH:
        return text
    begun = text[:1].upper() if message.template[:1].isalpha() else text[:1]  # a name stays as it is written
    return begun + text[1:] + ("" if text.endswith((".", "?")) else ".")
