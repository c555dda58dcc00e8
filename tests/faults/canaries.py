"""Canaries: secrets of all releases, passwords and tokens that no response or file may contain."""

import re
import threading
from collections.abc import Iterable

import numpy as np

from anoncup.geometry.arrays import IntArray

RUN_LENGTH = 6
RUN_PATTERN = re.compile(rb"\d{1,6}(?:(?:\r?\n|,? |,|;|\\n|\\r\\n)\d{1,6}){%d,}" % (RUN_LENGTH - 1))
NUMBER_PATTERN = re.compile(rb"\d+")


class Canaries:
    """Runs of six rows of every secret, of the permutation and its inverse, counted from 0 and from 1."""

    def __init__(self) -> None:
        self.runs: dict[tuple[int, ...], str] = {}
        self.words: dict[bytes, str] = {}
        self.lock = threading.Lock()

    def plant(self, owner: str, source: IntArray) -> None:
        new_runs = list_runs(source)
        with self.lock:
            self.runs |= dict.fromkeys(new_runs, owner)

    def plant_word(self, word: str, kind: str) -> None:
        with self.lock:
            self.words[word.encode()] = kind

    def remove(self, sources: Iterable[IntArray]) -> None:
        """Remove secrets that have been revealed."""
        with self.lock:
            for source in sources:
                for run in list_runs(source):
                    self.runs.pop(run, None)

    def find_leak(self, content: bytes) -> str | None:
        """Return a description of the secret that the content contains, or None."""
        with self.lock:
            words, runs = list(self.words.items()), self.runs
        for word, kind in words:
            if word in content:
                return kind
        for match in RUN_PATTERN.finditer(content):
            numbers = [int(digits) for digits in NUMBER_PATTERN.findall(match.group())]
            for start in range(len(numbers) - RUN_LENGTH + 1):
                owner = runs.get(tuple(numbers[start : start + RUN_LENGTH]))
                if owner is not None:
                    return f"the secret of {owner}"
        return None


def list_runs(source: IntArray) -> set[tuple[int, ...]]:
    inverse = np.argsort(source)
    runs = set()
    for rows in (source, inverse):
        for numbering in (rows, rows + 1):
            numbers = numbering.tolist()
            runs |= {
                tuple(numbers[start : start + RUN_LENGTH]) for start in range(len(numbers) - RUN_LENGTH + 1)
            }
    return runs
