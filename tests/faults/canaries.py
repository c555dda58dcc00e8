"""What nobody may see: the secrets of all releases, passwords and tokens, looked for in whatever is said."""

import re
import threading
from collections.abc import Iterable

import numpy as np

from anoncup.geometry.arrays import IntArray

WINDOW = 6
RUN = re.compile(rb"\d{1,6}(?:(?:\r?\n|,? |,|;|\\n|\\r\\n)\d{1,6}){%d,}" % (WINDOW - 1))
NUMBER = re.compile(rb"\d+")


class Canaries:
    """Every run of six rows of every secret, in both directions and counted from 0 and from 1."""

    def __init__(self) -> None:
        self.runs: dict[tuple[int, ...], str] = {}
        self.words: dict[bytes, str] = {}
        self.lock = threading.Lock()

    def plant(self, owner: str, source: IntArray) -> None:
        found = runs_of(source)
        with self.lock:
            self.runs |= dict.fromkeys(found, owner)

    def plant_word(self, word: str, what: str) -> None:
        with self.lock:
            self.words[word.encode()] = what

    def lift(self, sources: Iterable[IntArray]) -> None:
        """These have been revealed to everybody."""
        with self.lock:
            for source in sources:
                for run in runs_of(source):
                    self.runs.pop(run, None)

    def seen_in(self, content: bytes) -> str | None:
        """Whose secret, or what else, is in there."""
        with self.lock:
            words, runs = list(self.words.items()), self.runs
        for word, what in words:
            if word in content:
                return what
        for match in RUN.finditer(content):
            numbers = [int(each) for each in NUMBER.findall(match.group())]
            for start in range(len(numbers) - WINDOW + 1):
                owner = runs.get(tuple(numbers[start : start + WINDOW]))
                if owner is not None:
                    return f"the secret of {owner}"
        return None


def runs_of(source: IntArray) -> set[tuple[int, ...]]:
    inverse = np.argsort(source)
    found = set()
    for rows in (source, inverse):
        for based in (rows, rows + 1):
            numbers = based.tolist()
            found |= {tuple(numbers[at : at + WINDOW]) for at in range(len(numbers) - WINDOW + 1)}
    return found
