"""What a page says, in each of its languages."""

from app.web.labels import LABELS
from app.web.languages import in_language
from tests.catalogues import catalogues, forms, read

SAID = {form for path in catalogues() for one in read(path) for form in forms(one.id)}


def said(name: str, /, language: str = "en", **values: object) -> str:
    """A label by its name, else an English text that the pages have, in the language."""
    t = in_language(language)
    if name not in LABELS and name not in SAID:
        raise KeyError(name)
    return t.label(name).format(**values) if name in LABELS else t(name, **values)
