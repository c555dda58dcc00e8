"""How a track reads the table of its own name in a competition file: values by key, each of its kind.

``table.take("share", share, 0.5)`` is the value under a key as a kind reads it, or the default; without one
the key is required. ``table.table(name)`` is a table inside, ``table.tables()`` all of them by name, and
``table.finish()`` refuses keys that nobody asked for. A kind of your own is a function of a value and its
path that returns the value or raises ``wrong(path, Message("what it must be"))``.
"""

from app.scoring.toml_values import (
    Table,
    choice,
    count,
    flag,
    names_of,
    number,
    share,
    text_value,
    whole,
    wrong,
)

__all__ = [
    "Table",
    "choice",
    "count",
    "flag",
    "names_of",
    "number",
    "share",
    "text_value",
    "whole",
    "wrong",
]
