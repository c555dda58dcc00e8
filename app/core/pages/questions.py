"""Group a contest's questions for display."""

from collections.abc import Iterable
from itertools import groupby

from anoncup.tracks.model import AnyQuestion


def group_by_guess_file(questions: Iterable[AnyQuestion]) -> list[list[AnyQuestion]]:
    """Group adjacent questions whose guesses have the same file format."""
    return [list(group) for _, group in groupby(questions, lambda question: question.file)]
